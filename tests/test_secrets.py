"""Passwords in addresses are in no message, wherever an address is passed, and in no file."""

from __future__ import annotations

import contextlib
import pickle
import traceback
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import juror
from juror.credentials import masked, scrubbed
from juror.errors import DataError, DataWarning, Message
from juror.readers.described import Files, Query

SECRET = "hushhush"
ADDRESSES = [
    f"postgresql://ann:{SECRET}@db.example/shop",
    f"postgresql://ann:{SECRET}@db.example:5432/shop?sslmode=require",
    f"postgresql://db.example/shop?user=ann&password={SECRET}",
    f"https://ann:{SECRET}@files.example/rows.csv",
    f"https://{SECRET}@files.example/rows.csv",
    f"https://files.example/rows.csv?password={SECRET}",
    f"https://files.example/rows.csv?a=b&X-Amz-Signature={SECRET}&c=d",
    f"https://files.example/rows.csv?AWSSecretAccessKey={SECRET}",
    f"https://files.example/rows.parquet?sig={SECRET}",
    f"s3://ann:{SECRET}@bucket/rows.parquet",
    f"s3:/ann:{SECRET}@bucket/rows.parquet",
    f"https://ann:{SECRET}@files.example/*.csv",
    f"https://ann:se cret{SECRET}@files.example/rows.juror",
    f"ftp://ann:{SECRET}/x@files.example/rows.counts",
    f"sqlite:///shop.db?password={SECRET}",
]
# No address, but it names a database, and may also be the name of a file
CONNECTIONS = [
    f"host=db.example user=ann password={SECRET}",
    f"host=db.example user=ann password='{SECRET}' port=5",
]


@pytest.fixture(scope="module")
def model():
    return juror.fit(juror.datasets.titanic(), rank=1, method="em")


def uses(model):
    """Return what a person may pass an address to."""
    return {
        "fit": juror.fit,
        "fit of a list": lambda address: juror.fit([address, address]),
        "fit of files": lambda address: juror.fit(Files(address)),
        "infer": juror.Domain.infer,
        "count": juror.PairCounts.of,
        "load": juror.load,
        "load counts": juror.PairCounts.load,
        "save": model.save,
        "save a report": lambda address: juror.Report(model).save(address),
        "log_prob": model.log_prob,
        "impute": model.impute,
        "predict": lambda address: model.predict(address, target="Survived"),
        "check": model.check,
        "question": lambda address: model.ask("Survived", data=address),
        "label": lambda address: model.prob({"Survived": address}),
        "variable": lambda address: model.marginal(address),
        "client": lambda address: juror.fit({"a": ["x", "y"]}, client=address),
        "database": lambda address: juror.fit(Query("SELECT 1 AS a", address)),
        "SQL": lambda address: juror.fit(Query(f"ATTACH {_quoted(address)}", "duckdb:///:memory:")),
    }


def _quoted(address: str) -> str:
    return "'" + address.replace("'", "''") + "'"


def everything_shown(error: BaseException | None) -> str:
    """Return all that an exception and those behind it may show."""
    texts = []
    while error is not None:
        texts += [str(error), repr(error), repr(error.args), str(vars(error)), *traceback.format_exception(error)]
        error = error.__cause__ or error.__context__
    return "\n".join(texts)


@pytest.mark.parametrize("address", ADDRESSES + CONNECTIONS)
def test_no_message_of_the_library_has_a_password(model, address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for what, use in uses(model).items():
        if address in CONNECTIONS and "save" in what:
            continue
        with pytest.raises(juror.JurorError) as caught:
            use(address)
        assert SECRET not in everything_shown(caught.value), what


@pytest.mark.parametrize("address", ADDRESSES + CONNECTIONS)
def test_descriptions_have_no_password(address):
    for described in (Files(address), Files([address]), Query(f"ATTACH '{address}'", address)):
        assert SECRET not in repr(described)


COMMANDS = [
    "fit ADDRESS -o new.juror",
    "fit ADDRESS ADDRESS -o new.juror",
    "fit rows.csv -o ADDRESS",
    "fit rows.csv -o new.juror --database ADDRESS",
    "fit rows.csv -o new.juror --dask ADDRESS",
    "fit rows.csv -o new.juror --target ADDRESS",
    "fit rows.csv -o new.juror --rank ADDRESS",
    "count ADDRESS -o new.counts",
    "count rows.csv -o new.counts --domain ADDRESS",
    "merge ADDRESS ADDRESS -o new.counts",
    "info ADDRESS",
    "ask ADDRESS x",
    "ask people.juror ADDRESS",
    "ask people.juror Survived ADDRESS",
    "check people.juror ADDRESS",
    "sample people.juror --given ADDRESS",
    "sample people.juror -o ADDRESS",
    "predict people.juror ADDRESS",
    "impute people.juror ADDRESS",
    "score people.juror ADDRESS",
    "report people.juror ADDRESS -o page.html",
    "report people.juror -o ADDRESS",
    "ADDRESS",
    "info people.juror ADDRESS",
    "fit rows.csv -o new.juror --jobs ADDRESS",
    "fit rows.csv -o new.juror --unheard-of ADDRESS",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, model):
    folder = tmp_path_factory.mktemp("secrets")
    model.save(folder / "people.juror")
    (folder / "rows.csv").write_text("a,b\nx,1\ny,2\n")
    return folder


@pytest.mark.parametrize("line", COMMANDS)
def test_no_message_of_a_command_has_a_password(run, line):
    # a file may have the name of a connection
    connections = () if "-o ADDRESS" in line else CONNECTIONS
    for address in (*ADDRESSES, *connections):
        status, out, err = run(*(address if word == "ADDRESS" else word for word in line.split()), "--debug")
        assert status != 0
        assert SECRET not in out + err, address


def test_a_password_in_a_warning_is_masked(model):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(DataWarning(f"Cannot reach {ADDRESSES[0]}."), stacklevel=1)
    assert str(caught[0].message) == "Cannot reach postgresql://ann@db.example/shop."


def test_errors_with_masked_values_travel():
    error = DataError("There is no {path!r}.", path=ADDRESSES[0])
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "There is no 'postgresql://ann@db.example/shop'."
    assert SECRET not in everything_shown(again)
    assert str(Message("{path}", path=ADDRESSES[3])) == "https://***@files.example/rows.csv"


@pytest.mark.parametrize(
    "text",
    [
        "Column 'url' holds 'https://a.example/b?page=3#top' in row 2.",
        "Column 'mail' holds 'ann@example.org' in row 2.",
        "Write duckdb:///file.db, duckdb:///:memory: or sqlite:///at@home.db.",
        "The condition token = red, secret = yes, password = no.",
        "There is no file C:/Users/ann@work/x.csv or /data/ann:x@y/z.csv.",
        "tcp://127.0.0.1:8786 and [::1]:80 at 12:30@noon",
    ],
)
def test_other_text_is_left_as_it_is(text):
    assert masked(text) == text == str(DataError(text))


@given(st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="'\"&;,@\\#"), min_size=1))
def test_any_password_is_masked(password):
    text = f"open postgresql://ann:{password}@host/db, s3:/k:{password}@b and https://x/y?sig={password}&z=1 failed"
    expected = "open postgresql://ann@host/db, s3:/k@b and https://x/y?sig=***&z=1 failed"
    assert masked(text) == scrubbed(text) == expected


@pytest.mark.parametrize("value", [SECRET, f"{SECRET}.x", f"{SECRET}!"])
@pytest.mark.parametrize(
    "begin", ["no host=db password=", "no https://x.example/y?sig=", "no https://x.example/y?page=2&token="]
)
def test_a_masked_sentence_keeps_its_full_stop(begin, value):
    for mask in (masked, scrubbed):
        assert mask(f"{begin}{value}. Run it again.") == f"{begin}***. Run it again."
        assert mask(f"{begin}{value}.") == f"{begin}***."
        assert mask(mask(f"{begin}{value}. Run it again.")) == f"{begin}***. Run it again."
    # Both the reason and the message around it are masked.
    assert str(DataError(f"It broke: {masked(begin + value)}. Run it again.")) == f"It broke: {begin}***. Run it again."


def test_nothing_of_an_address_reaches_a_file(postgres, tmp_path):
    pytest.importorskip("adbc_driver_postgresql")
    uri = postgres.uri()
    sql = "SELECT * FROM (VALUES ('red', 'S'), ('blue', 'L'), ('red', 'S')) AS t(colour, size)"
    with contextlib.suppress(juror.FitWarning):
        model = juror.fit(Query(sql, uri), rank=1, method="em")
    model.save(tmp_path / "shop.juror")
    juror.PairCounts.of(Query(sql, uri)).save(tmp_path / "shop.counts")
    juror.Report(model).save(tmp_path / "shop.html")
    host = uri.rpartition("@")[2].partition("/")[0]
    for written in tmp_path.iterdir():
        for secret in (host, "postgresql://", "VALUES", *juror.credentials.secrets_of(uri)):
            assert secret.encode() not in written.read_bytes(), (written.name, secret)

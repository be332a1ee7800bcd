"""The facts about data, checked against the dense tensor and loops over the rows."""

import json
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from juror import Domain, JointPMF, PairCounts, Variable
from juror.answers import sampling as drawing
from juror.answers.calibration import calibration
from juror.answers.pair_questions import adjust
from juror.errors import DataError, DataWarning, ParameterError
from juror.report import observed, unusual
from juror.report.gaps import noise
from juror.report.observed import facts_of_counts, observed_facts, rows_to_calibrate
from juror.report.seen import arrivals, pass_over
from juror.testing import dense, random_codes, random_model

SHAPE = (3, 2, 4, 2)


def facts_of(model, data, *, seed=0, n_jobs=None, **reading):
    """Pass over a table and compare it with a model."""
    seen = pass_over(data, model.domain, seed=seed, n_jobs=n_jobs, **reading)
    return observed_facts(model, seen, seed=seed, n_jobs=n_jobs)


@pytest.fixture
def model():
    return random_model(SHAPE, 3, np.random.default_rng(0), concentration=0.5)


@pytest.fixture
def codes(model):
    return random_codes(model, 300, np.random.default_rng(1), missing=0.3)


@pytest.fixture
def facts(model, codes):
    return facts_of(model, codes)


def seen_together(codes, shape, group):
    """Count by a loop how often the labels of some variables are seen together."""
    counts = np.zeros([shape[n] for n in group])
    for row in codes:
        if all(row[n] >= 0 for n in group):
            counts[tuple(row[n] for n in group)] += 1
    return counts


def exact_marginal(model, group):
    return dense(model).sum(axis=tuple(n for n in range(len(model.factors)) if n not in group))


def exact_log_prob(model, row):
    with np.errstate(divide="ignore"):
        return np.log(dense(model)[tuple(slice(None) if code < 0 else code for code in row)].sum())


def exact_entropy(model, seen):
    p = exact_marginal(model, np.flatnonzero(seen))
    return -(p[p > 0] * np.log(p[p > 0])).sum() if np.any(seen) else 0.0


def assert_gap(found, counts, p):
    """Compare distance and noise of counts and probabilities with their definitions."""
    n = counts.sum()
    assert found["n"] == n
    assert found["distance"] == pytest.approx(sum(abs(counts.ravel() / n - p.ravel())) / 2, abs=1e-12)
    each = [min(np.sqrt(2 * q * (1 - q) / np.pi / n), 2 * q * (1 - q)) for q in p.ravel()]
    assert found["noise"] == pytest.approx(sum(each) / 2, abs=1e-12)


def test_marginals_are_those_of_the_cells_seen(model, codes, facts):
    assert facts["n_rows"] == facts["n_rows_judged"] == 300.0
    for n, found in enumerate(facts["marginals"]):
        counts = seen_together(codes, SHAPE, (n,))
        assert found["variable"] == f"x{n}"
        assert found["counts"] == counts.tolist()
        np.testing.assert_allclose(found["observed"], counts / counts.sum())
        np.testing.assert_allclose(found["fitted"], exact_marginal(model, (n,)), atol=1e-12)
        assert_gap(found, counts, exact_marginal(model, (n,)))
        assert facts["missing"][n] == pytest.approx((codes[:, n] < 0).mean())


def test_pairs_are_compared_where_both_are_seen(model, codes, facts):
    found = {tuple(pair["variables"]): pair for pair in facts["pairs"]}
    assert set(found) == set(combinations(model.domain.names, 2))
    for j, k in combinations(range(4), 2):
        pair, counts = found[f"x{j}", f"x{k}"], seen_together(codes, SHAPE, (j, k))
        p = exact_marginal(model, (j, k))
        n = counts.sum()
        is_far = abs(counts / n - p).sum() / 2 > noise(p, n)
        assert pair["is_adjusted"] == is_far
        assert_gap(pair, counts, adjust(p, counts) / n if is_far else p)
    excess = [pair["distance"] - pair["noise"] for pair in facts["pairs"]]
    assert excess == sorted(excess, reverse=True)
    assert facts["together"] == {"n_never": 0, "n_seldom": 0, "pairs": []}


def test_missing_cells_are_not_an_error_of_the_model():
    # x1 is seen only where x0 is 1, and the model is right.
    model = JointPMF([0.5, 0.5], [np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.8, 0.3], [0.2, 0.7]])])
    codes = random_codes(model, 4000, np.random.default_rng(0))
    codes[codes[:, 0] == 0, 1] = -1
    (pair,) = facts_of(model, codes)["pairs"]
    assert pair["is_adjusted"]
    assert pair["distance"] < 2 * pair["noise"]
    # Without missing cells, what differs is the model.
    (pair,) = facts_of(model, codes[codes[:, 0] == 1])["pairs"]
    assert not pair["is_adjusted"]
    assert pair["distance"] == pytest.approx(0.5, abs=0.05)


def test_variables_that_are_seldom_seen_together_are_named(model):
    codes = random_codes(model, 1000, np.random.default_rng(0))
    codes[:500, 0] = -1
    codes[500:, 1] = -1
    codes[:960, 2] = -1
    codes[960:, 3] = -1
    codes[960:962, 3] = 0
    together = facts_of(model, codes)["together"]
    assert (together["n_never"], together["n_seldom"]) == (2, 1)
    assert together["pairs"] == [
        {"variables": ["x0", "x1"], "n": 0.0, "share": 0.0},
        {"variables": ["x1", "x2"], "n": 0.0, "share": 0.0},
        {"variables": ["x2", "x3"], "n": 2.0, "share": 2 / 40},
    ]


def test_counts_alone_give_the_same_facts_as_their_rows(model, codes, facts):
    counts = PairCounts.of_codes(codes, model.domain)
    known = facts_of_counts(model, counts)
    assert set(known) == set(facts)
    assert known["source"] == "fit"
    for name in ("n_rows", "missing", "marginals", "together", "pairs", "check"):
        assert known[name] == facts[name]
    assert known["unusual"] is known["calibration"] is None


def test_the_worst_answer_of_a_pair_is_told(model):
    codes = random_codes(model, 2000, np.random.default_rng(3))
    codes[codes[:, 0] == 2, 2] = 0
    known = facts_of(model, codes)["check"]
    first = known["questions"][0]
    assert {first["target"], first["given"]} == {"x0", "x2"}
    assert known["n_well"] < known["n_cells"]
    assert known["n_off"] >= known["n_pairs_off"] >= 1


def test_a_wrong_gap_would_be_found(model, codes, facts):
    counts, p = seen_together(codes, SHAPE, (0,)), exact_marginal(model, (0,))
    for wrong in (p[::-1], np.full(3, 1 / 3)):
        with pytest.raises(AssertionError):
            assert_gap(facts["marginals"][0], counts, wrong)


@pytest.mark.parametrize("n", [3, 40, 1000])
def test_noise_is_the_mean_distance_of_rows_drawn(n):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(60, 0.3))
    distances = abs(rng.multinomial(n, p, size=2000) / n - p).sum(axis=1) / 2
    assert noise(p, n) == pytest.approx(distances.mean(), rel=0.12)


def test_rows_are_scored_beside_references(model, codes, facts):
    logs = [exact_log_prob(model, row) for row in codes]
    assert facts["mean_log_prob"] == pytest.approx(np.mean(logs))
    alone = [sum(np.log(exact_marginal(model, (n,))[c]) for n, c in enumerate(row) if c >= 0) for row in codes]
    assert facts["mean_log_prob_independent"] == pytest.approx(np.mean(alone))
    uniform = [-sum(np.log(SHAPE[n]) for n, c in enumerate(row) if c >= 0) for row in codes]
    assert facts["mean_log_prob_uniform"] == pytest.approx(np.mean(uniform))


def test_unusual_rows_are_those_of_the_largest_surprise(model, codes, facts):
    surprise = [-exact_log_prob(model, row) - exact_entropy(model, row >= 0) for row in codes]
    by_row = {tuple(row): value for row, value in zip(codes.tolist(), surprise, strict=True)}
    given = []
    for found in facts["unusual"]:
        row = codes[found["row"]]
        given.append(tuple(row.tolist()))
        assert found["cells"] == [None if code < 0 else str(code) for code in row]
        assert found["weight"] == sum(given[-1] == tuple(other) for other in codes.tolist())
        assert found["row"] == codes.tolist().index(row.tolist())
        assert (found["file"], found["impossible"]) == (None, False)
        assert found["log_prob"] == pytest.approx(exact_log_prob(model, row))
        # the entropy is that of 400 draws
        assert found["surprise"] == pytest.approx(by_row[given[-1]], abs=0.3)
    assert len(set(given)) == 20
    assert min(by_row[row] for row in given) > max(v for row, v in by_row.items() if row not in given) - 0.5
    surprises = [found["surprise"] for found in facts["unusual"]]
    assert surprises == sorted(surprises, reverse=True)


def test_cells_are_judged_by_the_rest_of_their_row(model, codes, facts):
    for found in facts["unusual"]:
        row = codes[found["row"]]
        for n, p in enumerate(found["cell_probabilities"]):
            if row[n] < 0:
                assert p is None
                continue
            others = row.copy()
            others[n] = -1
            assert p == pytest.approx(np.exp(exact_log_prob(model, row) - exact_log_prob(model, others)))


def test_rows_as_improbable_are_a_share_of_those_drawn():
    model = JointPMF([1.0], [[[0.9], [0.06], [0.04]]])
    found = facts_of(model, np.array([[0], [1], [2]]))["unusual"]
    assert [row["cells"] for row in found] == [["2"], ["1"], ["0"]]
    np.testing.assert_allclose([row["as_improbable"] for row in found], [0.04, 0.1, 1.0], atol=0.04)


def test_a_rare_cell_counts_though_little_is_seen_beside_it():
    model = JointPMF([1.0], [[[0.99], [0.01]], *[np.full((10, 1), 0.1)] * 6])
    codes = random_codes(model, 300, np.random.default_rng(0))
    codes[:, 0] = 0
    codes[7] = [1, *[-1] * 6]
    assert model.log_prob(codes).argmax() == 7
    first, second, *_ = facts_of(model, codes)["unusual"]
    assert (first["row"], first["surprise"]) == (7, pytest.approx(4.55, abs=0.1))
    assert second["surprise"] == pytest.approx(0.0, abs=0.1)


def test_rows_are_no_more_unusual_for_cells_that_follow_from_others():
    model = JointPMF(np.full(5, 0.2), [np.eye(5)] * 8)
    rng = np.random.default_rng(0)
    codes = random_codes(model, 300, rng)
    codes[rng.random(codes.shape) < rng.random((300, 1))] = -1
    # all that is seen is as probable as any other
    codes = codes[(codes >= 0).any(axis=1)]
    found = facts_of(model, codes)["unusual"]
    np.testing.assert_allclose([row["surprise"] for row in found], 0.0, atol=1e-9)
    assert {row["as_improbable"] for row in found} == {1.0}


def test_impossible_rows_are_the_most_unusual():
    model = JointPMF([0.5, 0.5], [np.eye(2), np.eye(2), [[0.5, 0.5], [0.5, 0.5]], [[1.0, 1.0], [0.0, 0.0]]])
    codes = np.array([[0, 0, 1, 0], [0, 1, 1, 0], [1, -1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 1, -1, 1]])
    facts = facts_of(model, codes)
    assert (facts["n_impossible"], facts["mean_log_prob"], facts["mean_log_prob_independent"]) == (4.0, None, None)
    first = facts["unusual"][:3]
    assert [(found["row"], found["weight"], found["impossible"]) for found in first] == [
        (1, 2.0, True),
        (4, 1.0, True),
        (5, 1.0, True),
    ]
    assert all(found["log_prob"] is found["surprise"] is None and found["as_improbable"] == 0.0 for found in first)
    # without one of the two that contradict each other the row is possible; without another cell it is not
    assert first[0]["cell_probabilities"] == [0.0, 0.0, None, None]
    assert first[1]["cell_probabilities"] == [None, None, None, 0.0]
    assert first[2]["cell_probabilities"] == [None, None, None, None]
    assert not any(found["impossible"] for found in facts["unusual"][3:])
    judged = {found["target"]: found for found in facts["calibration"]}
    # rows 1, 3 and 5 contradict themselves, row 4 is possible without x3
    assert (judged["x3"]["n_rows"], judged["x3"]["n_impossible"], judged["x3"]["log_loss"]) == (3.0, 3.0, None)
    json.dumps(facts, allow_nan=False)


def test_calibration_is_that_of_all_rows(model, codes, facts):
    assert facts["n_rows_calibrated"] == 300.0
    for n, found in enumerate(facts["calibration"]):
        judged = calibration(model, codes, None, n)
        for name, value in found.items():
            expected = getattr(judged, name)
            assert value == expected if name == "target" else value == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_predictions_are_judged_by_fewer_rows_where_the_model_is_large(model, codes, monkeypatch):
    assert rows_to_calibrate(12_288, (10,) * 30, 5_000) < 2_000
    assert rows_to_calibrate(10**9, (10,) * 30, 5_000) == 200
    assert rows_to_calibrate(10**9, (10,) * 30, 50) == 50
    monkeypatch.setattr(observed, "_CALIBRATION_WORK", 0.0)
    facts = facts_of(model, codes)
    assert (facts["n_rows_judged"], facts["n_rows_calibrated"]) == (300.0, 200.0)
    assert [found["n_rows"] < 200 for found in facts["calibration"]] == [True] * 4


def test_what_is_never_seen_is_told(model):
    codes = np.array([[0, -1, -1, 1], [-1, 1, -1, 0]])
    facts = facts_of(model, codes)
    assert facts["missing"] == [0.5, 0.5, 1.0, 0.0]
    assert facts["calibration"][2] is None
    unseen = facts["marginals"][2]
    assert (unseen["n"], unseen["observed"], unseen["distance"], unseen["noise"]) == (0.0, None, None, None)
    assert sorted(pair["variables"] for pair in facts["pairs"]) == [["x0", "x3"], ["x1", "x3"]]
    assert facts["together"]["n_never"] == 4
    json.dumps(facts, allow_nan=False)


def test_one_variable_has_no_pairs():
    facts = facts_of(JointPMF([1.0], [[[0.5], [0.5]]]), np.array([[0], [1], [-1]]))
    assert facts["pairs"] == []
    assert facts["missing"] == [pytest.approx(1 / 3)]
    assert facts["calibration"][0]["log_loss"] == pytest.approx(np.log(2))


def test_all_values_are_plain(facts):
    def kinds(value):
        if isinstance(value, dict):
            return {type(key) for key in value} | set().union(*map(kinds, value.values()))
        return set().union(*map(kinds, value)) if type(value) is list else {type(value)}

    assert kinds(facts) <= {str, int, float, bool, type(None)}
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


LABELLED = Domain(
    (
        Variable("colour", ("red", "green", "blue")),
        Variable("size", (1, 2, 4), "ordinal"),
        Variable("sold", (False, True)),
        Variable("price", ("<10", "[10, 20)", ">=20"), "binned", (5.0, 10.0, 20.0, 90.0), open_ended=True),
    )
)


@pytest.fixture(scope="module")
def shop():
    """A model with labels of every kind, and many rows with holes; a column says how often each counts."""
    rng = np.random.default_rng(3)
    model = random_model(LABELLED.cardinalities, 3, rng, domain=LABELLED)
    frame = model.sample(100_000).convert_dtypes()
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    return model, frame.assign(times=rng.integers(0, 4, size=len(frame)))


@pytest.fixture(scope="module")
def facts_of_frame(shop):
    return facts_of(shop[0], shop[1], weight="times")


def as_csv(frame, folder):
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv"


def as_parquet(frame, folder):
    # parts of one file, each of some row groups
    parquet.write_table(pa.Table.from_pandas(frame), folder / "rows.parquet", row_group_size=30_000)
    return folder / "rows.parquet"


def as_stream(frame, folder):
    return pa.Table.from_pandas(frame).to_reader(max_chunksize=7_000)


@pytest.mark.parametrize("write", [as_csv, as_parquet, as_stream])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_table_has_the_same_facts_wherever_it_is(shop, facts_of_frame, tmp_path, write, n_jobs):
    model, frame = shop
    assert facts_of(model, write(frame, tmp_path), weight="times", n_jobs=n_jobs) == facts_of_frame


def test_all_rows_are_counted_and_some_are_judged(shop, facts_of_frame):
    model, frame = shop
    assert facts_of_frame["n_rows"] == frame["times"].sum()
    assert facts_of_frame["n_rows_judged"] == 5000.0
    counts = frame.groupby("colour")["times"].sum()
    assert facts_of_frame["marginals"][0]["counts"] == [counts[label] for label in LABELLED["colour"].labels]
    for found in facts_of_frame["unusual"]:
        row = frame.iloc[found["row"]]
        assert row["times"] > 0
        cells = [model.domain[n].code(v) if pd.notna(v) else None for n, v in enumerate(row[list(LABELLED.names)])]
        labels = [None if code is None else str(model.domain[n].labels[code]) for n, code in enumerate(cells)]
        assert found["cells"] == labels


def test_rows_of_several_files_are_told_by_file(shop, tmp_path):
    model, frame = shop
    frame = frame.drop(columns="times")
    for number in range(3):
        parquet.write_table(
            pa.Table.from_pandas(frame[number * 2000 : number * 2000 + 2000]), tmp_path / f"{number}.parquet"
        )
    facts = facts_of(model, tmp_path)
    whole = facts_of(model, frame[:6000])
    for name in ("n_rows", "missing", "marginals", "pairs"):
        assert facts[name] == whole[name]
    assert {found["file"] for found in facts["unusual"]} <= {str(tmp_path / f"{n}.parquet") for n in range(3)}
    for found in facts["unusual"]:
        row = frame.iloc[int(found["file"].removesuffix(".parquet")[-1]) * 2000 + found["row"]]
        assert [cell is None for cell in found["cells"]] == [pd.isna(value) for value in row]
    # each file has chances of its own
    sample = pass_over(tmp_path, model.domain, n_sampled=600).draw(600)
    rows = [set(sample.rows[sample.origins == str(tmp_path / f"{n}.parquet")]) for n in range(3)]
    assert len(rows[0] & rows[1]) < len(rows[0]) / 2


def test_samples_are_uniform_and_repeat(model):
    codes = random_codes(model, 4000, np.random.default_rng(2))
    samples = {seed: pass_over(codes, model.domain, n_sampled=1000, seed=seed).draw(1000) for seed in (0, 1)}
    again = pass_over(codes, model.domain, n_sampled=1000, seed=0).draw(1000)
    np.testing.assert_array_equal(samples[0].rows, again.rows)
    assert len(set(samples[0].rows)) == 1000
    np.testing.assert_array_equal(codes[samples[0].rows], samples[0].codes)
    # of two independent samples a quarter is in both
    assert 180 < len(set(samples[0].rows) & set(samples[1].rows)) < 320
    by_tenth = np.bincount(samples[0].rows // 400, minlength=10)
    assert ((by_tenth - 100) ** 2 / 100).sum() < 30
    first, second = (facts_of(model, codes, seed=4, n_sampled=1000, n_jobs=jobs) for jobs in (1, 2))
    assert first == second
    assert first["n_rows_judged"] == 1000.0
    assert facts_of(model, codes, seed=5, n_sampled=1000)["mean_log_prob"] != first["mean_log_prob"]


def test_whole_weights_are_repeated_rows(model, codes):
    times = np.random.default_rng(5).integers(0, 4, size=len(codes))
    weighted = facts_of(model, codes, weight=times)
    repeated = facts_of(model, np.repeat(codes, times, axis=0))
    for facts in (weighted, repeated):
        facts["unusual"] = [{**found, "row": None} for found in facts["unusual"]]
    assert weighted == repeated


def test_columns_that_are_absent_are_missing(shop):
    model, frame = shop
    facts = facts_of(model, frame[["sold", "colour"]][:500])
    assert [share == 1.0 for share in facts["missing"]] == [False, True, False, True]
    assert [found is None for found in facts["calibration"]] == [False, True, False, True]
    assert facts["together"]["n_never"] == 5


def test_unknown_labels_are_handled_as_asked(shop):
    model, _ = shop
    data = {"colour": ["red", "teal", "blue"], "size": [1, 2, 4]}
    with pytest.raises(DataError, match="Column 'colour' holds 'teal' in row 1, which is not among its 3 labels"):
        facts_of(model, data)
    assert facts_of(model, data, unknown="missing")["missing"][0] == pytest.approx(1 / 3)
    with pytest.warns(DataWarning, match="'colour' holds labels that were not there before in 1 row,") as told:
        facts_of(model, data, unknown="warn")
    assert len(told) == 1


@pytest.mark.parametrize(
    ("data", "options", "error", "sentence"),
    [
        (np.empty((0, 4), dtype=int), {}, DataError, "The data have no rows. juror needs at least one."),
        ({"color": ["red"]}, {}, DataError, "The data have a column 'color' that the model does not know. Did you mean "
         "'colour'? Drop or rename it."),
        ({"sold": [True]}, {"weight": "times"}, ParameterError, "sample_weight names no column beside others: "
         "'times'."),
        ({"sold": [True]}, {"weight": [0.0]}, ParameterError, "sample_weight is zero in every row. At least one must "
         "count."),
        ({"sold": [True]}, {"seed": -1}, ParameterError, "seed must be an int in the range [0, inf). Got -1 instead."),
        ({"sold": [True]}, {"n_sampled": 0}, ParameterError, "n_sampled must be an int in the range [1, inf). Got 0 "
         "instead."),
    ],
)  # fmt: skip
def test_bad_input_is_refused(shop, data, options, error, sentence):
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        facts_of(shop[0], data, **options)


def test_rows_arrive_in_proportion_to_their_weights():
    weights = np.array([1.0, 2.0, 5.0, 0.5])
    rows, times = arrivals(weights, np.arange(4), 8500, seed=3, is_whole=False)
    assert len(rows) == len(times) == 8500
    assert np.all(np.diff(times) >= 0)
    expected = 8500 * weights / weights.sum()
    # χ² of three degrees of freedom
    assert ((np.bincount(rows, minlength=4) - expected) ** 2 / expected).sum() < 21.1
    # of a process of this rate so many arrive in about this time
    assert times[-1] == pytest.approx(1000, rel=0.06)


def test_whole_weights_are_drawn_without_replacement():
    weights = np.array([2.0, 1.0, 40.0])
    drawn = np.array(
        [np.bincount(arrivals(weights, np.arange(3), 20, seed, is_whole=True)[0], minlength=3) for seed in range(600)]
    )
    assert np.all(drawn.sum(axis=1) == 20)
    # 20 of 43: hypergeometric
    share = 20 / 43
    expected = 600 * np.array([(1 - share) * 22 / 42, 2 * share * 23 / 42, share * 19 / 42])
    assert ((np.bincount(drawn[:, 0], minlength=3) - expected) ** 2 / expected).sum() < 13.8
    assert drawn[:, 1].max() == 1
    assert drawn[:, 1].mean() == pytest.approx(share, abs=0.08)
    rows, _ = arrivals(weights, np.arange(3), 50, seed=0, is_whole=True)
    assert np.bincount(rows).tolist() == weights.tolist()


def test_weights_of_one_are_no_weights(model):
    codes = random_codes(model, 1200, np.random.default_rng(2), missing=0.2)
    assert facts_of(model, codes, weight=np.ones(1200), n_sampled=1000) == facts_of(model, codes, n_sampled=1000)


def test_fewer_draws_are_the_first_of_more(model):
    codes = random_codes(model, 900, np.random.default_rng(2))
    for weights in (np.arange(1, 901), np.linspace(0.1, 3.7, 900)):
        seen = pass_over(codes, model.domain, weight=weights, n_sampled=500)
        more, few = seen.draw(500), seen.draw(70)
        np.testing.assert_array_equal(more.rows[:70], few.rows)
        assert np.all(np.diff(more.chances) >= 0)
        assert more.weights.tolist() == [1.0] * 500
        np.testing.assert_array_equal(codes[more.rows], more.codes)
        # the whole table arrives as those do that were kept of it
        every, _ = arrivals(weights.astype(float), np.arange(900), 500, 0, seen.weights.are_whole)
        np.testing.assert_array_equal(more.rows, every)
    with pytest.raises(ParameterError, match=r"^n must be at most 500, the n_sampled of the pass. Got 501 instead.$"):
        seen.draw(501)


def test_predictions_are_judged_by_draws_where_all_rows_fit_but_take_too_long(monkeypatch):
    monkeypatch.setattr(observed, "_CALIBRATION_WORK", 0.0)
    rng = np.random.default_rng(0)
    model = random_model([3] * 7, 4, rng, concentration=0.6)
    ratios = []
    for seed in range(6):
        distinct, times = np.unique(drawing.sample(model, 40_000, rng), axis=0, return_counts=True)
        facts = facts_of(model, distinct, weight=times, seed=seed)
        assert (facts["is_sampled"], facts["n_rows_judged"], facts["n_rows_calibrated"]) == (False, 40_000.0, 200.0)
        ratios += [found["error"] / found["noise"] for found in facts["calibration"]]
    assert 0.7 < np.mean(ratios) < 1.4


@pytest.mark.parametrize("seed", range(2))
def test_rows_of_many_variables_are_found(seed):
    rng = np.random.default_rng(seed)
    model = random_model([4] * 150, 4, rng, concentration=0.5)
    codes = random_codes(model, 150, rng, missing=0.1)
    logs, drawn = model.log_prob(codes), drawing.sample(model, 200, rng)
    with_holes = np.where((codes < 0)[:, None], -1, drawn).reshape(-1, 150)
    surprises = -logs + model.log_prob(with_holes).reshape(150, 200).mean(axis=1)
    found = unusual._candidates(model, codes, logs, 60, np.random.default_rng(0))
    assert len(found) == 60
    assert set(np.argsort(-surprises)[:20]) <= set(found.tolist())


def test_draws_of_a_weighted_table_are_judged_as_draws():
    rng = np.random.default_rng(0)
    model = random_model([3] * 9, 4, rng, concentration=0.6)
    codes = drawing.sample(model, 200_000, rng)
    distinct, times = np.unique(codes, axis=0, return_counts=True)
    assert len(distinct) > 5000
    seen = pass_over(distinct, model.domain, weight=times)
    facts = observed_facts(model, seen)
    assert facts["is_sampled"]
    assert facts["n_rows_judged"] == 5000.0
    ratios = [found["error"] / found["noise"] for found in facts["calibration"]]
    assert 0.5 < np.mean(ratios) < 1.7, ratios
    logs = model.log_prob(codes)
    assert facts["mean_log_prob"] == pytest.approx(logs.mean(), abs=4 * logs.std() / np.sqrt(5000))
    few = pass_over(distinct[:3000], model.domain, weight=times[:3000])
    assert not few.is_sampled
    assert few.draw(5000).weights.sum() == times[:3000].sum()

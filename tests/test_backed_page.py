"""What stands behind an answer on the page, in a real browser: rows, shares, intervals, and how exact it is."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import juror
from browser import open_browser, watched
from juror.domain.variable import Variable
from juror.record import RankScore
from juror.report import carried_pairs
from test_explorer import bar, bars, click, saved, shift_click

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
ORIGINS = (
    "Mexican American",
    "Non-Hispanic White",
    "Non-Hispanic Black",
    "Non-Hispanic Asian",
    "Somebody who was born in some other country of the north",
    "Somebody who was born in some other country of the south",
    "Somebody who was born in some quite other country of the south",
)
NAMES = ("origin", "doctor told you have diabetes", "doctor told you have high blood pressure", "ballot a", "ballot b")


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    """Answers with long labels; the last two questions are never asked together."""
    rng = np.random.default_rng(seed)
    diabetes = rng.random(n) < 0.15
    pressure = rng.random(n) < np.where(diabetes, 0.9, 0.2)
    half = rng.random(n) < 0.5
    columns = (
        rng.choice(ORIGINS, n),
        np.where(diabetes, "yes", "no"),
        np.where(pressure, "yes", "no"),
        np.where(half, rng.choice(["agree", "disagree"], n), None),
        np.where(half, None, rng.choice(["agree", "disagree"], n)),
    )
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True)))


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def people():
    return survey(1500)


def quietly(data, **options) -> juror.JointPMF:
    """Fit without warnings: some of these models are meant to be wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return juror.fit(data, **options)


@pytest.fixture(scope="module")
def blind(people):
    """A model without any dependence, fitted to rows that have some."""
    return quietly(people, rank=1, method="em")


@pytest.fixture(scope="module")
def report(blind, tmp_path_factory):
    return saved(blind, tmp_path_factory.mktemp("backed") / "survey.html")


@pytest.fixture(scope="module")
def drawn():
    """A mean of draws, and few rows."""
    return quietly(survey(80), method="bayes", sweeps=80, burnt=30, draws=25)


def shown(page, name: str) -> dict[str, dict[str, float]]:
    """Read numbers of bars, such as shares, by variable and label."""
    read = page.eval_on_selector_all(
        ".bar", "(bars, name) => bars.map(({dataset: d}) => [d.variable, d.label, d[name]])", name
    )
    found: dict[str, dict[str, float]] = {}
    for variable, label, value in read:
        if value is not None:
            found.setdefault(variable, {})[label] = float(value)
    return found


def assert_intervals(page, model, given):
    """Compare the intervals of all unknown variables with Python."""
    low, high = shown(page, "low"), shown(page, "high")
    assert set(low) == set(high) == set(NAMES) - set(given)
    conditions = "".join(f' | "{name}" = "{label}"' for name, label in given.items())
    for name in low:
        expected = model.interval(f'"{name}"{conditions}', level=0.9)
        labels = [str(label) for label in model.domain[name].labels]
        for found, end in ((low, expected.low), (high, expected.high)):
            # the ends are logarithms in 16 bits
            np.testing.assert_allclose([found[name][label] for label in labels], end, rtol=6e-4)


@pytest.mark.parametrize("options", [{}, PHONE])
def test_labels_stay_different_and_whole(browser, report, options):
    with watched(browser, report, **options) as page:
        labels = page.locator(".panel").first.locator(".label")
        texts = labels.all_inner_texts()
        assert len(set(texts)) == len(ORIGINS)
        assert set(ORIGINS[:4]) <= set(texts)
        assert all(len(text) <= 40 for text in texts)
        clipped = "spans => spans.filter(s => s.scrollWidth > s.clientWidth + 1 || s.scrollHeight > s.clientHeight + 1)"
        assert labels.evaluate_all(f"spans => ({clipped})(spans).length") == 0
        # Labels of several lines make a panel higher, and panels do not overlap, also while a long label is known.
        for _ in range(2):
            boxes = page.eval_on_selector_all(
                ".panel", "ps => ps.map(p => p.getBoundingClientRect()).map(b => [b.left, b.right, b.top, b.bottom])"
            )
            for i, (left, right, top, bottom) in enumerate(boxes):
                for other in boxes[:i]:
                    assert right <= other[0] or left >= other[1] or top >= other[3] or bottom <= other[2]
            click(page, "origin", ORIGINS[4])


def test_names_of_the_map_stay_different(browser, report):
    with watched(browser, report) as page:
        page.evaluate(
            """() => {
              window.written = [];
              const fill = CanvasRenderingContext2D.prototype.fillText;
              CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
                window.written.push(text);
                fill.call(this, text, ...place);
              };
            }"""
        )
        page.click("#tab-dependence")
        written = page.evaluate("window.written")
        assert len(written) == 2 * len(NAMES)
        assert len(set(written)) == len(NAMES)


@pytest.mark.parametrize("options", [{}, PHONE])
def test_a_value_stands_on_the_first_line_of_its_name(browser, report, options):
    with watched(browser, report, **options) as page:
        page.click("#tab-dependence")
        places = page.eval_on_selector_all(
            "#strongest tbody tr",
            """rows => rows.map(row => [row.querySelector('button'), ...row.querySelectorAll('td')].map(cell => {
              const range = document.createRange();
              range.selectNodeContents(cell);
              return range.getClientRects()[0].bottom;
            }))""",
        )
        assert len(places) == 10
        for name, *values in places:
            assert values == pytest.approx([name] * len(values), abs=3)


def test_on_a_phone_the_data_are_on_the_screen(browser, blind, people, tmp_path):
    path = saved(blind, tmp_path / "phone.html", data=people)
    with watched(browser, path, **PHONE) as page:
        box = page.locator("#tab-observed").bounding_box()
        assert box["x"] + box["width"] <= 390
        page.tap("#tab-observed")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        cut = "tables => tables.filter(t => t.scrollWidth > t.parentElement.clientWidth + 1).length"
        assert page.locator("#observed table.list").count() >= 5
        assert page.eval_on_selector_all("#observed table.list", cut) == 0
        outside = """cells => cells.filter(c => c.offsetParent && c.getBoundingClientRect().right > 390).length"""
        assert page.eval_on_selector_all("#observed table.list td", outside) == 0


def test_a_dependence_that_the_model_missed_comes_first(browser, blind, people, report):
    with watched(browser, report) as page:
        page.click("#tab-dependence")
        first = page.locator("#strongest tbody tr").first
        name, rows, fitted = (part.inner_text() for part in first.locator("th, td").all())
        assert name == f"{NAMES[1]} and {NAMES[2]}"
        counts = pd.crosstab(people[NAMES[1]], people[NAMES[2]]).to_numpy()
        p = counts / counts.sum()
        entropies = [-(q * np.log(q)).sum() for q in (p.sum(axis=0), p.sum(axis=1))]
        information = sum(entropies) + (p * np.log(p)).sum() - 1 / (2 * len(people))
        assert float(rows) == pytest.approx(information / min(entropies), abs=0.00051)
        assert float(fitted) == 0.0
        last = page.locator("#strongest tbody tr").last.inner_text()
        assert "ballot a and ballot b" in last
        assert "never together" in last
        assert f"{rows} by the rows, 0.000 by the model" in page.inner_text("#pair")


def test_without_data_the_counts_of_the_fit_are_compared(browser, report):
    with watched(browser, report) as page:
        page.click("#tab-observed")
        assert "rows that it was fitted to" in page.inner_text("#observed-facts")
        apart = page.inner_text("#observed-together")
        assert "1 pair of variables is in no row together" in apart
        assert "ballot a and ballot b" in apart
        wrong = page.inner_text("#observed-wrong")
        one, other = (f"'{name}' = yes" for name in NAMES[1:3])
        assert f"P({one} | {other})" in wrong or f"P({other} | {one})" in wrong
        assert "ballot b" not in wrong
        assert NAMES[1] not in apart
        assert page.inner_text("#observed-rows") == page.inner_text("#observed-calibration") == ""


def test_a_model_without_counts_has_no_rows_to_show(browser, people, tmp_path):
    model = quietly(people, rank=2, method="em", keep_counts=False)
    with watched(browser, saved(model, tmp_path / "private.html")) as page:
        assert page.is_hidden("#tab-observed")
        assert page.is_hidden("#share-legend")
        click(page, NAMES[1], "yes")
        assert shown(page, "share") == {}


@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_without_counts_has_intervals_from_expected_rows(browser, people, tmp_path, weighted):
    weights = np.random.default_rng(0).exponential(size=len(people)) if weighted else None
    model = quietly(people, rank=2, method="em", keep_counts=False, sample_weight=weights)
    with watched(browser, saved(model, tmp_path / "private.html")) as page:
        assert "from as many rows as the model expects" in page.inner_text("#whisker-legend")
        for given in ({}, {NAMES[2]: "yes"}):
            for name, label in given.items():
                click(page, name, label)
            assert_intervals(page, model, given)


def test_a_model_that_was_not_fitted_has_no_intervals(browser, tmp_path):
    model = juror.JointPMF([0.5, 0.5], [[[0.9, 0.2], [0.1, 0.8]]] * 2)
    with watched(browser, saved(model, tmp_path / "made.html")) as page:
        assert page.is_hidden("#whisker-legend")
        assert shown(page, "low") == {}


def test_numbers_of_the_legend_stay_on_one_line(browser, report):
    with watched(browser, report) as page:
        for width in range(320, 1300, 10):
            page.set_viewport_size({"width": width, "height": 700})
            for number in (".share-key", "#whisker-level"):
                assert page.locator(number).evaluate("span => span.getClientRects().length") == 1


@pytest.mark.parametrize("given", [{}, {NAMES[1]: ["yes"]}, {"origin": [ORIGINS[1], ORIGINS[2]]}])
def test_rows_and_shares_beside_an_answer(browser, blind, people, report, given):
    with watched(browser, report) as page:
        for name, labels in given.items():
            for label in labels:
                shift_click(page, name, label)
        shares = shown(page, "share")
        marked = set(page.eval_on_selector_all(".bar:has(.differs)", "bs => bs.map(b => b.dataset.variable)"))
        assert bool(marked) == (NAMES[1] in given)
        for name in set(NAMES) - set(given):
            support = blind.marginal(name, given=given).support
            labels = [str(label) for label in blind.domain[name].labels]
            np.testing.assert_allclose([shares[name][label] for label in labels], support.shares, rtol=1e-12)
            panel = page.locator(".panel").nth(NAMES.index(name))
            assert f"shares of {support.rows:,.0f} rows" in panel.locator(".backing").text_content()
            signs = [text.startswith("≠") for text in panel.locator(".share").all_text_contents()]
            order = panel.locator(".bar").evaluate_all("bars => bars.map(b => b.dataset.label)")
            assert dict(zip(order, signs, strict=True)) == dict(zip(labels, support.differs.tolist(), strict=True))


def test_rows_are_known_for_one_condition_and_the_page_says_so(browser, report):
    with watched(browser, report) as page:
        click(page, "ballot a", "agree")
        assert page.locator(".panel").last.locator(".backing").text_content() == "no row shows both"
        assert page.inner_text("#limits") == ""
        click(page, NAMES[1], "yes")
        assert shown(page, "share") == {}
        assert "Rows and shares are known for one condition only" in page.inner_text("#limits")


def test_weights_that_are_fractions_count_as_fewer_rows(browser, people, tmp_path):
    weights = np.random.default_rng(0).exponential(size=len(people))
    model = quietly(people, rank=1, method="em", sample_weight=weights)
    with watched(browser, saved(model, tmp_path / "weighted.html")) as page:
        click(page, NAMES[1], "yes")
        marked = page.eval_on_selector_all(
            ".bar:has(.differs)", "bs => bs.map(({dataset: d}) => [d.variable, d.label])"
        )
        expected = []
        for name in set(NAMES) - {NAMES[1]}:
            differs = model.marginal(name, given={NAMES[1]: "yes"}).support.differs
            expected += [[name, str(x)] for x, d in zip(model.domain[name].labels, differs, strict=True) if d]
        assert sorted(marked) == sorted(expected)


def test_intervals_of_marginals_and_of_answers_with_one_condition(browser, drawn, tmp_path):
    with watched(browser, saved(drawn, tmp_path / "drawn.html")) as page:
        for given in ({}, {NAMES[2]: "yes"}, {"origin": ORIGINS[1]}):
            page.click("#reset") if page.is_enabled("#reset") else None
            for name, label in given.items():
                click(page, name, label)
            assert_intervals(page, drawn, given)
        assert "with probability 90.0 %" in page.inner_text("#whisker-legend")
        click(page, NAMES[1], "no")
        assert shown(page, "low") == {}
        page.click("#reset")
        for label in ORIGINS[:2]:
            shift_click(page, "origin", label)
        assert shown(page, "low") == {}


def test_a_whisker_is_drawn_where_its_ends_are(browser, drawn, tmp_path):
    with watched(browser, saved(drawn, tmp_path / "whisker.html")) as page:
        known = bar(page, NAMES[1], "yes")
        low, high, p = (float(known.get_attribute(f"data-{name}")) for name in ("low", "high", "probability"))
        sizes, places = (
            known.evaluate(f"bar => bar.querySelector('.track').style.background{what}")
            for what in ("Size", "Position")
        )
        _, whisker, fill = (
            float(size.split("px" if "px" in size.split()[0] else "%")[0]) for size in sizes.split(", ")
        )
        scale = fill / p
        assert whisker == pytest.approx(scale * (high - low), abs=0.03)
        place = float(places.split(", ")[1].split("%")[0])
        assert place * (100 - whisker) / 100 == pytest.approx(scale * low, abs=0.03)


def apart(page, model, given) -> dict[str, float]:
    """Return by how much the bars of every panel differ from the model."""
    found = bars(page)
    return {
        name: max(
            abs(found[name][str(label)] - p)
            for label, p in zip(model.domain[name].labels, model.marginal(name, given=given).to_numpy(), strict=True)
        )
        for name in model.domain.names
    }


def test_a_smaller_model_answers_one_condition_as_the_file_does(browser, tmp_path):
    model = quietly(survey(600, seed=1), rank=12, method="em", smoothing=0.01)
    small = model.compress(2)
    worst = 0.0
    with watched(browser, saved(model, tmp_path / "small.html", rank=2)) as page:
        assert max(apart(page, model, {}).values()) < 1e-5
        for variable in model.domain:
            for label in variable.labels:
                given = {variable.name: label}
                click(page, variable.name, label)
                assert max(apart(page, model, given).values()) < 0.01
                worst = max(worst, *apart(page, small, given).values())
                probability = float(page.get_attribute("#probability", "data-probability"))
                assert probability == pytest.approx(model.prob(given), rel=1e-5)
                page.click("#reset")
        shift_click(page, "origin", ORIGINS[1])
        shift_click(page, "origin", ORIGINS[4])
        assert max(apart(page, model, {"origin": [ORIGINS[1], ORIGINS[4]]}).values()) < 0.01
        click(page, NAMES[1], "yes")
        assert "the page's smaller model" in page.inner_text("#limits")
    # the smaller model by itself would be off
    assert worst > 0.05


def test_what_the_page_has_no_room_for_is_told_at_the_answer(browser, tmp_path, monkeypatch):
    model = quietly(survey(600, seed=1), rank=12, method="em", smoothing=0.01)
    monkeypatch.setattr(carried_pairs, "_PAGE_BYTES", 0)
    report = juror.Report(model, rank=2)
    assert report.facts["pairs"]["fitted"] == report.facts["pairs"]["counts"] == []
    report.save(tmp_path / "poor.html")
    told = 0
    with watched(browser, tmp_path / "poor.html") as page:
        for label in model.domain["origin"].labels:
            click(page, "origin", label)
            off = apart(page, model, {"origin": label})
            for n, name in enumerate(NAMES):
                text = page.locator(".panel").nth(n).locator(".backing").text_content()
                points = re.search(r"bars may be (\d+) points? from the model's file", text)
                told += points is not None
                assert off[name] <= (0.01 if points is None else int(points[1]) / 100) + 1e-9
            page.click("#reset")
    assert told > 0


def path_of(*steps: tuple[int, float, int]) -> tuple[RankScore, ...]:
    return tuple(RankScore(*step) for step in steps)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (path_of((1, -2.0, 1), (2, -1.5, 2), (4, -1.6, 3)), "rank 2 was chosen. No larger rank tried scored higher"),
        (path_of((1, -2.0, 1), (2, -1.5, 2)), "rank 2 was chosen. It is the largest tried, so more classes might"),
        (path_of((1, -2.0, 1), (2, -1.5, 2), (4, -1.4995, 3)), "rank 2 was chosen, though rank 4 scored 0.0005 more"),
        (
            path_of((1, -2.0, 1), (2, -1.5, 2), (4, -1.4, 2)),
            "rank 2 was chosen, though rank 4 scored 0.1 more, without more classes in use",
        ),
        (path_of((1, -np.inf, 1), (2, -1.5, 2), (4, -1.7, 2)), "rank 2 was chosen. No larger rank tried"),
    ],
)
def test_the_sentence_about_the_rank_says_what_happened(browser, tmp_path, path, sentence):
    variables = (Variable("a", ("x", "y")), Variable("b", ("x", "y")))
    factors = [np.array([[0.9, 0.2], [0.1, 0.8]])] * 2
    info = replace(juror.fit({"a": ["x", "y"], "b": ["x", "y"]}, rank=2, method="em").info, rank_path=path)
    model = juror.JointPMF([0.5, 0.5], factors, juror.Domain(variables), info)
    with watched(browser, saved(model, tmp_path / "path.html")) as page:
        page.click("#tab-fit")
        assert sentence in page.inner_text("#fit-charts")

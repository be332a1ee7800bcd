"""Numbers on the report page, in a real browser: histograms, and ranges that end at any number, as Python answers."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe

import juror
from browser import open_browser, watched
from juror import Range
from juror.answers.histograms import below, bins_of, masses_of
from juror.report.number_facts import pieces_of
from test_explorer import assert_shows, sentence


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    n = 900
    kind = rng.choice(["a", "b"], n)
    day = datetime.date(2020, 1, 1)
    return pd.DataFrame(
        {
            "kind": kind,
            "age": rng.integers(17, 60, n) + np.where(kind == "a", 0, 12),
            "BMI": np.round(rng.normal(27, 4, n) + np.where(kind == "a", 0, 3), 1),
            "score": rng.lognormal(np.where(kind == "a", 0, 1), 1.0),
            "gain": np.where(rng.random(n) < 0.6, 0, rng.integers(100, 9000, n)),
            "seen": [day + datetime.timedelta(days=int(d)) for d in rng.gamma(2, 150, n)],
        }
    )


@pytest.fixture(scope="module")
def model(table):
    return juror.fit(table, rank=3, method="em", missing_as={})


@pytest.fixture(scope="module")
def report(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers") / "numbers.html"
    juror.Report(model, name="numbers.juror").save(path)
    return path


@pytest.fixture
def page(browser, report):
    with watched(browser, report) as page:
        yield page


def shown(page) -> dict[str, dict[str, float]]:
    read = page.eval_on_selector_all(
        "[data-probability][data-label]", "all => all.map(({dataset: d}) => [d.variable, d.label, d.probability])"
    )
    panels: dict[str, dict[str, float]] = {}
    for variable, label, probability in read:
        panels.setdefault(variable, {})[label] = float(probability)
    return panels


def assert_answers(page, model, given):
    """Compare all panels with Python, intervals that a range divides by the sums of their parts."""
    panels = shown(page)
    for variable in model.domain:
        table = model.marginal(variable.name, given=given)
        found = [panels[variable.name][juror.readers.columns.as_text(label)] for label in variable.labels]
        parts = table.variables[0]
        if parts is variable or parts == variable:
            expected = table.to_numpy()
        else:
            codes = juror.domain.binning.parts_of(variable, parts)[0]
            expected = np.bincount(codes, table.to_numpy(), variable.cardinality)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    probability = float(page.get_attribute("#probability", "data-probability"))
    assert probability == pytest.approx(model.prob(given), rel=0, abs=1e-9)


def panel(page, name: str):
    return page.locator(".panel.number", has=page.get_by_role("heading", name=name, exact=True))


@pytest.mark.parametrize(
    ("fragment", "given", "words"),
    [
        ("from.BMI=30&below.BMI=35", {"BMI": Range(at_least=30, below=35)}, "30 ≤ BMI < 35"),
        ("from.age=33&below.age=34", {"age": 33}, "age = 33"),
        ("from.score=1.234567", {"score": Range(at_least=1.234567)}, "score ≥ 1.23457"),
        ("below.seen=2020-07-04", {"seen": Range(below="2020-07-04")}, "seen < 2020-07-04"),
        (
            "from.gain=0.5&from.age=20.5&below.BMI=28.75&given.kind=a",
            {"gain": Range(at_least=0.5), "age": Range(at_least=20.5), "BMI": Range(below=28.75), "kind": "a"},
            "gain ≥ 1",
        ),
    ],
)
def test_ranges_end_at_any_number(browser, model, report, fragment, given, words):
    with watched(browser, report, f"#{fragment}") as page:
        assert_answers(page, model, given)
        assert words in sentence(page)
        question = page.inner_text("#ask-line").split("'")[1]
        targets = shown(page)[question.split(" |")[0]]
        np.testing.assert_allclose(model.ask(question).to_numpy().sum(), 1)
        assert set(targets)


def test_the_line_to_copy_asks_the_same_range(browser, model, report):
    with watched(browser, report, "#from.BMI=26.3&below.seen=2020-07-04") as page:
        page.select_option("#asked", label="kind")
        question = page.inner_text("#ask-line").split("'")[1]
        assert question == "kind | BMI >= 26.3, seen < 2020-07-04"
        found = [shown(page)["kind"][label] for label in ("a", "b")]
        np.testing.assert_allclose(model.ask(question).to_numpy(), found, rtol=0, atol=1e-9)


def test_median_and_middle_are_those_of_python(page, model):
    panel(page, "age").get_by_role("button", name="Choose a range").click()
    page.get_by_label("age at least").fill("30")
    page.keyboard.press("Enter")
    for name in ("age", "BMI", "gain", "seen"):
        low, median, high = model.quantile(name, [0.1, 0.5, 0.9], given="age >= 30")
        text = panel(page, name).locator(".spread").text_content()
        assert text == f"median {median}, middle 80 %: {low} to {high}"
    assert_answers(page, model, {"age": Range(at_least=30)})


PRICES = {
    "": None,
    "#from.price=250000": "price >= 250000",
    "#below.price=212350": "price < 212350",
    "#from.price=200001&below.price=200231": "200001 <= price < 200231",
}


def test_median_and_middle_lie_where_rows_do(browser, tmp_path):
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2020-01-01 00:30") + pd.to_timedelta(rng.integers(0, 5000, 600), unit="h")
    price = (rng.lognormal(12.5, 0.6, 600) / 100).round().astype(int) * 100 + 40
    model = juror.fit(pd.DataFrame({"seen": times, "price": price}), rank=2, method="em")
    juror.Report(model, name="m.juror").save(tmp_path / "prices.html")
    texts = {"seen": lambda x: x.isoformat(" ", "minutes"), "price": str}
    for fragment, given in PRICES.items():
        with watched(browser, tmp_path / "prices.html", fragment) as page:
            for name, text in texts.items():
                low, median, high = map(text, model.quantile(name, [0.1, 0.5, 0.9], given=given))
                # The text that there is, as a panel outside the window is not laid out
                told = panel(page, name).locator(".spread").text_content()
                assert told == f"median {median}, middle 80 %: {low} to {high}"
            assert all(x % 100 == 40 for x in model.quantile("price", [0.1, 0.5, 0.9], given=given))


def test_a_range_is_drawn_over_values_and_removed(page, model):
    svg = panel(page, "BMI").locator("svg")
    box = svg.bounding_box()
    page.mouse.move(box["x"] + 90, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 50, steps=3)
    drawn = panel(page, "BMI").locator(".spread").text_content()
    page.mouse.up()
    words = sentence(page)
    low, high = (
        float(panel(page, "BMI").locator(f"[data-end={end}]").get_attribute("aria-valuenow"))
        for end in ("from", "below")
    )
    assert low < high
    assert drawn.startswith(f"{low:g} ≤ BMI < {high:g}: ")
    assert f"{low:g} ≤ BMI < {high:g}" in words
    assert_answers(page, model, {"BMI": Range(at_least=low, below=high)})
    page.locator(".chip").click()
    assert "Nothing is given" in sentence(page)


def test_a_range_by_keys(page, model):
    handle = panel(page, "age").locator("[data-end=from]")
    handle.focus()
    page.keyboard.press("PageUp")
    page.keyboard.press("ArrowRight")
    low = float(handle.get_attribute("aria-valuenow"))
    assert low > 17
    assert_answers(page, model, {"age": Range(at_least=low)})
    page.keyboard.press("Home")
    assert "Nothing is given" in sentence(page)


def test_a_range_by_touch(browser, model, report):
    with watched(browser, report, viewport={"width": 390, "height": 800}, has_touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        svg = panel(page, "age").locator("svg")
        svg.scroll_into_view_if_needed()
        box = svg.bounding_box()
        send = page.context.new_cdp_session(page).send
        at = [{"x": box["x"] + x, "y": box["y"] + 60} for x in (100, 130, 180)]
        send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at[:1]})
        for point in at[1:]:
            send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [point]})
        send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_selector(".chip")
        assert "≤ age <" in sentence(page)


def test_a_click_chooses_an_interval_and_its_rows(page, model):
    label = model.domain["age"].labels[3]
    panel(page, "age").locator(f'.interval[data-label="{label}"]').click()
    assert_shows(page, model, {"age": label})
    assert "shares of" in panel(page, "BMI").locator(".backing").text_content()
    # what counts do not know is not shown
    panel(page, "age").get_by_role("button", name="Choose a range").click()
    page.get_by_label("age at least").fill(str(model.domain["age"].edges[3] + 1))
    page.keyboard.press("Enter")
    assert panel(page, "BMI").locator(".backing").text_content() == ""


def test_a_number_that_may_be_missing(browser, table, tmp_path):
    holes = table[["kind", "age"]].assign(age=table["age"].where(table["kind"] == "a"))
    model = juror.fit(holes, rank=2, method="em", missing_as={"age": "not asked"})
    juror.Report(model, name="m.juror").save(tmp_path / "holes.html")
    with watched(browser, tmp_path / "holes.html") as page:
        page.locator('.bar[data-label="not asked"]').click()
        assert_shows(page, model, {"age": "not asked"})
        assert panel(page, "age").locator(".spread").text_content() == ""
        page.evaluate("location.hash = 'from.age=30.5'")
        page.wait_for_function("document.querySelector('#sentence').textContent.includes('≥')")
        assert_answers(page, model, {"age": Range(at_least=30.5)})


def test_what_is_no_number_and_what_never_happens(page, model):
    panel(page, "seen").get_by_role("button", name="Choose a range").click()
    page.get_by_label("seen at least").fill("yesterday")
    page.keyboard.press("Enter")
    assert "“yesterday” is not a date of seen" in page.inner_text("#message")
    page.get_by_label("seen at least").fill("2090-01-01")
    page.keyboard.press("Enter")
    assert "never happens that seen ≥ 2090-01-01" in page.inner_text("#message")
    assert "Nothing is given" in sentence(page)


def test_a_typed_range_moves_upward_box_by_box(page):
    page.get_by_label("Choose a range of age").click()
    low, high = page.get_by_label("age at least"), page.get_by_label("age less than")
    for box, text in ((low, "20"), (high, "25"), (low, "30")):
        box.fill(text)
        box.press("Enter")
    message = page.locator("#message")
    assert message.inner_text() == "The range of age from 30 to below 25 is empty. Change the other box too."
    assert (low.input_value(), high.input_value()) == ("30", "25")
    assert low.get_attribute("aria-invalid") == high.get_attribute("aria-invalid") == "true"
    assert "20" in sentence(page)
    high.fill("40")
    high.press("Enter")
    assert "30" in sentence(page)
    assert "40" in sentence(page)
    assert message.inner_text() == ""
    assert (low.get_attribute("aria-invalid"), high.get_attribute("aria-invalid")) == (None, None)


def test_ranges_of_times_end_at_whole_hours(browser, tmp_path):
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 30 * 86_400, 600), unit="s")
    juror.Report(juror.fit(pd.DataFrame({"at": times, "a": rng.integers(0, 2, 600)}), rank=2, method="em")).save(
        tmp_path / "times.html"
    )
    with watched(browser, tmp_path / "times.html") as page:
        box = page.locator("svg.histogram").first.bounding_box()
        page.mouse.move(box["x"] + 101, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 203, box["y"] + 60, steps=4)
        page.mouse.up()
        ends = page.evaluate("new URLSearchParams(location.hash.slice(1)).entries().toArray().map(([, end]) => end)")
        assert len(ends) == 2
        assert all(pd.Timestamp(end).minute == pd.Timestamp(end).second == 0 for end in ends)


def test_a_simpler_law_carries_its_error(browser, table, tmp_path, monkeypatch):
    model = juror.fit(table, rank=2, method="em", missing_as={})
    monkeypatch.setattr("juror.report.number_facts.pieces_of", lambda inside: pieces_of(inside, 25))
    report = juror.Report(model)
    report.save(tmp_path / "simple.html")
    error = report.facts["variables"][3]["number"]["error"]
    assert 0 < error < 0.5
    with watched(browser, tmp_path / "simple.html", "#from.score=1.7&below.score=1.9") as page:
        exact = model.marginal("kind", given="1.7 <= score < 1.9").to_numpy()
        found = np.array([shown(page)["kind"][label] for label in ("a", "b")])
        told = page.inner_text("#limits")
        assert "The page knows how score lies inside its intervals to" in told
        off = float(told.split("off by ")[1].split(" ")[0].lstrip("<")) / 100
        assert np.abs(found - exact).max() <= off


def test_pieces_of_a_law_are_all_of_it_or_say_how_far_off(model):
    inside = model.domain["score"].inside
    places = np.linspace(-1.0, 60.0, 4000)
    codes = inside.intervals_of(places)
    for most in (20, 40, 10**6):
        bounds, masses, error = pieces_of(inside, most)
        simple = type(inside)(
            juror.domain.law.Law(inside.law.grid, tuple(bounds[:-1]), tuple(bounds[1:]), tuple(masses)), inside.cuts
        )
        apart = np.abs(simple.shares_below(codes, places) - inside.shares_below(codes, places)).max()
        assert apart <= error + 1e-9
    assert error == 0.0


@pytest.mark.parametrize("name", ["age", "BMI", "score", "gain", "seen"])
def test_bins_hold_all_numbers(model, name):
    variable = model.domain[name]
    p = model.marginal(name).to_numpy()
    bins = bins_of(variable, p)
    assert np.all(np.diff(bins.bounds) > 0)
    masses = masses_of(variable, p, bins)
    assert masses.sum() == pytest.approx(1, abs=1e-9)
    assert below(variable, p, np.array([bins.axis[1]]))[0] > 0.99
    assert bins.are_stems.sum() == (name == "gain")
    if name == "gain":
        expected = model.prob({"gain": 0})
        assert masses[bins.are_stems][0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore:Column 'rare' is constant")
@pytest.mark.parametrize("value", [1.5, -3.25, datetime.date(2020, 2, 29)])
def test_a_column_of_one_rare_number_has_a_bin(value):
    rare = pd.DataFrame({"rare": [value] * 3 + [None] * 37, "kind": ["a", "b"] * 20})
    model = juror.fit(rare, rank=1, method="em", missing_as={})
    variable, p = model.domain["rare"], model.marginal("rare").to_numpy()
    assert masses_of(variable, p, bins_of(variable, p)).sum() == pytest.approx(1, abs=1e-9)
    assert "<html" in juror.Report(model).to_html()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(browser, report, scheme):
    with watched(browser, report, "#from.BMI=26.3&given.kind=a", color_scheme=scheme) as page:
        found = Axe().run(page)
        assert found.response["violations"] == [], found.generate_report()


def test_surprising_cells_are_named_as_conditions_are(browser, model, table, tmp_path):
    juror.Report(model, table[:400]).save(tmp_path / "unusual.html")
    with watched(browser, tmp_path / "unusual.html") as page:
        page.click("#tab-observed")
        cells = page.locator("#observed-rows .cell").all_inner_texts()
    told = "\n".join(cells)
    assert "kind is" in told
    assert "≥" in told
    assert " = <" not in told
    assert " = >" not in told
    assert " = [" not in told

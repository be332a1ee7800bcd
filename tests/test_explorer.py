"""The report page in a real browser: it shows what Python computes, whatever was clicked."""

from __future__ import annotations

import re
import shlex
import warnings

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from typer.testing import CliRunner

import juror
from browser import open_browser, watched
from juror import Range
from juror.cli.app import app
from juror.domain.variable import Variable
from juror.testing import random_codes, random_model

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    'it\'s "quoted" & 100 % \\ done',
    "a | b, c = {d}",
    "not",
    " spaces  and\ttab ",
    "ünïcödé 日本 🙂",
    "&lt;b&gt;",
]


AGES = ("<18", "[18, 40)", "[40, 65)", ">=65")


def small_model(seed: int = 0, **options) -> juror.JointPMF:
    domain = juror.Domain(
        (
            Variable("colour", ("red", "green", "blue")),
            Variable("safety", ("low", "med", "high", "top"), kind="ordinal"),
            Variable("doors", (2, 3, 4, 5), kind="ordinal"),
            Variable("age", AGES, "binned", (0, 18, 40, 65, 120), open_ended=True),
            Variable("sold", (False, True)),
            Variable("shape", tuple("abcdefghijkl")),
        )
    )
    rng = np.random.default_rng(seed)
    return random_model(domain.cardinalities, 7, rng, domain=domain, concentration=0.5, **options)


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture(scope="module")
def report(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "car.html"
    juror.Report(model, name="car.juror").save(path)
    return path


@pytest.fixture
def page(browser, report):
    with watched(browser, report) as page:
        yield page


@pytest.fixture(scope="module")
def people():
    return juror.datasets.titanic()


@pytest.fixture(scope="module")
def titanic(people):
    return juror.fit(people, rank=4, method="em")


@pytest.fixture(scope="module")
def people_report(titanic, people, tmp_path_factory):
    """The page of a model beside the rows that it was fitted to."""
    return saved(titanic, tmp_path_factory.mktemp("titanic") / "titanic.html", data=people)


def bars(page) -> dict[str, dict[str, float]]:
    """Read every bar of the page, as any tool can."""
    read = page.eval_on_selector_all(
        "[data-probability][data-label]", "bars => bars.map(({dataset: d}) => [d.variable, d.label, d.probability])"
    )
    panels: dict[str, dict[str, float]] = {}
    for variable, label, probability in read:
        panels.setdefault(variable, {})[label] = float(probability)
    return panels


def assert_shows(page, model, given=None, names=None):
    """Compare all panels with Python, or those of some variables."""
    shown = bars(page)
    assert set(shown) == set(model.domain.names)
    for variable in (model.domain[name] for name in names or model.domain.names):
        expected = model.marginal(variable.name, given=given).to_numpy()
        texts = [juror.readers.columns.as_text(label) for label in variable.labels]
        assert set(shown[variable.name]) == set(texts)
        found = [shown[variable.name][text] for text in texts]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def bar(page, variable: str, label: object):
    """Return a bar by its data, whatever they hold."""
    find = """([v, l]) => [...document.querySelectorAll('.bar, .interval')]
      .find(({dataset: d}) => d.variable == v && d.label == l)"""
    return page.evaluate_handle(find, [variable, str(label)]).as_element()


def click(page, variable: str, label: object, **options):
    bar(page, variable, label).click(**options)


def shift_click(page, variable: str, label: object):
    click(page, variable, label, modifiers=["Shift"])


def shift_click_all(page, given: dict[str, list]):
    """Shift-click many bars at once, by events: other tests click with the mouse."""
    bars = [[name, str(label)] for name, labels in given.items() for label in labels]
    page.evaluate(
        """wanted => {
          const bars = [...document.querySelectorAll('.bar, .interval')];
          for (const [v, l] of wanted) {
            const bar = bars.find(({dataset: d}) => d.variable == v && d.label == l);
            bar.dispatchEvent(new MouseEvent('click', {shiftKey: true, bubbles: true}));
          }
        }""",
        bars,
    )


def sentence(page) -> str:
    return " ".join(page.inner_text("#sentence").split())


def asked(page) -> str:
    """Run the line that the page gives to copy; return the question."""
    command, ask, file, question = shlex.split(page.inner_text("#ask-line"))
    assert (command, ask) == ("juror", "ask")
    assert file == "car.juror"
    return question


def test_at_first_marginals_are_shown(page, model):
    assert_shows(page, model)
    assert "Nothing is given" in sentence(page)


def test_a_wrong_bar_would_be_found(page, model):
    bar(page, "colour", "red").evaluate("bar => bar.dataset.probability = Number(bar.dataset.probability) + 2e-9")
    with pytest.raises(AssertionError):
        assert_shows(page, model)


def test_clicks_are_evidence_and_clear_it(page, model):
    click(page, "colour", "green")
    assert_shows(page, model, {"colour": "green"})
    click(page, "safety", "high")
    assert_shows(page, model, {"colour": "green", "safety": "high"})
    probability = float(page.get_attribute("#probability", "data-probability"))
    assert probability == pytest.approx(model.prob({"colour": "green", "safety": "high"}), rel=0, abs=1e-9)
    assert sentence(page).startswith("Given that colour is green and safety is high, which holds with probability")
    click(page, "colour", "red")
    assert_shows(page, model, {"colour": "red", "safety": "high"})
    click(page, "colour", "red")
    assert_shows(page, model, {"safety": "high"})
    click(page, "safety", "high")
    assert_shows(page, model)


def test_shift_clicks_make_sets(page, model):
    for label in ("a", "k", "c"):
        shift_click(page, "shape", label)
    assert_shows(page, model, {"shape": ["a", "c", "k"]})
    assert "shape is a, c or k" in sentence(page)
    click(page, "sold", "True")
    assert_shows(page, model, {"shape": ["a", "c", "k"], "sold": True})
    shift_click(page, "shape", "c")
    assert_shows(page, model, {"shape": ["a", "k"], "sold": True})
    # two sets: each bar within one of them is given the other
    shift_click(page, "colour", "red")
    shift_click(page, "colour", "blue")
    assert_shows(page, model, {"shape": ["a", "k"], "sold": True, "colour": ["red", "blue"]})
    assert "colour is not green" in sentence(page)


def test_a_set_of_all_labels_is_no_evidence(page, model):
    for label in ("red", "green", "blue"):
        shift_click(page, "colour", label)
    assert "Nothing is given" in sentence(page)
    assert_shows(page, model)


def test_the_button_for_sets_stands_for_the_shift_key(page, model):
    page.click("#several")
    click(page, "shape", "b")
    click(page, "shape", "d")
    assert_shows(page, model, {"shape": ["b", "d"]})


def test_a_range_is_drawn_over_bars(page, model):
    start, end = bar(page, "safety", "med"), bar(page, "safety", "top")
    start.hover()
    page.mouse.down()
    end.hover()
    page.mouse.up()
    assert_shows(page, model, {"safety": Range(at_least="med")})
    assert "safety is at least med" in sentence(page)
    click(page, "safety", "low")
    assert_shows(page, model, {"safety": "low"})


def test_drawing_over_names_without_order_is_no_range(page, model):
    bar(page, "colour", "red").hover()
    page.mouse.down()
    bar(page, "colour", "blue").hover()
    page.mouse.up()
    assert_shows(page, model)


def test_a_range_is_chosen_by_its_ends(page, model):
    page.get_by_role("button", name="Choose a range of safety").click()
    page.get_by_label("safety from").select_option("med")
    page.get_by_label("safety to").select_option("high")
    assert_shows(page, model, {"safety": Range(at_least="med", at_most="high")})
    assert "safety is from med to high" in sentence(page)


def test_no_range_includes_the_label_of_missing_cells(browser, tmp_path):
    domain = small_model().domain.with_missing_as({"age": "not asked"})
    model = random_model(domain.cardinalities, 4, np.random.default_rng(0), domain=domain)
    juror.Report(model, name="car.juror").save(tmp_path / "car.html")
    with watched(browser, tmp_path / "car.html") as page:
        shift_click_all(page, {"age": [AGES[2], AGES[3]]})
        assert_shows(page, model, {"age": Range(at_least=40)})
        assert "age ≥ 40" in sentence(page)
        assert asked(page).endswith("| age >= 40")
        shift_click(page, "age", "not asked")
        assert_shows(page, model, {"age": [*AGES[2:], "not asked"]})
        assert "age in {" in asked(page)
        shift_click_all(page, {"age": ["not asked", *AGES[:2]]})
        assert "age is not not asked" in sentence(page)


def test_undo_goes_back_step_by_step_and_reset_clears(page, model):
    assert page.is_disabled("#undo")
    click(page, "colour", "green")
    shift_click(page, "colour", "red")
    click(page, "sold", "False")
    page.click("#undo")
    assert_shows(page, model, {"colour": ["red", "green"]})
    page.keyboard.press("Control+z")
    assert_shows(page, model, {"colour": "green"})
    page.click("#reset")
    assert_shows(page, model)
    page.click("#undo")
    assert_shows(page, model, {"colour": "green"})
    page.click("#undo")
    assert_shows(page, model)
    assert page.is_disabled("#undo")


def test_a_part_of_the_sentence_clears_its_evidence(page, model):
    click(page, "colour", "green")
    click(page, "sold", "True")
    page.get_by_role("button", name="colour is green").click()
    assert_shows(page, model, {"sold": True})


def test_a_link_carries_the_evidence(browser, page, model, report):
    click(page, "age", "[18, 40)")
    shift_click(page, "shape", "a")
    shift_click(page, "shape", "l")
    _, mark, fragment = page.url.partition("#")
    with watched(browser, report, mark + fragment) as other:
        assert_shows(other, model, {"age": "[18, 40)", "shape": ["a", "l"]})
        other.evaluate("location.hash = 'given.colour=red'")
        other.wait_for_function("document.querySelector('#sentence').textContent.includes('colour')")
        assert_shows(other, model, {"colour": "red"})


def test_a_link_to_what_is_not_there_says_so(browser, model, report):
    with watched(browser, report, "#given.colour=mauve&given.price=1&given.sold=True") as page:
        assert_shows(page, model, {"sold": True})
        assert "colour = “mauve”, which is not among its labels" in page.inner_text("#message")
        assert "“price”, which this model does not have" in page.inner_text("#message")


@pytest.mark.parametrize(
    "given",
    [
        {"colour": ["green"], "doors": ["3", "4", "5"]},
        {"age": ["<18", "[18, 40)"], "shape": ["a", "b", "f"]},
        {"age": ["[18, 40)", "[40, 65)"], "safety": ["low", "high"]},
        {"doors": ["3", "4"], "sold": ["True"], "colour": ["red", "blue"]},
    ],
)
def test_the_line_to_copy_asks_the_same(page, model, given):
    shift_click_all(page, given)
    panels = bars(page)
    for target in model.domain.names:
        page.select_option("#asked", label=target)
        table = model.ask(asked(page))
        assert table.variables[0].name == target
        shown = [panels[target][str(label)] for label in model.domain[target].labels]
        np.testing.assert_allclose(table.to_numpy(), shown, rtol=0, atol=1e-9)


def test_the_line_to_copy_runs(page, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.save("car.juror")
    click(page, "age", "[18, 40)")
    _, *arguments = shlex.split(page.inner_text("#ask-line"))
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert "age" not in done.stdout.splitlines()[0]


def test_panels_that_moved_most_come_first(page, model):
    click(page, "colour", "green")
    page.select_option("#sort", "moved")
    order = page.eval_on_selector_all(
        ".panel", "ps => ps.map(p => p.querySelector('[data-variable]').dataset.variable)"
    )
    shown = bars(page)

    def moved(name: str) -> float:
        p, q = np.array(list(shown[name].values())), model.marginal(name).to_numpy()
        q = dict(zip(map(str, model.domain[name].labels), q, strict=True))
        q = np.array([q[label] for label in shown[name]])
        m = (p + q) / 2
        return sum(float(np.sum(x[x > 0] * np.log2(x[x > 0] / m[x > 0]))) / 2 for x in (p, q))

    assert order == ["colour", *sorted(set(order) - {"colour"}, key=moved, reverse=True)]
    page.select_option("#sort", "name")
    order = page.eval_on_selector_all(
        ".panel", "ps => ps.map(p => p.querySelector('[data-variable]').dataset.variable)"
    )
    assert order == sorted(model.domain.names)


def test_a_search_finds_names_and_labels(page):
    for words, found in (("SAF", ["safety"]), ("green", ["colour"]), ("zzz", [])):
        page.fill("#search", words)
        assert page.locator(".panel:visible h3").all_text_contents() == found
    page.press("#search", "Escape")
    assert page.locator(".panel:visible").count() == 6


def test_the_keyboard_does_it_all(page, model):
    page.focus("#copy-ask")
    page.keyboard.press("Tab")
    focused = "document.activeElement.dataset.label"
    assert page.evaluate(focused) == "red"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "green"
    page.keyboard.press("Enter")
    assert_shows(page, model, {"colour": "green"})
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Space")
    assert_shows(page, model, {"colour": ["green", "blue"]})
    page.keyboard.press("Space")
    assert_shows(page, model, {"colour": "blue"})
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.variable ?? document.activeElement.textContent") == "range"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"


def test_focus_stays_on_a_bar_that_moves(page):
    page.select_option("#sort", "moved")
    bar(page, "shape", "k").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.dataset.label") == "k"


def test_what_never_happens_is_said_and_changes_nothing(browser, tmp_path):
    model = juror.JointPMF([0.5, 0.5], [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    juror.Report(model).save(tmp_path / "sure.html")
    with watched(browser, tmp_path / "sure.html") as page:
        click(page, "x0", "0")
        click(page, "x1", "1")
        assert "it never happens that x0 is 0 and x1 is 1" in page.inner_text("#message")
        assert_shows(page, model, {"x0": 0})
    with watched(browser, tmp_path / "sure.html", "#given.x0=0&given.x1=1") as page:
        assert "it never happens" in page.inner_text("#message")
        assert_shows(page, model)


@pytest.mark.parametrize("seed", range(3))
def test_random_models_with_zeros_and_random_evidence(browser, tmp_path, seed):
    model = small_model(seed, zeros=0.2)
    path = tmp_path / "random.html"
    juror.Report(model).save(path)
    rng = np.random.default_rng(seed)
    with watched(browser, path) as page:
        for _ in range(6):
            chosen = rng.choice(len(model.domain), size=rng.integers(1, 4), replace=False)
            given = {}
            for n in chosen:
                labels = model.domain[int(n)].labels
                some = rng.choice(len(labels), size=rng.integers(1, len(labels)), replace=False)
                given[model.domain[int(n)].name] = [labels[i] for i in some]
            if model.prob(given) == 0:
                continue
            page.click("#reset") if page.is_enabled("#reset") else None
            shift_click_all(page, given)
            if page.inner_text("#message"):
                continue  # some clicks before the last one gave impossible evidence
            assert_shows(page, model, given)


def test_hostile_names_and_labels_are_text(browser, tmp_path):
    variables = [Variable(name, tuple(HOSTILE)) for name in HOSTILE]
    model = random_model(
        [len(HOSTILE)] * len(HOSTILE), 3, np.random.default_rng(0), domain=juror.Domain(tuple(variables))
    )
    path = tmp_path / "hostile.html"
    juror.Report(model, name="<b>'x'<b>.juror").save(path)
    with watched(browser, path) as page:
        assert page.title() == "<b>'x'<b>"
        given = {}
        for name, label in zip(HOSTILE, reversed(HOSTILE), strict=True):
            click(page, name, label)
            given[name] = label
            assert_shows(page, model, given)
        page.click("#undo")
        given.popitem()
        *_, question = shlex.split(page.inner_text("#ask-line"))
        assert model.ask(question).to_numpy().sum() == pytest.approx(1)
        link = page.url
        for tab in ("dependence", "classes", "fit"):
            page.click(f"#tab-{tab}")
        assert page.locator("img, main script").count() == 0
    with watched(browser, path, "#" + link.partition("#")[2]) as page:
        assert_shows(page, model, given)


def test_sixty_variables(browser, tmp_path):
    model = random_model([10] * 60, 50, np.random.default_rng(0), concentration=0.3)
    path = tmp_path / "sixty.html"
    juror.Report(model).save(path)
    assert path.stat().st_size < 2_000_000
    with watched(browser, path) as page:
        given = {}
        for n in (0, 59, 31):
            click(page, f"x{n}", n % 10)
            given[f"x{n}"] = n % 10
            assert_shows(page, model, given)
        page.fill("#search", "x58")
        assert page.locator(".panel:visible").count() == 1
        page.click("#tab-dependence")
        assert page.locator("#strongest tbody tr").count() == 12


def test_evidence_on_hundreds_of_variables_does_not_underflow(browser, tmp_path):
    model = random_model([8] * 250, 2, np.random.default_rng(0))
    path = saved(model, tmp_path / "many.html")
    # the rarest label of every variable but the last
    given = {name: int(model.marginal(name).to_numpy().argmin()) for name in model.domain.names[:-1]}
    fragment = "#" + "&".join(f"given.{name}={label}" for name, label in given.items())
    with watched(browser, path, fragment) as page:
        assert_shows(page, model, given, ["x0", "x150", "x249"])
        log = float(page.get_attribute("#probability", "data-log-probability"))
        assert log == pytest.approx(float(model.log_prob({name: [v] for name, v in given.items()})[0]), rel=1e-12)
        assert np.exp(log) == 0.0
        assert re.search(r"probability e\^−\d", sentence(page))


def test_the_map_and_its_pair(page, model):
    page.click("#tab-dependence")
    a, b, value = model.dependence().strongest(1)[0]
    assert page.inner_text("#strongest tbody tr >> nth=0").split() == [a, "and", b, f"{value:.3f}"]
    page.select_option("#pair-a", label="colour")
    page.select_option("#pair-b", label="doors")
    page.select_option("#pair-what", "joint")
    joint = model.marginal("colour", "doors").to_numpy()
    cells = page.eval_on_selector_all(
        "#pair tbody tr", "rows => rows.map(r => [...r.querySelectorAll('td')].map(c => c.title))"
    )
    assert len(cells) == 3
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    for i, row in enumerate(cells):
        for j, text in enumerate(row):
            percents = [float(number) for number in re.findall(r"([\d.]+) %", text)]
            assert percents == pytest.approx([100 * joint[i, j], 100 * independent[i, j]], abs=0.051)
    # a click on a cell of the map: its first row is the first variable of the order
    order = [model.domain.position(name) for name in model.dependence().clustered().names]
    width = page.locator("#map").bounding_box()["width"]
    names = 130  # pixels, left of the cells and above them
    cell = (width - names) / len(order)
    page.locator("#map").click(position={"x": names + 1.5 * cell, "y": names + 0.5 * cell})
    chosen = [page.input_value("#pair-a"), page.input_value("#pair-b")]
    assert chosen == [str(order[0]), str(order[1])]


def test_classes_by_weight(page, model):
    page.click("#tab-classes")
    weights = [float(text.split()[-2]) for text in page.locator("#class-cards h3").all_inner_texts()]
    assert weights == pytest.approx(100 * np.sort(model.weights)[::-1], abs=0.051)


def test_a_page_of_fewer_classes_says_how_far_it_is(browser, tmp_path):
    model = small_model(1)
    juror.Report(model, rank=3).save(tmp_path / "small.html")
    with watched(browser, tmp_path / "small.html") as page:
        assert "a smaller model near the fitted one" in page.inner_text(".notice")
        page.click("#tab-fit")
        assert "3, the nearest model with that many" in page.inner_text("#fit-facts")
        page.click("#tab-explorer")
        small = model.compress(3)
        given = {"colour": "red", "sold": True}
        for name, label in given.items():
            click(page, name, label)
        assert_shows(page, small, given)


def test_a_notebook_shows_the_page_in_a_frame(browser, model, tmp_path):
    cell = juror.Report(model)._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><html data-ready><body>{cell}</body></html>")
    with watched(browser, tmp_path / "notebook.html") as page:
        (frame,) = (frame for frame in page.frames if frame != page.main_frame)
        frame.wait_for_selector("html[data-ready]", state="attached")
        click(frame, "colour", "green")
        assert_shows(frame, model, {"colour": "green"})
        assert not frame.is_visible("#copy-link")


def test_beside_data(browser, titanic, people, tmp_path):
    # the first and second class and some of the third: not what the model was fitted to
    model, some = titanic, people[:1000]
    report = juror.Report(model, some)
    report.save(tmp_path / "titanic.html")
    with watched(browser, tmp_path / "titanic.html") as page:
        page.click("#tab-observed")
        assert "1,000" in page.inner_text("#observed-facts")
        surprising = [row for row in report.facts["observed"]["unusual"] if row["surprise"] > 0]
        assert page.locator("#observed-rows tbody tr").count() == len(surprising) > 0
        assert page.locator("#observed-calibration svg").count() == 1
        page.get_by_role("button", name="Class and Age").click()
        counts = juror.PairCounts.of(some, model.domain).table("Class", "Age").to_numpy()
        titles = page.eval_on_selector_all("#observed-pairs [title]", "cells => cells.map(c => c.title)")
        assert [title.split()[0] for title in titles] == [f"{int(n):,}" for n in counts.ravel()]
        assert "flatters" not in page.inner_text("#observed")
        page.click("#tab-fit")
        assert f"{model.info.bic:,.1f}"[:6] in page.inner_text("#fit").replace("−", "-")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(browser, people_report, scheme):
    with watched(browser, people_report, color_scheme=scheme) as page:
        click(page, "Sex", "Female")
        for tab in ("explorer", "dependence", "classes", "fit", "observed"):
            page.click(f"#tab-{tab}")
            found = Axe().run(page)
            assert found.response["violations"] == [], found.generate_report()


def test_a_phone_needs_no_sideways_scrolling(browser, report):
    with watched(browser, report, viewport={"width": 360, "height": 740}, has_touch=True) as page:
        bar(page, "colour", "green").tap()
        for tab in ("explorer", "dependence", "classes", "fit"):
            page.tap(f"#tab-{tab}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_paper_has_all_views_in_light_colours(browser, report):
    with watched(browser, report, color_scheme="dark") as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert all(page.is_visible(f"#{view}") for view in ("explorer", "dependence", "classes", "fit"))
        assert page.get_attribute("html", "data-theme") == "light"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.get_attribute("html", "data-theme") == "dark"


def saved(model, path, **options):
    juror.Report(model, **options).save(path)
    return path


def test_classes_that_evidence_left_far_behind_can_come_back(browser, tmp_path):
    # each class is 10⁻⁶ as probable as the other in turn: scaled step by step, one of them would be lost for good
    factor = [[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]]
    model = juror.JointPMF([0.5, 0.5], [factor] * 114)
    given = {f"x{n}": 1 if n < 54 else 0 for n in range(113)}
    fragment = "#" + "&".join(f"given.{name}={label}" for name, label in given.items())
    with watched(browser, saved(model, tmp_path / "far.html"), fragment) as page:
        assert_shows(page, model, given, ["x113", "x0"])
        log = float(page.get_attribute("#probability", "data-log-probability"))
        assert log == pytest.approx(
            float(model.log_prob({name: [label] for name, label in given.items()})[0]), rel=1e-12
        )


def test_probabilities_next_to_nothing_are_not_nothing(browser, tmp_path):
    tiny = 1e-320
    factors = [[[1.0, tiny], [0.0, 1 - tiny]], [[tiny, 1.0], [1.0, 0.0]], [[0.5, 0.1], [0.3, 0.1], [0.2, 0.8]]]
    model = juror.JointPMF([0.5, 0.5], factors)
    path = saved(model, tmp_path / "tiny.html")
    with watched(browser, path, "#given.x0=0&given.x1=0&given.x2=0&given.x2=1") as page:
        assert_shows(page, model, {"x0": 0, "x1": 0, "x2": [0, 1]})
        assert page.inner_text("#message") == ""


def test_a_link_cut_or_written_anew_by_mail_says_what_is_lost(browser, model, report):
    with watched(browser, report, "#given.colour=red&amp;given.sold=True&giv") as page:
        assert_shows(page, model, {"colour": "red", "sold": True})
        assert "The link has “giv”, which is not understood" in page.inner_text("#message")


def test_tables_of_hundreds_of_labels_show_the_most_common(browser, tmp_path):
    model = random_model([360, 400, 2], 3, np.random.default_rng(0))
    with watched(browser, saved(model, tmp_path / "large.html")) as page:
        page.click("#tab-dependence")
        page.select_option("#pair-a", label="x0")
        page.select_option("#pair-b", label="x1")
        assert page.locator("#pair tbody tr").count() == 60
        assert "for the 60 most common labels" in page.inner_text("#pair")


def test_one_variable_of_one_label(browser, tmp_path):
    model = juror.JointPMF([1.0], [[[1.0]]])
    with watched(browser, saved(model, tmp_path / "one.html")) as page:
        assert_shows(page, model)
        assert page.locator(".value").inner_text() == "100 %"
        page.click("#tab-dependence")
        page.select_option("#pair-what", "joint")


def test_names_that_begin_with_a_dash_can_be_asked_for(browser, tmp_path, monkeypatch):
    domain = juror.Domain.infer({"-x": ["-1", "--help"], "y": ["a", "b"]})
    model = random_model([2, 2], 2, np.random.default_rng(0), domain=domain)
    monkeypatch.chdir(tmp_path)
    model.save("-m.juror")
    with watched(browser, saved(model, tmp_path / "dash.html", name="-m.juror")) as page:
        click(page, "y", "a")
        _, *arguments = shlex.split(page.inner_text("#ask-line"))
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize("method", ["em", "spa", "spa-em", "ctf", "juror-a", "juror-b", "juror-c", "bayes"])
def test_every_method_has_a_fit_to_look_at(browser, tmp_path, method):
    rng = np.random.default_rng(0)
    codes = random_codes(random_model([3, 3, 3, 3], 2, rng), 400, rng)
    more = {"sweeps": 60, "burnt": 20, "draws": 10} if method == "bayes" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = juror.fit(codes, rank=2, method=method, **more)
    with watched(browser, saved(model, tmp_path / "fit.html", data=codes)) as page:
        for tab in ("fit", "classes", "dependence", "observed"):
            page.click(f"#tab-{tab}")
        assert method in page.text_content("#fit-facts")


def test_the_rank_that_was_chosen_is_marked(browser, people, tmp_path):
    model = juror.fit(people, method="em")
    with watched(browser, saved(model, tmp_path / "path.html")) as page:
        page.click("#tab-fit")
        assert f"rank {model.rank} was chosen" in page.inner_text("#fit-charts")
        assert page.text_content("#fit-charts .dot.marked title").startswith(f"rank {model.rank}:")


def test_rows_that_the_model_was_fitted_to_are_called_so(browser, people_report):
    # test_beside_data sees that other rows are not
    with watched(browser, people_report) as page:
        page.click("#tab-observed")
        assert "flatters" in page.inner_text("#observed")


def test_few_rows_behind_the_evidence_are_told(browser, people_report):
    with watched(browser, people_report) as page:
        click(page, "Class", "Crew")
        assert "of 2,201 rows" not in sentence(page)
        click(page, "Age", "Child")
        assert "of 2,201 rows, too few for reliable answers" in sentence(page)


def test_a_panel_is_one_stop_of_the_tab_key(page):
    click(page, "colour", "blue")
    page.keyboard.press("ArrowUp")
    stops = "bars => bars.filter(bar => bar.tabIndex === 0).map(bar => bar.dataset.label)"
    assert page.eval_on_selector_all("[data-variable=colour]", stops) == ["green"]


def test_the_focus_goes_on_when_what_had_it_is_gone(page):
    click(page, "colour", "blue")
    click(page, "sold", "True")
    for focused in ("sold is True", ""):
        page.focus(".chip")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.textContent") == focused
    assert page.evaluate("document.activeElement.id") == "search"


def test_what_is_known_is_in_sight_in_a_long_panel(browser, tmp_path):
    model = random_model([40, 2], 2, np.random.default_rng(0), domain=juror.Domain.from_cardinalities([40, 2]))
    with watched(browser, saved(model, tmp_path / "long.html"), "#given.x0=37") as page:
        known = page.locator("[data-variable=x0][data-label='37']").bounding_box()
        frame = page.locator(".bars").first.bounding_box()
        assert frame["y"] <= known["y"] <= frame["y"] + frame["height"] - known["height"]

"""Forests on the report page, in a real browser: the same answers as Python, and the drawing."""

from __future__ import annotations

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import juror
from browser import open_browser, watched
from juror import Not, Range
from juror.answers.block import Block
from juror.plot.tree_layout import place
from juror.report.page_model import rounded
from juror.rows.forest import Forest
from juror.testing import random_forest, random_forest_model
from test_explorer import assert_shows, click, saved, shift_click_all, small_model

DOMAIN = small_model().domain


@pytest.fixture(scope="module")
def browser():
    with open_browser() as browser:
        yield browser


def forest_model(seed: int, **options) -> juror.JointPMF:
    rng = np.random.default_rng(seed)
    return random_forest_model(DOMAIN.cardinalities, [3, 1, 4], rng, domain=DOMAIN, concentration=0.6, **options)


def random_evidence(model: juror.JointPMF, rng: np.random.Generator) -> dict[str, list]:
    """Draw a set of labels for some variables."""
    given = {}
    for n in rng.choice(len(model.domain), size=rng.integers(1, len(model.domain) + 1), replace=False):
        labels = model.domain[int(n)].labels
        some = np.sort(rng.choice(len(labels), size=rng.integers(1, len(labels)), replace=False))
        given[model.domain[int(n)].name] = [labels[i] for i in some]
    return given


def fragment_of(given: dict[str, list]) -> str:
    return "#" + "&".join(f"given.{name}={label}" for name, labels in given.items() for label in labels)


@pytest.mark.parametrize(
    ("seed", "options"),
    [(0, {}), (1, {"edges": 1.0}), (2, {"hidden": [3, 2]}), (3, {"zeros": 0.3}), (4, {"zeros": 0.3, "hidden": [4]})],
)
def test_random_forests_and_random_evidence(browser, tmp_path, seed, options):
    model = forest_model(seed, **options)
    path = saved(model, tmp_path / "forest.html")
    rng = np.random.default_rng(seed)
    with watched(browser, path) as page:
        assert_shows(page, model)
        for _ in range(8):
            given = random_evidence(model, rng)
            if model.prob(given) == 0:
                continue
            page.evaluate("fragment => { location.hash = fragment; }", fragment_of(given))
            page.wait_for_function("wanted => document.querySelectorAll('.chip').length === wanted", arg=len(given))
            assert_shows(page, model, given)
            probability = float(page.get_attribute("#probability", "data-probability"))
            assert probability == pytest.approx(model.prob(given), rel=0, abs=1e-9)


def test_ranges_and_all_but_one(browser, tmp_path):
    model = forest_model(5, edges=1.0)
    with watched(browser, saved(model, tmp_path / "ranges.html")) as page:
        page.get_by_role("button", name="Choose a range of age").click()
        page.get_by_label("age at least").fill("18")
        page.get_by_label("age less than").fill("65")
        page.keyboard.press("Enter")
        shift_click_all(page, {"shape": list("abcdefghijk")})
        given = {"age": Range(at_least=18, below=65), "shape": Not("l")}
        assert_shows(page, model, given)
        click(page, "sold", "True")
        assert_shows(page, model, given | {"sold": True})


def pair_on_page(page, model, a: str, b: str) -> np.ndarray:
    """Read the joint table of two variables off the page, in per cent."""
    page.select_option("#pair-a", label=a)
    page.select_option("#pair-b", label=b)
    page.select_option("#pair-what", "fitted")
    cells = page.eval_on_selector_all(
        "#pair tbody tr", "rows => rows.map(r => [...r.querySelectorAll('td')].map(c => c.title))"
    )
    return np.array([[float(text.split()[0].lstrip("<")) for text in row] for row in cells])


def test_tables_of_two_variables(browser, tmp_path):
    model = forest_model(6, hidden=[3])
    with watched(browser, saved(model, tmp_path / "pairs.html")) as page:
        page.click("#tab-dependence")
        for a in model.domain.names:
            for b in model.domain.names:
                if a != b:
                    expected = 100 * model.marginal(a, b).to_numpy()
                    np.testing.assert_allclose(pair_on_page(page, model, a, b), expected, atol=0.051)


def test_classes_and_labels_that_evidence_left_far_behind_can_come_back(browser, tmp_path):
    # Each child tells its parent x0 that one label is 10⁻⁶ as probable as the other, 57 times each way.
    near = np.array([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]])[:, :, None]
    star = Forest((-1, *[0] * 114))
    block = Block(np.ones(1), star, (np.full((1, 2, 1), 0.5), *[near] * 114))
    model = juror.JointPMF.of_blocks([block], juror.Domain.from_cardinalities([2] * 115))
    given = {f"x{n}": [1 if n <= 57 else 0] for n in range(1, 114)}
    with watched(browser, saved(model, tmp_path / "far.html"), fragment_of(given)) as page:
        assert_shows(page, model, given, ["x0", "x114"])
        log = float(page.get_attribute("#probability", "data-log-probability"))
        assert log == pytest.approx(float(model.log_prob(given)[0]), rel=1e-12)


@pytest.mark.parametrize(("room", "bits", "digits"), [(8, 32, "seven"), (4, 16, "three")])
def test_rounded_numbers_give_the_answers_of_the_rounded_model(browser, tmp_path, monkeypatch, room, bits, digits):
    model = forest_model(7, zeros=0.1)
    numbers = sum(block.weights.size + sum(table.size for table in block.tables) for block in model.blocks)
    monkeypatch.setattr("juror.report.page_model._MODEL_BYTES", room * numbers)
    report = juror.Report(model)
    known = report.facts["model"]
    assert (known["bits"], known["rank"]) == (bits, model.rank)
    report.save(tmp_path / "rounded.html")
    with watched(browser, tmp_path / "rounded.html") as page:
        assert page.locator(".notice").count() == (bits == 16)
        click(page, "colour", "red")
        assert_shows(page, rounded(model, bits), {"colour": "red"})
        page.click("#tab-fit")
        assert f"rounded to {digits} digits" in page.inner_text("#fit-facts")


def test_many_variables(browser, tmp_path):
    rng = np.random.default_rng(0)
    model = random_forest_model([4] * 86, [10, 10, 10, 10], rng, edges=0.97, concentration=0.4)
    path = saved(model, tmp_path / "many.html")
    assert path.stat().st_size < 2_000_000
    given = {}
    with watched(browser, path) as page:
        for n in (0, 85, 31, 7):
            given[f"x{n}"] = n % 4
            click(page, f"x{n}", n % 4)
        assert_shows(page, model, given, ["x1", "x31", "x50", "x84"])
        page.click("#tab-dependence")
        assert page.locator(".tree .node").count() == 86
        n_edges = len(model.blocks[int(np.argmax([b.weights.sum() for b in model.blocks]))].forest.edges)
        assert page.locator(".tree .edge").count() == page.locator("#edges li").count() == n_edges


def point_on_edge(page, index: int) -> tuple[float, float]:
    """Return a visible point of an edge of the drawing, after scrolling to it."""
    return page.evaluate(
        """index => {
          const line = document.querySelectorAll('.tree .edge .reach')[index];
          line.scrollIntoView({block: 'center', inline: 'center'});
          const [from, to] = [line.x1, line.x2].map(x => x.baseVal.value);
          const [top, bottom] = [line.y1, line.y2].map(y => y.baseVal.value);
          for (let k = 1; k < 40; k++) {
            const place = new DOMPoint(from + (to - from) * k / 40, top + (bottom - top) * k / 40);
            const {x, y} = place.matrixTransform(line.getScreenCTM());
            if (document.elementFromPoint(x, y) === line) return [x, y];
          }
          return null;
        }""",
        index,
    )


def test_the_drawing_and_the_list_show_the_same_edges(browser, tmp_path):
    model = forest_model(8, edges=1.0)
    known = juror.Report(model).facts["forest"]
    with watched(browser, saved(model, tmp_path / "drawing.html")) as page:
        page.click("#tab-dependence")
        assert "3 blocks of classes" in page.inner_text("#forest-about")
        first = known["edges"][0]
        a, b = (model.domain[first[end]].name for end in "ab")
        assert page.locator("#edges li").first.inner_text().split()[:3] == [a, "and", b]
        page.mouse.move(*point_on_edge(page, 1))
        second = known["edges"][1]
        names = [model.domain[second[end]].name for end in "ab"]
        assert page.inner_text("#forest-edge").startswith(f"{names[0]} and {names[1]}: ")
        page.mouse.click(*point_on_edge(page, 1))
        assert page.input_value("#pair-a") == str(second["a"])
        assert page.input_value("#pair-b") == str(second["b"])
        page.locator("#edges button").first.focus()
        assert page.locator(".tree .pointed").count() == 1
        assert page.inner_text("#forest-edge").startswith(f"{a} and {b}: ")
        page.keyboard.press("Enter")
        assert page.input_value("#pair-a") == str(first["a"])


def test_a_model_without_edges_has_no_drawing(browser, tmp_path):
    with watched(browser, saved(small_model(), tmp_path / "none.html")) as page:
        page.click("#tab-dependence")
        assert page.is_hidden("#forest")
        page.click("#tab-classes")
        assert "within a class the variables are independent" in page.inner_text("#classes")


def test_what_a_class_is_in_a_forest(browser, tmp_path):
    with watched(browser, saved(forest_model(9), tmp_path / "classes.html")) as page:
        page.click("#tab-classes")
        assert "depends only on its neighbours in a forest" in page.inner_text("#classes")
        assert page.locator("#class-cards article").count() == 8


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_the_forest(browser, tmp_path, scheme):
    with watched(browser, saved(forest_model(10), tmp_path / "axe.html"), color_scheme=scheme) as page:
        page.click("#tab-dependence")
        found = Axe().run(page)
        assert found.response["violations"] == [], found.generate_report()


def test_a_forest_on_a_phone(browser, tmp_path):
    rng = np.random.default_rng(0)
    model = random_forest_model([3] * 40, [2], rng, edges=0.9)
    path = saved(model, tmp_path / "phone.html")
    with watched(browser, path, viewport={"width": 360, "height": 740}, has_touch=True) as page:
        page.tap("#tab-dependence")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.touchscreen.tap(*point_on_edge(page, 0))
        assert "nats" in page.inner_text("#forest-edge")


@pytest.mark.parametrize("n", [1, 2, 5, 14, 40, 90])
@pytest.mark.parametrize("edges", [0.5, 1.0])
def test_names_in_a_drawing_do_not_overlap(n, edges):
    rng = np.random.default_rng(n)
    forest = random_forest(n, rng, edges=edges)
    layout = place(forest, [f"variable {'x' * int(rng.integers(0, 10))}" for _ in range(n)])
    half = np.column_stack([layout.widths, np.full(n, layout.height)]) / 2
    gaps = np.abs(layout.centres[:, None] - layout.centres) - half[:, None] - half
    apart = (gaps > 0).any(axis=2)
    assert apart[~np.eye(n, dtype=bool)].all()
    assert (layout.centres - half).min() > -1e-6
    assert ((layout.centres + half).max(axis=0) <= np.array(layout.size) + 1e-6).all()

"""Pictures: what is drawn equals what the model says, in the Axes that was given, and nothing is left behind."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.stats import entropy

import juror
from juror import plot
from juror.answers.calibration import calibration
from juror.answers.information import DependenceMatrix
from juror.answers.profiles import class_profiles
from juror.errors import MissingDependencyError, ParameterError, QueryError
from juror.paper.settings import SETTINGS
from juror.paper.table_rows import Entry, PaperTable
from juror.plot.maps import _residuals
from juror.record import RankScore
from juror.testing import dense, random_forest_model

TITANIC = juror.datasets.titanic()
FOREST = random_forest_model([3, 2, 4, 2, 3], [2, 3], np.random.default_rng(0), hidden=[2], edges=0.9)


@pytest.fixture(scope="module")
def model():
    return juror.fit(TITANIC, method="em", seed=0)


def random_model(cardinalities, rank, seed, names=None, labels=None):
    rng = np.random.default_rng(seed)
    names = names or [f"x{n}" for n in range(len(cardinalities))]
    variables = tuple(
        juror.Variable(name, tuple(labels[:size] if labels else range(size)))
        for name, size in zip(names, cardinalities, strict=True)
    )
    factors = [rng.dirichlet(np.full(size, 0.5), size=rank).T for size in cardinalities]
    return juror.JointPMF(rng.dirichlet(np.ones(rank)), factors, juror.Domain(variables))


def title(ax):
    return ax.get_title(loc="left").replace("\n", " ")


def drawn_values(ax):
    return np.ma.filled(ax.images[0].get_array(), np.nan)


# one call a picture, with what it draws and nothing else
PICTURES = {
    "marginal": lambda model, ax: plot.marginal(model, "Class", given="Sex = Female", ax=ax),
    "pair": lambda model, ax: plot.pair(model, "Class", "Survived", ax=ax),
    "residuals": lambda model, ax: plot.pair(model, "Class", "Survived", ax=ax, show="residuals"),
    "dependence": lambda model, ax: plot.dependence(model, ax=ax),
    "tree": lambda model, ax: plot.tree(FOREST, ax=ax),
    "rank_path": lambda model, ax: plot.rank_path(model, ax=ax),
    "classes": lambda model, ax: plot.classes(model, ax=ax),
    "calibration": lambda model, ax: plot.calibration(model, TITANIC, "Survived", ax=ax),
    "errors": lambda model, ax: plot.errors({"em": ([100, 1000], [0.1, 0.01])}, ax=ax),
}


def test_every_picture_is_in_the_list():
    assert set(plot.__all__) == set(PICTURES) - {"residuals"}


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
class TestEveryPicture:
    def test_the_axes_given_is_drawn_into_and_returned(self, draw, model):
        ours, other = Figure().subplots(1, 2)
        assert draw(model, ours) is ours
        assert ours.has_data()
        assert not other.has_data()

    def test_a_new_one_is_made_and_is_not_empty(self, draw, model):
        ax = draw(model, None)
        assert title(ax)
        assert ax.has_data()

    def test_settings_of_matplotlib_stay_and_no_figure_is_kept_open(self, draw, model):
        mpl.get_backend()  # which is looked for on first use
        before = mpl.rcParams.copy()
        draw(model, None)
        assert mpl.rcParams == before
        pyplot = sys.modules.get("matplotlib.pyplot")
        assert pyplot is None or pyplot.get_fignums() == []

    def test_what_is_no_axes_is_refused(self, draw, model):
        with pytest.raises(ParameterError) as caught:
            draw(model, Figure().subplots(1, 2))
        sentence = "ax must be one matplotlib Axes, or None for a new one. Got ndarray instead."
        assert str(caught.value) == sentence

    def test_without_matplotlib_a_sentence_says_what_to_install(self, draw, model, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
        with pytest.raises(MissingDependencyError) as caught:
            draw(model, None)
        sentence = "Pictures need matplotlib, which is not installed. Run pip install 'juror[plots]'."
        assert str(caught.value) == sentence


def test_importing_the_pictures_imports_no_matplotlib():
    code = "import juror.plot, sys; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class TestMarginal:
    def test_bars_are_the_conditional_and_strokes_the_marginal(self, model):
        ax = plot.marginal(model, "Class", given={"Sex": "Female"})
        wanted = model.marginal("Class", given={"Sex": "Female"}).to_numpy()
        np.testing.assert_array_equal([bar.get_width() for bar in ax.patches], wanted)
        strokes = [line.get_xdata()[0] for line in ax.lines]
        np.testing.assert_array_equal(strokes, model.marginal("Class").to_numpy())
        assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1st", "2nd", "3rd", "Crew"]
        assert title(ax) == "P(Class | Sex = Female)"

    def test_without_evidence_there_are_no_strokes(self, model):
        ax = plot.marginal(model, "Class")
        assert list(ax.lines) == []
        assert title(ax) == "P(Class)"

    def test_the_first_label_is_on_top(self, model):
        bottom, top = plot.marginal(model, "Class").get_ylim()
        assert bottom > top


class TestPair:
    def test_cells_are_the_joint_with_the_first_variable_down(self, model):
        ax = plot.pair(model, "Class", "Survived", given={"Sex": "Male"})
        wanted = model.marginal("Class", "Survived", given={"Sex": "Male"}).to_numpy()
        np.testing.assert_array_equal(drawn_values(ax), wanted)
        assert (ax.get_ylabel(), ax.get_xlabel()) == ("Class", "Survived")
        assert {text.get_text() for text in ax.texts} >= {"8.9 %", "39 %"}

    def test_residuals_are_those_of_pearson(self, model):
        joint = model.marginal("Class", "Survived").to_numpy()
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        found = drawn_values(plot.pair(model, "Class", "Survived", show="residuals"))
        np.testing.assert_allclose(found, (joint - independent) / np.sqrt(independent), atol=1e-15)

    def test_zero_is_white_in_the_middle(self, model):
        image = plot.pair(model, "Class", "Survived", show="residuals").images[0]
        assert image.norm.vmin == -image.norm.vmax
        assert image.cmap(0.5)[:3] == pytest.approx((1, 1, 1), abs=0.02)

    def test_labels_that_never_occur_have_no_residual(self):
        joint = np.array([[0.5, 0.0, 0.1], [0.3, 0.0, 0.1]])
        found = _residuals(joint)
        assert np.all(found[:, 1] == 0)
        assert np.all(found[:, 0] != 0)

    def test_large_tables_are_not_written_into(self):
        big = random_model([40, 30], 3, 0)
        assert list(plot.pair(big, "x0", "x1").texts) == []

    def test_another_word_for_show_is_refused(self, model):
        with pytest.raises(ParameterError) as caught:
            plot.pair(model, "Class", "Survived", show="ratio")
        assert str(caught.value) == "show must be one of ['joint', 'residuals']. Got 'ratio' instead."


class TestDependence:
    def test_cells_are_the_clustered_matrix_and_the_diagonal_is_left_out(self, model):
        ax = plot.dependence(model)
        wanted = model.dependence().clustered()
        cells = wanted.to_numpy()
        np.fill_diagonal(cells, np.nan)
        np.testing.assert_array_equal(drawn_values(ax), cells)
        assert [tick.get_text() for tick in ax.get_yticklabels()] == list(wanted.names)

    def test_one_variable_has_nothing_to_depend_on(self):
        with pytest.raises(QueryError) as caught:
            plot.dependence(juror.JointPMF([1.0], [[[0.5], [0.5]]]))
        sentence = "The model has one variable, 'x0', so there is nothing to depend on."
        assert str(caught.value) == sentence

    def test_sixty_variables_of_long_names_do_not_run_into_each_other(self):
        names = [f"the answer to question number {n} of the form" for n in range(60)]
        ax = plot.dependence(random_model([3] * 60, 6, 1, names))
        assert overlaps(ax.get_yticklabels()) == 0
        assert overlaps(ax.get_xticklabels()) == 0

    def test_small_axes_that_are_given_hold_as_many_names_as_they_can(self):
        ax = Figure(figsize=(5, 3)).add_subplot()
        plot.dependence(random_model([3] * 60, 6, 1), ax=ax)
        assert 5 < len(ax.get_yticklabels()) < 60
        assert overlaps(ax.get_yticklabels()) == 0

    def test_labels_that_run_into_each_other_would_be_found(self):
        ax = Figure(figsize=(3, 3)).add_subplot()
        ax.set_yticks(range(60), labels=["name"] * 60)
        assert overlaps(ax.get_yticklabels()) > 20


def overlaps(ticks):
    """Count neighbours among upright or level labels of an axis whose boxes share some area."""
    ticks[0].get_figure(root=True).draw_without_rendering()
    boxes = [tick.get_window_extent() for tick in ticks if tick.get_text()]
    # glyphs leave some of their line's height free
    shrunk = [box.shrunk(0.8, 0.8).translated(0.1 * box.width, 0.1 * box.height) for box in boxes]
    return sum(a.overlaps(b) for a, b in pairwise(shrunk))


class TestClustered:
    @settings(deadline=None, max_examples=25)
    @given(st.integers(1, 7), st.integers(1, 4), st.integers(0, 2**31), st.sampled_from(["normalised", "information"]))
    def test_it_is_the_same_matrix_in_another_order(self, N, rank, seed, measure):
        matrix = random_model([3] * N, rank, seed).dependence(measure)
        moved = matrix.clustered()
        order = [matrix.names.index(name) for name in moved.names]
        assert sorted(order) == list(range(N))
        np.testing.assert_array_equal(moved.to_numpy(), matrix.to_numpy()[np.ix_(order, order)])
        assert moved.measure == measure

    def test_blocks_come_together_and_both_measures_agree(self):
        tied, loose = np.array([[0.95, 0.05], [0.05, 0.95]]), np.array([[0.8, 0.2], [0.2, 0.8]])
        one, other = tied @ [[1, 1, 0, 0], [0, 0, 1, 1]], loose @ [[1, 0, 1, 0], [0, 1, 0, 1]]
        found = juror.JointPMF([0.25] * 4, [one, other, one, other, one])
        names = found.dependence().clustered().names
        assert names == found.dependence("information").clustered().names
        assert {"".join(names).replace("x", "")} <= {"".join(p) for p in ("13024", "13042", "13204", "13402")} | {
            a + b for a in ("024", "042", "204", "240", "402", "420") for b in ("13", "31")
        }

    def test_a_variable_that_is_constant_is_no_obstacle(self):
        found = juror.JointPMF([0.5, 0.5], [[[0.9, 0.1], [0.1, 0.9]], [[1.0, 1.0]], [[0.8, 0.1], [0.2, 0.9]]])
        assert found.dependence("information").clustered().names == ("x0", "x2", "x1")

    def test_the_order_of_the_first_matrix_is_left_alone(self):
        matrix = DependenceMatrix(("a", "b", "c"), "normalised", np.array([[1, 0, 0.9], [0, 1, 0], [0.9, 0, 1.0]]))
        assert matrix.clustered().names == ("a", "c", "b")
        assert matrix.names == ("a", "b", "c")


class TestProfiles:
    def test_numbers_are_the_models(self, model):
        for profile in class_profiles(model):
            assert profile.weight == model.weights[profile.index]
            for trait in profile.traits:
                n = model.domain.position(trait.variable)
                i = model.domain[n].code(trait.label)
                assert trait.share == model.factors[n][i, profile.index]
                assert trait.overall == pytest.approx(model.marginal(trait.variable)[trait.label])
                assert trait.lift == pytest.approx(trait.share / trait.overall)

    def test_classes_come_by_falling_weight(self, model):
        weights = [profile.weight for profile in class_profiles(model)]
        assert weights == sorted(model.weights, reverse=True)

    def test_with_all_labels_the_ranking_terms_sum_to_the_divergence(self, model):
        # labels below the whole add what is missing, which is negative
        for profile in class_profiles(model, 100):
            terms = sum(t.share * math.log(t.lift) for t in profile.traits)
            divergence = sum(entropy(factor[:, profile.index], factor @ model.weights) for factor in model.factors)
            assert terms >= divergence - 1e-9
            ranked = [t.share * math.log(t.lift) for t in profile.traits]
            assert ranked == sorted(ranked, reverse=True)

    def test_a_rare_label_of_huge_lift_comes_after_what_marks_the_class(self):
        rare = [[0.001, 0.0], [0.999, 1.0]]
        common = [[0.9, 0.1], [0.1, 0.9]]
        first = class_profiles(juror.JointPMF([0.01, 0.99], [rare, common]))[1]
        assert [(t.variable, t.label) for t in first.traits] == [("x1", 0), ("x0", 0)]
        assert first.traits[1].lift == pytest.approx(100)

    def test_two_labels_a_variable_at_most(self):
        wide = np.full((10, 2), 0.1)
        wide[:, 0] = [0.2] * 5 + [0.0] * 5
        profiles = class_profiles(juror.JointPMF([0.5, 0.5], [wide]))
        assert [len(profile.traits) for profile in profiles] == [2, 2]

    def test_labels_and_classes_of_probability_zero(self):
        factor = [[0.5, 0.0], [0.5, 0.0], [0.0, 1.0], [0.0, 0.0]]
        profiles = class_profiles(juror.JointPMF([1.0, 0.0], [factor]))
        assert [(profile.weight, profile.traits) for profile in profiles] == [(1.0, ()), (0.0, ())]

    def test_the_number_of_traits_is_kept_to(self, model):
        assert {len(profile.traits) for profile in class_profiles(model, 1)} == {1}
        with pytest.raises(ParameterError) as caught:
            class_profiles(model, 0)
        assert str(caught.value) == "n_traits must be an int in the range [1, inf). Got 0 instead."


class TestTree:
    def test_names_and_informations_are_written(self):
        ax = plot.tree(FOREST, block=0)
        texts = [text.get_text() for text in ax.texts]
        edges = [sorted(edge) for edge in FOREST.blocks[0].forest.edges]
        assert set(FOREST.domain.names) <= set(texts)
        for a, b in edges:
            if b < 5:
                assert f"{FOREST.mutual_information(f'x{a}', f'x{b}'):.2g}" in texts
        # and one line for the hidden nodes
        assert len(ax.lines) == len(edges) + 1

    def test_wider_lines_join_variables_that_tell_more(self):
        ax = plot.tree(FOREST, block=1)
        widths = [line.get_linewidth() for line in ax.lines[:-1]]
        assert widths == sorted(widths, reverse=True)
        assert title(ax).startswith("What depends on what within a class of block 1, which has ")

    def test_the_heaviest_block_is_drawn_unless_another_is_named(self):
        heaviest = int(np.argmax([block.weights.sum() for block in FOREST.blocks]))
        assert f"block {heaviest}," in title(plot.tree(FOREST))

    def test_names_are_data(self):
        domain = juror.Domain(tuple(juror.Variable(name, (0, 1)) for name in HOSTILE))
        found = random_forest_model([2] * 7, [2], np.random.default_rng(0), domain=domain, edges=1.0)
        plot.tree(found).figure.draw_without_rendering()

    def test_what_has_no_edges_is_refused(self, model):
        with pytest.raises(QueryError) as caught:
            plot.tree(model)
        sentence = "This model has no edges: its variables are independent within a class, so there is no forest."
        assert str(caught.value) == sentence

    @pytest.mark.parametrize("block", [2, -1, True, 0.5, "first"])
    def test_a_block_that_is_not_there_is_refused(self, block):
        with pytest.raises(QueryError) as caught:
            plot.tree(FOREST, block)
        sentence = f"block must be a whole number from 0 to 1, or None for the heaviest. Got {block!r} instead."
        assert str(caught.value) == sentence


class TestClasses:
    def test_classes_of_a_forest(self):
        cells = drawn_values(plot.classes(FOREST, n=5))
        weights = np.concatenate([block.weights for block in FOREST.blocks])
        order = np.argsort(-weights, kind="stable")
        ax = plot.classes(FOREST, n=5)
        for row, tick in zip(cells, ax.get_yticklabels(), strict=True):
            name, label = tick.get_text().split(" = ")
            n, code = FOREST.domain.position(name), int(label)
            others = tuple(k for k in range(5) if k != n)
            classes = [block.classes(np.array([f])) for block in FOREST.blocks for f in range(block.rank)]
            alone = [juror.JointPMF.of_blocks([one.scaled(1 / one.weights[0])], FOREST.domain) for one in classes]
            shares = np.array([dense(one).sum(axis=others)[code] for one in alone])
            np.testing.assert_allclose(row[:-1], shares[order] - shares @ weights, atol=1e-12)

    def test_cells_are_shares_above_the_whole(self, model):
        ax = plot.classes(model, n=3)
        order = np.argsort(-model.weights, kind="stable")[:3]
        cells = drawn_values(ax)
        for row, tick in zip(cells, ax.get_yticklabels(), strict=True):
            name, label = tick.get_text().split(" = ")
            factor = model.factors[model.domain.position(name)][model.domain[name].code(label)]
            np.testing.assert_allclose(row[:-1], factor[order] - factor @ model.weights, atol=1e-12)
        assert np.all(cells[:, -1] == 0)
        assert title(ax).startswith("What the 3 heaviest of 6 classes, ")

    def test_one_class_has_nothing_to_tell(self):
        with pytest.raises(QueryError) as caught:
            plot.classes(juror.JointPMF([1.0], [[[0.5], [0.5]]]))
        sentence = "The 1 classes of this model are all like the whole, so there is nothing to tell."
        assert str(caught.value) == sentence


class TestRankPath:
    def test_points_are_the_path_and_the_chosen_rank_is_ringed(self, model):
        ax = plot.rank_path(model)
        path, ring = ax.lines
        assert list(path.get_xdata()) == [step.rank for step in model.info.rank_path]
        assert list(path.get_ydata()) == [step.score for step in model.info.rank_path]
        assert list(ring.get_xdata()) == [model.rank]

    def test_for_an_ensemble_the_rank_of_one_member_is_ringed_and_for_a_compressed_model_none(self, model):
        weights, factors = np.tile(model.weights, 5) / 5, [np.tile(A, 5) for A in model.factors]
        many = replace(model.info, rank=model.rank * 5, n_members=5)
        ensemble = juror.JointPMF(weights, factors, model.domain, many)
        assert list(plot.rank_path(ensemble).lines[1].get_xdata()) == [model.rank]
        ax = plot.rank_path(ensemble.compress(2))
        assert len(ax.lines) == 1
        assert title(ax) == "7 ranks were tried, and the model was then compressed to 2"

    def test_a_rank_that_makes_rows_impossible_is_named(self, model):
        path = (*model.info.rank_path, RankScore(16, -math.inf, 16))
        info = replace(model.info, rank_path=path)
        ax = plot.rank_path(juror.JointPMF(model.weights, model.factors, model.domain, info))
        assert [text.get_text() for text in ax.texts] == ["a held-out row is impossible at rank 16"]
        assert len(ax.lines[0].get_xdata()) == len(path) - 1

    @pytest.mark.parametrize("rank", [3, None])
    def test_without_a_path_a_sentence_says_how_to_get_one(self, rank):
        found = juror.fit(TITANIC, rank=rank, method="em") if rank else juror.JointPMF([1.0], [[[1.0]]])
        with pytest.raises(QueryError) as caught:
            plot.rank_path(found)
        assert str(caught.value) == (
            "The rank of this model was not chosen along a path, so there is none to draw. Fit with rank='auto' or "
            "'cv', and a method other than 'bayes'."
        )


class TestCalibration:
    def test_points_are_predicted_against_seen(self, model):
        ax = plot.calibration(model, TITANIC, "Survived", n_bins=5)
        judged = calibration(model, model.domain.encode(TITANIC), None, model.domain.position("Survived"), 5)
        points = np.asarray(ax.collections[-1].get_offsets())
        np.testing.assert_allclose(points, np.column_stack([judged.predicted, judged.observed]))
        assert "79\u00a0% of 2,201 rows predicted" in title(ax)

    def test_weights_are_repeated_rows_and_zero_is_no_row(self, model):
        counts = TITANIC.value_counts().reset_index()
        assert (counts["count"] == 0).any()
        beside = plot.calibration(model, counts.drop(columns="count"), "Survived", sample_weight=counts["count"])
        inside = plot.calibration(model, counts, "Survived", sample_weight="count")
        repeated = plot.calibration(model, TITANIC, "Survived")
        for ax in (beside, inside):
            found, wanted = (np.asarray(one.collections[-1].get_offsets()) for one in (ax, repeated))
            np.testing.assert_allclose(found, wanted)
            assert title(ax) == title(repeated)

    def test_the_target_of_the_fit_is_taken(self, model):
        info = replace(model.info, target="Survived")
        found = juror.JointPMF(model.weights, model.factors, model.domain, info)
        assert title(plot.calibration(found, TITANIC)).startswith("Survived: ")


def paper_table(measure_values, number=2, quick=False):
    """Make a table of two rows, a method and a reference, with given errors by column."""
    empty = dict.fromkeys(Entry.__dataclass_fields__)
    entries = [
        Entry(**empty | {"row": label, "label": label, "block": "", "is_reference": is_reference, "column": column}
              | {"tensor_error": value, "tensor_error_spread": 0.5})
        for label, is_reference in (("EM", False), ("uniform", True))
        for column, value in measure_values.items()
    ]  # fmt: skip
    return PaperTable(SETTINGS[number], 3, quick, tuple(entries))


class TestErrors:
    def test_lines_of_a_mapping_are_its_numbers_on_logarithmic_axes(self):
        ax = plot.errors({"em": ([100, 1000], [0.2, 0.03]), "juror-b": ([100], [0.5])})
        assert [line.get_xdata().tolist() for line in ax.lines] == [[100, 1000], [100]]
        assert [line.get_ydata().tolist() for line in ax.lines] == [[0.2, 0.03], [0.5]]
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["em", "juror-b"]
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")

    def test_lines_of_a_table_are_its_entries_and_places_without_number_are_left_out(self):
        ax = plot.errors(paper_table({1000: 0.1, 10_000: None, 100_000: 0.01}))
        method, reference = ax.lines
        assert (method.get_xdata().tolist(), method.get_ydata().tolist()) == ([1000, 100_000], [0.1, 0.01])
        assert reference.get_linestyle() == ":"
        assert ax.get_ylabel() == "squared relative error of the tensor"
        assert title(ax).startswith("Table 2. ")

    def test_a_quick_run_says_so(self):
        assert "not to be quoted" in title(plot.errors(paper_table({1000: 0.1}, quick=True)))

    @pytest.mark.parametrize(
        ("results", "measure", "sentence"),
        [
            ({}, None, "There are no errors to draw: the mapping is empty."),
            (
                {"em": ([100], [0.0])},
                None,
                "The results of 'em' must be finite and above zero to stand on logarithmic axes. Got 0.",
            ),
            (
                {"em": ([100, 200], [0.1])},
                None,
                "The results of 'em' must be as many errors as sample sizes, one at least. Got 2 sizes and 1 errors.",
            ),
            (
                {"em": 3},
                None,
                "The results of 'em' must be two sequences of numbers, sample sizes and errors. Got [3].",
            ),
            (
                {"em": ([1], [1])},
                "mse",
                "measure is for tables of the paper; a mapping has its errors. Got 'mse'.",
            ),
            (
                42,
                None,
                "results must be a table of juror.paper.table, or a mapping of methods to sample sizes and errors. "
                "Got int instead.",
            ),
            (
                paper_table({"car": 90.0}, number=7),
                None,
                "measure must be one of ['mse', 'mse_per_component', 'tensor_error'], errors against sample sizes. Got "
                "'accuracy' instead.",
            ),
            (paper_table({1000: 0.1}), "mse", "Table 2 has no 'mse' by sample size. Choose another measure."),
        ],
    )
    def test_what_cannot_be_drawn_is_refused(self, results, measure, sentence):
        with pytest.raises(ParameterError) as caught:
            plot.errors(results, measure=measure)
        assert str(caught.value) == sentence


HOSTILE = ["$5 or $6", "$\\frac$ $", "two\nlines", "x" * 200, "<script>alert(1)</script>", "_hidden", "100 %"]


def test_labels_and_names_are_data():
    found = random_model([7] * 7, 3, 5, HOSTILE, HOSTILE)
    first, *_, last = HOSTILE
    bars = plot.marginal(found, first, given={last: HOSTILE[1:4]})
    shown = [tick.get_text().replace("\\$", "$") for tick in bars.get_yticklabels()]
    assert shown == [
        "$5 or $6",
        "$\\frac$ $",
        "two lines",
        "x" * 29 + "…",
        "<script>alert(1)</script>",
        "_hidden",
        "100 %",
    ]
    drawn = [bars, plot.pair(found, HOSTILE[1], HOSTILE[3]), plot.dependence(found), plot.classes(found)]
    drawn.append(plot.errors({label: ([1, 10], [1, 0.1]) for label in HOSTILE}))
    assert len(drawn[-1].get_legend().get_texts()) == len(HOSTILE)
    for ax in drawn:
        ax.figure.draw_without_rendering()

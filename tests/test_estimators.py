from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import juror
from juror.solvers import conditional_ascent
from juror.solvers.bayes import BayesOptions
from juror.solvers.methods import METHODS

ESTIMATORS = (juror.JointDensity, juror.JointClassifier, juror.JointImputer)


@dataclass(frozen=True)
class ShortChains(BayesOptions):
    """Sampling as by default, but for the length of the chains."""

    sweeps: int = 40
    burnt: int = 20
    draws: int = 10


@pytest.fixture
def short_chains(monkeypatch):
    """Shorten the chains of default fits, for tests of what does not depend on how accurate a fit is."""
    monkeypatch.setitem(METHODS, "bayes", replace(METHODS["bayes"], options=ShortChains))


@pytest.fixture
def short_climbs(monkeypatch):
    """Let tilts of labels climb for two looks at the rows held out, by default up to sixty."""
    monkeypatch.setattr(conditional_ascent, "_MOST_STEPS", 128)


# These tables have too few rows for much, and columns of random numbers: fits warn of that.
@pytest.mark.filterwarnings("ignore::juror.FitWarning", "ignore::juror.DataWarning")
@pytest.mark.usefixtures("short_chains", "short_climbs")
@parametrize_with_checks([estimator() for estimator in ESTIMATORS])
def test_scikit_learns_own_checks_of_default_estimators(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::juror.FitWarning", "ignore::juror.DataWarning")
@parametrize_with_checks([estimator(rank=3, max_iter=50, tol=1e-3) for estimator in ESTIMATORS])
def test_scikit_learns_own_checks_of_single_fits_by_em(estimator, check):
    check(estimator)


# A few hundred rows may leave it open which variables depend on each other: then the chains disagree, and say so.
may_disagree = pytest.mark.filterwarnings("ignore:The chains have not mixed well:juror.FitWarning")
in_short = pytest.mark.usefixtures("short_chains")


@pytest.fixture(scope="module")
def people():
    # shuffled, as folds are cut from it in order
    return juror.datasets.titanic().sample(frac=1, random_state=0).reset_index(drop=True)


@pytest.fixture(scope="module")
def few(people):
    """Enough people for what does not depend on their number."""
    return people.head(300)


def with_holes(frame: pd.DataFrame, share: float = 0.2) -> pd.DataFrame:
    return frame.mask(np.random.default_rng(0).random(frame.shape) < share)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_clone_and_pickle_keep_the_estimator(make, people):
    estimator = clone(make(rank=2, smoothing=0.5))
    assert estimator.get_params()["smoothing"] == 0.5
    X, y = people.drop(columns="Survived"), people["Survived"]
    estimator.fit(X, y)
    copy = pickle.loads(pickle.dumps(estimator))
    assert list(copy.feature_names_in_) == ["Class", "Sex", "Age"]
    for one, other in zip(copy.model_.blocks, estimator.model_.blocks, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)


def test_grid_search_over_rank_prefers_a_rank_that_tells_more(people):
    search = GridSearchCV(juror.JointDensity(n_init=1), {"rank": [1, 4]}, cv=3).fit(people)
    assert search.best_params_ == {"rank": 4}


@may_disagree
@in_short
def test_density_scores_are_the_models_log_probabilities(few):
    density = juror.JointDensity(rank=3).fit(few)
    np.testing.assert_array_equal(density.score_samples(few), density.model_.log_prob(few))
    assert density.score(few) == pytest.approx(density.model_.log_prob(few).mean())


@may_disagree
@in_short
def test_density_samples_come_in_the_kind_that_was_fitted(few):
    assert isinstance(juror.JointDensity(rank=2).fit(few).sample(3), pd.DataFrame)
    assert isinstance(juror.JointDensity(rank=2).fit(pl.from_pandas(few)).sample(3), pl.DataFrame)
    numbers = np.random.default_rng(0).normal(size=(200, 2))
    drawn = juror.JointDensity(rank=2).fit(numbers).sample(5)
    assert drawn.shape == (5, 2)
    assert drawn.dtype == numbers.dtype
    # numbers of a continuous column do not recur, and neither do draws
    assert not np.isin(drawn, numbers).any()
    assert np.unique(drawn).size == 10


def test_classifier_takes_holes_and_strings_on_any_frame(people):
    X, y = with_holes(people.drop(columns="Survived")).astype("str"), people["Survived"]
    by_pandas = juror.JointClassifier(rank=4).fit(X, y)
    by_polars = juror.JointClassifier(rank=4).fit(pl.from_pandas(X), y.to_numpy())
    np.testing.assert_allclose(by_pandas.predict_proba(X), by_polars.predict_proba(pl.from_pandas(X)))
    assert set(by_pandas.predict(X)) <= {"No", "Yes"}
    assert by_pandas.score(X, y) > 0.7 > (y == "No").mean()


def test_classifier_equals_the_models_own_predictions(people):
    X, y = people.drop(columns="Survived"), people["Survived"]
    classifier = juror.JointClassifier(rank=4).fit(X, y)
    whole = juror.fit(X.assign(target=(y == "Yes").astype(int)), rank=4, target="target")
    np.testing.assert_allclose(classifier.predict_proba(X), whole.predict_proba(X), atol=1e-12)


def test_a_feature_called_target_is_no_trouble(people):
    X = people.rename(columns={"Class": "target"}).drop(columns="Survived")
    assert juror.JointClassifier(rank=2).fit(X, people["Survived"]).predict(X).shape == (2201,)


@may_disagree
@in_short
def test_imputer_in_a_pipeline(people):
    X, y = with_holes(people.drop(columns="Survived")), people["Survived"]
    encode = ColumnTransformer([("labels", OneHotEncoder(), ["Class", "Sex", "Age"])])
    pipeline = make_pipeline(juror.JointImputer(rank=4).set_output(transform="pandas"), encode, LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.7


@may_disagree
@in_short
def test_imputer_leaves_observed_cells_and_fills_the_others(few):
    X = with_holes(few)
    filled = juror.JointImputer(rank=4).fit_transform(X)
    assert not filled.isna().any().any()
    seen = X.notna()
    assert (filled.where(seen) == X).where(seen, other=True).all().all()


@pytest.mark.filterwarnings("ignore::juror.FitWarning")
def test_imputer_fills_numbers_into_arrays_of_numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=2000)])
    holed = X.copy()
    holed[:50, 1] = np.nan
    filled = juror.JointImputer(rank=16, n_init=1).fit(holed).transform(holed)
    assert filled.dtype == np.float64
    np.testing.assert_array_equal(filled[50:], X[50:])
    assert np.corrcoef(filled[:50, 1], X[:50, 1])[0, 1] > 0.9


@may_disagree
@in_short
def test_unseen_labels_count_as_missing_with_a_warning_unless_they_are_refused(few):
    strange = pd.DataFrame({"Class": ["4th"], "Sex": ["Male"], "Age": ["Adult"], "Survived": ["No"]})
    with pytest.raises(juror.JurorError, match="holds '4th' in row 0"):
        juror.JointDensity(rank=2, unknown="error").fit(few).score_samples(strange)
    lenient = juror.JointDensity(rank=2, unknown="missing").fit(few)
    expected = lenient.model_.log_prob(strange.drop(columns="Class"))
    np.testing.assert_allclose(lenient.score_samples(strange), expected)
    with pytest.warns(juror.DataWarning, match="Column 'Class' holds labels that were not there before in 1 row,"):
        np.testing.assert_allclose(juror.JointDensity(rank=2).fit(few).score_samples(strange), expected)


@may_disagree
@in_short
def test_no_rows_have_no_mean_score(few):
    density = juror.JointDensity(rank=2).fit(few)
    with pytest.raises(juror.JurorError, match="There are no rows to score, so they have no mean"):
        density.score(few.head(0))


# names have no order and a batch may show one of them only, which is warned of
quietly = pytest.mark.filterwarnings("ignore::juror.DataWarning")


def text_of(frame):
    """Return the labels as text: of categories, as the people have, all are there from the first batch on."""
    return frame.astype(object)


@pytest.fixture(scope="module")
def texts(people):
    return text_of(people)


def grown(estimator, X, cuts, y=None):
    """Give an estimator the rows between the cuts, batch by batch."""
    for start, end in pairwise([0, *cuts, len(X)]):
        estimator.partial_fit(X[start:end], None if y is None else y[start:end])
    return estimator


def are_same_counts(one, other):
    same = [np.array_equal(a, b) for a, b in zip(one.tables, other.tables, strict=True)]
    return one.domain == other.domain and all(same)


def are_same_models(one, other):
    same = [np.array_equal(a, b) for a, b in zip(one.factors, other.factors, strict=True)]
    return one.domain == other.domain and np.array_equal(one.weights, other.weights) and all(same)


def test_another_row_makes_other_counts_and_another_model(texts):
    one, other = (juror.PairCounts.of(texts[:n]) for n in (1000, 1001))
    assert are_same_counts(one, one)
    assert not are_same_counts(one, other)
    models = [juror.fit(counts, rank=2, method="spa") for counts in (one, one, other)]
    assert are_same_models(*models[:2])
    assert not are_same_models(*models[1:])


@quietly
@pytest.mark.filterwarnings("ignore::juror.FitWarning")
@pytest.mark.parametrize("method", ["auto", "pair-em", "spa", "juror-a", "juror-b", "juror-c"])
def test_batches_give_the_model_of_the_counts_of_all_rows(method, texts):
    holed = with_holes(texts)
    density = grown(juror.JointDensity(rank=3, method=method, random_state=5), holed, [300, 301, 1500])
    counts = juror.PairCounts.of(holed)
    assert are_same_counts(density.counts_, counts)
    assert are_same_models(density.model_, juror.fit(counts, rank=3, method=method, seed=5))
    assert density.n_iter_ == density.model_.info.n_iter


@quietly
@pytest.mark.parametrize("make", ESTIMATORS)
def test_batches_choose_the_rank_that_all_their_rows_would_choose(make, texts):
    X, y = texts.drop(columns="Survived"), texts["Survived"]
    estimator = grown(make(), X, [300, 1500], y)
    whole = juror.fit(estimator.counts_, target=estimator._target)
    assert len(whole.info.rank_path) > 1
    assert estimator.model_.info == whole.info
    # One that asked for the model in between does not keep the rank of fewer rows.
    asked = make().partial_fit(X[:300], y[:300])
    assert asked.model_.info.n_rows == 300
    assert grown(asked, X[300:], [1200], y[300:]).model_.info == whole.info


@quietly
@given(cuts=st.sets(st.integers(1, 119), max_size=5), seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_any_batches_of_text_in_any_order_give_the_same_model(cuts, seed):
    rows = with_holes(text_of(juror.datasets.titanic()).sample(120, random_state=seed), 0.1)
    # a column of which the first batch shows nothing at all has no labels to begin with
    first = rows.dropna()[:1]
    rows = pd.concat([first, rows.drop(first.index)])
    density = grown(juror.JointDensity(rank=2, method="spa", n_jobs=1), rows, sorted(cuts))
    whole = juror.PairCounts.of(rows[::-1], n_jobs=1)
    assert are_same_counts(density.counts_, whole)
    assert are_same_models(density.model_, juror.fit(whole, rank=2, method="spa", n_jobs=1))


def test_a_label_first_seen_in_the_last_batch_joins(texts):
    by_class = texts.sort_values("Class", kind="stable").reset_index(drop=True)
    crew = int((by_class["Class"] != "Crew").sum())
    density = grown(juror.JointDensity(rank=2, method="spa", unknown="error"), by_class, [crew - 400, crew - 200])
    assert density.counts_.domain["Class"].labels == ("1st", "2nd", "3rd", "Crew")
    assert are_same_counts(density.counts_, juror.PairCounts.of(texts))
    assert np.isfinite(density.score_samples(by_class[crew:])).all()


def test_intervals_of_the_first_batch_stay_and_whole_numbers_join():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=400), rng.integers(5, size=400)])
    X[200:] *= 10
    density = grown(juror.JointDensity(rank=2), X, [200])
    cut, whole = density.counts_.domain
    assert cut == juror.Domain.infer({"x0": X[:200, 0]})["x0"]
    assert whole.labels == (0, 1, 2, 3, 4, 10, 20, 30, 40)
    assert [type(label) for label in whole.labels] == [int] * 9
    of_all = juror.PairCounts.of({"x0": X[:, 0], "x1": X[:, 1]}, density.counts_.domain)
    assert are_same_counts(density.counts_, of_all)
    # nothing is lost beyond the outer edges
    assert density.counts_.totals.tolist() == [400]
    below = int((X[:, 0] < cut.edges[1]).sum())
    assert density.counts_.tables[0].sum(axis=1)[0] == below


def test_a_batch_may_show_nothing_of_a_column_or_one_label(texts):
    density = juror.JointDensity(rank=2, method="spa").partial_fit(texts)
    one = texts.assign(Sex=None, Age="Adult")
    density.partial_fit(one)
    assert density.counts_.table("Age", "Class").to_numpy().sum() == 2 * len(texts)
    assert density.counts_.table("Sex", "Class").to_numpy().sum() == len(texts)
    with pytest.warns(juror.DataWarning, match="Column 'Age' is constant: its only label is 'Adult'"):
        late = juror.JointDensity(rank=2, method="spa").partial_fit(one.drop(columns="Sex"))
    assert late.partial_fit(texts.drop(columns="Sex")).counts_.domain["Age"].labels == ("Adult", "Child")


def test_weights_count_rows_and_rows_of_no_weight_bring_no_labels(texts):
    weights = np.arange(len(texts)) % 3
    weighted = juror.JointDensity(rank=2, method="spa")
    for part in (slice(0, 1000), slice(1000, None)):
        weighted.partial_fit(texts[part], sample_weight=weights[part])
    repeated = texts.loc[texts.index.repeat(weights)]
    assert are_same_counts(weighted.counts_, juror.PairCounts.of(repeated))
    strange = texts[:2].assign(Class=["4th", "1st"])
    weighted.partial_fit(strange, sample_weight=[0, 1])
    assert weighted.counts_.domain["Class"].labels == ("1st", "2nd", "3rd", "Crew")
    weighted.partial_fit(strange, sample_weight=[1, 1])
    assert weighted.counts_.domain["Class"].labels == ("1st", "2nd", "3rd", "4th", "Crew")


METHODS_OF_PAIRS = "['tree', 'pair-em', 'spa', 'juror-a', 'juror-b', 'juror-c']"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        *(
            (
                {"rank": 2, "method": method},
                f"partial_fit keeps counts of pairs, and method '{method}' needs rows. Use one of {METHODS_OF_PAIRS}, "
                "or juror.fit, which reads files of any size.",
            )
            for method in ("em", "bayes", "spa-em")
        ),
        (
            {"rank": 2, "method": "ctf"},
            "partial_fit keeps counts of pairs, and method 'ctf' needs those of triples. Use one of "
            f"{METHODS_OF_PAIRS}, or add up juror.TripleCounts for juror.fit.",
        ),
        (
            {"method": "spa"},
            "rank='auto' needs rows to hold out, and partial_fit keeps counts of pairs only. Pass a number.",
        ),
        ({"rank": 0}, "rank must be an int in the range [1, inf). Got 0 instead."),
        (
            {"rank": 2, "method": "spa", "n_init": 3},
            "method 'spa' has no option 'n_init'. It has ['split', 'smoothing'].",
        ),
    ],
)
@pytest.mark.parametrize("make", ESTIMATORS)
def test_what_counts_of_pairs_are_not_enough_for_is_refused_with_the_first_batch(make, options, sentence, texts):
    estimator = make(**options)
    with pytest.raises(juror.JurorError) as caught:
        estimator.partial_fit(texts.drop(columns="Survived"), texts["Survived"])
    assert str(caught.value) == sentence
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"name": [1, 2]},
            "Column 'name' holds numbers in this batch and text in those before. Convert it to one type.",
        ),
        (
            {"whole": ["1", "2"]},
            "Column 'whole' holds text in this batch and numbers in those before. Convert it to one type.",
        ),
        (
            {"cut": [True, False]},
            "Column 'cut' holds booleans in this batch and numbers in those before. Convert it to one type.",
        ),
        (
            {"cut": [1.0, np.inf]},
            "Column 'cut' holds inf in row 1 of this batch; numbers must be finite. Replace it.",
        ),
        (
            {"level": ["low", "medium"]},
            "Column 'level' has the ordered labels ['low', 'high'], and this batch holds ['medium'] besides. Declare "
            "all of them, in their order, from the first batch on.",
        ),
        (
            {"whole": range(2000)},
            "Column 'whole' has 2000 distinct labels with this batch, more than 1000. Drop it if it is an identifier, "
            "group its labels, or cut its numbers into intervals.",
        ),
    ],
)
def test_a_batch_that_does_not_go_with_those_before_is_refused_and_changes_nothing(columns, sentence):
    first = pd.DataFrame(
        {
            "name": ["a", "b"] * 50,
            "whole": [0, 1, 1, 2] * 25,
            "cut": np.random.default_rng(0).normal(size=100),
            "level": pd.Categorical(["low", "high"] * 50, ["low", "high"], ordered=True),
        }
    )
    density = juror.JointDensity(rank=2, method="spa").partial_fit(first)
    model, counts = density.model_, density.counts_
    n_rows = len(next(iter(columns.values())))
    batch = first.iloc[np.arange(n_rows) % 100].reset_index(drop=True).assign(**columns)
    with pytest.raises(juror.JurorError) as caught:
        density.partial_fit(batch)
    assert str(caught.value) == sentence
    assert density.model_ is model
    assert density.counts_ is counts


def test_one_column_has_no_pairs(texts):
    with pytest.raises(
        juror.JurorError, match=r"^partial_fit counts pairs of columns, and there is 1 column\. Use fit\.$"
    ):
        juror.JointDensity(rank=2).partial_fit(texts[["Sex"]])


def test_a_first_batch_may_be_too_small_for_the_rank(texts):
    density = juror.JointDensity(rank=3, method="spa")
    with pytest.warns(juror.DataWarning, match="is constant"):
        density.partial_fit(texts[:2])
    check_is_fitted(density)
    # neither showing nor copying it asks for the model
    assert "JointDensity" in density._repr_html_()
    assert "model_" not in vars(pickle.loads(pickle.dumps(density)))
    with pytest.raises(juror.JurorError, match="rank must be in the range"):
        density.score_samples(texts[:2])
    density.partial_fit(texts[2:])
    assert are_same_models(density.model_, juror.fit(juror.PairCounts.of(texts), rank=3, method="spa"))


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_copy_grows_on_and_a_clone_begins_anew(make, texts):
    X, y = texts.drop(columns="Survived"), texts["Survived"]
    estimator = grown(make(rank=2, method="spa"), X[:1500], [1000], y[:1500])
    copy = pickle.loads(pickle.dumps(estimator))
    for one in (estimator, copy):
        one.partial_fit(X[1500:], y[1500:])
    assert are_same_models(copy.model_, estimator.model_)
    assert copy.counts_.totals.max() == len(texts)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(estimator))
    assert not hasattr(clone(estimator), "model_")


def test_every_batch_is_in_the_model_that_is_asked_for_after_it(texts):
    density = juror.JointDensity(rank=2, method="spa").partial_fit(texts[:1000])
    assert density.model_ is density.model_
    assert density.model_.info.n_rows == 1000
    assert density.partial_fit(texts[1000:]).model_.info.n_rows == len(texts)


def test_fit_begins_anew_and_so_does_partial_fit_after_it(texts):
    density = juror.JointDensity(rank=2, method="spa").partial_fit(texts)
    narrow = texts.drop(columns="Class")
    density.fit(narrow)
    assert not hasattr(density, "counts_")
    assert are_same_models(density.model_, juror.JointDensity(rank=2, method="spa").fit(narrow).model_)
    with pytest.warns(juror.FitWarning, match="^fit keeps no counts to add to, so counting begins with this batch"):
        density.partial_fit(texts[:500])
    assert are_same_counts(density.counts_, juror.PairCounts.of(texts[:500]))
    assert density.n_features_in_ == 4


def test_batches_must_have_the_columns_of_the_first(texts):
    density = juror.JointDensity(rank=2, method="spa").partial_fit(texts)
    with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
        density.partial_fit(texts.drop(columns="Sex"))
    assert density.counts_.totals.max() == len(texts)


def test_samples_of_batches_come_in_their_kind(texts):
    frames = pl.from_pandas(texts)
    density = juror.JointDensity(rank=2, method="spa").partial_fit(frames[:1000]).partial_fit(frames[1000:])
    assert isinstance(density.sample(3), pl.DataFrame)


@quietly
def test_classifier_of_batches_predicts_as_the_model_of_all_rows(texts):
    X, y = with_holes(texts.drop(columns="Survived")), texts["Survived"]
    classifier = grown(juror.JointClassifier(rank=3), X, [700, 1400], y)
    counts = juror.PairCounts.of(X.assign(target=y))
    assert are_same_counts(classifier.counts_, counts)
    whole = juror.fit(counts, rank=3, target="target")
    np.testing.assert_array_equal(classifier.predict_proba(X), whole.predict_proba(X))
    assert set(classifier.predict(X)) == {"No", "Yes"}
    assert classifier.score(X, y) > (y == "No").mean()


@pytest.mark.parametrize(
    ("names", "order"),
    [(["b", "c", "a"], ["a", "b", "c"]), ([7, 30, -1], [-1, 7, 30]), ([1.0, 3.0, 2.0], [1.0, 2.0, 3.0])],
)
def test_classes_join_in_their_order_and_their_probabilities_with_them(names, order):
    rng = np.random.default_rng(0)
    y = np.repeat(names, 100)
    X = np.column_stack([(np.repeat([0, 1, 2], 100) + (rng.random(300) < 0.1)) % 3 for _ in range(3)])
    # the third of the classes is in the last batch only
    classifier = grown(juror.JointClassifier(rank=3, method="spa"), X, [150, 200], y)
    assert classifier.classes_.tolist() == order
    assert classifier.counts_.domain["target"].labels == tuple(order)
    assert classifier.score(X, y) > 0.9


def test_classes_named_before_they_are_seen_have_a_column(texts):
    X, y = texts.drop(columns="Survived"), texts["Survived"]
    classifier = juror.JointClassifier(rank=2, method="spa").partial_fit(X[:1000], y[:1000], classes=["Lost", "No"])
    assert classifier.classes_.tolist() == ["Lost", "No", "Yes"]
    probabilities = classifier.predict_proba(X)
    assert probabilities.shape == (len(X), 3)
    assert probabilities[:, 0].max() < 1e-3
    # labels that are seen later find their place all the same
    classifier.partial_fit(X[1000:], y[1000:].replace("No", "Drowned"))
    assert classifier.classes_.tolist() == ["Drowned", "Lost", "No", "Yes"]
    assert classifier.counts_.domain["target"].labels == ("Drowned", "Lost", "No", "Yes")


def test_classes_of_another_type_are_refused(texts):
    X, y = texts.drop(columns="Survived"), texts["Survived"]
    classifier = juror.JointClassifier(rank=2, method="spa")
    with pytest.raises(juror.JurorError) as caught:
        classifier.partial_fit(X, y, classes=[0, 1])
    sentence = "classes must be labels of the same type as those of y, ['No', 'Yes']. Got [0, 1] instead."
    assert str(caught.value) == sentence
    classifier.partial_fit(X, y)
    with pytest.raises(juror.JurorError, match="Column 'target' holds booleans in this batch and text in those before"):
        classifier.partial_fit(X, y == "Yes")
    assert classifier.classes_.tolist() == ["No", "Yes"]


def test_imputer_of_batches_fills_as_the_model_of_all_rows(texts):
    X = with_holes(texts)
    imputer = grown(juror.JointImputer(rank=2, method="spa"), X, [1000])
    whole = juror.fit(juror.PairCounts.of(X), rank=2, method="spa")
    pd.testing.assert_frame_equal(imputer.transform(X), whole.impute(X))

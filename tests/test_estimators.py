from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import juror

ESTIMATORS = (juror.JointDensity, juror.JointClassifier, juror.JointImputer)


# fixed small ranks keep the checks quick; their tables carry no more, which the fit rightly warns of
@pytest.mark.filterwarnings("ignore::juror.FitWarning", "ignore::juror.DataWarning")
@parametrize_with_checks([estimator(rank=3, n_init=1) for estimator in ESTIMATORS])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def people():
    # shuffled, as folds are cut from it in order
    return juror.datasets.titanic().sample(frac=1, random_state=0).reset_index(drop=True)


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
    np.testing.assert_array_equal(copy.model_.weights, estimator.model_.weights)


def test_grid_search_over_rank_prefers_a_rank_that_tells_more(people):
    search = GridSearchCV(juror.JointDensity(n_init=1), {"rank": [1, 4]}, cv=3).fit(people)
    assert search.best_params_ == {"rank": 4}


def test_density_scores_are_the_models_log_probabilities(people):
    density = juror.JointDensity(rank=3).fit(people)
    np.testing.assert_array_equal(density.score_samples(people), density.model_.log_prob(people))
    assert density.score(people) == pytest.approx(density.model_.log_prob(people).mean())


def test_density_samples_come_in_the_kind_that_was_fitted(people):
    assert isinstance(juror.JointDensity(rank=2).fit(people).sample(3), pd.DataFrame)
    assert isinstance(juror.JointDensity(rank=2).fit(pl.from_pandas(people)).sample(3), pl.DataFrame)
    numbers = np.random.default_rng(0).normal(size=(200, 2))
    drawn = juror.JointDensity(rank=2).fit(numbers).sample(5)
    assert drawn.shape == (5, 2)
    assert np.isin(drawn, numbers).all()


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


def test_imputer_in_a_pipeline(people):
    X, y = with_holes(people.drop(columns="Survived")), people["Survived"]
    encode = ColumnTransformer([("labels", OneHotEncoder(), ["Class", "Sex", "Age"])])
    pipeline = make_pipeline(juror.JointImputer(rank=4).set_output(transform="pandas"), encode, LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.7


def test_imputer_leaves_observed_cells_and_fills_the_others(people):
    X = with_holes(people)
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


def test_unseen_labels_count_as_missing_with_a_warning_unless_they_are_refused(people):
    strange = pd.DataFrame({"Class": ["4th"], "Sex": ["Male"], "Age": ["Adult"], "Survived": ["No"]})
    with pytest.raises(juror.JurorError, match="holds '4th' in row 0"):
        juror.JointDensity(rank=2, unknown="error").fit(people).score_samples(strange)
    lenient = juror.JointDensity(rank=2, unknown="missing").fit(people)
    expected = lenient.model_.log_prob(strange.drop(columns="Class"))
    np.testing.assert_allclose(lenient.score_samples(strange), expected)
    with pytest.warns(juror.DataWarning, match="Column 'Class' holds labels that were not there before in 1 rows"):
        np.testing.assert_allclose(juror.JointDensity(rank=2).fit(people).score_samples(strange), expected)


def test_no_rows_have_no_mean_score(people):
    density = juror.JointDensity(rank=2).fit(people)
    with pytest.raises(juror.JurorError, match="There are no rows to score, so they have no mean"):
        density.score(people.head(0))

"""Every answer of a mixture of forests equals that of the dense tensor."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror import Domain, FitInfo, JointPMF, Not, Range, Variable
from juror.answers import compressing, forest_mode, sampling
from juror.answers import pairs as pairs_module
from juror.answers.block import BareMixture, Block, edgeless
from juror.answers.interval_ends import UNSEEN, ends_of_draws
from juror.answers.marginals import whole_table
from juror.answers.messages import Messages, node_marginals
from juror.answers.pairs import keeping_pairs, pair_tables
from juror.answers.posterior import log_mass, posterior
from juror.answers.profiles import class_profiles
from juror.answers.restricting import restricted
from juror.domain.evidence import read_evidence
from juror.errors import ModelError, ModelFileError, ParameterError, QueryError, ZeroProbabilityError
from juror.rows.forest import Forest
from juror.runners.local import LocalRunner
from juror.testing import dense, random_codes, random_forest_model

TOL = 1e-10


@st.composite
def models(draw, least: int = 1, most: int = 6, hidden: bool = True):
    """Random forests of up to six variables in up to three blocks, perhaps with hidden nodes and zeros."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=least, max_size=most))
    ranks = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    unseen = draw(st.lists(st.integers(1, 3), max_size=2)) if hidden else []
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    variables = tuple(Variable(f"x{n}", tuple(range(size)), kind="ordinal") for n, size in enumerate(sizes))
    return random_forest_model(
        sizes,
        ranks,
        rng,
        domain=Domain(variables),
        hidden=unseen,
        edges=draw(st.sampled_from([0.5, 0.9, 1.0])),
        concentration=draw(st.sampled_from([0.3, 1.0])),
        zeros=draw(st.sampled_from([0.0, 0.3])),
    )


@st.composite
def asked(draw, **options):
    """A model, and evidence on some of its variables, in every form."""
    model = draw(models(**options))
    given_ = {}
    for variable in model.domain:
        label = st.sampled_from(variable.labels)
        forms = {
            "nothing": None,
            "value": label,
            "set": st.lists(label, min_size=1, unique=True),
            "range": label.map(lambda bound: Range(at_least=bound)),
            "not": label.map(Not) if variable.cardinality > 1 else label,
            "likelihood": st.permutations([0.0, 0.2, 1.0, 3.0]).map(
                lambda weights, labels=variable.labels: dict(zip(labels, [*weights[1:], weights[0]], strict=False))
            ),
        }
        form = forms[draw(st.sampled_from(sorted(forms)))]
        if form is not None and not (variable.cardinality == 1 and form is forms["likelihood"]):
            given_[variable.name] = draw(form)
    return model, given_


def weighted(model: JointPMF, given_: dict) -> np.ndarray:
    """Return the tensor times the weights of the evidence."""
    tensor = dense(model)
    for n, weights in read_evidence(model.domain, given_).items():
        axes = [1] * tensor.ndim
        axes[n] = -1
        tensor = tensor * weights.reshape(axes)
    return tensor


def possible(model: JointPMF, given_: dict) -> np.ndarray | None:
    """Return the tensor given the evidence, or None if that is impossible, which an answer must say."""
    tensor = weighted(model, given_)
    if tensor.sum() > 0:
        return tensor / tensor.sum()
    with pytest.raises(ZeroProbabilityError):
        posterior(model, read_evidence(model.domain, given_))
    return None


def close(answer, expected) -> None:
    np.testing.assert_allclose(answer, expected, rtol=TOL, atol=TOL)


def test_the_oracles_reject_wrong_answers():
    forest = Forest((-1, 0))
    tables = (np.array([[[0.25], [0.75]]]), np.array([[[0.9], [0.1]], [[0.2], [0.8]]]))
    model = JointPMF.of_blocks([Block(np.ones(1), forest, tables)], Domain.from_cardinalities([2, 2]))
    # By hand: P(x0) P(x1 | x0)
    close(dense(model), [[0.225, 0.025], [0.15, 0.6]])
    close(possible(model, {"x1": 1}), [[0, 0.04], [0, 0.96]])
    with pytest.raises(AssertionError):
        close(dense(model), [[0.225, 0.025], [0.15, 0.6 + 1e-8]])
    other = Block(np.ones(1), forest, (tables[0], tables[1][::-1]))
    with pytest.raises(AssertionError):
        close(dense(JointPMF.of_blocks([other], model.domain)), dense(model))


class TestTables:
    @settings(max_examples=60, deadline=None)
    @given(asked(), st.randoms(use_true_random=False))
    def test_marginals_given_evidence(self, question, random):
        model, given_ = question
        tensor = possible(model, given_)
        if tensor is None:
            return
        for _ in range(3):
            chosen = random.sample(range(len(model.domain)), random.randint(1, len(model.domain)))
            names = [model.domain.names[n] for n in chosen]
            others = tuple(n for n in range(tensor.ndim) if n not in chosen)
            expected = tensor.sum(axis=others).transpose(np.argsort(np.argsort(chosen)))
            close(model.marginal(*names, given=given_).to_numpy(), expected)
        close(whole_table(model), dense(model))

    @settings(max_examples=60, deadline=None)
    @given(asked())
    def test_probabilities_of_events(self, question):
        model, given_ = question
        tensor = possible(model, given_)
        if tensor is None:
            return
        rng = np.random.default_rng(len(given_))
        event = {v.name: [c for c in v.labels if rng.random() < 0.6] or [0] for v in model.domain if rng.random() < 0.7}
        wanted = tensor.copy()
        for n, weights in read_evidence(model.domain, event).items():
            wanted = np.moveaxis(np.moveaxis(wanted, n, -1) * weights, -1, n)
        close(model.prob(event, given=given_), wanted.sum())
        close(math.exp(log_mass(model, read_evidence(model.domain, given_))), weighted(model, given_).sum())

    @settings(max_examples=60, deadline=None)
    @given(asked())
    def test_posterior_and_condition_are_models(self, question):
        model, given_ = question
        tensor = possible(model, given_)
        if tensor is None:
            return
        evidence = read_evidence(model.domain, given_)
        after = posterior(model, evidence)
        close(dense(after), tensor)
        close(log_mass(model, evidence), math.log(weighted(model, given_).sum()))
        for block in after.blocks:
            for table in block.tables:
                close(table.sum(axis=1), 1.0)
        settled = [n for n, weights in evidence.items() if np.count_nonzero(weights) == 1]
        if len(settled) == len(model.domain):
            with pytest.raises(QueryError, match="settles every variable"):
                model.condition(given_)
            return
        rest = model.condition(given_)
        assert rest.domain == model.domain.without(settled)
        close(dense(rest), tensor.sum(axis=tuple(settled)))

    def test_ask_and_the_title(self):
        model = random_forest_model((2, 3, 2), (2, 3), np.random.default_rng(0))
        table = model.ask("x2, x0 | x1 in {0, 2}")
        tensor = possible(model, {"x1": [0, 2]})
        close(table.to_numpy(), tensor.sum(axis=1).T)
        assert table.title == "P(x2, x0 | not x1 = 1)"

    @settings(max_examples=30, deadline=None)
    @given(models(least=2))
    def test_all_pairs(self, model):
        tensor = dense(model)
        N = tensor.ndim
        pairs = list(pair_tables(model))
        assert [(a, b) for a, b, _ in pairs] == [(a, b) for a in range(N) for b in range(a + 1, N)]
        for a, b, table in pairs:
            close(table, tensor.sum(axis=tuple(n for n in range(N) if n not in (a, b))))

    @settings(max_examples=10, deadline=None)
    @given(models(least=2))
    def test_all_pairs_have_the_same_bits_for_any_number_of_threads(self, model):
        with LocalRunner(3) as runner:
            both = zip(pair_tables(model), pair_tables(model, runner), strict=True)
            assert all(np.array_equal(one, other) for (_, _, one), (_, _, other) in both)

    def test_hundreds_of_variables_do_not_underflow(self):
        # A chain of copies whose evidence contradicts itself by a little in each of 600 cells
        n = 600
        copy = np.array([[[0.999], [0.001]], [[0.001], [0.999]]])
        tables = [np.full((1, 2, 1), 0.5), *[copy] * (n - 1)]
        block = Block(np.ones(1), Forest((-1, *range(n - 1))), tuple(tables))
        model = BareMixture((block,), Domain.from_cardinalities([2] * n))
        evidence = {i: np.eye(2)[i % 2] for i in range(n)}
        close(log_mass(model, evidence), math.log(0.5) + (n - 1) * math.log(0.001))
        # A star with contrary leaves: either label of the root is as improbable as exp(-2000)
        leaves = 600
        star = Block(np.ones(1), Forest((-1, *[0] * leaves)), (np.full((1, 2, 1), 0.5), *[copy] * leaves))
        model = BareMixture((star,), Domain.from_cardinalities([2] * (leaves + 1)))
        evidence = {i: np.eye(2)[int(i > leaves // 2)] for i in range(1, leaves + 1)}
        after = posterior(model, evidence)
        close(after.blocks[0].tables[0][0, :, 0], [0.5, 0.5])
        close(log_mass(model, evidence), 300 * (math.log(0.999) + math.log(0.001)))

    def test_sums_that_underflow_are_taken_from_logarithms(self):
        # x0 is a copy of x1, and 200 children speak for x1 = 0, so x1 = 1 is as improbable as exp(-1380).
        copy, leaf = np.eye(2)[:, :, None], np.array([[[0.999], [0.001]], [[0.001], [0.999]]])
        forest = Forest((-1, 0, *[1] * 200))
        block = Block(np.ones(1), forest, (np.full((1, 2, 1), 0.5), copy, *[leaf] * 200))
        model = BareMixture((block,), Domain.from_cardinalities([2] * 202))
        evidence = {n: np.array([1.0, 0.0]) for n in range(2, 202)} | {0: np.array([0.0, 1.0])}
        close(log_mass(model, evidence), math.log(0.5) + 200 * math.log(0.001))


class TestRestricted:
    @settings(max_examples=60, deadline=None)
    @given(models(least=2), st.randoms(use_true_random=False))
    def test_variables_are_summed_out(self, model, random):
        kept = sorted(random.sample(range(len(model.domain)), random.randint(1, len(model.domain))))
        small = restricted(model, kept)
        assert small.domain.names == tuple(model.domain.names[n] for n in kept)
        close(dense(small), dense(model).sum(axis=tuple(n for n in range(len(model.domain)) if n not in kept)))

    def test_what_connects_others_stays_as_a_hidden_node(self):
        rng = np.random.default_rng(0)
        star = Block(
            np.ones(1), Forest((-1, 0, 0)), tuple(rng.dirichlet(np.ones(2), (k, 1)).swapaxes(1, 2) for k in (1, 2, 2))
        )
        model = JointPMF.of_blocks([star], Domain.from_cardinalities([2, 2, 2]))
        assert restricted(model, [1, 2]).blocks[0].forest == Forest((2, 2, -1))
        # With one child or none it is summed out.
        assert restricted(model, [0, 1]).blocks[0].forest == Forest((-1, 0))
        assert restricted(model, [1]).blocks[0].forest == Forest((-1,))


class TestMode:
    @settings(max_examples=60, deadline=None)
    @given(asked())
    def test_it_is_the_largest_cell(self, question):
        model, given_ = question
        tensor = possible(model, given_)
        if tensor is None:
            return
        mode = model.mode(given=given_)
        assert mode.proved
        close(mode.log_prob, math.log(tensor.max()))
        close(tensor[tuple(mode.row.values())], tensor.max())
        assert mode.log_bound >= math.log(tensor.max()) - 1e-9

    @pytest.mark.parametrize("hidden", [(), (3,)])
    def test_without_climbing_the_bounds_alone_find_it(self, monkeypatch, hidden):
        monkeypatch.setattr(forest_mode, "_first_row", lambda parts, N, rounding: (np.zeros(N, dtype=int), -1e300))
        for seed in range(10):
            model = random_forest_model((3, 2, 4, 3), (3, 2), np.random.default_rng(seed), hidden=hidden)
            mode = model.mode()
            assert mode.proved
            close(mode.log_prob, math.log(dense(model).max()))

    def test_a_search_that_is_cut_short_says_so(self):
        model = random_forest_model((4,) * 8, (30, 30), np.random.default_rng(1), concentration=0.5)
        short, whole = model.mode(max_nodes=1), model.mode()
        assert not short.proved
        assert whole.proved
        assert short.log_prob <= whole.log_prob <= short.log_bound
        close(whole.log_prob, math.log(dense(model).max()))


class TestSample:
    @pytest.mark.parametrize("given_", [{}, {"x1": [0, 2], "x3": 1}, {"x0": {0: 0.2, 1: 1.0, 2: 0.0}}])
    @pytest.mark.parametrize("hidden", [(), (2, 3)])
    def test_draws_follow_the_tensor(self, given_, hidden):
        rng = np.random.default_rng(3)
        model = random_forest_model((3, 3, 2, 2), (2, 3), rng, hidden=hidden, zeros=0.2)
        tensor = possible(model, given_)
        n = 40_000
        codes = model.sample(n, given=given_, seed=5).to_numpy().astype(int)
        assert chi_square_passes(codes, tensor)
        assert chi_square_passes(random_codes(model, n, rng), dense(model))
        uniform = np.full(tensor.shape, 1 / tensor.size)
        assert not chi_square_passes(codes, uniform)

    def test_the_same_seed_gives_the_same_rows(self):
        model = random_forest_model((3, 3, 2), (2, 3), np.random.default_rng(0))
        one, other = (model.sample(50, seed=seed) for seed in (1, 1))
        assert one.equals(other)
        assert not one.equals(model.sample(50, seed=2))


def chi_square_passes(codes: np.ndarray, tensor: np.ndarray) -> bool:
    """Return whether rows look like draws from a tensor, at a level of about one in a million."""
    counts = np.zeros(tensor.shape)
    np.add.at(counts, tuple(codes.T), 1)
    if np.any(counts[tensor == 0]):
        return False
    seen = tensor > 0
    expected = len(codes) * tensor[seen]
    statistic = float(((counts[seen] - expected) ** 2 / expected).sum())
    free = int(seen.sum()) - 1
    # Wilson and Hilferty's cube root is nearly normal.
    score = ((statistic / free) ** (1 / 3) - (1 - 2 / (9 * free))) / math.sqrt(2 / (9 * free))
    return score < 5


class TestInformation:
    @settings(max_examples=30, deadline=None)
    @given(models(least=2))
    def test_entropy_and_mutual_information(self, model):
        tensor = dense(model)
        close(model.entropy(), _entropy(tensor))
        matrix = model.dependence("information").to_numpy()
        for a in range(tensor.ndim):
            for b in range(tensor.ndim):
                pair = tensor.sum(axis=tuple(n for n in range(tensor.ndim) if n not in (a, b)))
                expected = _entropy(pair) if a == b else _entropy(pair.sum(0)) + _entropy(pair.sum(1)) - _entropy(pair)
                close(matrix[a, b], max(0.0, expected))
                close(model.mutual_information(f"x{a}", f"x{b}"), max(0.0, expected))

    @settings(max_examples=20, deadline=None)
    @given(asked(least=3, most=4))
    def test_mutual_information_given_evidence(self, question):
        model, given_ = question
        tensor = possible(model, given_)
        if tensor is None:
            return
        pair = tensor.sum(axis=tuple(range(2, tensor.ndim)))
        expected = _entropy(pair.sum(0)) + _entropy(pair.sum(1)) - _entropy(pair)
        close(model.mutual_information("x0", "x1", given=given_), max(0.0, expected))


def _entropy(table: np.ndarray) -> float:
    some = table[table > 0]
    return float(-(some * np.log(some)).sum())


class TestNumbers:
    @settings(max_examples=40, deadline=None)
    @given(models(), st.integers(0, 2**32))
    def test_cdf_of_rows_with_missing_cells(self, model, seed):
        tensor, rng = dense(model), np.random.default_rng(seed)
        codes = np.stack([rng.integers(-1, size, 7) for size in tensor.shape], axis=1)
        expected = [tensor[tuple(slice(None) if c < 0 else slice(c + 1) for c in row)].sum() for row in codes]
        close(model.cdf(codes), expected)

    @pytest.mark.parametrize("at_once", [1, 1 << 21])
    def test_cdf_and_density_of_numbers(self, monkeypatch, at_once):
        monkeypatch.setattr(juror.answers.continuous, "_MASSES_AT_ONCE", at_once)
        # without numbers, laws are uniform in each interval
        a = Variable("a", ("[0, 2)", "[2, 10]"), "binned", (0, 2, 10))
        b = Variable("b", ("[0, 1)", "[1, 2)", "[2, 4]"), "binned", (0, 1, 2, 4))
        domain = Domain((a, b))
        model = random_forest_model((2, 3), (2, 1), np.random.default_rng(0), domain=domain, edges=1.0)
        tensor = dense(model)
        shares_a, shares_b = np.array([1.0, 0.25]), np.array([1.0, 1.0, 0.5])
        data = {"a": [4.0, 1.0], "b": [3.0, 3.5]}
        close(model.cdf(data)[0], shares_a @ tensor @ shares_b)
        close(model.density(data), [tensor[1, 2] / (8 * 2), tensor[0, 2] / (2 * 2)])


class TestInterval:
    def test_every_block_is_a_draw(self):
        base = random_forest_model((3, 2, 2), (2, 2, 2, 2), np.random.default_rng(0))
        blocks = [block.scaled(0.25 / block.weights.sum()) for block in base.blocks]
        info = FitInfo("bayes", 8, 10.0, 8, None, 9, 0.0, 0, (), (), "", 0, n_draws=4)
        model = JointPMF.of_blocks(blocks, base.domain, info)
        table = model.interval("x0 | x1 = 1", level=0.5)
        answers = []
        for block in blocks:
            tensor = 4 * dense(BareMixture((block,), base.domain))
            answers.append(tensor[:, 1].sum(axis=1) / tensor[:, 1].sum())
        # The model has no counts, so the rows that it expects count beside the draws.
        joint = dense(model)[:, 1].sum(axis=1)
        low, high = ends_of_draws(np.array(answers), 10.0 * joint, 0.5, UNSEEN)
        close(table.low, low)
        close(table.high, high)
        close(table.table.to_numpy(), possible(model, {"x1": 1}).sum(axis=(1, 2)))


class TestCompress:
    @staticmethod
    def divergence(p: JointPMF, q: JointPMF) -> float:
        P, Q = dense(p), dense(q)
        assert np.all(Q[P > 0] > 0)
        return float((P[P > 0] * np.log(P[P > 0] / Q[P > 0])).sum())

    @settings(max_examples=15, deadline=None)
    @given(models(least=2, most=4), st.integers(1, 6))
    def test_the_loss_is_that_of_all_cells(self, model, rank):
        small = model.compress(rank, n_jobs=1)
        assert small.rank <= max(rank, 1) or small.rank == model.rank
        if rank < model.rank:
            assert small.info.compressed[-1].loss == pytest.approx(self.divergence(model, small), abs=1e-9)

    def test_copies_are_merged_without_loss(self):
        p = random_forest_model((3, 2, 4), (2, 2), np.random.default_rng(0), edges=1.0)
        doubled = [
            Block(np.tile(b.weights / 2, 2), b.forest, tuple(np.tile(table, 2) for table in b.tables)) for b in p.blocks
        ]
        small = JointPMF.of_blocks(doubled, p.domain).compress(4)
        assert small.rank == 4
        close(dense(small), dense(p))
        assert small.info.compressed[-1].loss < 1e-10

    def test_marginals_do_not_change_and_em_helps(self, monkeypatch):
        p = random_forest_model((3, 2, 4, 3), (12, 12), np.random.default_rng(1), concentration=0.3)
        merged = compressing.compressed(p, 4, n_steps=0)[1]
        for cells in (10**6, 0):
            monkeypatch.setattr(compressing, "_EXACT_CELLS", cells)
            blocks, loss = compressing.compressed(p, 4, n_steps=40)
            q = JointPMF.of_blocks(blocks, p.domain)
            assert [block.rank for block in blocks] == [2, 2]
            assert loss < merged
            for n in range(4):
                np.testing.assert_allclose(
                    q.marginal(f"x{n}").to_numpy(), p.marginal(f"x{n}").to_numpy(), atol=1e-8, rtol=0
                )
            assert abs(loss - self.divergence(p, q)) < max(1e-9, 5 * loss.standard_error)

    def test_fewer_classes_than_blocks(self):
        p = random_forest_model((3, 2, 3), (4, 4, 4), np.random.default_rng(2))
        small = p.compress(2)
        assert [block.rank for block in small.blocks] == [1, 1]
        assert np.isfinite(self.divergence(p, small))

    def test_the_same_bits_for_any_number_of_threads(self, monkeypatch):
        monkeypatch.setattr(compressing, "_EXACT_CELLS", 0)
        p = random_forest_model((3, 2, 4, 3), (5, 5), np.random.default_rng(1))
        one, other = (compressing.compressed(p, 3, n_jobs=n, n_steps=5, n_rows=2000)[0] for n in (1, 3))
        assert [table.tobytes() for b in one for table in b.tables] == [t.tobytes() for b in other for t in b.tables]


class TestFiles:
    @settings(max_examples=20, deadline=None)
    @given(model=models())
    def test_every_bit_comes_back(self, model, tmp_path_factory):
        path = tmp_path_factory.mktemp("models") / "forest.juror"
        model.save(path)
        for back in (juror.load(path), pickle.loads(pickle.dumps(model))):
            assert back.domain == model.domain
            for one, other in zip(back.blocks, model.blocks, strict=True):
                assert one.forest == other.forest
                assert one.weights.tobytes() == other.weights.tobytes()
                assert [t.tobytes() for t in one.tables] == [t.tobytes() for t in other.tables]

    def test_only_forests_need_the_new_version(self, tmp_path):
        for edges, version in ((1.0, b'\\"format_version\\": 2'), (0.0, b'\\"format_version\\": 1')):
            model = random_forest_model((2, 3), (2,), np.random.default_rng(0), edges=edges)
            model.save(tmp_path / "model.juror")
            assert version in (tmp_path / "model.juror").read_bytes()

    def test_parents_that_go_in_circles_are_refused(self, tmp_path, monkeypatch):
        model = random_forest_model((2, 2), (1,), np.random.default_rng(0), edges=1.0)
        monkeypatch.setattr(Block, "parents", property(lambda self: np.array([1, 0])))
        model.save(tmp_path / "model.juror")
        with pytest.raises(ModelFileError, match="a forest has no cycle"):
            juror.load(tmp_path / "model.juror")


class TestCompare:
    def test_tensor_error(self):
        one, other = (random_forest_model((3, 2, 2), (2, 2), np.random.default_rng(seed)) for seed in (0, 1))
        expected = ((dense(other) - dense(one)) ** 2).sum() / (dense(one) ** 2).sum()
        close(juror.compare.tensor_error(one, other), expected)
        assert juror.compare.tensor_error(one, one) == 0

    def test_what_cannot_be_compared_is_refused(self):
        model = random_forest_model((2, 2), (1, 1), np.random.default_rng(0), edges=1.0)
        with pytest.raises(ModelError, match=r"model\.blocks"):
            juror.compare.factor_mse(model, model)
        large = random_forest_model((10,) * 7, (1,), np.random.default_rng(0), edges=1.0)
        with pytest.raises(ParameterError, match="1,000,000"):
            juror.compare.tensor_error(large, large)


class TestTexts:
    def test_summary_names_blocks_and_edges(self):
        model = random_forest_model((2, 3, 2), (2, 3), np.random.default_rng(0), edges=1.0)
        text = model.summary()
        assert text.startswith("A joint distribution of 3 variables, rank 5 in 2 blocks with forests")
        heaviest = max(model.blocks, key=lambda block: block.weights.sum())
        listed = text.partition("strongest edges of the heaviest block: ")[2].splitlines()[0].split("; ")
        names = {frozenset(model.domain.names[n] for n in edge) for edge in heaviest.forest.edges}
        assert {frozenset(edge.split(" – ")) for edge in listed} == names

    def test_profiles_show_shares_of_labels_in_classes(self):
        model = random_forest_model((3, 2, 3), (2, 2), np.random.default_rng(0), edges=1.0)
        weights = np.concatenate([block.weights for block in model.blocks])
        for profile in class_profiles(model):
            number, f = divmod(profile.index, 2)
            assert profile.weight == weights[profile.index]
            block = model.blocks[number].classes(np.array([f]))
            tensor = dense(BareMixture((block,), model.domain)) / block.weights
            for trait in profile.traits:
                n = model.domain.position(trait.variable)
                others = tuple(m for m in range(3) if m != n)
                close(trait.share, tensor.sum(axis=others)[trait.label])
                close(trait.overall, dense(model).sum(axis=others)[trait.label])


def test_blocks_without_edges_are_one(tmp_path):
    rng = np.random.default_rng(0)
    model = random_forest_model((3, 2), (2, 3), rng, edges=0.0, hidden=(2,))
    flat = edgeless(model)
    assert flat.rank == 5
    close(dense(BareMixture((flat,), model.domain)), dense(model))
    assert edgeless(random_forest_model((3, 2), (2,), rng, edges=1.0)) is None
    close(model.mode().log_prob, math.log(dense(model).max()))


def test_messages_say_nothing_where_nothing_is_known():
    (block,) = random_forest_model((2, 2, 2, 2), (3,), np.random.default_rng(0), edges=1.0).blocks
    leaf = next(n for n in range(4) if not block.forest.children[n])
    told = Messages.of(block, {leaf: np.array([1.0, 0.0])})
    way = {leaf}
    while block.forest.parents[min(way, key=block.forest.order.index)] >= 0:
        way.add(block.forest.parents[min(way, key=block.forest.order.index)])
    assert set(told.log_messages) == way
    close(np.exp(told.log_masses), block.weights * node_marginals(block)[leaf][0])


def test_rows_are_drawn_with_numbers_of_the_seed():
    model = random_forest_model((2, 2), (1, 1), np.random.default_rng(0))
    assert sampling.sample(model, 0, np.random.default_rng(0)).shape == (0, 2)


@pytest.mark.parametrize("seed", [13, 21, 3])
def test_compression_of_models_with_zeros(seed):
    """Rows that are impossible under a block of the small model are in none of its classes."""
    rng = np.random.default_rng(seed)
    model = random_forest_model([2, 3, 2], [2, 2], rng, zeros=0.4, concentration=0.3, edges=1.0)
    small = model.compress(2)
    assert dense(small).sum() == pytest.approx(1.0)
    assert np.all(dense(small)[dense(model) > 0] > 0)


def test_tables_of_pairs_that_are_kept_are_the_same(monkeypatch):
    model, other = (random_forest_model([3, 4, 2], [2, 3], np.random.default_rng(seed)) for seed in (0, 1))
    passes = []
    compute = pairs_module._pair_tables
    monkeypatch.setattr(pairs_module, "_pair_tables", lambda *how: passes.append(how) or compute(*how))
    with keeping_pairs(model):
        first, again, others = list(pair_tables(model)), list(pair_tables(model)), list(pair_tables(other))
    assert len(passes) == 2
    for kept in (first, again):
        for (a, b, table), (*pair, expected) in zip(kept, pair_tables(model), strict=True):
            assert [a, b] == pair
            np.testing.assert_array_equal(table, expected)
    assert not np.array_equal(others[0][2], first[0][2])

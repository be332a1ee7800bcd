"""Rows that are passed over where they are give what rows in memory give."""

import errno
import gc
import os
import tempfile
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import juror
from juror.counts.counts import PairCounts, TripleCounts
from juror.domain import Domain
from juror.errors import DataError, ParameterError
from juror.rows import pieces, reading, store
from juror.rows.expected import ExpectedCounts
from juror.rows.in_memory import MemoryTable
from juror.rows.out_of_core import OutOfCoreTable
from juror.rows.packing import FixedPacking
from juror.rows.parameters import Parameters
from juror.rows.reading import open_table, read_rows
from juror.rows.stacking import Stacking
from juror.rows.store import RowStore
from juror.runners.local import LocalRunner
from juror.testing import random_model
from parts import in_parts, random_table

LEAST = 2_000_000
SIZES = (3, 2, 11, 5, 1)


def random_codes(rng, n_rows, sizes=SIZES):
    return np.stack([rng.integers(-1, size, size=n_rows) for size in sizes], axis=1).astype(np.int8)


class TestPacking:
    @pytest.mark.parametrize("sizes", [(1,), SIZES, (200, 3), (127, 1), (40000, 30000, 2)], ids=str)
    def test_codes_come_back(self, sizes):
        packing = FixedPacking(Stacking(sizes))
        codes = np.stack([np.random.default_rng(n).integers(-1, size, 500) for n, size in enumerate(sizes)], axis=1)
        packed = packing.pack(codes)
        assert np.array_equal(packing.unpack(packed), codes)
        assert packed.nbytes == 500 * packing.row_bytes

    def test_cells_are_those_of_the_stack(self):
        stacking = Stacking(SIZES)
        packing, codes = FixedPacking(stacking), random_codes(np.random.default_rng(0), 300)
        found = packing.cells(packing.pack(codes)).unpacked(slice(None))
        assert np.array_equal(found, stacking.cells(codes))


@pytest.fixture(params=["memory", "file"])
def kept_in(request, monkeypatch):
    """Keep rows unmerged, in memory or on disk, however few they are."""
    monkeypatch.setattr(RowStore, "can_merge", False)
    monkeypatch.setattr(pieces, "CHUNK_ROWS", 50)
    if request.param == "file":
        monkeypatch.setattr(store, "_SHARE_FOR_ROWS", 1e-9)
    return request.param


def far_and_near(table, stack, n_jobs=1, **options):
    """The rows of a table where they are, and in memory."""
    runner = stack.enter_context(LocalRunner(n_jobs))
    opened = open_table(in_parts(table, [30, 100]), None, (), "error", options.get("sample_weight"), runner)
    far = stack.enter_context(read_rows(opened, LEAST))
    assert isinstance(far, OutOfCoreTable)
    whole = open_table(table, None, (), "error", options.get("sample_weight"), runner)
    near = stack.enter_context(read_rows(whole, 10**9))
    assert isinstance(near, MemoryTable)
    assert near.domain == far.domain
    return far.domain, far, near


def model_over(domain, rank=3):
    model = random_model(domain.cardinalities, rank, np.random.default_rng(7))
    return np.array(model.weights), Stacking(domain.cardinalities).stack(model.factors)


@pytest.mark.parametrize("weight", [None, "w"])
class TestPasses:
    def table(self, weight):
        table = random_table(np.random.default_rng(1), 250)
        if weight is None:
            return table
        return table.append_column("w", pa.array(np.random.default_rng(2).integers(0, 4, size=250) * 0.5))

    def test_sums_are_those_of_rows_in_memory(self, kept_in, weight, exit_stack):
        domain, far, near = far_and_near(self.table(weight), exit_stack, sample_weight=weight)
        lam, stack = model_over(domain)
        assert far.total == near.total
        counts = far.expected(lam, stack)
        with LocalRunner(1) as runner:
            cells = FixedPacking(Stacking(domain.cardinalities))
            expected = ExpectedCounts.of(
                cells.cells(cells.pack(near.rows.codes)), near.rows.weights, lam, stack, runner
            )
        assert counts.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
        np.testing.assert_allclose(counts.cells, expected.cells, rtol=1e-10, atol=1e-12)
        assert far.log_prob((Parameters(lam, stack),)) == pytest.approx(expected.log_likelihood, rel=1e-12)
        assert near.log_prob((Parameters(lam, stack),)) == pytest.approx(expected.log_likelihood, rel=1e-12)
        np.testing.assert_allclose(near.expected(lam, stack).cells, expected.cells, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(near.label_counts, far.label_counts)
        assert (near.n_rows, near.n_counted) == (far.n_rows, far.n_counted)

    def test_counts_are_those_of_rows_in_memory(self, kept_in, weight, exit_stack):
        _, far, near = far_and_near(self.table(weight), exit_stack, sample_weight=weight)
        for kind in (PairCounts, TripleCounts):
            for a, b in zip(kind.of_rows(far).tables, kind.of_rows(near).tables, strict=True):
                assert np.array_equal(a, b)

    def test_a_sample_of_all_is_all(self, kept_in, weight, exit_stack):
        _, far, near = far_and_near(self.table(weight), exit_stack, sample_weight=weight)
        sample = far.sample(0).rows
        assert np.array_equal(sample.codes, near.rows.codes)
        assert np.array_equal(sample.weights, near.rows.weights)
        assert near.sample(0) is near

    def test_draws_do_not_depend_on_threads(self, kept_in, weight, exit_stack):
        drawn = []
        for n_jobs in (1, 2):
            domain, far, _ = far_and_near(self.table(weight), exit_stack, n_jobs, sample_weight=weight)
            lam, stack = model_over(domain)
            drawn.append(far.draw(lam, stack, np.random.default_rng(3)))
        assert np.array_equal(drawn[0].cells, drawn[1].cells)
        assert drawn[0].classes.sum() == pytest.approx(far.total)
        again = far.draw(lam, stack, np.random.default_rng(4))
        assert not np.array_equal(again.cells, drawn[0].cells)


def test_a_sample_has_its_share_and_does_not_depend_on_threads(kept_in, exit_stack):
    table = random_table(np.random.default_rng(1), 2000)
    tables = [far_and_near(table, exit_stack, n_jobs)[1] for n_jobs in (1, 2)]
    for each in tables:
        each.most_sampled = 500
    samples = [each.sample(1).rows for each in tables]
    assert np.array_equal(samples[0].codes, samples[1].codes)
    # Five standard deviations of a binomial
    assert abs(samples[0].total - 500) < 5 * np.sqrt(2000 * 0.25 * 0.75)


class TestSpill:
    def test_nothing_is_left_behind_and_nothing_has_a_name(self, monkeypatch, tmp_path):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        monkeypatch.setattr(RowStore, "can_merge", False)
        monkeypatch.setattr(store, "_SHARE_FOR_ROWS", 1e-9)
        # What earlier tests left to the collector may be closed at any time.
        gc.collect()
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
        table = in_parts(random_table(np.random.default_rng(0), 90), [40])
        with LocalRunner(2) as local, read_rows(open_table(table, None, (), "error", None, local), LEAST) as rows:
            assert rows.n_rows == 90
            assert list(tmp_path.iterdir()) == []
        gc.collect()
        assert before is None or len(os.listdir("/proc/self/fd")) <= before

    def test_rows_go_to_the_file_once_they_are_more_than_memory_holds(self):
        packing = FixedPacking(Stacking(SIZES))
        codes = random_codes(np.random.default_rng(0), 1000)
        # Too little memory to merge any of them
        with RowStore(packing, memory=4 * 1000 * packing.row_bytes) as held:
            for number in range(8):
                held.put(pieces.Encoded(codes, None, number * 1000))
                assert (held.spilled_bytes > 0) == (number >= 2)
            assert held.spilled_bytes >= 8 * 1000 * packing.row_bytes
            for piece in held.pieces:
                assert np.array_equal(packing.unpack(store.only(piece).packed), codes)
            assert [store.only(piece).number for piece in held.pieces] == [1000 * n for n in range(8)]

    def test_a_full_disk_is_told_with_the_ways_out(self, monkeypatch):
        written = 0

        def pwrite(handle, content, offset):
            nonlocal written
            if written > 2000:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written += len(content)
            return os.write(handle, bytes(content)) and len(content)

        monkeypatch.setattr(store.os, "pwrite", pwrite)
        monkeypatch.setattr(RowStore, "can_merge", False)
        monkeypatch.setattr(store, "_SHARE_FOR_ROWS", 1e-9)
        monkeypatch.setattr(pieces, "CHUNK_ROWS", 50)
        table = random_table(np.random.default_rng(0), 900)
        with pytest.raises(DataError) as caught:
            juror.fit(in_parts(table, [300, 600], chunk_rows=100), rank=2, method="em")
        assert "do not fit into memory=, and writing them aside failed after" in str(caught.value)
        assert "(No space left on device)" in str(caught.value)
        assert "TMPDIR, or raise memory=." in str(caught.value)


@pytest.mark.filterwarnings("ignore::juror.FitWarning", "ignore::juror.DataWarning")
class TestFits:
    """The same model from rows in memory, in parts that fit, and in parts that do not."""

    TABLE = random_table(np.random.default_rng(11), 600)

    def pair(self, **options):
        whole = juror.fit(self.TABLE, **options)
        apart = juror.fit(in_parts(self.TABLE, [100, 350], chunk_rows=60), **options)
        return whole, apart

    @pytest.mark.parametrize("method", ["em", "spa-em", "spa", "juror-b", "ctf", "bayes", "auto"])
    def test_parts_that_fit_into_memory_give_the_same_bits(self, method):
        options = {"sweeps": 30, "burnt": 10, "draws": 10} if method == "bayes" else {}
        whole, apart = self.pair(rank=2, method=method, n_jobs=1, **options)
        for one, other in zip(whole.blocks, apart.blocks, strict=True):
            assert np.array_equal(one.weights, other.weights)
            assert all(np.array_equal(a, b) for a, b in zip(one.tables, other.tables, strict=True))

    @pytest.mark.parametrize("method", ["em", "spa-em"])
    def test_em_where_rows_are_is_em_in_memory(self, kept_in, method):
        whole, apart = self.pair(rank=3, method=method)
        np.testing.assert_allclose(apart.weights, whole.weights, atol=1e-9)
        for a, b in zip(apart.factors, whole.factors, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
        assert apart.info.n_searched == 600
        assert apart.info.n_distinct is None
        assert apart.info.log_likelihood == pytest.approx(whole.info.log_likelihood, rel=1e-12)

    @pytest.mark.parametrize("method", ["spa", "juror-b", "ctf"])
    def test_counts_where_rows_are_are_those_in_memory(self, kept_in, method):
        whole, apart = self.pair(rank=2, method=method)
        assert np.array_equal(whole.weights, apart.weights)

    def test_rank_is_chosen_by_a_sample(self, kept_in):
        whole, apart = self.pair(method="em")
        assert apart.rank == whole.rank
        assert "out of core, by em; started from all of them" in apart.summary()

    def test_auto_is_em_where_rows_are(self, kept_in):
        _, apart = self.pair(rank=2)
        assert apart.info.method == "em"
        assert apart.info.why == "EM with a forest, as it can pass over 600 rows, which take more than memory="

    def test_em_along_a_forest_where_rows_are_climbs_on_from_a_sample(self, kept_in):
        whole, apart = self.pair(rank=2, method="em", forest=True, smoothing=0.3)
        assert whole.blocks[0].forest == apart.blocks[0].forest
        # The fit in memory stops by held-out rows; all rows are climbed here.
        assert apart.info.log_likelihood >= whole.info.log_likelihood
        assert apart.info.log_likelihood == pytest.approx(apart.log_prob(self.TABLE).sum(), rel=1e-10)

    def test_bayes_where_rows_are(self, kept_in):
        # Out of core there are no forests.
        options = {"rank": 2, "method": "bayes", "sweeps": 60, "burnt": 20, "draws": 20, "forest": False}
        whole, apart = self.pair(**options)
        # The draws differ, but their means agree.
        assert apart.info.log_likelihood / 600 == pytest.approx(whole.info.log_likelihood / 600, abs=0.05)

    def test_ensembles_need_memory(self, kept_in):
        with pytest.raises(ParameterError, match=r"there are 600 rows, which take more than memory=\. Leave"):
            juror.fit(in_parts(self.TABLE, [100]), rank=2, method="em", ensemble=3)

    def test_an_array_beyond_the_budget_is_passed_over_as_it_is(self):
        codes = random_codes(np.random.default_rng(5), 40000, (3, 4, 2))
        domain = Domain.from_cardinalities((3, 4, 2))
        near = juror.fit(codes, rank=2, method="em", domain=domain, n_init=1, max_iter=20, tol=0.0)
        far = juror.fit(codes, rank=2, method="em", domain=domain, n_init=1, max_iter=20, tol=0.0, memory=LEAST)
        assert far.info.n_searched is not None
        assert near.info.n_searched is None
        np.testing.assert_allclose(far.weights, near.weights, atol=1e-9)

    def test_rows_that_fit_are_merged(self, exit_stack):
        runner = exit_stack.enter_context(LocalRunner(2))
        opened = open_table(in_parts(self.TABLE, [100]), None, (), "error", None, runner)
        rows = exit_stack.enter_context(read_rows(opened, 10**8))
        assert isinstance(rows, MemoryTable)
        assert reading.merging_bytes(5) * 600 < 10**8


@pytest.mark.parametrize("memory", ["4 bananas", -1, 1000, None, True, "", "GB", 2.5])
def test_memory_that_is_none(memory):
    with pytest.raises(ParameterError, match=r"^memory must be (a number of bytes or text like|at least 2 MB)"):
        juror.fit({"a": ["x", "y"]}, memory=memory)


def test_a_client_for_rows_in_memory_is_refused():
    with pytest.raises(ParameterError, match="client is for data that workers can read"):
        juror.fit({"a": ["x", "y"]}, client=object())


class TestRowsThatDoNotCount:
    TABLE = pa.table({"a": ["x", "y", "z", "x"], "b": ["u", "v", "u", "v"], "w": [1.0, 2.0, 0.0, 1.0]})

    def test_labels_of_weight_zero_are_not_looked_at(self):
        whole = juror.fit(self.TABLE, rank=1, method="em", sample_weight="w")
        apart = juror.fit(in_parts(self.TABLE, [2]), rank=1, method="em", sample_weight="w")
        assert apart.domain == whole.domain
        assert all(np.array_equal(a, b) for a, b in zip(apart.factors, whole.factors, strict=True))
        counts = PairCounts.of(in_parts(self.TABLE, [2]), whole.domain, sample_weight="w")
        assert counts.n_rows == 4

    def test_all_weights_zero(self):
        table = self.TABLE.set_column(2, "w", pa.array([0.0] * 4))
        for domain in (None, Domain.infer({"a": ["x", "y", "z"], "b": ["u", "v", "u"]})):
            with pytest.raises(ParameterError, match="sample_weight is zero in every row"):
                juror.fit(in_parts(table, [2]), rank=1, domain=domain, sample_weight="w")

    @pytest.mark.parametrize("domain", [None, Domain.infer({"a": ["x", "y"], "b": ["u", "v"]})], ids=["", "domain"])
    def test_no_rows(self, domain, tmp_path):
        empty = pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())})
        parquet.write_table(empty, tmp_path / "t.parquet")
        (tmp_path / "t.csv").write_text("a,b\n")
        sources = (
            lambda: tmp_path / "t.parquet",
            lambda: tmp_path / "t.csv",
            lambda: pa.RecordBatchReader.from_batches(empty.schema, []),
            lambda: empty,
        )
        for make in sources:
            for use in (partial(juror.fit, rank=1), PairCounts.of, Domain.infer):
                options = {} if domain is None or use == Domain.infer else {"domain": domain}
                with pytest.raises(DataError, match="The data have no rows"):
                    use(make(), **options)

    def test_the_record_has_all_rows_whichever_way_they_were_counted(self, tmp_path):
        table = random_table(np.random.default_rng(0), 60_000, missing=0.5).select(["colour", "sold", "doors"])
        parquet.write_table(table, tmp_path / "t.parquet")
        near = juror.fit(tmp_path, rank=2, method="spa")
        far = juror.fit(tmp_path, rank=2, method="spa", memory=LEAST)
        assert far.info.n_distinct is None
        assert far.info.n_rows == near.info.n_rows == 60_000


def test_a_spill_without_a_folder_is_told(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    monkeypatch.setattr(RowStore, "can_merge", False)
    monkeypatch.setattr(store, "_SHARE_FOR_ROWS", 1e-9)
    with pytest.raises(DataError, match=r"writing them aside failed after 0 MB \(No such file or directory\)"):
        juror.fit(in_parts(random_table(np.random.default_rng(0), 90), [40]), rank=1)


def test_a_start_from_a_sample_makes_nothing_impossible(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.choice(["x", "y"], 60_000), "b": ["rare", *rng.choice(["u", "v"], 59_999)]})
    parquet.write_table(table, tmp_path / "t.parquet")
    # The rare label is not among the rows that this seed draws.
    model = juror.fit(tmp_path, method="em", smoothing=0.0, memory=LEAST, seed=1)
    assert model.info.n_searched < 60_000
    assert np.isfinite(model.info.log_likelihood)

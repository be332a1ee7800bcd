"""The benchmark behind docs/speed.md: contestants do the same work, runs are told fairly, and its page is of facts."""

from __future__ import annotations

import json
from dataclasses import replace
from mmap import mmap
from typing import ClassVar

import numpy as np
import pytest
from speed import answering, contestants, peers, plain_loop, race, tasks
from speed import em as em_section
from speed import pairs as pairs_section
from speed.__main__ import main
from speed.facts import (
    Comparison,
    DisagreementError,
    Facts,
    at_least,
    at_most,
    check_equal,
    exponent,
    find,
    seconds_text,
)
from speed.layout import Layout
from speed.page import page, write_page
from speed.race import Job
from speed.sections import SECTIONS
from speed.worker import memory

import juror
from juror.errors import DataError

MACHINE = {"processor": "an abacus", "cores": 2, "python": "3.11", "packages": {"juror": "9.9", "numpy": "2.0"}}


@pytest.fixture(scope="module")
def em_task(tmp_path_factory):
    return tasks.em_task(tmp_path_factory.mktemp("em") / "em.npz", 400, [4] * 5, 3, holes=0.2)


@pytest.fixture(scope="module")
def complete_task(tmp_path_factory):
    return tasks.em_task(tmp_path_factory.mktemp("complete") / "em.npz", 400, [4] * 5, 3)


@pytest.fixture(scope="module")
def count_task(tmp_path_factory):
    return tasks.count_task(tmp_path_factory.mktemp("count") / "count.npz", 500, [2, 3, 4], holes=0.1)


def once(trial) -> dict:
    return trial.check(trial.run())


class TestNumbers:
    @pytest.mark.parametrize("slope", [0.0, 0.5, 1.0, 2.0])
    def test_an_exponent_is_found(self, slope):
        sizes = [10, 30, 100, 1000]
        assert exponent(sizes, [7e-3 * size**slope for size in sizes]) == pytest.approx(slope, abs=1e-12)

    def test_an_exponent_of_one_size_is_refused(self):
        with pytest.raises(ValueError, match="two sizes or more"):
            exponent([10], [1.0])
        with pytest.raises(ValueError, match="each with its time"):
            exponent([10, 20], [1.0])

    def test_times_are_written_in_their_unit(self):
        assert [seconds_text(t) for t in (123.4, 1.0, 0.5, 0.001, 5e-5)] == [
            "123 s",
            "1.00 s",
            "500 ms",
            "1.00 ms",
            "50.0 µs",
        ]

    def test_a_bound_is_reached_at_the_bound(self):
        assert at_least("x", 30, 30.0).is_met
        assert not at_least("x", 30, 29.9).is_met
        assert at_most("x", 2, 2.0).is_met
        assert not at_most("x", 2, 2.01).is_met
        assert not at_least("x", 30, None).is_met
        assert at_most("x", 0.3, None, " s").measured == "–"

    def test_equal_values_pass_and_others_are_refused(self):
        within = {"a": 0.0, "b": 1e-6}
        check_equal({"a": 1.0, "b": 1.0 + 1e-7}, "a", within, "It")
        for wrong in (1.0 + 1e-5, np.nan):
            with pytest.raises(
                DisagreementError, match=r"^It: b has .* differ by more than 1e-06, so their times are not"
            ):
                check_equal({"a": 1.0, "b": wrong}, "a", within, "It")


class TestTasks:
    def test_rows_follow_their_model(self):
        rng = np.random.default_rng(3)
        model = tasks.random_model([3, 2], 2, rng)
        codes = tasks.draw(model, 20_000, 0.25, rng)
        assert np.mean(codes < 0) == pytest.approx(0.25, abs=0.01)
        for n, factor in enumerate(tasks.factors_of(model)):
            seen = codes[codes[:, n] >= 0, n]
            assert np.bincount(seen) / len(seen) == pytest.approx(factor @ model["lam"], abs=0.02)

    def test_the_judge_agrees_with_the_model(self, em_task):
        given = tasks.load(em_task)
        factors = tasks.factors_of(given)
        judged = tasks.mean_log_prob(given["codes"], given["lam"], factors)
        assert judged == pytest.approx(juror.JointPMF(given["lam"], factors).log_prob(given["codes"]).mean(), abs=1e-12)

    def test_tables_by_hand_and_their_digest(self):
        codes = np.array([[0, 1], [0, 1], [1, -1], [-1, 0]], dtype=np.int8)
        (table,) = tasks.bincount_tables(codes, [2, 2])
        assert table.tolist() == [[0, 2], [0, 0]]
        assert tasks.digest([table]) == tasks.digest([table.astype(float)])
        assert tasks.digest([table]) != tasks.digest([table.T])
        assert tasks.digest([table]) != tasks.digest([table + 1])
        assert tasks.digest([np.zeros((1, 4))]) != tasks.digest([np.zeros((4, 1))])


class TestContestants:
    """All that can run without the peers does the same work; this also tells when juror's inside has moved."""

    @pytest.mark.filterwarnings("ignore:The fit reached max_iter")
    def test_em_ends_at_the_same_likelihood(self, em_task):
        expected = once(peers.numpy_em(str(em_task), 4, "gathers"))["log_likelihood"]
        others = [
            once(contestants.em_fit(str(em_task), 4)),
            once(contestants.em_passes(str(em_task), 4)),
            once(peers.numpy_em(str(em_task), 4, "products")),
        ]
        assert [found["passes"] for found in others] == [4, 4, 4]
        assert [found["log_likelihood"] for found in others] == pytest.approx([expected] * 3, abs=1e-6)
        assert once(peers.numpy_em(str(em_task), 3, "gathers"))["log_likelihood"] != pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize("loop", [plain_loop.plain_pass, plain_loop.plain_pass_by_column])
    def test_a_pass_of_juror_is_one_of_the_plain_loop(self, em_task, loop):
        given = tasks.load(em_task)
        layout = Layout([4] * 5)
        stack = layout.stack(tasks.factors_of(given))
        total, classes, counts = loop.py_func(layout.cells(given["codes"]), np.log(given["lam"]), np.log(stack))
        found = once(contestants.em_step(str(em_task)))["log_likelihood"]
        assert found == pytest.approx(total / 400, abs=1e-6)
        assert classes.sum() == pytest.approx(400)
        assert counts[layout.ones].sum() == pytest.approx((given["codes"] < 0).sum())

    def test_sweeps_and_sizes_are_timed_by_name(self, em_task):
        assert set(once(contestants.sweeps(str(em_task), {"3": str(em_task)}))["times"]) == {"pass 3", "sweep 3"}
        assert set(once(contestants.steps_of_sizes(str(em_task), {"400": str(em_task)}))["times"]) == {"400"}
        assert once(peers.steps_of_sizes(str(em_task), {"400": str(em_task)}, "products"))["times"]["400"] >= 0.0

    def test_threads_give_the_same_bits(self, em_task, count_task):
        found = once(contestants.threads(str(em_task), str(count_task), [1, 2]))
        assert found["same"] == {"EM pass": True, "Gibbs sweep": True, "pair counts": True}
        assert len(found["times"]) == 6

    @pytest.mark.parametrize("size", [2, 3])
    def test_counts_are_those_of_numpy(self, count_task, size):
        expected = once(peers.bincount_pairs(str(count_task), size))
        for order in "FC":
            assert once(contestants.pairs(str(count_task), order, size)) == expected

    def test_answers_are_those_of_numpy_and_of_naive_bayes(self, complete_task):
        task = str(complete_task)
        for what in ("log_prob", "predict_proba"):
            found = once(contestants.answers(task, what))["sum"]
            assert found == pytest.approx(once(answering.numpy_answers(task, what))["sum"], abs=1e-9)
        assert once(answering.naive_bayes(task, what))["sum"] == pytest.approx(found, abs=1e-9)
        assert 0.25 < once(contestants.label_proba(task))["sum"] <= 1.0

    def test_holes_are_filled_and_rows_drawn(self, em_task):
        assert once(contestants.answers(str(em_task), "impute")) == {"holes": 0}
        assert 0.0 < once(contestants.answers(str(em_task), "sample"))["sum"] < 1.0

    def test_products_are_timed_in_both_precisions(self, complete_task):
        times = once(answering.products(str(complete_task), [16, 400]))["times"]
        assert set(times) == {f"{name} {size}" for name in ("float64", "float32", "labels") for size in (16, 400)}


class FakeChild:
    """A child whose runs take what it is told; ``ran`` is shared."""

    ran: ClassVar[list[str]] = []

    def __init__(self, job):
        self.job = job
        self.ready = {"failed": "no such library"} if job.prepare == "absent" else {"resident": 10}
        self._left = list(job.options.get("walls", ()))

    def run(self):
        FakeChild.ran.append(self.job.prepare)
        wall = self._left.pop(0)
        return {"wall": wall, "cpu": wall / 2, "working": int(wall), "peak": 5, "times": {"a": wall}}

    def __enter__(self):
        return self

    def __exit__(self, *about):
        pass


class TestRace:
    @pytest.fixture
    def fake(self, monkeypatch):
        monkeypatch.setattr(race, "Child", FakeChild)
        FakeChild.ran.clear()

    def test_in_turns_the_slow_less_often_and_the_best_counts(self, fake, em_task):
        jobs = {
            "quick": Job("quick", em_task, {"walls": [3.0, 1.0, 2.0]}),
            "slow": Job("slow", em_task, {"walls": [50.0, 40.0]}),
            "gone": Job("absent", em_task),
        }
        told: list[str] = []
        found = race.race(jobs, rounds=3, seconds=60.0, tell=told.append)
        assert FakeChild.ran == ["quick", "slow", "quick", "slow", "quick"]
        assert (found["quick"]["wall"], found["quick"]["cpu"], found["quick"]["runs"]) == (1.0, 0.5, 3)
        assert found["quick"]["times"] == {"a": 1.0}
        # the first run needs the most memory; later ones find it
        assert found["quick"]["working"] == 3
        assert (found["slow"]["wall"], found["slow"]["runs"]) == (40.0, 2)
        assert found["gone"]["failed"] == "no such library"
        assert told == ["  gone: no such library", "  quick: 3.00 s", "  slow: 50.0 s"]

    def test_a_process_tells_time_and_memory_and_what_failed(self, em_task):
        jobs = {"nothing": Job("worker:nothing", em_task), "nowhere": Job("worker:nowhere", em_task)}
        found = race.race(jobs, rounds=2, seconds=5.0, tell=lambda line: None)
        assert found["nothing"]["runs"] == 2
        assert 0 <= found["nothing"]["cpu"] < 0.1
        assert 1e6 < found["nothing"]["resident"] < 1e9
        assert "has no attribute 'nowhere'" in found["nowhere"]["failed"]

    def test_memory_grows_with_what_is_held(self):
        before = memory("VmRSS")
        # pages of its own, where an array might find some that others have left
        with mmap(-1, 32_000_000) as held:
            held[::4096] = bytes(len(held[::4096]))
            assert memory("VmRSS") - before > 0.8 * len(held)
            assert memory("VmHWM") >= memory("VmRSS")


class TestAgreement:
    def found(self, **changed) -> dict:
        names = list(em_section.jobs(None, 5))[1:]
        return {who: {"passes": 5, "log_likelihood": -3.0} | changed.get(who, {}) for who in names}

    def test_em_that_agrees_passes(self):
        assert em_section.agree(self.found(pomegranate={"log_likelihood": -3.00005}), 5) is None
        assert em_section.agree(self.found(StepMix={"failed": "absent"}), 5) is None

    @pytest.mark.parametrize(
        "wrong", [{"StepMix": {"log_likelihood": -3.00001}}, {"pomegranate": {"log_likelihood": -2.9}}]
    )
    def test_another_likelihood_is_refused(self, wrong):
        with pytest.raises(DisagreementError, match="Mean log-likelihood after EM"):
            em_section.agree(self.found(**wrong), 5)

    def test_another_number_of_steps_is_refused(self):
        with pytest.raises(DisagreementError, match=r"Steps of EM: StepMix has 4\.0 and asked 5\.0"):
            em_section.agree(self.found(StepMix={"passes": 4}), 5)

    def test_other_counts_are_refused(self, count_task, monkeypatch):
        right = once(peers.bincount_pairs(str(count_task)))
        result = {"cpu": 1.0, "wall": 2.0, "runs": 1}
        monkeypatch.setattr(pairs_section, "race", lambda jobs, *rest: dict.fromkeys(jobs, result | right))
        jobs = {"one": Job("x", count_task), "two": Job("x", count_task, threads=2)}
        rows = pairs_section._race("wide", count_task, jobs, 1, 1.0, print)
        assert [row["each"] for row in rows] == pytest.approx([1e9 / 500 / 3, 2e9 / 500 / 3])
        monkeypatch.setattr(pairs_section, "race", lambda jobs, *rest: {"one": result | {"digest": "another"}})
        with pytest.raises(DisagreementError, match="The counts of one over wide are not those of NumPy"):
            pairs_section._race("wide", count_task, jobs, 1, 1.0, print)


def run_of(cpu: float, **more) -> dict:
    return {"cpu": cpu, "wall": cpu, "runs": 3, "working": 2_000_000, "peak": 9_000_000, "resident": 5_000_000} | more


def em_rows(stepmix=40.0, holes_stepmix=150.0) -> list[dict]:
    times = {em_section.JUROR: 1.0, em_section.STEPS: 0.9, em_section.LOOP: 0.5, em_section.STEPMIX: stepmix}
    times |= {em_section.NUMPY["products"]: 12.0, em_section.NUMPY["gathers"]: 14.0, em_section.POMEGRANATE: 69.0}
    about = {"rows": 100, "passes": 50, "held": 1_000_000}
    return [
        run_of(holes_stepmix if holes and who == em_section.STEPMIX else cpu, who=who, holes=holes, **about)
        for holes in (0.0, 0.2)
        for who, cpu in times.items()
    ]


def made_up() -> dict[str, list[dict]]:
    """Rows of every section, with ratios that can be told by hand."""
    pairs = SECTIONS["pairs"]
    each = {"juror, codes by column": 0.1, "DuckDB, a GROUP BY each": 4.0, "DuckDB, one query of GROUPING SETS": 2.9}
    each |= {"pandas, `crosstab`": 12.0, "NumPy, `bincount`": 3.0}
    wide = {"juror, `PairCounts.of`, by column": 0.15}
    wide |= {"juror, `PairCounts.of`, by row": 0.3, "juror, codes by row": 0.2}
    assert pairs.draw is not None
    counted = [
        run_of(1.0, who=who, what=what, rows=100, groups=66, seconds=1.0, each=value)
        for what in ("wide", "2 levels", "triples")
        for who, value in (each | (wide if what == "wide" else {})).items()
    ]
    answers = [
        run_of(cpu, who=who, what=what, rows=100)
        for what in ("log_prob", "sample")
        for who, cpu in {"juror": 1.0, "NumPy": 3.0, "StepMix": 0.5}.items()
    ]
    large = {"what": "large", "rows": 10, "variables": 10, "rank": 10_000, "operations": 2e6}
    answers += [run_of(cpu, who=who, **large) for who, cpu in {"log_prob": 1.9, "predict_proba": 2.1}.items()]
    answers += [{"who": "matrix product", "product": product, "cpu": 1.0, **large} for product in ("float64", "labels")]
    growth = [
        {"axis": axis, "who": who, "size": size, "cpu": cost * size**slope, "runs": 2}
        for axis, slope in (("rows", 1.0), ("rank", 1.2))
        for who, cost in (("juror", 1e-6), ("StepMix", 1e-5))
        for size in (10, 100, 1000)
    ]
    growth += [run_of(1.0, axis="memory", who="juror", rank=10, holes=0.2, rows=100, codes=1000)]
    return {
        "em": em_rows(),
        "loop": [
            run_of(cpu, who=who, data="plants", rows=9, variables=2, rank=300, log_likelihood=-1.0)
            for who, cpu in (("juror", 1.0), ("plain loop, columns inside", 7.0), ("plain loop, classes inside", 9.0))
        ],
        "forests": [
            {"holes": holes, "rows": 10, "variables": 4, "rank": rank, "product": 1.0, "forest": forest}
            for holes, forest in ((0.0, 1.4), (0.2, 6.5))
            for rank in (16, 64)
        ],
        "threads": [
            {"what": what, "threads": n, "rows": 10, "wall": wall, "cores": 2}
            for what in ("EM pass", "Gibbs sweep", "pair counts")
            for n, wall in ((1, 1.7), (2, 1.0))
        ],
        "pairs": counted,
        "gibbs": [{"rank": rank, "rows": 10, "pass": 1.0, "sweep": 1.0 + rank / 100} for rank in (10, 32, 101)],
        "answers": answers,
        "growth": growth,
        "imports": [
            {"who": "import juror", "runs": 3, "wall": 0.25, "process": 0.4},
            {"who": "import juror; juror.fit", "runs": 3, "wall": 2.5, "process": 2.6},
            {"who": "import stepmix", "runs": 3, "wall": 2.0, "process": 2.5},
            {
                "who": "import pomegranate.gmm",
                "runs": 0,
                "failed": "ModuleNotFoundError: No module named 'pomegranate'",
            },
            {"who": "import numpy", "runs": 3, "wall": 0.1, "process": 0.2},
        ],
    }


def facts_of(rows: dict[str, list[dict]], quick: bool = False) -> dict[str, Facts]:
    return {name: Facts(name, quick, MACHINE, found) for name, found in rows.items()}


class TestPage:
    def judged(self, rows: dict[str, list[dict]]) -> dict[str, bool]:
        goals = [goal for name, found in rows.items() for goal in SECTIONS[name].goals(found)]
        return {goal.what: goal.is_met for goal in goals}

    def test_every_line_of_the_issue_is_judged_by_the_facts(self):
        missed = [what for what, is_met in self.judged(made_up()).items() if not is_met]
        assert missed == [
            "EM, complete: pomegranate over `juror.fit`",
            "`plants`, F = 300: the plain loop over an EM pass",
            "Adult, 20 % missing: a pass along a tree over one of a product, the most of F = 16, 64, 256",
            "all pair tables: DuckDB's better way over juror",
            "a Gibbs sweep over an EM pass, the most of F = 10, 32, 100",
            "`predict_proba`, rank 10,000: time over the matrix product and that with the labels, double precision, "
            "the most of N = 10",
            "exponent of time over rank, from 10 to 1,000",
        ]
        assert len(self.judged(made_up())) == 22

    def test_other_facts_are_judged_otherwise(self):
        worse = self.judged(made_up() | {"em": em_rows(stepmix=29.0, holes_stepmix=99.0)})
        assert not worse["EM, complete: StepMix over `juror.fit`"]
        assert not worse["EM, 20 % missing: StepMix over `juror.fit`"]

    def test_a_goal_without_its_facts_is_not_reached(self):
        for section in SECTIONS.values():
            failed = [{**row, "failed": "no"} for row in made_up()[section.name]]
            assert [goal.is_met for goal in section.goals(failed)] == [False] * len(list(section.goals(failed)))

    def test_the_page_says_it_all(self):
        text = page(list(SECTIONS.values()), facts_of(made_up()))
        assert "Measured on an abacus, 2 core(s); Python 3.11, juror 9.9, numpy 2.0." in text
        assert "15 of 22 are." in text
        assert "| EM, complete: StepMix over `juror.fit` | at least 30× | 40× | yes |" in text
        assert (
            "| `plants`, F = 300: the plain loop over an EM pass | at least 8× | 7× (9× with classes inside) |" in text
        )
        assert "| EM, complete: pomegranate over `juror.fit` | at least 70× | 69× | **no** |" in text
        assert "| `import pomegranate.gmm` | ModuleNotFoundError: No module named 'pomegranate' | – | 0 |" in text
        assert "| juror | 10.0 µs | 100 µs | 1.00 ms | 1.00 |" in text
        assert "quick" not in text.lower().replace("(2,000 in a quick run)", "")
        # no line ends in blanks and no figure is of another
        assert all(line == line.rstrip() for line in text.splitlines())

    def test_where_juror_is_slower_is_told_and_only_that(self):
        text = page(list(SECTIONS.values()), facts_of(made_up()))
        slower = text.split("## Where juror is slower")[1]
        assert "another is faster in 5." in slower
        assert slower.count("plain fused loop in numba") == 2
        assert "| `sample`, 100 rows | StepMix | 1.00 s | 500 ms | 0.50 |" in slower
        # it takes all of juror, not the statement alone, to compare with a library that loads all
        assert "| import, all loaded | `import stepmix` | 2.50 s | 2.00 s | 0.80 |" in slower
        assert "numpy" not in slower
        assert Comparison("x", "y", 2.0, 1.0).ratio == 0.5

    def test_a_refused_contestant_stays_in_the_table(self):
        rows = em_rows()
        rows[3] = {"who": "StepMix", "holes": 0.0, "failed": "ImportError: no", "rows": 100, "passes": 50}
        text = page(list(SECTIONS.values()), facts_of({"em": rows}))
        assert "| StepMix | – | – | 0 | – | – | ImportError: no |" in text
        assert "| EM, complete: StepMix over `juror.fit` | at least 30× | – | **no** |" in text
        assert "Not measured yet: `python -m benchmarks.speed --only pairs`." in text

    def test_a_quick_run_says_so(self):
        text = page(list(SECTIONS.values()), facts_of(made_up(), quick=True))
        assert "**Quick run with smaller settings: for a look, not to be quoted.**" in text
        assert "20 are." not in text

    def test_pictures_are_drawn_of_what_there_is(self, tmp_path):
        rows = made_up()
        written = write_page(tmp_path, list(SECTIONS.values()), facts_of(rows))
        pictures = [path.name for path in written if path.suffix == ".png"]
        assert pictures == ["em.png", "threads.png", "pairs.png", "answers.png", "growth.png"]
        assert all(path.stat().st_size > 5_000 for path in written if path.suffix == ".png")
        for name in pictures:
            assert f"(speed/{name})" in (tmp_path / "speed.md").read_text()
        gone = {"threads": [{"failed": "no threads"}]}
        assert [path.name for path in write_page(tmp_path, list(SECTIONS.values()), facts_of(gone))] == ["speed.md"]
        assert "It could not be run: no threads." in (tmp_path / "speed.md").read_text()


class TestCommand:
    @pytest.fixture
    def measured(self, monkeypatch):
        """Sections that give made-up rows and draw nothing, and the names of those that were measured."""
        ran: list[str] = []
        rows = made_up()
        for name, section in list(SECTIONS.items()):

            def measure(quick, tell, name=name):
                ran.append(name)
                return rows[name]

            monkeypatch.setitem(SECTIONS, name, replace(section, measure=measure, draw=None))
        return ran

    def test_facts_are_kept_and_the_page_is_made_of_them_again(self, tmp_path, measured):
        assert main(["-o", str(tmp_path)]) == 0
        assert measured == list(SECTIONS)
        first = (tmp_path / "speed.md").read_text()
        assert json.loads((tmp_path / "speed" / "em.json").read_text())["rows"] == em_rows()
        measured.clear()
        assert main(["--render", "-o", str(tmp_path)]) == 0
        assert measured == []
        assert (tmp_path / "speed.md").read_text() == first

    def test_some_sections_alone_and_going_on(self, tmp_path, measured, capsys):
        assert main(["--only", "pairs,gibbs", "-o", str(tmp_path)]) == 0
        assert measured == ["pairs", "gibbs"]
        assert "Not measured yet" in (tmp_path / "speed.md").read_text()
        assert main(["--missing", "-o", str(tmp_path)]) == 0
        assert sorted(measured) == sorted(SECTIONS)
        assert "pairs: kept" in capsys.readouterr().err
        measured.clear()
        # what a quick run found is not what a full one would
        assert main(["--missing", "--quick", "--only", "em", "-o", str(tmp_path)]) == 0
        assert measured == ["em"]

    def test_a_disagreement_is_told_and_the_rest_goes_on(self, tmp_path, measured, monkeypatch, capsys):
        def disagree(quick, tell):
            raise DisagreementError("a and b differ")

        monkeypatch.setitem(SECTIONS, "em", replace(SECTIONS["em"], measure=disagree))
        assert main(["-o", str(tmp_path)]) == 1
        assert measured == list(SECTIONS)[1:]
        assert "Wrong: em: a and b differ" in capsys.readouterr().err
        assert not (tmp_path / "speed" / "em.json").exists()

    def test_an_empty_folder_gives_no_page(self, tmp_path, capsys):
        assert main(["--render", "-o", str(tmp_path)]) == 1
        assert "There are no facts in" in capsys.readouterr().err
        assert not (tmp_path / "speed.md").exists()

    def test_a_broken_file_is_a_sentence(self, tmp_path):
        (tmp_path / "em.json").write_text('{"section": "em"}')
        with pytest.raises(DataError, match=r"does not hold the facts of a section\. Delete it"):
            Facts.load(tmp_path, "em")
        assert Facts.load(tmp_path, "pairs") is None

    def test_mistakes_are_refused(self, tmp_path, capsys):
        for arguments in (["--only", "em,pears"], ["--render", "--only", "em"], ["--render", "--missing"]):
            with pytest.raises(SystemExit):
                main([*arguments, "-o", str(tmp_path)])
        told = capsys.readouterr().err
        assert "there is no section 'pears'; there are em, loop" in told
        assert "--render measures nothing" in told
        assert list(tmp_path.iterdir()) == []

    def test_a_row_is_found_by_what_it_holds(self):
        rows = [{"who": "a", "failed": "no"}, {"who": "a", "cpu": 2.0}]
        assert find(rows, who="a") == {"who": "a", "cpu": 2.0}
        assert find(rows, who="b") is None

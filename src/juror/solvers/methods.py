"""The methods by name."""

from __future__ import annotations

from functools import partial

from juror.counts.counts import PairCounts, TripleCounts
from juror.counts.projections import Projections
from juror.solvers import bayes, ctf, em, juror, pair_em, spa, spa_em, tree
from juror.solvers.juror_stages import Stages
from juror.solvers.solver import Method


def _juror(*, shrink: bool, descend: bool) -> Method:
    solve = partial(juror.solve, stages=Stages(shrink, descend))
    return Method(solve, juror.JurorOptions, (PairCounts, Projections), spa.most_rank, projects=True)


METHODS: dict[str, Method] = {
    "tree": Method(tree.solve, tree.TreeOptions, (PairCounts, Projections), tree.most_rank, open_rank=1),
    "em": Method(em.solve, em.EMOptions, growth=em.GROWTH, on_card=True),
    "bayes": Method(bayes.solve, bayes.BayesOptions, open_rank=32, on_card=True),
    "pair-em": Method(pair_em.solve, pair_em.PairEMOptions, (PairCounts, Projections), open_rank=1),
    "spa": Method(spa.solve, spa.SPAOptions, (PairCounts,), spa.most_rank),
    "spa-em": Method(spa_em.solve, spa_em.SPAEMOptions, most_rank=spa.most_rank, on_card=True),
    "ctf": Method(ctf.solve, ctf.CTFOptions, (TripleCounts,)),
    "juror-a": _juror(shrink=True, descend=True),
    "juror-b": _juror(shrink=False, descend=True),
    "juror-c": _juror(shrink=True, descend=False),
}
ALL_OPTIONS = frozenset(name for method in METHODS.values() for name in method.option_names)

"""The parts of a model that its answers are computed from; :class:`juror.JointPMF` holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from juror.answers.block import Block
from juror.domain import Domain
from juror.domain.conditions import Conditions
from juror.record import FitRecord

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts


class ModelParts:
    """What the methods of a model may use."""

    __slots__ = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks."""
        raise NotImplementedError

    @property
    def domain(self) -> Domain:
        """The variables."""
        raise NotImplementedError

    @property
    def info(self) -> FitRecord | None:
        """How the model was fitted."""
        raise NotImplementedError

    @property
    def counts(self) -> PairCounts | None:
        """The pair counts of the rows of the fit."""
        raise NotImplementedError

    @property
    def conditions(self) -> Conditions | None:
        """What the model was conditioned on."""
        raise NotImplementedError

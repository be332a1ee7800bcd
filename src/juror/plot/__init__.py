"""Pictures of a model: each function draws into the Axes given, or into new ones, and returns them.

Without ``ax`` a new figure of a suitable size is made; pyplot does not know of it. Show it with ``ax.figure`` at the
end of a notebook cell, or write it with ``ax.figure.savefig("picture.png")``. To draw into your own figure, pass one of
its Axes. Matplotlib is needed: ``pip install 'juror[plots]'``.

>>> import juror
>>> from juror import plot
>>> model = juror.fit(juror.datasets.titanic(), rank=4, method="em")
>>> ax = plot.marginal(model, "Survived", given={"Sex": "Female"})
>>> ax.get_title(loc="left")
'P(Survived | Sex = Female)'
"""

from juror.plot.bars import marginal
from juror.plot.calibrated import calibration
from juror.plot.class_profiles import classes
from juror.plot.curves import errors, rank_path
from juror.plot.maps import dependence, pair
from juror.plot.trees import tree

__all__ = ["calibration", "classes", "dependence", "errors", "marginal", "pair", "rank_path", "tree"]

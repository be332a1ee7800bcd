"""Pictures of a model: each function draws into the Axes it is given, or into one of its own, and returns it.

Without ``ax`` a figure of a sensible size is made that no window and no list of open figures holds: show it with
``ax.figure`` at the end of a notebook's cell, or write it with ``ax.figure.savefig("picture.png")``. To draw into a
figure of your own, pass one of its Axes. Matplotlib is needed: ``pip install 'juror[plots]'``.

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

__all__ = ["calibration", "classes", "dependence", "errors", "marginal", "pair", "rank_path"]

"""Read a model back from its file."""

from __future__ import annotations

import os

from juror.errors import ModelError, ModelFileError
from juror.files import container
from juror.model.joint import JointPMF


def load(path: str | os.PathLike[str]) -> JointPMF:
    """Read a model that :meth:`JointPMF.save` wrote; nothing in the file is ever run."""
    parts = container.read(path)
    try:
        return JointPMF(*parts)
    except ModelError as error:
        raise ModelFileError(f"The file {os.fspath(path)!r} does not hold a distribution: {error}") from None

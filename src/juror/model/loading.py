"""Read a model back from its file."""

from __future__ import annotations

import os

from juror.errors import ModelError, ModelFileError
from juror.model import file_format
from juror.model.joint import JointPMF


def load(path: str | os.PathLike[str]) -> JointPMF:
    """Read a model that :meth:`JointPMF.save` wrote; nothing in the file is executed."""
    blocks, domain, info, counts, conditions = file_format.read(path)
    try:
        return JointPMF.of_blocks(blocks, domain, info, counts, conditions)
    except ModelError as error:
        raise ModelFileError(f"The file {os.fspath(path)!r} does not hold a distribution: {error}") from None

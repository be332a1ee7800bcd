"""The card: whether there is one, and how work is queued on it.

Under Triton's interpreter (``TRITON_INTERPRET=1``) the same kernels run on the CPU, slowly: this is how tests run them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np
import torch

from juror.errors import ParameterError


@cache
def device() -> torch.device:
    """Return the card, or the CPU if kernels are interpreted."""
    if os.environ.get("TRITON_INTERPRET", "0") == "1":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise ParameterError(
            "{device:='cuda'} needs an NVIDIA card, and PyTorch {version} finds none. Pass {device:='cpu'}.",
            version=torch.__version__,
        )
    return torch.device("cuda")


def card_name() -> str:
    """Return the name of the card."""
    return "Triton's interpreter" if is_interpreted() else torch.cuda.get_device_name()


def is_interpreted() -> bool:
    """Return whether kernels are interpreted on the CPU."""
    return device().type == "cpu"


_of_thread = threading.local()
# Triton's interpreter is for one thread.
_INTERPRETING = threading.RLock()


def on_own_stream(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let every thread queue its work on a stream of its own, so that fits side by side share the card."""

    @wraps(function)
    def queued(*args: Any, **options: Any) -> Any:
        if is_interpreted():
            with _INTERPRETING:
                return function(*args, **options)
        if not hasattr(_of_thread, "stream"):
            _of_thread.stream = torch.cuda.Stream()
        with torch.cuda.stream(_of_thread.stream):
            return function(*args, **options)

    return queued


@on_own_stream
def as_tensor(array: np.ndarray | torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Copy an array to the card, unless it is there."""
    if isinstance(array, torch.Tensor):
        return array.to(device(), dtype)
    return torch.as_tensor(np.require(array, requirements=["C", "W"])).to(device(), dtype)


@on_own_stream
def as_array(tensor: np.ndarray | torch.Tensor) -> np.ndarray:
    """Copy a tensor from the card, unless it is an array."""
    return tensor.cpu().numpy() if isinstance(tensor, torch.Tensor) else tensor

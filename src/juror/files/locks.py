"""Locks that end with their process, however that ends. They tell what is in use from what was left behind."""

from __future__ import annotations

import fcntl


def lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file or folder; return whether it is locked now. Some file systems know no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

"""How long a first fit on a machine takes, in new processes: with an empty cache of compiled kernels, and again.

``python benchmarks/first_fit.py [--kernels]``: with ``--kernels`` also the seconds that numba takes for each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter

TABLES = ("titanic", "small, with holes", "adult", "car")


def fit(name: str) -> dict[str, object]:
    """Fit a table, and return the seconds in all and those of every function that numba compiles."""
    began = time.perf_counter()
    import numba.core.event as events
    import numpy as np
    import pandas as pd

    import juror

    compiling: list[list] = []
    seconds: Counter[str] = Counter()

    class Listener(events.Listener):
        def on_start(self, event):
            compiling.append([event.data["dispatcher"].py_func.__name__, time.process_time()])

        def on_end(self, event):
            name, since = compiling.pop()
            took = time.process_time() - since
            seconds[name] += took
            if compiling:
                # Functions that a function calls are compiled inside it.
                compiling[-1][1] += took

    events.register("numba:compile", Listener())
    if name == "titanic":
        rows = juror.datasets.titanic()
    elif name == "small, with holes":
        rng = np.random.default_rng(0)
        rows = pd.DataFrame(rng.integers(0, 4, (400, 6)), columns=list("abcdef")).astype(str)
        rows = rows.assign(size=rng.normal(size=400)).mask(rng.random((400, 7)) < 0.1)
    else:
        rows = juror.datasets.load(name)
    juror.fit(rows).marginal(rows.columns[0])
    return {"seconds": time.perf_counter() - began, "compiled": dict(seconds)}


def in_a_new_process(name: str, cache: str) -> dict:
    """Fit a table in another process, whose compiled kernels are kept in a folder."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--fit", name],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    """Print a row a table."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--fit")
    arguments.add_argument("--kernels", action="store_true")
    asked = arguments.parse_args()
    if asked.fit:
        print(json.dumps(fit(asked.fit)))
        return
    print(f"{'':20}{'first, s':>10}{'compiling, s':>14}{'functions':>11}{'again, s':>10}")
    for name in TABLES:
        with tempfile.TemporaryDirectory() as cache:
            first, again = in_a_new_process(name, cache), in_a_new_process(name, cache)
        compiled = Counter(first["compiled"])
        print(
            f"{name:20}{first['seconds']:10.1f}{compiled.total():14.1f}{len(compiled):11}{again['seconds']:10.1f}",
            flush=True,
        )
        if asked.kernels:
            for kernel, seconds in compiled.most_common(20):
                print(f"    {kernel:30}{seconds:6.2f}")


if __name__ == "__main__":
    main()

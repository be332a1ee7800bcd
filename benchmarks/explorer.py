"""The size and the speed of the report page in a real browser; and its pictures in docs/explorer/.

A click is timed from its event until the new numbers are laid out (computation, changes of the document, layout), and
until the next frame is shown. Times are for this machine, without a graphics card.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import juror
from juror.testing import random_model

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from browser import find_browser, open_browser, watched  # as the tests do

PICTURES = Path(__file__).parent.parent / "docs" / "explorer"
N_CLICKS = 30
# Pixels around the picture of a part of the page
MARGIN = 16
EVIDENCE = "#given.education=Bachelors&given.education=Masters"
CLICK = """async (i) => {
  const bars = [...document.querySelectorAll('.bar')];
  const bar = bars[(i * 7919) % bars.length];
  const began = performance.now();
  bar.click();
  document.body.offsetHeight;
  const laidOut = performance.now() - began;
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  return [laidOut, performance.now() - began];
}"""


def mushroom() -> juror.JointPMF:
    return juror.fit(juror.datasets.load("mushroom"), rank=24, method="em")


def random_of(n_variables: int, n_labels: int, rank: int) -> juror.JointPMF:
    return random_model([n_labels] * n_variables, rank, np.random.default_rng(0), concentration=0.3)


MODELS: dict[str, Callable[[], juror.JointPMF]] = {
    "Titanic, defaults": lambda: juror.fit(juror.datasets.titanic()),
    "Mushroom, rank 24": mushroom,
    "random, 30 × 10, rank 200": lambda: random_of(30, 10, 200),
    "random, 50 × 10, rank 200": lambda: random_of(50, 10, 200),
    "random, 200 × 10, rank 50": lambda: random_of(200, 10, 50),
}


def measured(browser: Any, model: juror.JointPMF, folder: Path) -> dict[str, float]:
    """Write a page, open it and click; sizes in kB, times in milliseconds."""
    path = folder / "report.html"
    began = time.perf_counter()
    juror.Report(model).save(path)
    made = time.perf_counter() - began
    began = time.perf_counter()
    with watched(browser, path) as page:
        opened = time.perf_counter() - began
        clicks = [page.evaluate(CLICK, i) for i in range(N_CLICKS)]
    laid_out, seen = zip(*clicks, strict=True)
    return {
        "kB": path.stat().st_size / 1000,
        "made, s": made,
        "opened, s": opened,
        "click, ms": statistics.median(laid_out),
        "slowest": max(laid_out),
        "to the frame": statistics.median(seen),
    }


def table(browser: Any, folder: Path) -> Iterator[str]:
    head = ["kB", "made, s", "opened, s", "click, ms", "slowest", "to the frame"]
    yield f"| model | rank | {' | '.join(head)} |"
    yield f"|{'---|' * (len(head) + 2)}"
    for name, make in MODELS.items():
        model = make()
        found = measured(browser, model, folder)
        yield f"| {name} | {model.rank:,} | {' | '.join(f'{found[column]:,.3g}' for column in head)} |"


def portraits(browser: Any, folder: Path) -> None:
    """Take screenshots of the explorer, light, dark and on a phone, and of the forest below the dependence map."""
    people = juror.datasets.load("adult").drop(columns=["fnlwgt", "education-num"])
    model = juror.fit(people, rank=30, method="em", forest=True, domain=juror.Domain.infer(people, bins=10))
    path = folder / "adult.html"
    juror.Report(model, name="adult.juror").save(path)
    PICTURES.mkdir(exist_ok=True)
    for name, options in {
        "light": {"viewport": {"width": 1280, "height": 860}},
        "dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
        "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "has_touch": True},
    }.items():
        with watched(browser, path, EVIDENCE, **options) as page:
            page.select_option("#sort", "moved")
            page.mouse.move(1, 1)
            page.wait_for_timeout(400)
            page.screenshot(path=PICTURES / f"{name}.png")
    with watched(browser, path, viewport={"width": 1280, "height": 860}) as page:
        page.click("#tab-dependence")
        page.mouse.move(1, 1)
        page.wait_for_timeout(400)
        box = page.locator("#forest").bounding_box()
        clip = {"x": 0, "y": box["y"] - MARGIN, "width": 1280, "height": box["height"] + 2 * MARGIN}
        page.screenshot(path=PICTURES / "forest.png", full_page=True, clip=clip)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--portraits", action="store_true", help="take the screenshots docs/explorer/*.png instead of measuring"
    )
    options = parser.parse_args()
    if find_browser() is None:
        sys.exit("There is no browser on this machine. Install Debian's chromium.")
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        if options.portraits:
            portraits(browser, Path(folder))
            return
        for line in table(browser, Path(folder)):
            print(line, flush=True)


if __name__ == "__main__":
    main()

"""The page of a report: facts and the code that shows them, in one HTML file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from pathlib import PurePath
from string import Template
from typing import Any

import numpy as np

from juror.printing import numbered
from juror.report.packing_numbers import deflated

_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:"
# How many of the worst pairs are listed
_PAIRS_TOLD = 20
# Models further apart than this, in nats per row, give different answers for many rows
_MUCH = 0.1


def make_page(facts: dict[str, Any], packed: dict[str, Any]) -> str:
    """Return the HTML of a report from what :func:`juror.report.facts.gather_facts` returns."""
    style, script = _asset("style.css"), _asset("page.js")
    return Template(_asset("page.html")).substitute(
        title=escape(PurePath(facts["file"]).stem),
        about=escape(_about(facts)),
        notice=_notice(facts["model"]),
        # The browser runs only this style and this script, by their digests. Text of a label is never run.
        policy=f"{_POLICY}; style-src {_digest(style)}; script-src {_digest(script)}",
        style=style,
        script=script,
        facts=_embedded(_packed(facts, packed)),
        version=escape(_version()),
    )


def _version() -> str:
    from importlib.metadata import version  # slow to import

    return version("juror")


def _asset(name: str) -> str:
    return files("juror.report").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _packed(facts: dict[str, Any], packed: dict[str, Any]) -> dict[str, Any]:
    """Return facts as the page has them: many numbers as base64, and without what the page computes itself."""
    dependence, model = facts["dependence"], facts["model"]
    is_exact = model["rank"] == model["fitted_rank"] and model["bits"] != 16
    return facts | {
        "variables": [_rounded(variable, is_exact) for variable in facts["variables"]],
        "model": model | {"blocks": packed["blocks"]},
        "dependence": dependence
        | {"matrix": _half(dependence["matrix"]), "counted": _half_of_16(dependence["counted"])},
        "observed": _shortened(facts["observed"]),
        "pairs": packed["pairs"],
    }


def _rounded(variable: dict[str, Any], is_exact: bool) -> dict[str, Any]:
    """Return a variable without its probabilities if the page computes them exactly, else with six digits."""
    left_out = {"probabilities"} if is_exact else set()
    numbers = {"probabilities", "low", "high"}
    packed = {
        name: [float(f"{number:.6g}") for number in value] if name in numbers else value
        for name, value in variable.items()
        if name not in left_out
    }
    return packed | {"number": _packed_number(variable["number"])}


def _packed_number(number: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the law of a number with its pieces as text: deflated doubles, all bounds and then all masses."""
    if number is None:
        return None
    pieces = deflated(np.array([*number["bounds"], *number["masses"]], dtype="<f8"))
    return {name: value for name, value in number.items() if name not in ("bounds", "masses")} | {"pieces": pieces}


def _half(matrix: Any) -> str:
    """Return the part above the diagonal as base64 of floats: the page shows three digits."""
    full = np.asarray(matrix, dtype="<f4")
    return base64.b64encode(full[np.triu_indices(len(full), k=1)].tobytes()).decode()


def _half_of_16(matrix: Any) -> str | None:
    """Return the part above the diagonal as base64 of 16 bits: 65535 for unknown, else shares of 65534."""
    if matrix is None:
        return None
    full = np.asarray(matrix, dtype=float)
    above = full[np.triu_indices(len(full), k=1)]
    codes = np.where(np.isnan(above), 65535, np.round(65534 * np.nan_to_num(above)))
    return base64.b64encode(codes.astype("<u2").tobytes()).decode()


def _shortened(observed: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the facts about data with only the pairs that the page lists: many variables have thousands of pairs."""
    if observed is None:
        return None
    return observed | {"pairs": observed["pairs"][:_PAIRS_TOLD], "n_pairs": len(observed["pairs"])}


def _embedded(facts: dict[str, Any]) -> str:
    """Return JSON without ``<``, so that no label can end the script element with ``</script``."""
    return json.dumps(facts, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _about(facts: dict[str, Any]) -> str:
    n, fit = len(facts["variables"]), facts["fit"]
    about = f"The joint distribution of {numbered(n, 'variable')}"
    if fit is None:
        return about
    whole = float(fit["n_rows"]).is_integer()
    rows = f"{fit['n_rows']:,.0f} rows" if whole else f"rows of total weight {fit['n_rows']:,.1f}"
    return f"{about}, fitted by {fit['method']} to {rows}"


def _notice(model: dict[str, Any]) -> str:
    """Say how far the page's model is from the fitted one, if it is another."""
    if model["rank"] == model["fitted_rank"]:
        # Nobody sees a change of the seventh digit; the tab of the fit has it.
        return _rounding(model) if model["bits"] == 16 else ""
    far = _far(model["loss"])
    return (
        '<p class="notice">This page shows a smaller model near the fitted one. Answers with at most one condition are '
        "those of the fitted model to a point, or the panel says how far off they may be. With several conditions they "
        f"may differ by more{far}. A report made with <code>--rank all</code> shows the fitted model.</p>"
    )


def _rounding(model: dict[str, Any]) -> str:
    return (
        '<p class="notice">To keep the page small, the numbers of the model are rounded to three digits. Shares of two '
        f"labels together differ by at most {_points(model['pair_difference'])} points.</p>"
    )


def _far(loss: float) -> str:
    return f". It is {loss:.2g} nats a row away, which is a lot" if loss > _MUCH else ""


def _points(share: float) -> str:
    return f"{100 * share:.2g}" if share >= 1e-6 else "0.0001"

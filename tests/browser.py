"""A real browser for tests: Debian's Chromium, without a screen, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

# as root, and in a machine without a network, where it would try in vain to reach its makers
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> str | None:
    """Return the path of a browser of the Chromium family; None when there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser, or say loudly that there is none: skipped on a developer's machine, a failure in CI."""
    path = find_browser()
    if path is None:
        message = f"NO BROWSER: report page and site are NOT TESTED. Install Debian's chromium, or one of {_NAMES}."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@contextmanager
def watched(browser: Browser, path: Path, fragment: str = "", **options: Any) -> Iterator[Page]:
    """Open a page from a file, and fail if it says an error or asks for anything beyond itself."""
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(10_000)
    errors: list[str] = []
    page.on("console", lambda message: message.type != "error" or errors.append(f"console: {message.text}"))
    page.on("dialog", lambda dialog: (errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("pageerror", lambda error: errors.append(f"error: {error}"))
    own = path.as_uri()
    page.on("request", lambda request: request.url.split("#")[0] == own or errors.append(f"request: {request.url}"))
    try:
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]", state="attached")
        yield page
        assert errors == []
    finally:
        context.close()

"""A real browser for tests: Debian's Chromium, without a screen, driven by Playwright.

Tests read the text of panels by ``text_content``. Panels outside the window are not laid out until it is scrolled, and
``inner_text`` of what is not laid out is empty.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

# The browser may run as root and without a network. It must not try to reach its makers.
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
    """Return the path of a browser of the Chromium family, or None."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser. Without one, tests are skipped on a developer's machine and fail in CI."""
    path = find_browser()
    if path is None:
        message = f"NO BROWSER: report page and site are NOT TESTED. Install Debian's chromium, or one of {_NAMES}."
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        _idle.pop(browser, None)
        browser.close()


class Tab:
    """A tab of the browser that notes errors, dialogs, and requests for anything but the page itself."""

    def __init__(self, browser: Browser, **options: Any):
        self.page = browser.new_context(**options).new_page()
        self.page.set_default_timeout(10_000)
        self.errors: list[str] = []
        self.own = "about:blank"
        self.page.on("console", lambda message: message.type == "error" and self._note("console", message.text))
        self.page.on("dialog", lambda dialog: (self._note("dialog", dialog.message), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self._note("error", error))
        self.page.on(
            "request", lambda request: request.url.split("#")[0] == self.own or self._note("request", request.url)
        )

    def _note(self, kind: str, what: object) -> None:
        self.errors.append(f"{kind}: {what}")

    def _check_request(self, url: str) -> None:
        if url.split("#")[0] != self.own:
            self._note("request", url)

    def show(self, path: Path, fragment: str = "") -> None:
        """Load a page afresh: nothing of the page before is left."""
        self.own = "about:blank"
        self.page.goto(self.own)
        self.errors.clear()
        self.own = path.as_uri()
        self.page.goto(self.own + fragment)
        self.page.wait_for_selector("html[data-ready]", state="attached")


# Tabs with default options that no test uses now; a new one takes longer than a page
_idle: dict[Browser, list[Tab]] = {}


@contextmanager
def watched(browser: Browser, path: Path, fragment: str = "", **options: Any) -> Iterator[Page]:
    """Open a page from a file, and fail if it reports an error or requests anything but itself."""
    idle = _idle.setdefault(browser, [])
    tab = idle.pop() if idle and not options else Tab(browser, **options)
    try:
        tab.show(path, fragment)
        yield tab.page
        assert tab.errors == []
    except BaseException:
        tab.page.context.close()
        raise
    if options:
        tab.page.context.close()
    else:
        idle.append(tab)

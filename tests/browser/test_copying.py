"""
The buttons that copy lines: there with JavaScript alone, and for keyboards and screen readers too.

A page says for two seconds that it copied. Its clock stands still meanwhile, since a busy machine may look later.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


@pytest.mark.parametrize("path", ["/exports/", "/api"])
def test_lines_are_copied_by_keyboard_and_said_to_be(open_page: Open, path: str) -> None:
    """What is on the clipboard is what stands there, to the character."""
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.clock.install(time=NOW)
    page.goto(path)
    page.clock.pause_at(LATER)
    lines = page.locator(".lines").first
    button = lines.get_by_role("button", name="Copy")
    button.focus()
    page.keyboard.press("Enter")
    expect(lines.get_by_role("button", name="Copied")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text("Copied to the clipboard.")
    assert page.evaluate("navigator.clipboard.readText()") == lines.locator("pre").text_content()
    page.clock.run_for(2_000)
    expect(button).to_be_visible()
    expect(page.get_by_role("status")).to_be_empty()
    buttons = [each.text_content() for each in page.locator("button.copy").all()]
    assert len(set(buttons)) == len(buttons), "buttons that sound the same"


@pytest.mark.parametrize("path", ["/exports/", "/api"])
def test_without_javascript_there_is_no_button(open_page: Open, path: str) -> None:
    """One that does nothing would be worse than none."""
    page = open_page(java_script_enabled=False)
    page.goto(path)
    expect(page.locator(".lines pre").first).to_be_visible()
    assert page.get_by_role("button", name="Copy").count() == 0


def test_a_browser_that_refuses_to_copy_is_reported(open_page: Open) -> None:
    """The page says that the browser refuses, rather than doing nothing."""
    page = open_page(permissions=[])
    page.clock.install(time=NOW)
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new DOMException('no'))")
    page.goto("/exports/")
    page.clock.pause_at(LATER)
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("status")).to_contain_text("does not let this page")

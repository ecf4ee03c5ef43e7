"""Every page for who cannot see it well, or uses no mouse: axe-core's rules, the skip link, the focus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Watch
from tests.browser.places import KINDS, PAGES
from tests.browser.test_pages import DARK, LIGHT, NARROW, WIDE, addresses, visit
from tests.selection import mostly_long

__all__ = ["addresses"]

AXE = Path(__file__).resolve().parents[1] / "node/node_modules/axe-core/axe.min.js"
GRAVE = ("serious", "critical")
MOST_STOPS = 700

FOCUS = """() => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const shown = element.closest('.CodeMirror') ?? element;
    const box = shown.getBoundingClientRect();
    const style = getComputedStyle(shown);
    const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    const inside = box.width > 1 && box.height > 1 && box.bottom > 0 && box.top < innerHeight
        && box.right > 0 && box.left < innerWidth;
    const again = element.visited === true;
    element.visited = true;
    return {again, seen: inside && (outlined || style.boxShadow !== 'none'), inMain: !!element.closest('main'),
            what: element.outerHTML.slice(0, 140)};
}"""
"""What has the focus; None for the page as a whole. The editor shows it on its frame: its field is hidden."""


def prepare(page: Page) -> None:
    """Bring axe-core into a page; what a test has the browser evaluate is not under the page's policy."""
    if not AXE.is_file():
        pytest.fail(f"{AXE} is not there; `make setup` installs it", pytrace=False)
    page.evaluate(AXE.read_text("utf-8"))


def judged(page: Page) -> list[str]:
    """What axe-core finds, the grave first, with the elements."""
    found: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 5, "axe-core has hardly looked"
    violations = sorted(found["violations"], key=lambda one: one["impact"] not in GRAVE)
    return [
        f"{one['impact']}: {one['id']}: {one['help']}\n"
        + "\n".join(f"    {node['target']} {node['failureSummary']}" for node in one["nodes"][:4])
        for one in violations
    ]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", mostly_long(PAGES, KINDS))
def test_a_page_breaks_no_serious_rule(open_page: Open, addresses: dict[str, str], watch: Watch, name: str) -> None:
    """In both colour schemes, wide and narrow; what is moderate is reported beside what is grave."""
    page = open_page(viewport=WIDE, reduced_motion="reduce")
    visit(page, addresses, name, watch)
    prepare(page)
    for scheme, size in ((LIGHT, WIDE), (DARK, NARROW)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        found = judged(page)
        assert not [one for one in found if one.startswith(GRAVE)], f"{name}, {scheme}:\n" + "\n".join(found)


def test_a_result_breaks_no_serious_rule(page: Page, addresses: dict[str, str]) -> None:
    """What comes to the query page later is held to the same rules."""
    page.goto(addresses["query given"])
    page.get_by_role("button", name="Run query").click()
    expect(page.get_by_role("main")).to_contain_text("Polarstern")
    prepare(page)
    for scheme in (LIGHT, DARK):
        page.emulate_media(color_scheme=scheme)
        found = judged(page)
        assert not [one for one in found if one.startswith(GRAVE)], f"{scheme}:\n" + "\n".join(found)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", mostly_long(KINDS, ("dashboard", "provider failing", "query given", "entity")))
def test_a_page_can_be_walked_with_the_keyboard(
    open_page: Open, addresses: dict[str, str], watch: Watch, name: str
) -> None:
    """The first stop leads past the menu; each stop is seen, and the walk comes to an end."""
    page = open_page(viewport=WIDE)
    visit(page, addresses, name, watch)
    stops = walk(page)
    assert 'class="skip"' in stops[0]
    assert len(stops) > 6
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    after = page.evaluate(FOCUS)
    assert after is None or after["inMain"] or not page.locator("main :is(a[href], button, input, textarea)").count()


def walk(page: Page) -> list[str]:
    """Press Tab until the focus comes round; the elements that had it."""
    stops: list[str] = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop is None or (stop["again"] and stop["what"] == stops[0]):
            return stops
        assert not stop["again"], f"the focus does not get past {stop['what']}"
        assert stop["seen"], f"the focus is not seen on {stop['what']}"
        stops.append(stop["what"])
    pytest.fail(f"the focus does not come round after {MOST_STOPS} stops")


def test_the_rules_find_what_is_wrong(page: Page) -> None:
    """A field without a label and pale text are found out; else the tests above would prove nothing."""
    page.goto("/entity")
    prepare(page)
    page.evaluate("() => { document.querySelector('label').remove(); }")
    page.evaluate("() => { document.getElementById('iri').removeAttribute('placeholder'); }")
    page.evaluate("() => { document.querySelector('h1').style.color = '#ddd'; }")
    found = "\n".join(judged(page))
    assert "critical: label" in found
    assert "serious: color-contrast" in found


def test_a_focus_that_is_not_seen_is_found_out(page: Page) -> None:
    """The walk above would fail for a link without an outline."""
    page.goto("/entity")
    page.evaluate("() => { document.querySelector('.brand').style.outline = 'none'; }")
    with pytest.raises(AssertionError, match="not seen"):
        walk(page)

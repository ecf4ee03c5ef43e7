"""Every page in a browser: it fits, reads, leads on, keeps its policy, and is of use without JavaScript."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
import requests
from playwright.sync_api import Error, Page, ViewportSize, expect

from tests.browser import places
from tests.browser.conftest import Open, Watch
from tests.browser.instance import SHIP
from tests.browser.places import ASKED, ERRORS, PAGES
from tests.selection import mostly_long

TEMPLATES = sorted((Path(__file__).resolve().parents[2] / "sparql/web/templates").glob("**/*.html"))
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
"""The Accept header of a browser."""
WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
NARROW: Final[ViewportSize] = {"width": 390, "height": 844}
LIGHT: Final[Literal["light"]] = "light"
DARK: Final[Literal["dark"]] = "dark"

CHECKED: set[str] = set()
"""Addresses that were found well."""

INLINE = {
    "an inline script": r"<script(?![^>]*\ssrc=)(?![^>]*type=\"application/(?:ld\+)?json\")[^>]*>",
    "an inline event handler": r"<[a-z][^<>]*\son[a-z]+\s*=",
    "a javascript: URL": r"javascript:",
    "an inline style": r"<style|<[a-z][^<>]*\sstyle\s*=",
}

BEYOND = """() => {
    const width = document.documentElement.clientWidth;
    const clipped = (element) => {
        for (let up = element.parentElement; up && up !== document.body; up = up.parentElement)
            if (getComputedStyle(up).overflowX !== 'visible') return true;
        return false;
    };
    const out = [...document.body.querySelectorAll('*')].filter(
        (element) => element.getBoundingClientRect().right > width + 1 && !clipped(element)
            && getComputedStyle(element).position !== 'fixed');
    const over = document.documentElement.scrollWidth - width;
    return over > 0 || out.length ? [`${over} px beyond ${width}`, ...out.slice(0, 5).map(
        (element) => element.outerHTML.slice(0, 160))] : [];
}"""
"""What makes a page scroll sideways, or would if the body did not hide it."""


@pytest.fixture(scope="session")
def addresses(instance: str) -> dict[str, str]:
    """The address of every page, by its name."""
    values = places.found(instance)
    return {name: address.format(**values) for name, address in PAGES.items()}


def visit(page: Page, addresses: dict[str, str], name: str, watch: Watch) -> None:
    """Load a page, and expect the status that it should have."""
    status = ERRORS.get(name, 200)
    if status != 200:
        watch.allow(f"status of {status}")
    answer = page.goto(addresses[name])
    assert answer is not None and answer.status == status, f"{addresses[name]} answered {answer and answer.status}"


def test_every_page_of_the_front_is_visited(instance: str) -> None:
    """A route that no test here visits answers with no page; who adds one adds it to `places.PAGES`."""
    values = places.found(instance)
    routes = places.routes()
    matcher = routes.bind("localhost")
    visited = set()
    for name, address in PAGES.items():
        if name not in ERRORS:
            visited.add(matcher.match(urlsplit(address.format(**values)).path, return_rule=True)[0].rule)
    for rule in routes.iter_rules():
        if rule.rule in visited or "GET" not in (rule.methods or ()):
            continue
        assert rule.arguments <= places.EXAMPLES.keys(), (
            f"{rule.rule} has a variable without a value in places.EXAMPLES"
        )
        examples = places.EXAMPLES | places.OF_RULES.get(rule.rule, {})
        path = re.sub(r"<(?:[^:<>]+:)?(\w+)>", lambda part, of=examples: of[part[1]], rule.rule).format(**values)
        answer = requests.get(instance + path, headers=HTML, timeout=240, stream=True, allow_redirects=False)
        with answer:
            assert answer.status_code < 400, f"{path} answered {answer.status_code}"
            page = answer.status_code == 200 and answer.headers.get("Content-Type", "").startswith("text/html")
        assert not page, f"{rule.rule} is a page that no test visits; add it to tests/browser/places.py"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", mostly_long(PAGES, places.KINDS))
def test_a_page_fits_and_has_its_landmarks(open_page: Open, addresses: dict[str, str], watch: Watch, name: str) -> None:
    """On a phone and a wide screen nothing sticks out; each page says what it is, and where its parts are."""
    page = open_page(viewport=WIDE)
    for scheme, size, other in ((LIGHT, WIDE, NARROW), (DARK, NARROW, WIDE)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        visit(page, addresses, name, watch)
        assert page.evaluate(BEYOND) == [], f"{name}, {scheme}, {size}"
        page.set_viewport_size(other)
        assert page.evaluate(BEYOND) == [], f"{name}, {scheme}, then {other}"
        expect(page.locator("h1:visible")).to_have_count(1)
        assert len(page.title().split(" · ")) == 2 and page.title().split(" · ")[0].strip()
        assert page.locator("html").get_attribute("lang") == "en"
        for role in ("banner", "main", "contentinfo"):
            expect(page.get_by_role(role)).to_have_count(1)
        expect(page.get_by_role("navigation", name="Main")).to_be_visible()


def test_dark_and_light_look_different(open_page: Open) -> None:
    """Pages follow the colours that the reader's system asks for."""
    grounds = []
    for scheme in (LIGHT, DARK):
        page = open_page(color_scheme=scheme)
        page.goto("/")
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    light, dark = (sum(map(int, re.findall(r"\d+", ground)[:3])) for ground in grounds)
    assert light > 600
    assert dark < 150


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(instance: str, addresses: dict[str, str], name: str) -> None:
    """What the pages name within the instance is there, and every page that it leads to keeps the policy."""
    start = requests.get(instance + addresses[name], headers=HTML, timeout=240)
    assert protected(start) == []
    links = re.findall(r"\s(?:href|src)=\"([^\"]*)\"", start.text)
    ours = {urldefrag(urljoin(start.url, unescape(link))).url for link in links} - {start.url, *CHECKED}
    broken = []
    for url in sorted(url for url in ours if url.startswith(instance)):
        with requests.get(url, headers=HTML, timeout=240, stream=True) as answer:
            CHECKED.add(url)
            if answer.status_code >= 400 or protected(answer):
                broken.append((url, answer.status_code, protected(answer)))
    assert broken == []


def protected(answer: requests.Response) -> list[str]:
    """What the policy of a page lacks; nothing for what is no page."""
    if not answer.headers.get("Content-Type", "").startswith("text/html"):
        return []
    policy = answer.headers.get("Content-Security-Policy", "")
    parts = {words[0]: words[1:] for words in (part.split() for part in policy.split(";")) if words}
    scripts = parts.get("script-src", parts.get("default-src", ["*"]))
    wrong = [f"script-src has {word}" for word in scripts if word not in ("'self'", "'none'", "'wasm-unsafe-eval'")]
    wrong += [f"{name} is missing" for name in ("default-src", "base-uri", "form-action") if name not in parts]
    return wrong


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_holds_nothing_that_runs(path: Path) -> None:
    """Scripts are files of the front, so that the policy can forbid all others."""
    text = path.read_text("utf-8")
    assert {what: found for what, found in ((w, re.findall(p, text)) for w, p in INLINE.items()) if found} == {}


def test_a_script_in_a_page_is_stopped_and_reported(page: Page, watch: Watch) -> None:
    """The policy holds, and a breach of it would fail these tests."""
    watch.allow("Content Security Policy")
    page.goto("/")
    page.evaluate(
        "() => { const it = document.createElement('script'); it.text = 'window.ran = 1'; document.body.append(it); }"
    )
    assert page.evaluate("window.ran") is None
    assert [said for said in watch.complaints if "Content Security Policy" in said] != []


def test_another_host_is_out_of_reach(page: Page, watch: Watch) -> None:
    """What a page asks of the network fails, and would fail these tests."""
    watch.allow("http://fleet.example/|Content Security Policy|ERR_")
    page.goto("/")
    with pytest.raises(Error, match="ERR_ADDRESS_UNREACHABLE"):
        page.goto("http://fleet.example/")
    assert watch.complaints[0] == "request to http://fleet.example/"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", places.KINDS)
def test_a_page_is_there_without_javascript(
    open_page: Open, addresses: dict[str, str], watch: Watch, name: str
) -> None:
    """What a page shows stands in what the server sent."""
    page = open_page(java_script_enabled=False, viewport=NARROW)
    visit(page, addresses, name, watch)
    expect(page.locator("h1:visible")).to_have_count(1)
    assert len(page.get_by_role("main").inner_text()) > 80
    assert page.evaluate(BEYOND) == []


def test_a_query_is_answered_without_javascript(open_page: Open) -> None:
    """The form is a form."""
    page = open_page(java_script_enabled=False)
    page.goto(f"/sparql?query={ASKED}")
    with page.expect_response(re.compile("/sparql.*query=")) as answered:
        page.locator("form[action='/sparql'] button[type=submit]").first.click()
    assert answered.value.status == 200
    expect(page.locator("body")).to_contain_text("Polarstern")


def test_an_iri_is_looked_up_without_javascript(open_page: Open) -> None:
    """From the form to the entity, and on to what it refers to."""
    page = open_page(java_script_enabled=False)
    page.goto("/entity")
    page.get_by_label("IRI").fill(SHIP)
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Calypso II")
    page.get_by_role("link", name="Reykjavík").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reykjavík")


def test_the_pages_lead_from_trouble_to_its_cause(open_page: Open) -> None:
    """The dashboard names what failed first; a click gives file, line and excerpt."""
    page = open_page(java_script_enabled=False)
    page.goto("/")
    main = page.get_by_role("main")
    text = main.inner_text()
    assert text.index("cruises") < text.index("fleet")
    main.get_by_role("link", name="cruises").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("cruises")
    expect(page.get_by_role("main")).to_contain_text("line 29")
    expect(page.get_by_role("main")).to_contain_text('rdfs:label Cruise 3 of Discovery"')

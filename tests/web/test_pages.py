"""The pages and their data."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests

from sparql.reports import to_json
from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore, items
from tests.web.instance import Server, serve
from tests.web.records import RECORDS, SHA256

HTML = {"Accept": "text/html"}
PAGES = ["/", "/providers/", "/providers/a", "/providers/b", "/providers/new", "/sparql", "/exports/", "/nowhere"]


class Page(HTMLParser):
    """What a page refers to, and what of it would run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.inline: list[str] = []
        self.labels: set[str] = set()
        self.fields: set[str] = set()
        self.headings: list[str] = []
        self.language = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attributes}
        self.addresses += [found[key] for key in ("href", "src", "action") if key in found]
        self.inline += [key for key in found if key.startswith("on") or key == "style"]
        if tag in ("script", "style") and "src" not in found:
            self.inline.append(tag)
        if tag == "label":
            self.labels.add(found.get("for", ""))
        if tag in ("input", "select", "textarea"):
            self.fields.add(found.get("id", "without"))
        if tag in ("h1", "h2", "h3"):
            self.headings.append(tag)
        self.language = found.get("lang", self.language)


def get(front: Server, path: str, **headers: str) -> requests.Response:
    return requests.get(f"{front.url}{path}", headers=headers, timeout=240, allow_redirects=False)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_safe_and_readable_by_all(front: Server, path: str) -> None:
    """No script or style inside, nothing of other sites, a language, one main heading, a label for each field."""
    answer = get(front, path, **HTML)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    page = Page(answer.text)
    assert page.inline == []
    assert page.language == "en"
    assert page.headings.count("h1") == 1
    assert page.fields <= page.labels
    assert path == "/" or "Accept" in answer.headers["Vary"]


def test_every_link_of_the_pages_leads_somewhere(front: Server) -> None:
    """Within the instance; what a provider wrote is theirs."""
    ours = {
        urljoin(front.url + path, address)
        for path in PAGES
        for address in Page(get(front, path, **HTML).text).addresses
        if not address.startswith("#")
    }
    inside = {url.removeprefix(front.url) for url in ours if url.startswith(front.url)}
    # The catalog of the tests lists files that it does not have, and one that cannot be read.
    absent = {"/providers/a/changes/1.nqud", "/providers/a/versions/2.nq", f"/content/{SHA256}", "/exports/b.nq.gz"}
    absent |= {"/providers/b.ttl", "/providers/b/versions/2"}
    absent |= {f"/resourcesync/{name}/capabilitylist.xml" for name in "ab"}
    assert absent < inside
    assert [path for path in sorted(inside - absent) if get(front, path, **HTML).status_code != 200] == []


def test_what_providers_wrote_is_shown_as_text(front: Server) -> None:
    """A message may hold markup; what stands between backticks is code."""
    text = get(front, "/providers/b", **HTML).text
    assert "&lt;b&gt;, see <code>harvest check</code>." in text
    assert "line 17, column 4" in text


def test_trouble_comes_first_on_the_dashboard(front: Server) -> None:
    """Trouble is what an operator looks for."""
    text = get(front, "/", **HTML).text
    assert text.index("Need attention") < text.index("All providers")
    assert text.index("The dump does not parse") < text.index("All providers")


def test_a_provider_is_page_or_data_by_accept_and_by_ending(front: Server) -> None:
    """The same address for people and programs."""
    versions = {"versions": to_json(RECORDS["versions"]["a"][::-1]), "versions_url": "/providers/a/versions.json"}
    expected = {**to_json(RECORDS["providers"][0]), **versions}
    assert get(front, "/providers/a", Accept="application/json").json() == expected
    assert get(front, "/providers/a", Accept="*/*").json() == expected
    assert get(front, "/providers/a.json", **HTML).json() == expected
    for answer in (get(front, "/providers/a", Accept="text/turtle"), get(front, "/providers/a.ttl")):
        assert answer.headers["Content-Type"] == "text/turtle; charset=utf-8"
        assert "'ä'" in answer.content.decode()
    assert get(front, "/providers/a", Accept="text/html, application/json;q=0.9").text.startswith("<!doctype html>")
    assert get(front, "/providers/", Accept="application/json").json() == to_json(RECORDS["providers"])
    assert get(front, "/providers.json").json() == to_json(RECORDS["providers"])


def test_data_that_the_client_has_are_not_sent_again(front: Server) -> None:
    """Programs look every minute."""
    etag = get(front, "/providers/a.json").headers["ETag"]
    again = get(front, "/providers/a.json", **{"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path", ["/providers/zz", "/providers/zz.json", "/providers/zz.ttl", "/providers/new.ttl", "/x"]
)
def test_what_is_not_there_is_404_in_the_form_that_the_client_reads(front: Server, path: str) -> None:
    """The answer has a reason, and a page a link that leads on."""
    text = get(front, path)
    assert (text.status_code, text.headers["Content-Type"]) == (404, "text/plain; charset=utf-8")
    assert "There is no" in text.text
    error = get(front, path, Accept="application/json").json()
    assert (error["status"], error["message"]) == (404, text.text.strip())
    page = get(front, path, **HTML)
    assert (page.status_code, 'href="/providers/"' in page.text) == (404, True)


def test_other_methods_are_refused(front: Server) -> None:
    """Nothing here can be changed by HTTP."""
    answer = requests.post(f"{front.url}/providers/a", timeout=240)
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]


def test_addresses_with_and_without_slash_lead_to_one(front: Server) -> None:
    """People type both."""
    assert get(front, "/providers").headers["Location"].endswith("/providers/")
    assert get(front, "/exports").headers["Location"].endswith("/exports/")
    assert get(front, "/providers/a/").headers["Location"].endswith("/providers/a")


def test_data_are_open_to_scripts_of_other_sites(front: Server) -> None:
    """Pages may ask from any site, for the data are open."""
    for path in ("/providers/a.json", "/providers/a.ttl", "/status", "/exports/void.ttl"):
        assert get(front, path).headers["Access-Control-Allow-Origin"] == "*"
    asked = requests.options(f"{front.url}/providers/a.json", timeout=240)
    assert "If-None-Match" in asked.headers["Access-Control-Allow-Headers"]


def test_the_status_and_health_are_answered(front: Server) -> None:
    """For people who run the instance, and what watches it for them."""
    assert get(front, "/status").json().items() >= {"providers": to_json(RECORDS["providers"]), "generation": 1}.items()
    health = get(front, "/healthz")
    assert (health.status_code, health.json()) == (200, {"generation": 1})


def test_without_a_generation_the_instance_is_not_healthy(folder: Path, tmp_path: Path) -> None:
    """Its pages are there, its queries are not; it becomes healthy by itself."""
    server = serve(folder, tmp_path, QueryLimits(workers=1), healthy=False)
    try:
        health = get(server, "/healthz")
        assert (health.status_code, health.json()["generation"]) == (503, None)
        assert get(server, "/sparql?query=ASK%7B%7D").status_code == 503
        assert get(server, "/", **HTML).status_code == 200
        PublishedStore(tmp_path).add(items(1))
        assert get(server, "/sparql?query=ASK%7B%7D").status_code == 200
        assert get(server, "/healthz").json() == {"generation": 1}
    finally:
        server.stop()

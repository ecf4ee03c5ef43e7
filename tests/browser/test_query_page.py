"""The query page end to end: asking, completing, choosing graphs, sharing, looking, downloading and stopping."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect
from pyoxigraph import Literal, NamedNode, Quad

from harvest.config.settings import Settings
from sparql.rdf import XSD
from sparql.worker.limits import QueryLimits
from tests.browser.conftest import Watch
from tests.browser.test_accessibility import judged, prepare
from tests.processes import seconds_of
from tests.query.stores import BASE, PublishedStore, graph, items
from tests.web.instance import Server, serve
from tests.web.records import RECORDS, file_records
from tests.web.test_breaking import workers

Open = Callable[..., Page]

PREFIXES = """\
PREFIX fleet: <http://fleet.example/terms#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX wgs84: <http://www.w3.org/2003/01/geo/wgs84_pos#>
PREFIX geo: <http://www.opengis.net/ont/geosparql#>
"""
SHIPS = PREFIXES + "SELECT ?ship ?built ?length { ?ship fleet:built ?built ; fleet:length ?length } ORDER BY ?built"
POSITIONS = PREFIXES + "SELECT ?station ?lat ?long { ?station a fleet:Station ; wgs84:lat ?lat ; wgs84:long ?long }"
SHAPES = PREFIXES + "SELECT ?station ?wkt { ?station geo:asWKT ?wkt }"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c != ?i) }"
TIMEOUT_S = 240
WAIT_S = 240
WIDE = NamedNode(f"{BASE}wide")
HOSTILE = NamedNode(f"{BASE}hostile")
EXAMPLE = f"# Ships and when they were built\n# With their length.\n{SHIPS}\n"


@pytest.fixture(scope="module")
def lone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with one query worker, a low limit of rows, and values that are large or hostile."""
    folder = tmp_path_factory.mktemp("catalog")
    file_records(folder, RECORDS)
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    wide = (Quad(NamedNode(f"{BASE}{n}"), WIDE, Literal(f"{n} {'x' * 2000}"), graph("a")) for n in range(4500))
    hostile = [
        Quad(NamedNode("javascript:alert(1)"), HOSTILE, Literal("<img src=x onerror=alert(1)>\t\\n{{s}}"), graph("a")),
        Quad(
            NamedNode("http://x.example/?a=%22'onclick='alert(1)"),
            HOSTILE,
            Literal('"quoted"', language="en"),
            graph("a"),
        ),
    ]
    published.add([*items(4000), *wide, *hostile])
    server = serve(
        folder, published.root, QueryLimits(workers=1, timeout_s=TIMEOUT_S, max_rows=6000, cache_bytes=1 << 26)
    )
    yield server
    server.stop()


def message(page: Page) -> Locator:
    return page.locator("#message")


def link(query: str, **more: str) -> str:
    return f"/sparql?{urlencode({'query': query, **more})}"


def write(page: Page, query: str) -> None:
    """Put a query in place of the one that stands there."""
    page.locator(".tabPanel.active .yasqe .CodeMirror").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(query)


def ask(page: Page, query: str) -> None:
    """Write a query and run it by the keyboard."""
    write(page, query)
    page.keyboard.press("ControlOrMeta+Enter")


def view(page: Page, name: str) -> Locator:
    """Choose how the result is shown."""
    page.locator(f".tabPanel.active .select_{name}").click()
    return page.locator(f".tabPanel.active .picture.{name}")


def written(page: Page) -> str:
    """What stands in the editor."""
    lines = page.locator(".tabPanel.active .yasqe .CodeMirror-line").all_inner_texts()
    return "\n".join(line.replace("\u200b", "") for line in lines)


def test_a_query_gives_a_table_whose_things_lead_to_their_pages(page: Page) -> None:
    """The figures of an answer are shown, and an IRI leads to what this instance knows of it."""
    page.goto("/sparql")
    ask(page, SHIPS)
    expect(message(page)).to_contain_text(re.compile(r"^24 rows in \d+\.\d\d s, \d+ kB"))
    first = page.locator("table.dataTable a.iri").first
    expect(first).to_have_attribute("href", "/entity?iri=http%3A%2F%2Ffleet.example%2Fship%2F1")
    first.click()
    expect(page.locator("h1")).to_contain_text("Albatross")


def test_without_a_script_the_form_asks(open_page: Open) -> None:
    """Reading data needs no JavaScript: the form, the examples and the graphs are plain HTML."""
    page = open_page(java_script_enabled=False)
    page.goto(link(PREFIXES + "SELECT ?s { ?s a fleet:Ship }"))
    expect(page.locator("#query")).to_be_visible()
    expect(page.locator("#run")).to_be_hidden()
    page.locator("#graphs summary").click()
    page.get_by_label("Default graph: tides").check()
    page.locator("#format").select_option("json")
    page.locator("#open").click()
    assert json.loads(page.locator("body").inner_text())["results"]["bindings"] == []
    assert "default-graph-uri=" in page.url


def test_classes_and_properties_are_completed_from_what_there_is(page: Page) -> None:
    """The most frequent first, each with its count, and without asking any other host."""
    page.goto("/sparql")
    write(page, "SELECT * WHERE { ?s a fleet")
    page.keyboard.press("Control+Space")
    hints = page.locator(".CodeMirror-hint")
    expect(hints.first).to_have_text("<http://fleet.example/terms#Cruise>   40 entities")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert written(page).endswith("?s a <http://fleet.example/terms#Ship>")
    page.keyboard.type(" ; lab")
    page.keyboard.press("Control+Space")
    expect(hints.first).to_contain_text(re.compile(r"^rdfs:label   \d+ triples$"))


def test_a_known_prefix_declares_itself(page: Page) -> None:
    """Nobody knows the namespaces by heart."""
    page.goto("/sparql")
    write(page, "")
    page.keyboard.type("ASK { ?s dcterms:")
    expect(page.locator(".yasqe .CodeMirror-line").first).to_have_text("PREFIX dcterms: <http://purl.org/dc/terms/>")


def test_chosen_graphs_are_asked_alone(page: Page, instance: str) -> None:
    """The choice goes with the request and with the link, and belongs to its tab."""
    page.goto("/sparql")
    page.locator("#graphs summary").click()
    expect(page.locator("#graphs tbody tr").first.locator(".figure")).to_have_text(re.compile(r"\d"))
    page.get_by_label("Default graph: tides").check()
    expect(page.get_by_label("Named graph: tides")).to_be_checked()
    expect(page.locator("#graphs-chosen")).to_have_text(": 1 in the default graph, 1 named")
    with page.expect_request(f"{instance}/sparql") as sent:
        ask(page, "SELECT DISTINCT ?g { ?s a ?class GRAPH ?g { ?s ?p ?o } }")
    body = parse_qs(sent.value.post_data or "")
    assert body["default-graph-uri"] == body["named-graph-uri"] == [f"{instance}/graph/tides"]
    expect(message(page)).to_contain_text("1 row in")
    page.locator("#share").click()
    assert f"{urlencode({'default-graph-uri': f'{instance}/graph/tides'})}" in page.locator("#address").input_value()
    page.locator(".addTab").click()
    expect(page.get_by_label("Default graph: tides")).not_to_be_checked()


def test_graphs_chosen_before_the_editor_stands_are_kept(page: Page) -> None:
    """On a slow line the boxes are there long before the editor is."""
    held: list[Route] = []
    page.route("**/sparql/terms.json", lambda route: held.append(route))
    with page.expect_request("**/sparql/terms.json"):
        page.goto("/sparql")
    page.locator("#graphs summary").click()
    page.get_by_label("Default graph: tides").check()
    expect(page.get_by_label("Named graph: tides")).not_to_be_checked()
    held[0].continue_()
    expect(page.get_by_label("Named graph: tides")).to_be_checked()
    expect(page.get_by_label("Default graph: tides")).to_be_checked()
    expect(page.locator("#graphs-chosen")).to_have_text(": 1 in the default graph, 1 named")


def test_an_example_opens_in_a_tab_and_runs(page: Page, settings: Settings) -> None:
    """A query that works is the best beginning."""
    assert settings.file is not None
    example = settings.file.parent / "queries" / "0.rq"
    example.parent.mkdir(exist_ok=True)
    example.write_text(EXAMPLE, "utf-8")
    try:
        page.goto("/sparql")
    finally:
        example.unlink()
    page.locator("#examples summary").click()
    page.get_by_role("link", name="Ships and when they were built").click()
    expect(message(page)).to_contain_text("24 rows")
    assert page.url.endswith("/sparql")


def test_a_shared_link_gives_the_same_again(open_page: Open, instance: str) -> None:
    """To somebody who was never here, with its graphs and its view."""
    here = open_page()
    here.goto(link(SHIPS, **{"default-graph-uri": f"{instance}/graph/fleet"}))
    expect(message(here)).to_contain_text("24 rows")
    view(here, "chart")
    here.locator("#share").click()
    address = here.locator("#address").input_value()
    there = open_page()
    there.goto(address)
    expect(there.locator(".picture.chart")).to_be_visible()
    expect(message(there)).to_contain_text("24 rows")
    expect(there.locator("#graphs-chosen")).to_have_text(": 1 in the default graph, 0 named")
    assert "fleet:length" in written(there)


def test_a_link_cannot_send_queries_elsewhere(page: Page) -> None:
    """YASGUI's links may name an endpoint and headers; here they name a query, graphs and a view."""
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    fragment = {"query": "ASK {}", "endpoint": "http://elsewhere.example/sparql", "headers": '{"X-A":"b"}'}
    page.goto(f"/sparql#{urlencode(fragment)}")
    expect(message(page)).to_contain_text("The answer is yes")
    assert {urlsplit(request.url).hostname for request in asked} == {"127.0.0.1"}
    assert not [request for request in asked if "x-a" in request.headers]


def test_tabs_and_small_results_are_there_after_a_reload(page: Page) -> None:
    """Half an hour of work does not go with an accidental click."""
    page.goto(link(SHIPS))
    expect(message(page)).to_contain_text("24 rows")
    page.locator(".addTab").click()
    expect(page.locator(".tabsList .tab")).to_have_count(2)
    page.locator(".tabsList .tab a").first.click()
    page.reload()
    expect(page.locator(".tabsList .tab")).to_have_count(2)
    expect(message(page)).to_contain_text("Kept since")
    expect(page.locator("table.dataTable a.iri").first).to_be_visible()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("query", "name", "begins"),
    [
        (SHIPS, "csv", "ship,built,length"),
        (SHIPS, "tsv", "?ship\t?built\t?length"),
        (SHIPS, "json", '{"head"'),
        (SHIPS, "xml", "<?xml"),
        (PREFIXES + "CONSTRUCT { ?s a fleet:Ship } { ?s a fleet:Ship }", "nt", "<http://fleet.example/ship/"),
        (PREFIXES + "CONSTRUCT { ?s a fleet:Ship } { ?s a fleet:Ship }", "jsonld", "["),
    ],
)
def test_a_result_is_downloaded_from_the_server(page: Page, query: str, name: str, begins: str) -> None:
    """All of it and as the server writes it, whatever the page shows."""
    page.goto(link(query))
    expect(message(page)).to_contain_text("24")
    page.locator("#format").select_option(name)
    with page.expect_download() as download:
        page.locator("#open").click()
    assert download.value.suggested_filename == f"result.{name}"
    assert Path(download.value.path()).read_text("utf-8").startswith(begins)


def test_a_query_too_long_for_an_address_is_downloaded_by_post(page: Page) -> None:
    """Servers and proxies cut addresses at 8,000 characters."""
    page.goto("/sparql")
    ask(page, f"{SHIPS}\n# {'x' * 9000}")
    expect(message(page)).to_contain_text("24 rows")
    page.locator("#format").select_option("csv")
    with page.expect_request(lambda request: request.method == "POST") as sent, page.expect_download() as download:
        page.locator("#open").click()
    assert parse_qs(sent.value.post_data or "")["format"] == ["csv"]
    assert len(Path(download.value.path()).read_text("utf-8").splitlines()) == 25
    page.locator("#share").click()
    assert "/sparql#query=" in page.locator("#address").input_value()


def test_only_formats_that_fit_are_offered(page: Page) -> None:
    """A table of a graph, or a graph of a table, would be refused."""
    page.goto("/sparql")
    ask(page, "DESCRIBE <http://fleet.example/ship/3>")
    expect(message(page)).to_contain_text("triples")
    assert page.locator("#format").input_value() == "ttl"
    expect(page.locator("#format optgroup").first).to_be_disabled()


def test_a_chart_shows_numbers_by_date_and_says_them(page: Page) -> None:
    """What the picture shows can be read, and walked through by the keyboard."""
    page.goto(link(SHIPS))
    expect(message(page)).to_contain_text("24 rows")
    chart = view(page, "chart")
    drawing = chart.locator("svg.drawing")
    expect(drawing).to_have_attribute("aria-label", re.compile(r"^Chart. \?length by \?built: 24 values, least 43.5"))
    expect(chart.locator("circle.point")).to_have_count(24)
    drawing.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(chart.locator("[aria-live]")).to_have_text("1964-03-15: 46.5 (2 of 24)")
    chart.get_by_label("Upward").select_option("")
    expect(drawing).to_have_attribute("aria-label", re.compile("number of rows by"))
    chart.locator("summary").click()
    expect(chart.locator("tbody tr").first).to_contain_text("1962")


def test_a_chart_of_one_value_says_so(page: Page) -> None:
    """What is left out of it as well: one of a kind is not many."""
    page.goto(link("SELECT ?n ?m { VALUES (?n ?m) { (1 2) (2 UNDEF) } }"))
    expect(message(page)).to_contain_text("2 rows")
    chart = view(page, "chart")
    chart.get_by_label("Upward").select_option("m")
    expect(chart).to_contain_text("1 value, least 2")
    expect(chart).to_contain_text("1 row without a value.")


def test_a_chart_has_bars_for_names(page: Page) -> None:
    """Counts by class are what people chart most."""
    page.goto(link("SELECT ?class (COUNT(*) AS ?n) { GRAPH ?g { ?s a ?class } } GROUP BY ?class"))
    expect(message(page)).to_contain_text("rows")
    chart = view(page, "chart")
    expect(chart.locator("rect.bar").nth(3)).to_be_visible()


@pytest.mark.parametrize("query", [POSITIONS, SHAPES], ids=["columns", "WKT"])
def test_places_stand_on_a_map_and_in_a_list(page: Page, query: str) -> None:
    """By latitude and longitude or by WKT; coast lines come from this host; the keyboard moves it."""
    page.goto(link(query))
    expect(message(page)).to_contain_text("12 rows")
    drawn = view(page, "map")
    drawing = drawn.locator("svg.drawing")
    expect(drawing).to_have_attribute("aria-label", re.compile(r"^A map of 12 places between 35.9°N and 69.65°N"))
    expect(drawn.locator("circle.point")).to_have_count(12)
    assert len(drawn.locator("path.land").get_attribute("d") or "") > 10_000
    before = drawing.get_attribute("viewBox")
    drawing.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    assert drawing.get_attribute("viewBox") != before
    drawn.locator("summary").click()
    drawn.locator(".places a").first.focus()
    expect(drawn.locator("circle.chosen")).to_have_count(1)


def test_a_map_of_a_graph(page: Page) -> None:
    """CONSTRUCT has positions as statements about the same thing."""
    page.goto(
        link(PREFIXES + "CONSTRUCT WHERE { ?s a fleet:Station ; rdfs:label ?name ; wgs84:lat ?y ; wgs84:long ?x }")
    )
    expect(message(page)).to_contain_text("48 triples")
    drawn = view(page, "map")
    expect(drawn.locator("circle.point")).to_have_count(12)
    expect(drawn.locator(".places")).to_contain_text("Bergen point, 60.4°N 5.32°E")


def test_shapes_of_every_kind_are_drawn(page: Page) -> None:
    """With holes and parts, in either order of axes; a shape in another reference system is counted, not drawn."""
    wkt = {
        "LINESTRING (0 0, 10 10)",
        "POLYGON ((0 0, 9 0, 9 9, 0 0), (1 1, 2 1, 2 2, 1 1))",
        "MULTIPOINT ((1 1), (2 2))",
        "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))",
        "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT (50 8)",
        "<http://www.opengis.net/def/crs/EPSG/0/25832> POINT (500000 5600000)",
        "POINT (500 5)",
    }
    values = " ".join(f'"{text}"^^geo:wktLiteral' for text in sorted(wkt))
    page.goto(link(f"{PREFIXES}SELECT ?shape {{ VALUES ?shape {{ {values} }} }}"))
    expect(message(page)).to_contain_text("7 rows")
    drawn = view(page, "map")
    expect(drawn.locator("path.linestring")).to_have_count(1)
    expect(drawn.locator("path.polygon")).to_have_count(2)
    assert [point.get_attribute("cx") for point in drawn.locator("circle.point").all()] == ["8", "1", "2"]
    expect(drawn).to_contain_text("left out: 1 in another reference system, 1 that cannot be read")


def test_a_mistake_is_marked_where_it_is(page: Page, watch: Watch) -> None:
    """In the words of the server, whose parser it is that counts."""
    watch.allow("status of 400")
    page.goto("/sparql")
    ask(page, "SELECT * WHERE {\n  ?s ?p ?o\n  oops\n}")
    expect(message(page)).to_contain_text("does not parse near line 3, column")
    expect(page.locator(".failure")).to_contain_text("oops")
    marked = page.locator(".failed-line")
    expect(marked).to_have_count(1)
    assert marked.locator("xpath=..").inner_text().split()[-1] == "oops"
    ask(page, "ASK {}")
    expect(marked).to_have_count(0)
    expect(message(page)).to_contain_text("The answer is yes")


def test_a_cut_result_says_so(open_page: Open, lone: Server) -> None:
    """A short answer must not look like the whole."""
    page = open_page(base_url=lone.url)
    page.goto(link("SELECT ?s { ?s ?p ?o }"))
    expect(message(page)).to_contain_text("The server cut the result: ")
    expect(message(page)).to_contain_text("6\u202f000 rows in")


def test_a_page_shows_the_beginning_of_a_large_result(open_page: Open, lone: Server) -> None:
    """A browser need not hold what nobody scrolls through; the whole can be had."""
    page = open_page(base_url=lone.url)
    page.goto(link(f"SELECT * {{ ?s <{WIDE.value}> ?o }}"))
    expect(message(page)).to_contain_text("These are the first ones")
    page.locator("#format").select_option("csv")
    with page.expect_download() as download:
        page.locator("#open").click()
    assert Path(download.value.path()).read_bytes().count(b"\r\n") == 4501


def test_a_remembered_answer_says_so(open_page: Open, lone: Server) -> None:
    """Who compares times should know what they measure."""
    page = open_page(base_url=lone.url)
    page.goto(link(f"SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o FILTER(STRLEN(STR(?o)) > 1) ?s <{WIDE.value}> ?x }}"))
    expect(message(page)).to_contain_text("1 row in")
    page.locator("#run").click()
    expect(message(page)).to_contain_text("from the cache")


def test_stopping_ends_the_query_on_the_server(open_page: Open, lone: Server) -> None:
    """A query that runs is ended by ending its worker; that is gone long before the query's time is up."""
    page = open_page(base_url=lone.url)
    page.goto("/sparql")
    before = {pid: seconds_of(pid) for pid in workers(lone)}
    ask(page, ENDLESS)
    expect(message(page)).to_contain_text("The query runs")
    end = time.monotonic() + WAIT_S
    while not (busy := [pid for pid, took in before.items() if took + 0.5 < seconds_of(pid) < float("inf")]):
        assert time.monotonic() < end
        time.sleep(0.05)
    page.locator("#stop").click()
    expect(message(page)).to_contain_text("Stopped")
    while taken := [seconds for pid in busy if (seconds := seconds_of(pid)) < float("inf")]:
        assert max(taken) < TIMEOUT_S / 2  # of the processor: its time is not up
        time.sleep(0.05)
    expect(page.locator("#run")).to_be_enabled()
    expect(page.locator("#stop")).to_be_hidden()
    ask(page, "ASK {}")
    expect(message(page)).to_contain_text("The answer is yes")


def test_who_uses_no_mouse_leaves_the_editor(page: Page) -> None:
    """Tab goes on to the next control; an editor that keeps it is a trap."""
    page.goto("/sparql")
    page.locator(".yasqe .CodeMirror").click()
    page.keyboard.press("Tab")
    expect(page.locator("#run")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.type("#")
    assert "#" in written(page)


def test_the_last_tab_that_is_closed_makes_room_for_another(page: Page) -> None:
    """There is always a query to write."""
    page.goto("/sparql")
    page.locator(".closeTab").click()
    expect(page.locator(".tabsList .tab")).to_have_count(1)
    ask(page, "ASK {}")
    expect(message(page)).to_contain_text("The answer is yes")


def test_a_sign_of_a_mistake_says_what_was_expected(page: Page) -> None:
    """While a query is written, within the policy of the page."""
    page.goto("/sparql")
    write(page, "SELECT * WHERE {\n  oops\n}")
    icon = page.locator(".parseErrorIcon")
    icon.hover()
    expect(icon).to_have_attribute("title", re.compile(r"^Not expected in SPARQL 1\.1\. Expected: .*VAR1"))


def test_a_link_that_is_pasted_into_an_open_page_runs(page: Page) -> None:
    """The browser does not load a page anew for what stands behind `#`."""
    page.goto("/sparql")
    expect(page.locator("#run")).to_be_visible()
    page.goto(f"/sparql#{urlencode({'query': 'ASK {}'})}")
    expect(message(page)).to_contain_text("The answer is yes")
    expect(page.locator(".tabsList .tab")).to_have_count(2)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("query", "name"),
    [(SHIPS, "table"), (SHIPS, "chart"), (SHIPS, "response"), (POSITIONS, "map"), ("ASK {}", ""), ("oops", "")],
)
def test_results_break_no_rule_of_accessibility(page: Page, watch: Watch, query: str, name: str) -> None:
    """What is drawn by script is held to the same rules as the pages."""
    watch.allow("status of 400")
    page.goto(link(query))
    expect(message(page)).to_contain_text(re.compile("row|answer|parse"))
    if name:
        page.locator(f".tabPanel.active .select_{name}").click()
    for details in page.locator("summary").all():
        details.click()
    prepare(page)
    assert judged(page) == []


TERMS = """async (text) => (await import("/static/query-answer.js")).terms(text)"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<http://a.example/\\u00e9>", [{"type": "uri", "value": "http://a.example/é"}]),
        ('"a\\tb\\\\n\\"c\\""@en--ltr', [{"type": "literal", "value": 'a\tb\\n"c"', "xml:lang": "en--ltr"}]),
        ('"1"^^<http://a.example/t>', [{"type": "literal", "value": "1", "datatype": "http://a.example/t"}]),
        ("_:b0", [{"type": "bnode", "value": "b0"}]),
        ("-12", [{"type": "literal", "value": "-12", "datatype": f"{XSD}integer"}]),
        ("1.50", [{"type": "literal", "value": "1.50", "datatype": f"{XSD}decimal"}]),
        ("1.0E6", [{"type": "literal", "value": "1.0E6", "datatype": f"{XSD}double"}]),
        ("true", [{"type": "literal", "value": "true", "datatype": f"{XSD}boolean"}]),
        (
            "<<( <a:s> <a:p> <<( _:x <a:q> 1 )>> )>>",
            [
                {
                    "type": "triple",
                    "value": {
                        "subject": {"type": "uri", "value": "a:s"},
                        "predicate": {"type": "uri", "value": "a:p"},
                        "object": {
                            "type": "triple",
                            "value": {
                                "subject": {"type": "bnode", "value": "x"},
                                "predicate": {"type": "uri", "value": "a:q"},
                                "object": {"type": "literal", "value": "1", "datatype": f"{XSD}integer"},
                            },
                        },
                    },
                }
            ],
        ),
    ],
)
def test_a_term_is_read_as_it_is_written(page: Page, text: str, expected: list[dict[str, object]]) -> None:
    """The page reads TSV and N-Triples itself, so that it can show a part of them."""
    page.goto("/sparql")
    assert page.evaluate(TERMS, text) == expected


def test_the_server_writes_what_the_page_reads(open_page: Open, lone: Server) -> None:
    """Every kind of term, through the whole of it."""
    page = open_page(base_url=lone.url)
    values = r"""<http://a.example/é> "tab\tline\nquote\"" "x"@en 1 1.5 1e0 true "2001"^^<http://a.example/t> UNDEF"""
    page.goto(link(f"SELECT ?v ?w {{ VALUES ?v {{ {values} <<( <a:s> <a:p> 'o' )>> }} }}"))
    expect(message(page)).to_contain_text("10 rows")
    shown = [text.strip() for text in page.locator("table.dataTable tbody td:nth-child(2)").all_text_contents()]
    assert shown == [
        "http://a.example/é",
        'tab\tline\nquote"',
        "x @en",
        "1 xsd:integer",
        "1.5 xsd:decimal",
        "1 xsd:double",
        "true xsd:boolean",
        "2001 http://a.example/t",
        "",
        "<<( a:s a:p o )>>",
    ]


def test_values_are_text_whatever_they_say(open_page: Open, lone: Server) -> None:
    """Anybody's data are shown here; none of them runs, and the policy has nothing to forbid."""
    page = open_page(base_url=lone.url)
    page.goto(link(f"SELECT * {{ ?s <{HOSTILE.value}> ?o }} ORDER BY ?s"))
    expect(message(page)).to_contain_text("2 rows")
    cells = page.locator("table.dataTable tbody td")
    expect(cells.filter(has_text="<img src=x onerror=alert(1)>")).to_contain_text("\\n{{s}}")
    expect(cells.filter(has_text="javascript:").locator("a")).to_have_attribute(
        "href", "/entity?iri=javascript%3Aalert(1)"
    )
    assert page.locator("table.dataTable img, table.dataTable [onclick]").count() == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_the_page_fits_every_screen(open_page: Open, scheme: str, width: int) -> None:
    """Wide tables and pictures scroll within themselves, never the page."""
    page = open_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.goto(link(SHIPS))
    expect(message(page)).to_contain_text("24 rows")
    for name in ("table", "chart", "response"):
        page.locator(f".tabPanel.active .select_{name}").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name

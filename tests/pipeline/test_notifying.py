"""Who is named by `notify` learns what became of each dump: by POST, in an inbox, or by mail."""

from __future__ import annotations

import hashlib
import hmac
import json
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from rdflib import Graph, URIRef

from harvest.catalog.instance import InstanceCatalog
from harvest.config.settings import NotifySettings
from harvest.service.notifying import ACTIVITIES, PAUSES, Notifier
from harvest.service.order_run import run
from harvest.service.schedule import Scheduler
from sparql.rdf import HARVEST
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import ttl
from tests.provider import ProviderServer

A, B, C = ('<http://x/a> <http://p> "1"', '<http://x/b> <http://p> "2"', '<http://x/c> <http://p> "3"')


@dataclass
class Posted:
    """A notification that came: where, its headers and its body."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, object]:
        found: dict[str, object] = json.loads(self.body)
        return found

    @property
    def event(self) -> object:
        return self.document[f"{HARVEST}event"]


@dataclass
class Hook:
    """A web address that takes notifications: the status of its answers, and a Link header of HEAD."""

    server: ThreadingHTTPServer
    posted: list[Posted] = field(default_factory=list)
    status: int = 202
    link: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def hook() -> Iterator[Hook]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_response(200)
            if made.link:
                self.send_header("Link", made.link)
            self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.posted.append(Posted(self.path, dict(self.headers), body))
            self.send_response(made.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Hook(server)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join(60)


def release(instance: TemporaryInstance, provider: ProviderServer, n: int, *statements: str) -> str:
    """Publish a partial dump of day n and harvest it; its SHA-256."""
    body = ttl(*statements)
    dump = provider.put(f"/{n}.ttl", body)
    provider.describe("/void.ttl", f"2026-01-{n:02}T00:00:00Z", [dump], partial=True)
    instance.tick("p")
    return hashlib.sha256(body.encode()).hexdigest()


def registered(instance: TemporaryInstance, provider: ProviderServer, notify: str) -> Notifier:
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n  notify: {notify}\n")
    return Notifier(instance.harvester.instance)


def test_each_dump_has_a_notification_and_a_receipt_of_its_own(
    instance: TemporaryInstance, provider: ProviderServer, hook: Hook
) -> None:
    """Three partial dumps give three receipts, sent once each; the document is RDF that says so."""
    notifier = registered(instance, provider, f"{hook.url}/hook")
    digests = [release(instance, provider, n, statement) for n, statement in enumerate((A, B, C), 1)]
    assert notifier.send_due() == 3
    assert notifier.send_due() == 0
    catalog = InstanceCatalog(instance.settings, instance.clock)
    for posted, digest in zip(hook.posted, digests, strict=True):
        assert (posted.path, posted.event) == ("/hook", "harvested")
        assert posted.headers["Content-Type"] == "application/ld+json"
        assert "X-Harvest-Signature-256" not in posted.headers
        address = f"http://h.example/providers/p/receipts/{digest}"
        graph = Graph().parse(data=posted.body, format="json-ld")
        assert set(graph.objects(None, URIRef(f"{ACTIVITIES}object"))) == {URIRef(address)}
        receipt = catalog.dump_receipt("p", digest)
        assert receipt is not None
        kept = Graph().parse(data=receipt, format="turtle")
        assert len(kept) > 5
        assert {str(o) for o in kept.objects()} & {f"http://h.example/content/{digest}"}
        assert set(kept) <= set(graph)
    assert catalog.dump_receipt("p", "0" * 64) is None


def test_failing_and_mended_are_said_once_each(
    instance: TemporaryInstance, provider: ProviderServer, hook: Hook
) -> None:
    """Of a dump, and of the description; three tries at each that fail are one notification."""
    notifier = registered(instance, provider, f"{hook.url}/hook")
    release(instance, provider, 1, A)
    dump = provider.put("/2.ttl", "no", status=500)
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", [dump], partial=True)
    for _ in range(3):
        instance.clock.forward(days=1)
        instance.tick("p")
    provider.put("/2.ttl", ttl(B))
    instance.clock.forward(days=1)
    instance.tick("p")
    void = provider.pages.pop("/void.ttl")
    for _ in range(3):
        instance.clock.forward(days=1)
        instance.tick("p")
    provider.pages["/void.ttl"] = void
    instance.clock.forward(days=1)
    instance.tick("p")
    notifier.send_due()
    events = [posted.event for posted in hook.posted]
    assert events == ["harvested", "failing", "mended", "harvested", "failing", "mended"]
    assert "/2.ttl" in str(hook.posted[1].document[f"{ACTIVITIES}summary"])
    assert "its description" in str(hook.posted[4].document[f"{ACTIVITIES}summary"])


def test_held_is_said_once(instance: TemporaryInstance, provider: ProviderServer, hook: Hook) -> None:
    """And that it is not any more."""
    instance.guard(0, 0.1)
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n  notify: {hook.url}/\n  removals: mirror\n")
    notifier = Notifier(instance.harvester.instance)
    for n, statements in enumerate(((A, B, C), (A,)), 1):
        dump = provider.put(f"/{n}.ttl", ttl(*statements))
        provider.describe("/void.ttl", f"2026-01-{n:02}T00:00:00Z", [dump])
        instance.tick("p")
        instance.tick("p")
    dump = provider.put("/3.ttl", ttl(A, B, C, '<http://x/d> <http://p> "4"'))
    provider.describe("/void.ttl", "2026-01-03T00:00:00Z", [dump])
    instance.tick("p")
    notifier.send_due()
    assert [posted.event for posted in hook.posted] == ["harvested", "held", "mended", "harvested"]


def test_what_is_posted_is_signed(instance: TemporaryInstance, provider: ProviderServer, hook: Hook) -> None:
    """By the secret of the settings."""
    secret = "0123456789abcdef"
    instance.settings = replace(instance.settings, notify=NotifySettings(secret=secret))
    notifier = registered(instance, provider, f"{hook.url}/hook")
    release(instance, provider, 1, A)
    assert notifier.send_due() == 1
    (posted,) = hook.posted
    expected = hmac.new(secret.encode(), posted.body, "sha256").hexdigest()
    assert posted.headers["X-Harvest-Signature-256"] == f"sha256={expected}"


def test_an_inbox_is_found_by_its_link(instance: TemporaryInstance, provider: ProviderServer, hook: Hook) -> None:
    """Linked Data Notifications: the target names it, relative to itself."""
    hook.link = '<inbox/>; rel="http://www.w3.org/ns/ldp#inbox"'
    notifier = registered(instance, provider, f"{hook.url}/data/")
    release(instance, provider, 1, A)
    assert notifier.send_due() == 1
    assert [posted.path for posted in hook.posted] == ["/data/inbox/"]


def test_what_is_not_accepted_is_tried_again_and_given_up(
    instance: TemporaryInstance, provider: ProviderServer, hook: Hook
) -> None:
    """With longer and longer pauses, under the same number; the harvest is none the worse."""
    hook.status = 503
    notifier = registered(instance, provider, f"{hook.url}/hook")
    release(instance, provider, 1, A)
    for pause in PAUSES:
        assert notifier.send_due() == 0
        before = len(hook.posted)
        instance.clock.forward(seconds=pause - 1)
        assert notifier.send_due() == 0
        assert len(hook.posted) == before
        instance.clock.forward(seconds=1)
    assert notifier.send_due() == 0
    assert len(hook.posted) == len(PAUSES) + 1
    assert len({posted.headers["X-Harvest-Delivery"] for posted in hook.posted}) == 1
    hook.status = 202
    instance.clock.forward(days=30)
    assert notifier.send_due() == 0


def test_the_address_guard_holds_for_notifications(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A registry entry cannot have the instance post into its own network."""
    notifier = registered(instance, provider, "http://10.0.0.1/hook")
    release(instance, provider, 1, A)
    assert notifier.send_due() == 0
    row = instance.harvester.instance.ledger.database.row("SELECT tries, error FROM notification")
    assert row is not None
    assert row["tries"] == 1
    assert "10.0.0.1" in row["error"]


def test_a_run_and_the_schedule_send(instance: TemporaryInstance, provider: ProviderServer, hook: Hook) -> None:
    """`harvest run` at its end, the running instance by a job of its own."""
    registered(instance, provider, f"{hook.url}/hook")
    dump = provider.put("/1.ttl", ttl(A))
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", [dump], partial=True)
    assert run(instance.harvester, [])["ok"]
    assert [posted.event for posted in hook.posted] == ["harvested"]
    release(instance, provider, 2, B)
    scheduler = Scheduler(instance.harvester)
    scheduler.notify()
    scheduler.notify()
    assert len(hook.posted) == 2


def test_nobody_is_notified_whom_nobody_named(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing of it stays; what is dropped at once is one write, which waits for the disk once."""
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n")
    release(instance, provider, 1, A)
    release(instance, provider, 2, B)
    database = instance.harvester.instance.ledger.database
    assert len(database.rows("SELECT * FROM notification")) == 2
    written: list[str] = []
    write = database.write
    monkeypatch.setattr(database, "write", lambda text, *values: written.append(text) or write(text, *values))
    assert Notifier(instance.harvester.instance).send_due() == 0
    assert database.rows("SELECT * FROM notification") == []
    assert len(written) == 1


class MailServer(socketserver.ThreadingTCPServer):
    """Keeps the mail that it is sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Mailbox)
        self.mails: list[Message] = []


class _Mailbox(socketserver.StreamRequestHandler):
    """As much of SMTP as `smtplib` speaks. Source: RFC 5321, section 3.3."""

    def handle(self) -> None:
        self.wfile.write(b"220 ready\r\n")
        while line := self.rfile.readline():
            if line.upper().startswith(b"DATA"):
                self.wfile.write(b"354 go on\r\n")
                lines = []
                while (part := self.rfile.readline()) not in (b".\r\n", b""):
                    lines.append(part)
                assert isinstance(self.server, MailServer)
                self.server.mails.append(message_from_bytes(b"".join(lines)))
            self.wfile.write(b"250 mail.example\r\n" if not line.upper().startswith(b"QUIT") else b"221 bye\r\n")


def test_mail_is_sent_by_the_server_of_the_settings(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """With the receipt; without a server it is tried again, and the reason says what to set."""
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        notifier = registered(instance, provider, "mailto:ann@example.org")
        digest = release(instance, provider, 1, A)
        assert notifier.send_due() == 0
        row = instance.harvester.instance.ledger.database.row("SELECT error FROM notification")
        assert row is not None
        assert "notify.smtp" in row["error"]
        instance.close()
        smtp = f"127.0.0.1:{server.server_address[1]}"
        instance.settings = replace(instance.settings, notify=NotifySettings(smtp=smtp, sender="h@h.example"))
        instance.clock.forward(hours=1)
        assert Notifier(instance.harvester.instance).send_due() == 1
        server.shutdown()
        thread.join(60)
    (mail,) = server.mails
    assert (mail["To"], mail["From"], mail["Subject"]) == ("ann@example.org", "h@h.example", "p: harvested")
    text, receipt = mail.get_payload()
    assert f"/providers/p/receipts/{digest}" in text.get_payload(decode=True).decode()
    assert len(Graph().parse(data=receipt.get_payload(decode=True), format="turtle")) > 5

"""
Notifications: what became of a dump is sent to whom the registry's `notify` names.

A web address gets a POST: a webhook, or, where a HEAD of it names one by a Link header, its Linked Data Notifications
inbox. A mail address gets a mail. What was not accepted is tried again with longer and longer pauses, and given up
after `PAUSES` of them; what was is not sent again, unless the process dies between the answer and filing it.

Source: W3C Linked Data Notifications, sections 3.1 and 3.2; JSON-LD 1.1, section 4.1 (`@included`).
"""

from __future__ import annotations

import hmac
import json
import smtplib
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from pyoxigraph import RdfFormat, parse, serialize

from harvest.catalog.providers import provider_report
from harvest.catalog.receipts import provider_receipt, run_receipt
from harvest.errors import FetchError, HarvestError
from harvest.ledger import Event, Notification
from harvest.model import Provider
from harvest.pipeline import Instance
from sparql.rdf import HARVEST
from sparql.reports import RunReport

log = structlog.get_logger()

PAUSES: Final = (60, 300, 1800, 7200, 43200, 86400)
"""Seconds before each further try; after the last it is given up."""
MOST: Final = 100
"""Sent in one go."""
WITHIN_S: Final = 30.0
"""For one request, or each answer of a mail server."""
INBOX: Final = "http://www.w3.org/ns/ldp#inbox"
ACTIVITIES: Final = "https://www.w3.org/ns/activitystreams#"

_SAYS: Final = {
    Event.HARVESTED: "a dump was harvested",
    Event.HELD: "a dump is held: it removes more than the guard allows",
    Event.FAILING: "it cannot be harvested",
    Event.MENDED: "it can be harvested again",
}


@dataclass(frozen=True, slots=True)
class Message:
    """
    What is sent.

    Attributes:
        notification: What it is about.
        url: Address of the receipt.
        receipts: Addresses of the receipts of each dump of the run, by SHA-256.
        turtle: The receipt.
        summary: One sentence.
    """

    notification: Notification
    url: str
    receipts: tuple[str, ...]
    turtle: bytes
    summary: str

    def jsonld(self, base_url: str) -> bytes:
        """As an Announce of Activity Streams, with the receipt's statements in it."""
        quads = parse(self.turtle, format=RdfFormat.TURTLE)
        nodes = json.loads(serialize(quads, format=RdfFormat.JSON_LD) or b"[]")
        document: dict[str, Any] = {
            "@id": f"{self.url}#notification-{self.notification.id}",
            "@type": f"{ACTIVITIES}Announce",
            f"{ACTIVITIES}summary": self.summary,
            f"{ACTIVITIES}actor": {"@id": base_url},
            f"{ACTIVITIES}object": [{"@id": url} for url in self.receipts or (self.url,)],
            f"{ACTIVITIES}published": self.notification.at.isoformat(),
            f"{HARVEST}event": self.notification.event.value,
            "@included": nodes if isinstance(nodes, list) else nodes["@graph"],
        }
        return json.dumps(document).encode()


class Notifier:
    """Sends what the ledger has to be sent; one thread at a time."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    def send_due(self) -> int:
        """Send what is due; returns how many were accepted."""
        ledger = self._instance.ledger.notifications
        accepted, nobodys = 0, []
        for each in ledger.due(self._instance.clock(), MOST):
            provider = self._instance.roster.get(each.provider)
            message = self._message(each) if provider is not None and provider.notify else None
            if provider is None or message is None:
                nobodys.append(each.id)
            elif not self._instance.stopping.is_set():
                accepted += self._sent(provider, message)
        if nobodys:
            ledger.drop(nobodys)
        return accepted

    def _sent(self, provider: Provider, message: Message) -> bool:
        """Send one, and file what came of it."""
        each, now = message.notification, self._instance.clock()
        figures = {"provider": each.provider, "about": each.event.value, "notification": each.id}
        try:
            self._send(provider.notify or "", message)
        except (HarvestError, OSError, smtplib.SMTPException) as error:
            reason = error.message if isinstance(error, HarvestError) else str(error)
            again = now + timedelta(seconds=PAUSES[each.tries]) if each.tries < len(PAUSES) else None
            self._instance.ledger.notifications.not_sent(each.id, reason, again)
            log.warning("not notified", **figures, reason=reason, again=again.isoformat() if again else "given up")
            return False
        self._instance.ledger.notifications.sent(each.id, now)
        log.info("notified", **figures)
        return True

    def _message(self, each: Notification) -> Message | None:
        """What is to be sent; None where nothing is known of the provider any more."""
        instance, base_url = self._instance, self._instance.settings.base_url
        report = provider_report(
            instance.ledger, instance.settings, each.provider, instance.roster.get(each.provider), instance.clock()
        )
        run = instance.ledger.run(each.run) if each.run is not None else None
        if report is None:
            return None
        page = f"{base_url}/providers/{each.provider}"
        receipts = _receipts(page, run)
        turtle = run_receipt(base_url, report, run) if run else provider_receipt(base_url, report)
        findings = run.findings if run else instance.ledger.findings(each.provider)
        reason = next((f": {finding.message}" for finding in findings if finding.fatal), "")
        what = f"<{each.dataset}>" if each.dataset else "its description"
        summary = f"{each.provider}, {what}: {_SAYS[each.event]}{reason if each.event in _WITH_REASON else ''}"
        return Message(each, receipts[0] if receipts else f"{page}.ttl", receipts, turtle, summary)

    def _send(self, to: str, message: Message) -> None:
        if "://" in to:
            self._post(to, message)
        else:
            self._mail(to.removeprefix("mailto:"), message)

    def _post(self, to: str, message: Message) -> None:
        """Raises: FetchError."""
        settings, client = self._instance.settings, self._instance.client
        body = message.jsonld(settings.base_url)
        headers = {
            "Content-Type": "application/ld+json",
            "X-Harvest-Event": message.notification.event.value,
            "X-Harvest-Delivery": str(message.notification.id),
        }
        if settings.notify.secret:
            digest = hmac.new(settings.notify.secret.encode(), body, "sha256").hexdigest()
            headers["X-Harvest-Signature-256"] = f"sha256={digest}"
        try:
            inbox = client.link(to, INBOX, WITHIN_S)
        except FetchError as error:
            if error.kind == "refused":
                raise
            inbox = None  # A webhook need not answer a HEAD.
        client.post(inbox or to, body, headers, WITHIN_S)

    def _mail(self, to: str, message: Message) -> None:
        """Raises: OSError, smtplib.SMTPException."""
        notify, each = self._instance.settings.notify, message.notification
        if not notify.smtp:
            raise HarvestError("mail is not delivered here: `notify.smtp` names no server", url=to)
        mail = EmailMessage()
        mail["From"] = notify.sender or f"harvest@{urlsplit(self._instance.settings.base_url).hostname}"
        mail["To"] = to
        mail["Subject"] = f"{each.provider}: {each.event.value}"
        mail["Message-ID"] = f"<{each.id}.{each.provider}@{urlsplit(self._instance.settings.base_url).hostname}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(f"{message.summary}\n\n" + "\n".join(message.receipts or (message.url,)) + "\n")
        mail.add_attachment(message.turtle, maintype="text", subtype="turtle", filename=f"{each.provider}.ttl")
        host, _, port = notify.smtp.rpartition(":")
        with smtplib.SMTP(host.strip("[]"), int(port), timeout=WITHIN_S) as server:
            if server.has_extn("starttls"):
                server.starttls()
            server.send_message(mail)


_WITH_REASON: Final = (Event.FAILING, Event.HELD)


def _receipts(page: str, run: RunReport | None) -> tuple[str, ...]:
    """The addresses of the receipts of a run's dumps."""
    digests = dict.fromkeys(dump.sha256 for dump in run.dumps) if run else {}
    return tuple(f"{page}/receipts/{digest}" for digest in digests)

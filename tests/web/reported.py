"""The pages of state over a real ledger in a folder, asked without a server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from harvest.catalog.instance import InstanceCatalog
from harvest.catalog.providers import SCHEDULE, Schedule
from harvest.config.settings import Settings
from harvest.ledger import Database, Ledger, RunFacts
from harvest.model import Announcement, Dataset, Finding, Outcome
from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.ledger.samples import NOW, later, version

BASE = "http://h.example"


@dataclass
class ReportedInstance:
    """
    An instance that runs nothing: it reports what the test writes into its ledger.

    Attributes:
        ledger: Of the instance; the test writes it.
        client: Asks the pages of the instance.
    """

    ledger: Ledger
    client: FlaskClient

    def page(self, path: str, **headers: str) -> TestResponse:
        return self.client.get(path, headers={"Accept": "text/html", **headers})

    def announced(self, name: str, modified: datetime | None = None) -> Announcement:
        dataset = Dataset(f"http://d.example/{name}#d", (f"http://d.example/{name}.nt",), modified=modified)
        found = self.ledger.announcements.get(self.ledger.announcements.add(name, dataset, NOW))
        assert found is not None
        return found

    def commit(self, name: str, n: int, triples: int, added: int, removed: int = 0) -> int:
        """A version, made by a run of a minute."""
        at = later(10 * n)
        found = self.announced(name, at)
        run = self.ledger.start_run(name, at, found, "fetch")
        self.ledger.steps.begin(run, "wash", later(10 * n + 0.5))
        made = version(n, run, triples=triples, name=name)
        values = {"added": added, "removed": removed, "at": at, "modified": at}
        filed = type(made)(**{key: values.get(key, getattr(made, key)) for key in made.__slots__})
        self.ledger.file_version(filed)
        self.ledger.commit_version(filed, found, later(10 * n + 1))
        return run

    def fail(self, name: str, minutes: float, finding: Finding) -> int:
        """A run of a minute that failed."""
        run = self.ledger.start_run(name, later(minutes), self.announced(name), "fetch")
        self.ledger.end_run(run, Outcome.FAILED, later(minutes + 1), RunFacts(findings=(finding,)))
        return run


def reported_instance(folder: Path, *names: str) -> ReportedInstance:
    """An instance whose registry has these providers, and whose ledger has seen them."""
    settings = Settings(
        base_url=BASE,
        graph_base=f"{BASE}/graph/",
        registry=folder / "registry.yaml",
        data_dir=folder / "var",
        exports_dir=folder / "exports",
    )
    settings.registry.write_text("".join(f"{name}:\n  void: http://d.example/{name}/void.ttl\n" for name in names))
    settings.data_dir.mkdir()
    ledger = Ledger(Database(settings.data_dir / "ledger.sqlite"))
    for name in names:
        ledger.enrol(name, settings.graph(name))
    ledger.set_meta(SCHEDULE, Schedule(NOW, 60).dump())
    context = Context(InstanceCatalog(settings), Site(BASE), QueryLimits(), lambda: 1)
    return ReportedInstance(ledger, create_pages(context).test_client())


class Shape(HTMLParser):
    """
    What a page is made of.

    Attributes:
        plots: What each SVG with a role says.
        addresses: Of links.
        rows: The first links of the rows of tables.
        inline: What the policy of the pages forbids.
        sorted: `aria-sort` of the table heads that have one.
        unlabelled: SVGs that are neither labelled nor hidden.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.plots: list[str] = []
        self.addresses: list[str] = []
        self.rows: list[str] = []
        self.inline: list[str] = []
        self.sorted: list[str] = []
        self.unlabelled = 0
        self._row = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attributes}
        self.inline += [key for key in found if key.startswith("on") or key == "style"]
        if tag in ("script", "style") and "src" not in found:
            self.inline.append(tag)
        if tag == "svg" and found.get("role") == "img":
            self.plots.append(found.get("aria-label", ""))
        elif tag == "svg" and found.get("aria-hidden") != "true":
            self.unlabelled += 1
        if "aria-sort" in found:
            self.sorted.append(found["aria-sort"])
        if tag == "tbody" or tag == "tr":
            self._row = True
        if tag == "a":
            self.addresses.append(found.get("href", ""))
            if self._row:
                self.rows.append(found.get("href", ""))
                self._row = False

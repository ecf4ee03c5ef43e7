"""`harvest check`: what is reported on a pull request on the registry."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from harvest.config.engine import EngineSettings
from harvest.config.registry import Registry, check_registry
from harvest.config.settings import Settings
from harvest.errors import HarvestError
from harvest.model import Dataset, Finding, Provider, Source
from harvest.pipeline import dumps, members_of, preview, refused
from sparql.store.address import Dialect
from sparql.store.engine import STATEMENTS
from sparql.store.sending import AT_ONCE, MOVED, SIDES

LISTED = (Source.RESOURCESYNC, Source.SITEMAP, Source.DCAT, Source.LDES, Source.HANDLER, Source.DATASET)
"""Sources whose dumps stand in lists that lead to one another."""

PARALLEL = 8
"""Descriptions asked for at once."""


@dataclass(frozen=True, slots=True)
class CheckedProvider:
    """
    An entry of the registry, and what would be harvested of it.

    Attributes:
        entry: As the registry has it.
        datasets: Those that its description names; None where nobody asked for it.
        findings: What asking showed, what stops a harvest first.
    """

    entry: Provider
    datasets: tuple[Dataset, ...] | None = None
    findings: tuple[Finding, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As `harvest check --json` prints it."""
        said = {
            "name": self.entry.name,
            "source": self.entry.source.value,
            "url": self.entry.url or None,
            "modified": _iso(self.entry.modified),
            "enabled": self.entry.enabled,
        }
        if self.datasets is None:
            return said
        return said | {
            "datasets": [_dataset(dataset) for dataset in self.datasets],
            "findings": [asdict(finding) for finding in self.findings],
        }


@dataclass(frozen=True, slots=True)
class CheckReport:
    """
    Whether all entries of a registry would be harvested.

    Attributes:
        registry: The file.
        is_readable: Whether it could be read as a registry.
        findings: What the file itself shows.
        providers: Its entries, in its order.
    """

    registry: Path
    is_readable: bool
    findings: tuple[Finding, ...]
    providers: tuple[CheckedProvider, ...]

    @property
    def all_findings(self) -> tuple[Finding, ...]:
        """Those of the file, and those of each provider."""
        return (*self.findings, *(finding for each in self.providers for finding in each.findings))

    @property
    def ok(self) -> bool:
        """Whether nothing stops a harvest."""
        return self.is_readable and not any(finding.fatal for finding in self.all_findings)

    @property
    def figures(self) -> dict[str, int]:
        """How many providers, datasets, dumps (each URL once), errors and notes."""
        datasets = [dataset for each in self.providers for dataset in each.datasets or ()]
        fatal = sum(finding.fatal for finding in self.all_findings)
        return {
            "providers": len(self.providers),
            "datasets": len(datasets),
            "dumps": len({url for dataset in datasets for url in dataset.dumps}),
            "errors": fatal,
            "notes": len(self.all_findings) - fatal,
        }

    def as_json(self) -> dict[str, Any]:
        """As `harvest check --json` prints it."""
        return {
            "ok": self.ok,
            "registry": str(self.registry),
            "findings": [asdict(finding) for finding in self.findings],
            "providers": [each.as_json() for each in self.providers],
            "summary": self.figures,
        }


def check_offline(path: Path, settings: Settings, *, asked: bool = False) -> CheckReport:
    """
    Whether a registry file would be harvested, as far as the file itself shows, and where each problem is.

    `asked` leaves out what only asking the providers would show.
    """
    registry, findings = check_registry(path)
    providers = registry.providers if registry else ()
    findings += [finding for finding in (_refusal(path, provider) for provider in providers) if finding]
    findings += [
        _no_mail(path, provider) for provider in providers if not settings.notify.smtp and _wants_mail(provider)
    ]
    findings += [_unknown(path, provider) for provider in providers if not asked and _is_listed(provider)]
    findings += [_in_parts(settings.store)] if settings.store else []
    return CheckReport(path, registry is not None, tuple(findings), tuple(map(CheckedProvider, providers)))


def check_online(path: Path, settings: Settings) -> CheckReport:
    """As `check_offline`, and what would be harvested from each provider now; every dump is asked for."""
    report = check_offline(path, settings, asked=True)
    registry, _ = check_registry(path)
    if registry is None:
        return report
    with ThreadPoolExecutor(PARALLEL) as threads:
        return replace(report, providers=tuple(threads.map(partial(_looked, settings, registry), registry.providers)))


def _in_parts(store: EngineSettings) -> Finding:
    """What cannot be promised of an engine."""
    dialect = Dialect(store.dialect)
    if dialect in SIDES:
        message = (
            f"a version of more than {STATEMENTS[dialect]:,} statements is put into side graphs and moved by one "
            "request: whoever asks the engine itself for all graphs sees the side graphs meanwhile; one of more than "
            f"{MOVED:,} is sent in parts, of which a reader may see some before the rest"
        )
        return Finding("engine-sides", message, store.update)
    most = "500,000 on Oxigraph, Fuseki and RDF4J, 5,000 on engines whose ways are not known"
    if dialect is not Dialect.AUTO:
        most = f"{AT_ONCE.get(dialect, STATEMENTS[dialect]):,} on {dialect}"
    message = (
        f"a version of more statements than go into one request ({most}) reaches the engine in parts: whoever reads it "
        "meanwhile may see some before the rest; the receipt says in how many requests a version was sent"
    )
    return Finding("engine-parts", message, store.update)


def _refusal(path: Path, provider: Provider) -> Finding | None:
    """Why an entry that is right as such will not be harvested."""
    found = refused(provider) if provider.enabled else None
    return None if found is None else Finding(found[0], found[1], str(path), provider.line, 1, fatal=True)


def _wants_mail(provider: Provider) -> bool:
    return provider.notify is not None and "://" not in provider.notify


def _no_mail(path: Path, provider: Provider) -> Finding:
    """That nobody can be notified by mail."""
    message = (
        f"mail is not delivered here: {provider.name}.notify is a mail address, and the setting `notify.smtp` names no "
        "server; set it, or name a web address"
    )
    return Finding("no-mail", message, str(path), provider.line, 1)


def _is_listed(provider: Provider) -> bool:
    return provider.enabled and provider.source in LISTED and refused(provider) is None


def _unknown(path: Path, provider: Provider) -> Finding:
    """That the registry alone does not show what would be harvested."""
    message = (
        f"what would be harvested of {provider.name} stands in the lists that {provider.url} leads to; nobody asked "
        "for them here, `harvest check --online` does"
    )
    return Finding("not-asked", message, str(path), provider.line, 1)


def _looked(settings: Settings, registry: Registry, provider: Provider) -> CheckedProvider:
    if refused(provider):
        return CheckedProvider(provider, ())  # it is reported with its place in the registry
    try:
        description = preview(settings, provider)
        findings = (*description.findings, *dumps(settings, provider, description))
        if provider.prefix is not None:
            lists = [dataset.iri for dataset in description.datasets]
            findings += members_of(provider, lists, [each.name for each in registry.providers])[1]
    except HarvestError as error:
        place = (error.url, error.line, error.column, error.excerpt)
        return CheckedProvider(provider, (), (Finding(error.kind, error.message, *place, fatal=True),))
    return CheckedProvider(provider, description.datasets, tuple(sorted(findings, key=lambda each: not each.fatal)))


def _dataset(dataset: Dataset) -> dict[str, Any]:
    said = asdict(dataset) | {"modified": _iso(dataset.modified)}
    del said["listing"], said["lastmods"]
    return said


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")

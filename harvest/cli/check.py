"""`harvest check`: what is reported on a pull request on the registry."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from harvest.config.registry import Registry, check_registry
from harvest.config.settings import Settings
from harvest.errors import HarvestError
from harvest.model import Dataset, Finding, Provider, Source
from harvest.pipeline import dumps, members_of, preview, refused

LISTED = (Source.RESOURCESYNC, Source.SITEMAP, Source.DCAT, Source.LDES, Source.HANDLER)
"""Sources whose dumps stand in lists that lead to one another."""

PARALLEL = 8
"""Descriptions asked for at once."""


def check_offline(path: Path, settings: Settings, *, asked: bool = False) -> dict[str, Any]:
    """
    Whether a registry file would be harvested, as far as the file itself shows, and where each problem is; JSON.

    `asked` leaves out what only asking the providers would show.
    """
    registry, findings = check_registry(path)
    providers = registry.providers if registry else ()
    findings += [finding for finding in (_refusal(path, provider) for provider in providers) if finding]
    findings += [
        _no_mail(path, provider) for provider in providers if not settings.notify.smtp and _wants_mail(provider)
    ]
    findings += [_unknown(path, provider) for provider in providers if not asked and _is_listed(provider)]
    return _summed(
        {
            "ok": registry is not None and not any(finding.fatal for finding in findings),
            "registry": str(path),
            "findings": [asdict(finding) for finding in findings],
            "providers": [_provider(provider) for provider in providers],
        }
    )


def check_online(path: Path, settings: Settings) -> dict[str, Any]:
    """The same, and what would be harvested from each provider now; every dump is asked for."""
    report = check_offline(path, settings, asked=True)
    registry, _ = check_registry(path)
    if registry is None:
        return report
    with ThreadPoolExecutor(PARALLEL) as threads:
        looked = list(threads.map(partial(_looked, settings, registry), registry.providers))
    report["providers"] = looked
    report["ok"] = report["ok"] and not any(f["fatal"] for item in looked for f in item["findings"])
    return _summed(report)


def _summed(report: dict[str, Any]) -> dict[str, Any]:
    """The report with its figures."""
    datasets = [dataset for item in report["providers"] for dataset in item.get("datasets", ())]
    findings = [*report["findings"], *(f for item in report["providers"] for f in item.get("findings", ()))]
    fatal = sum(finding["fatal"] for finding in findings)
    figures = {
        "providers": len(report["providers"]),
        "datasets": len(datasets),
        "dumps": len({url for dataset in datasets for url in dataset["dumps"]}),
        "errors": fatal,
        "notes": len(findings) - fatal,
    }
    return report | {"summary": figures}


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


def _looked(settings: Settings, registry: Registry, provider: Provider) -> dict[str, Any]:
    entry = _provider(provider) | {"datasets": [], "findings": []}
    if refused(provider):
        return entry  # it is reported with its place in the registry
    try:
        description = preview(settings, provider)
        findings = (*description.findings, *dumps(settings, provider, description))
        if provider.prefix is not None:
            lists = [dataset.iri for dataset in description.datasets]
            findings += members_of(provider, lists, [each.name for each in registry.providers])[1]
    except HarvestError as error:
        place = {"url": error.url, "line": error.line, "column": error.column, "excerpt": error.excerpt}
        failure = {"kind": error.kind, "message": error.message, "fatal": True}
        return entry | {"findings": [failure | place]}
    return entry | {
        "datasets": [_dataset(dataset) for dataset in description.datasets],
        "findings": [asdict(finding) for finding in sorted(findings, key=lambda finding: not finding.fatal)],
    }


def _dataset(dataset: Dataset) -> dict[str, Any]:
    said = asdict(dataset) | {"modified": _iso(dataset.modified)}
    del said["listing"], said["lastmods"]
    return said


def _provider(provider: Provider) -> dict[str, Any]:
    return {
        "name": provider.name,
        "source": provider.source.value,
        "url": provider.url or None,
        "modified": _iso(provider.modified),
        "enabled": provider.enabled,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")

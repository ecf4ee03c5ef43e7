"""`harvest check`: what a pull request on the registry is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from harvest.errors import HarvestError
from harvest.model import Provider
from harvest.pipeline import preview
from harvest.registry import check_registry
from harvest.settings import Settings

PARALLEL = 8
"""Descriptions asked for at once."""


def check_offline(path: Path) -> dict[str, Any]:
    """Whether a registry file is right, with every problem's place; JSON."""
    registry, findings = check_registry(path)
    fatal = any(finding.fatal for finding in findings)
    return {
        "ok": registry is not None and not fatal,
        "registry": str(path),
        "findings": [asdict(finding) for finding in findings],
        "providers": [_provider(provider) for provider in registry.providers] if registry else [],
    }


def check_online(path: Path, settings: Settings) -> dict[str, Any]:
    """The same, and what would be harvested from each provider now."""
    report = check_offline(path)
    registry, _ = check_registry(path)
    if registry is None:
        return report
    with ThreadPoolExecutor(PARALLEL) as threads:
        looked = list(threads.map(partial(_looked, settings), registry.providers))
    report["providers"] = looked
    report["ok"] = report["ok"] and not any(f["fatal"] for item in looked for f in item["findings"])
    return report


def _looked(settings: Settings, provider: Provider) -> dict[str, Any]:
    entry = _provider(provider)
    try:
        description = preview(settings, provider)
    except HarvestError as error:
        place = {"url": error.url, "line": error.line, "column": error.column, "excerpt": error.excerpt}
        failure = {"kind": error.kind, "message": error.message, "fatal": True}
        return entry | {"datasets": [], "findings": [failure | place]}
    return entry | {
        "datasets": [asdict(dataset) | {"modified": _iso(dataset.modified)} for dataset in description.datasets],
        "findings": [asdict(finding) for finding in description.findings],
    }


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

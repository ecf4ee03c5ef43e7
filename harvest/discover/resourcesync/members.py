"""The providers of another instance, each by its capability list, and the names that they get here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from urllib.parse import unquote, urlsplit

from harvest.model import Finding, Provider

_LONGEST = 100


def members_of(
    entry: Provider, lists: Iterable[str], registered: Collection[str]
) -> tuple[dict[str, str], tuple[Finding, ...]]:
    """
    The providers that an entry of the registry stands for, by name, and those that have no name of their own.

    A name is the entry's prefix and the last folder of the address, without what no name may have.

    Args:
        entry: It has a prefix.
        lists: Addresses of capability lists.
        registered: The names that stand in the registry.
    """
    taken = {name.lower(): f"{name!r} of the registry" for name in registered} | {"all": "the export of all providers"}
    found: dict[str, str] = {}
    findings: list[Finding] = []
    for url in lists:
        own = _own(url)
        name = f"{entry.prefix}{own}"
        if not own or len(name) > _LONGEST:
            message = f"{url} is not harvested: the folder that it is in gives no name of 1 to 100 letters and digits"
            findings.append(Finding("bad-name", message, url, fatal=True))
        elif name.lower() in taken:
            message = (
                f"{url} would be the provider {name!r} here, which is the name of {taken[name.lower()]}; it is not "
                f"harvested: choose another prefix for {entry.name!r}"
            )
            findings.append(Finding("name-clash", message, url, fatal=True))
        else:
            found[name] = url
            taken[name.lower()] = url
    return found, tuple(findings)


def _own(url: str) -> str:
    """What a capability list says of whose it is: the folder that it is in."""
    folders = [unquote(part) for part in urlsplit(url).path.split("/") if part]
    if len(folders) > 1 and folders[-1].lower().endswith(".xml"):
        del folders[-1]
    return re.sub(r"[^a-zA-Z0-9]", "", folders[-1].removesuffix(".xml")) if folders else ""

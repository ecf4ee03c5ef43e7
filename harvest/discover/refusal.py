"""Why an entry of the registry is not harvested: `harvest check` reports it before, and every look after."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from harvest.discover.dumps import NOT_RDF, extension, unusable
from harvest.model import Provider, Source
from sparql.rdf import HASH_URI

MAY_BE_RDF: Final = frozenset({"json", "jsonl", "ndjson", "html", "htm", "xhtml"})
"""Extensions of what may hold JSON-LD or RDFa; who registers one by itself means that."""


def refusal(provider: Provider) -> tuple[str, str] | None:
    """Kind and reason for which an entry will not be harvested, the reason a whole sentence; None for a good one."""
    if provider.source in (Source.UPDATES, Source.HANDLER):
        return None
    if provider.source in (Source.RESOURCESYNC, Source.LDES, Source.DATASET):  # any page may lead to its lists
        if not HASH_URI.fullmatch(provider.url):
            return None
        return "not-harvested", f"the source <{provider.url}> will not be harvested: lists change, filed bytes do not"
    found, url = unusable(provider.url), _public(provider.url)
    if provider.source is Source.DUMP:
        if found is None or extension(provider.url) in MAY_BE_RDF:
            return None
        return found[0], f"the dump <{url}> will not be harvested: {found[1]}"
    if extension(provider.url) in NOT_RDF.keys() - MAY_BE_RDF:
        return "dump-not-rdf", f"the description <{url}> will not be read: it is {NOT_RDF[extension(provider.url)]}"
    return None


def _public(url: str) -> str:
    """An address without the name and password that may stand in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

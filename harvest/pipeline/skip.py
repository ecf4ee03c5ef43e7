"""
Skipping: one announcement is dropped for good, so that what waits behind it is harvested.

A partial dump that is gone, or can never be washed, would otherwise block its dataset for ever. The provenance log
says so, for the graph lacks from then on what the dump held.
"""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Triple

from harvest.archive.provenance import facts_of, new_activity
from harvest.errors import UnknownName
from harvest.ledger import Waiting
from harvest.model import Note
from harvest.pipeline.instance import Instance
from sparql.rdf import DCTERMS, HARVEST, VOID, XSD


def choose(instance: Instance, name: str, number: int | None) -> Waiting:
    """
    The open announcement of a provider with this number; without one the oldest that fails or is held.

    Raises:
        UnknownName: There is none.
    """
    opened = instance.ledger.announcements.open(name)
    if number is not None:
        chosen = next((each for each in opened if each.announcement == number), None)
    else:
        chosen = next((each for each in opened if each.failures or each.state == "held"), None)
    if chosen is None:
        what = "nothing of it fails or is held" if number is None else f"it has no open announcement {number}"
        numbers = ", ".join(str(each.announcement) for each in opened) or "none"
        raise UnknownName(f"nothing of {name} to be skipped: {what}; open announcements: {numbers}")
    return chosen


def skip(instance: Instance, name: str, chosen: Waiting) -> bool:
    """Drop an open announcement, and have the provenance log say so; False if it is not open any more."""
    now = instance.crawl.clock()
    note = Note(new_activity(), now, facts_of(_facts(instance, name, chosen)))
    skipped = instance.ledger.announcements.skip(chosen.announcement, now, note)
    instance.crawl.noted()
    return skipped


def _facts(instance: Instance, name: str, chosen: Waiting) -> list[Triple]:
    node = NamedNode(f"{instance.settings.base_url}/providers/{name}#announcement-{chosen.announcement}")
    now = Literal(instance.crawl.clock().isoformat(), datatype=NamedNode(XSD + "dateTime"))
    facts = [
        Triple(node, NamedNode(HARVEST + "dataset"), NamedNode(chosen.dataset.iri)),
        Triple(node, NamedNode(HARVEST + "skippedAtTime"), now),
    ]
    facts += [Triple(node, NamedNode(VOID + "dataDump"), NamedNode(url)) for url in chosen.dataset.dumps]
    if chosen.dataset.modified is not None:
        date = Literal(chosen.dataset.modified.isoformat(), datatype=NamedNode(XSD + "dateTime"))
        facts.append(Triple(node, NamedNode(DCTERMS + "modified"), date))
    return facts

"""
The demo's second provider: a dataset in a repository, registered by its landing page.

    crew.ttl     the captains of the fleet, as RDF: harvested
    voyages.csv  a table: archived, and not imported

The landing page says so in JSON-LD of schema.org, as repositories without an API of their own do.
"""

from __future__ import annotations

import hashlib
import json
import time
from typing import Final

from rich.console import Console

from harvest.catalog.instance import InstanceCatalog
from harvest.cli import query as ask
from harvest.cli.demo_provider import FleetServer
from harvest.config.settings import Settings
from harvest.errors import HarvestError
from harvest.model import EXISTS
from sparql.reports import ProviderReport

NAME: Final = "crew"
PAGE: Final = "/records/crew"
WAIT_S: Final = 300.0
"""Seconds in which its files must have come; on two slow cores they have after five."""

CREW: Final = """@prefix ship: <http://fleet.example/ship/> .
@prefix crew: <http://fleet.example/crew/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix fleet: <http://fleet.example/terms#> .
crew:1 a foaf:Person ; foaf:name "Grace Adeyemi" ; fleet:captainOf ship:1 .
crew:2 a foaf:Person ; foaf:name "Tomasz Ferreira" ; fleet:captainOf ship:3 .
crew:3 a foaf:Person ; foaf:name "Ines Halvorsen" ; fleet:captainOf ship:5 .
"""

VOYAGES: Final = "ship,port,year\nAlbatross,Bergen,2019\nCalypso II,Recife,2020\nEndurance,Hobart,2021\n"

CAPTAINS: Final = """PREFIX fleet: <http://fleet.example/terms#>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?captain ?ship { ?person foaf:name ?captain ; fleet:captainOf [ rdfs:label ?ship ] } ORDER BY ?captain"""
"""Joins the dataset in the repository with the fleet's logbook."""


def publish(server: FleetServer) -> str:
    """Put up the landing page and the files; returns the registry entry."""
    files = (("crew.ttl", "text/turtle", CREW), ("voyages.csv", "text/csv", VOYAGES))
    distribution = []
    for name, media_type, text in files:
        body = text.encode()
        server.put(f"{PAGE}/{name}", body, media_type)
        link = {"@type": "DataDownload", "name": name, "contentUrl": f"{server.url}{PAGE}/{name}"}
        checked = {"encodingFormat": media_type, "contentSize": len(body), "sha256": hashlib.sha256(body).hexdigest()}
        distribution.append(link | checked)
    said = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": "The captains of the fleet",
        "creator": [{"@type": "Person", "name": "Okafor, Ada"}],
        "license": "https://creativecommons.org/publicdomain/zero/1.0/",
        "version": "1.0",
        "datePublished": "2024-05-06",
        "distribution": distribution,
    }
    page = f'<!doctype html><title>Captains</title><script type="application/ld+json">{json.dumps(said)}</script>'
    server.put(PAGE, page.encode(), "text/html")
    return f"{NAME}:\n  dataset: {server.url}{PAGE}\n"


def play(settings: Settings, out: Console) -> None:
    """
    Print what came of the dataset, from its registry entry to SPARQL.

    Raises:
        HarvestError: Its files did not come in time, or one of them is not as the page says.
    """
    provider = _archived(InstanceCatalog(settings))
    out.print("\n[bold]A second provider is a dataset in a repository, registered by its landing page:[/]")
    out.print(f"  {NAME}: {{dataset: {provider.url}}}")
    out.print(f"Cite as: {provider.about[0].citation}")
    for file in provider.ingest.manifest if provider.ingest else ():
        out.print(f"  {file.status}  {file.path}, {file.size} bytes, {file.mimetype}")
    out.print(f"Its RDF is version {provider.version} of a graph, {provider.triples} triples; ask both providers:\n")
    out.print(CAPTAINS + "\n", markup=False)
    for row in json.loads(b"".join(ask.answer(settings, CAPTAINS, "json")))["results"]["bindings"]:
        out.print(f"  {row['captain']['value']}, {row['ship']['value']}", markup=False)


def _archived(reading: InstanceCatalog) -> ProviderReport:
    """The provider, once its RDF is committed and all its files are archived."""
    end = time.monotonic() + WAIT_S
    provider = None
    while time.monotonic() < end:
        provider = reading.provider(NAME)
        files = provider.ingest.manifest if provider and provider.ingest else ()
        if provider and provider.version and files and all(file.status == EXISTS for file in files):
            return provider
        time.sleep(0.1)
    why = "; ".join(finding.message for finding in provider.findings) if provider else "it is not registered"
    raise HarvestError(f"the dataset in the repository did not come within {WAIT_S:g} s: {why}")

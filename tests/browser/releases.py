"""
What the providers of the browser tests publish: a fleet's logbook, tide stations and cruises, release by release.

Everything is made up, and the same in each run: dates, names, positions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)
"""When the first release comes out; the others follow by weeks."""

PREFIXES = """@prefix ship: <http://fleet.example/ship/> .
@prefix station: <http://tides.example/station/> .
@prefix cruise: <http://cruises.example/cruise/> .
@prefix fleet: <http://fleet.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> .
@prefix wkt: <http://www.opengis.net/ont/geosparql#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

"""

NAMES = (
    "Albatross", "Beagle", "Calypso", "Discovery", "Endurance", "Fram", "Gauss", "Heimdal", "Investigator",
    "Janthina", "Kairei", "Lance", "Meteor", "Nautilus", "Oden", "Polarstern", "Quest", "Resolution", "Sonne",
    "Thalassa", "Urania", "Vema", "Walther Herwig", "Xuelong",
)  # fmt: skip

PLACES = (
    ("Cuxhaven", 53.8678, 8.7175), ("Brest", 48.3829, -4.495), ("Bergen", 60.398, 5.3205),
    ("Reykjavík", 64.1533, -21.9289), ("Lisboa", 38.7094, -9.133), ("Aberdeen", 57.1436, -2.0803),
    ("Tromsø", 69.6461, 18.9603), ("Gdynia", 54.5353, 18.5558), ("Trieste", 45.6469, 13.7586),
    ("Valletta", 35.8983, 14.5183), ("Esbjerg", 55.4607, 8.4411), ("Galway", 53.2691, -9.048),
)  # fmt: skip

TERMS = (
    ("Ship", "ship", "Schiff"), ("berths", "berths", "Kojen"), ("beds", "beds", "Betten"), ("deck", "deck", "Deck"),
    ("homePort", "home port", "Heimathafen"), ("built", "built", "gebaut"), ("length", "length", "Länge"),
    ("status", "status", "Zustand"),
)  # fmt: skip
"""The fleet's terms that have labels: name, in English, in German."""


@dataclass(frozen=True, slots=True)
class Release:
    """
    One release of a provider.

    Attributes:
        week: After `START`.
        dump: Turtle.
        partial: Whether it speaks of its subjects alone.
    """

    week: int
    dump: str
    partial: bool = False

    @property
    def at(self) -> datetime:
        return START + timedelta(weeks=self.week)


TITLES = {
    "fleet": ("The fleet's logbook", "Research ships with their berths, home ports and years of service."),
    "tides": ("Tide stations", "Stations along the coasts of Europe, with their positions and latest levels."),
    "cruises": ("Cruises", "Where the ships went, and who led the science."),
    "floats": ("Profiling floats", "Where the floats came up."),
}
"""Title and description of each dataset, by provider."""


def published(name: str) -> tuple[Release, ...]:
    """The releases of a provider, in order."""
    return {"fleet": _fleet, "tides": _tides, "cruises": _cruises, "floats": _floats}[name]()


def description(name: str, url: str, release: Release, dump: str) -> str:
    """The VoID file of a provider at a release."""
    title, text = TITLES[name]
    feature = "PartialDump" if release.partial else "FullDump"
    return PREFIXES + (
        "@prefix void: <http://rdfs.org/ns/void#> .\n@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n"
        f"<{url}#dataset> a void:Dataset ;\n"
        f'    dcterms:title "{title}"@en ;\n    dcterms:description "{text}"@en ;\n'
        f"    dcterms:license <http://creativecommons.org/licenses/by/4.0/> ;\n"
        f"    dcterms:publisher <http://{name}.example/> ;\n    foaf:homepage <http://{name}.example/> ;\n"
        f"    void:uriSpace <http://{name}.example/> ;\n"
        f'    dcterms:modified "{release.at:%Y-%m-%dT%H:%M:%SZ}"^^xsd:dateTime ;\n'
        f"    void:feature <http://schema.geolink.org/dev/voc/harvester#{feature}> ;\n    void:dataDump <{dump}> .\n"
    )


def _ship(number: int, name: str, status: str = "in service") -> str:
    berths = ", ".join(f'[ fleet:deck "{deck}" ; fleet:beds {number % 4 + 2} ]' for deck in ("A", "B"))
    _, lat, long = PLACES[number % len(PLACES)]
    built = f"{1960 + number * 2}-0{number % 9 + 1}-15"
    return (
        f'ship:{number} a fleet:Ship ;\n    rdfs:label "{name}"@en , "{name} (Schiff)"@de ;\n'
        f'    fleet:length {40 + number * 3}.5 ;\n    fleet:built "{built}"^^xsd:date ;\n'
        f'    fleet:status "{status}" ;\n    fleet:homePort station:{number % len(PLACES) + 1} ;\n'
        f"    geo:lat {lat + number / 50:.4f} ;\n    geo:long {long + number / 40:.4f} ;\n"
        f"    owl:sameAs <http://register.example/vessel/{7000000 + number * 137}> ;\n    fleet:berths {berths} .\n\n"
    )


def _ships(*changed: str, first: int = 1, last: int = len(NAMES)) -> str:
    whole = {number: _ship(number, NAMES[number - 1]) for number in range(first, last + 1)}
    for ship in changed:
        whole[int(ship.split(" ", 1)[0].removeprefix("ship:"))] = ship
    return "".join(whole.values())


def _fleet() -> tuple[Release, ...]:
    terms = "".join(f'fleet:{name} rdfs:label "{en}"@en , "{de}"@de .\n' for name, en, de in TERMS) + "\n"
    renamed, retired = _ship(3, "Calypso II"), _ship(1, "Albatross", "retired")
    return (
        Release(0, PREFIXES + terms + _ships(last=10)),
        Release(2, PREFIXES + terms + _ships(last=14)),
        Release(3, PREFIXES + renamed + _ship(15, "Oden"), partial=True),
        Release(5, PREFIXES + terms + _ships(renamed, last=20)),
        Release(6, PREFIXES + terms + _ships(renamed, retired, last=18)),
        Release(8, PREFIXES + terms + _ships(renamed, retired)),
        Release(10, PREFIXES + retired + "".join(_refit()), partial=True),
    )


def _refit() -> Iterator[str]:
    """Four ships of which one or two statements differ."""
    yield _ship(5, "Endurance", "in refit")
    yield _ship(6, "Fram", "museum ship").replace("fleet:homePort station:7", "fleet:homePort station:3")
    yield _ship(13, "Meteor", "in refit").replace("fleet:length 79.5", "fleet:length 84.2")
    yield _ship(24, "Xuelong 2", "on sea trials")


def _station(number: int, week: int) -> str:
    name, lat, long = PLACES[number - 1]
    levels = "".join(
        f'station:{number} fleet:reading [ fleet:at "2026-0{month}-{number:02d}T12:00:00Z"^^xsd:dateTime ; '
        f"fleet:level {2 + (number * month * 7 % 31) / 10 + week / 100:.2f} ] .\n"
        for month in range(1, 5)
    )
    return (
        f'station:{number} a fleet:Station ;\n    rdfs:label "{name}" ;\n'
        f'    dcterms:description "Tide gauge at the harbour of {name}, levelled each spring."@en ;\n'
        f'    wkt:asWKT "POINT ({long} {lat})"^^wkt:wktLiteral ;\n'
        f"    geo:lat {lat} ;\n    geo:long {long} .\n{levels}\n"
    )


def _tides() -> tuple[Release, ...]:
    return (
        Release(1, PREFIXES + "".join(_station(number, 0) for number in range(1, 9))),
        Release(4, PREFIXES + "".join(_station(number, 0) for number in range(1, 13))),
        Release(7, PREFIXES + "".join(_station(number, 7 * (number < 4)) for number in range(1, 13))),
        Release(9, PREFIXES + "".join(_station(number, 7) for number in range(1, 5))),
    )


def _cruise(number: int) -> str:
    ship, month = number % len(NAMES) + 1, number % 9 + 1
    return (
        f'cruise:{number} a fleet:Cruise ;\n    rdfs:label "Cruise {number} of {NAMES[ship - 1]}" ;\n'
        f'    fleet:ship ship:{ship} ;\n    fleet:start "2025-0{month}-04"^^xsd:date ;\n'
        f'    fleet:end "2025-0{month}-{10 + number % 15}"^^xsd:date ;\n    fleet:callsAt station:{number % 12 + 1} ;\n'
        f"    fleet:samples {number * 13 % 90 + 5} .\n\n"
    )


def _cruises() -> tuple[Release, ...]:
    whole = PREFIXES + "".join(_cruise(number) for number in range(1, 31))
    more = whole + "".join(_cruise(number) for number in range(31, 41))
    return Release(1, whole), Release(6, more), Release(9, more.replace(' "Cruise 3', " Cruise 3"))


def _floats() -> tuple[Release, ...]:
    lines = (f"<http://floats.example/{n}> a fleet:Float ; geo:lat {n}.5 ; geo:long {n}.25 .\n" for n in range(60))
    return (Release(10, PREFIXES + "".join(lines)),)

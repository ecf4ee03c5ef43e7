"""
A full dump announced again, beside the literal subject-deletion algorithm on the same input.

Every time the date is newer and the server has another ETag, so the dump is downloaded again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from bench.data import Recipe
from bench.errors import Disagreement
from bench.ground import Ground, millions
from bench.instance import Instance, instance
from bench.literal import Twin, fingerprint, twin
from bench.measure import Sample, Series, interleaved
from bench.provider import Provider, provider
from bench.table import Row, Target, compared
from harvest.model import Outcome

TARGET = Target(12, "faster")


@dataclass(frozen=True, slots=True)
class Pair:
    """The instance, its twin, and the provider of both."""

    served: Provider
    ours: Instance
    literal: Twin

    def contest(self, files: Iterator[Path], expected: Outcome) -> dict[str, Callable[[], Sample]]:
        """What is run in turn: each of the files is announced, harvested, and replaced literally."""

        def ours() -> Sample:
            self.served.announce("p", next(files))
            return self.ours.harvest("p", expected)

        def literal() -> Sample:
            sample = self.literal.replace(f"{self.served.url}/p.nt")
            self.agree()
            return sample

        return {"ours": ours, "peer": literal}

    def agree(self) -> None:
        """
        See that both stores hold the same graph.

        Raises:
            Disagreement: They do not.
        """
        found = fingerprint(self.ours.harvester.instance.store.dump(self.literal.graph))
        wanted = fingerprint(self.literal.store.dump(self.literal.graph))
        if found != wanted:
            raise Disagreement(f"the delta gave {found[0]} triples, subject deletion {wanted[0]}, or others")


def run(ground: Ground) -> Iterator[Row]:
    """A row for the same bytes, for the same triples in another order, and for 1 % changed."""
    recipe = Recipe(ground.scale.triples)
    first, turned, changed = (ground.source(r) for r in (recipe, _turned(recipe), _changed(recipe)))
    with ground.room("again") as room, provider(room / "served") as served:
        served.announce("p", first)
        with instance(room / "ours", {"p": f"{served.url}/p.ttl"}) as ours, twin(room / "twin", "p") as literal:
            ground.say("importing what is announced again")
            ours.harvest("p")
            literal.begin(f"{served.url}/p.nt")
            pair = Pair(served, ours, literal)
            ground.say("announcing the same bytes again")
            same = interleaved(pair.contest(cycle([first]), Outcome.UNCHANGED), ground.scale.runs)
            yield _row(ground, "the same bytes", same["ours"], same["peer"])
            ground.say("announcing the same triples in another order")
            order = pair.contest(cycle([turned, first]), Outcome.UNCHANGED)["ours"]
            other = interleaved({"ours": order}, ground.scale.runs)["ours"]
            row = _row(ground, "the same triples in another order", other, same["peer"])
            row.notes.append("the peer's time is that of the same bytes: it does the same for both")
            yield row
            ground.say("announcing 1 % changed subjects")
            other_bytes = interleaved(pair.contest(cycle([changed, first]), Outcome.COMMITTED), ground.scale.runs)
            yield _row(ground, "1 % of the subjects changed", other_bytes["ours"], other_bytes["peer"])


def _turned(recipe: Recipe) -> Recipe:
    return Recipe(recipe.triples, order=1)


def _changed(recipe: Recipe) -> Recipe:
    return Recipe(recipe.triples, edition=1)


def _row(ground: Ground, what: str, ours: Series, literal: Series) -> Row:
    row = compared("full dump again", f"{millions(ground.scale.triples)}, {what}", ours, literal, TARGET)
    row.details["peer_shares"] = literal.shares
    return row

"""Which graphs an update may write, and why it is refused that changes another one."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

from harvest.config.registry import NAME
from harvest.config.settings import METADATA
from harvest.model import Provider, Source
from harvest.pipeline.instance import Instance
from harvest.pipeline.update.evaluating import DEFAULT, Effect
from sparql.errors import ForbiddenError, RequestError, UnknownGraph
from sparql.protocol.update import Update


def named(instance: Instance, update: Update) -> dict[str, str]:
    """The graphs that updates may write and that this one may name, in order; the name of the provider of each."""
    providers = sorted(instance.roster.all().items())
    graphs = {instance.settings.graph(name): name for name, provider in providers if _takes_updates(provider)}
    return {graph: name for graph, name in graphs.items() if update.may_write(graph)}


def _takes_updates(provider: Provider) -> bool:
    return provider.source is Source.UPDATES and provider.enabled


def writable(instance: Instance, graph: str) -> Provider:
    """
    The provider of a graph that updates may write.

    Raises:
        SparqlError: They may not.
    """
    base = instance.settings.graph_base
    provider = instance.roster.get(graph.removeprefix(base)) if graph.startswith(base) else None
    if provider is None or not _takes_updates(provider):
        _refuse(instance, graph)
    return provider


def _refuse(instance: Instance, graph: str) -> NoReturn:
    """
    Say why an update may not write a graph.

    Raises:
        ForbiddenError: Updates may not write it.
        UnknownGraph: There is no such graph.
        RequestError: They may, if they name it.
    """
    base = instance.settings.graph_base
    name = graph.removeprefix(base) if graph.startswith(base) else ""
    provider = instance.roster.get(name)
    if graph == DEFAULT:
        raise RequestError(
            "The update writes to the default graph, and there is none: name a graph by WITH or GRAPH. Nothing was "
            "changed."
        )
    if provider is not None and provider.source is not Source.UPDATES:
        raise ForbiddenError(
            f"<{graph}> is made of what its provider publishes ({name} has `{provider.source}` in the registry), and "
            "takes no updates. Write to a graph of your own: an entry of the registry with `updates: true`."
        )
    if provider is not None and not provider.enabled:
        raise ForbiddenError(f"<{graph}> takes no updates now: {name} is disabled in the registry.")
    if provider is not None:
        raise RequestError(f"The update changes <{graph}> without naming it; name the graph. Nothing was changed.")
    if name == METADATA or name.startswith("seed-"):
        raise ForbiddenError(f"<{graph}> is written by the platform alone, and takes no updates.")
    if NAME.fullmatch(name):
        raise UnknownGraph(
            f"Nothing in the registry has the graph <{graph}>; an entry {name!r} with `updates: true` would let "
            "updates write it."
        )
    raise UnknownGraph(f"<{graph}> is no graph of a provider: those are {base} and a name that stands in the registry.")


def written_graph(instance: Instance, effect: Effect, graphs: Collection[str]) -> str:
    """
    The graph that an update changed; where it changed none, the first one that it names.

    Raises:
        SparqlError: It may not do what it did.
    """
    if effect.missing is not None and effect.missing not in graphs:
        _refuse(instance, effect.missing)
    for graph in effect.changed:
        if graph not in graphs:
            _refuse(instance, graph)
    if effect.missing is not None:
        raise RequestError(f"The update fails: there is no graph <{effect.missing}>. Nothing was changed.")
    if len(effect.changed) > 1:
        changed = " and ".join(f"<{graph}>" for graph in effect.changed)
        raise RequestError(
            f"The update changes {changed}, and a version is of one graph: send a request for each graph. Nothing was "
            "changed."
        )
    if not graphs:
        raise RequestError(
            "The update changes nothing, and names no graph that updates may write: those have `updates: true` in the "
            "registry."
        )
    return next(iter(effect.changed or graphs))

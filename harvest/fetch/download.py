"""Several dumps at once, all or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import MappingProxyType
from typing import Final

from harvest.fetch.client import Client
from harvest.fetch.order import NO_LIMITS, NO_VALIDATORS, Fetched, Order
from harvest.model import Limits, Validators
from sparql.rdf import FORMATS

ACCEPT: Final = ", ".join(
    [*(f"{f.media_types[0]};q={0.9 - i / 20:.2f}" for i, f in enumerate(FORMATS)), "*/*;q=0.1"],
)
"""The RDF formats, those that parse fastest first, and then anything: a dump may be an IRI that negotiates."""

NOTHING_KNOWN: Final[Mapping[str, Validators]] = MappingProxyType({})


def download_all(
    client: Client,
    urls: Sequence[str],
    into: Path,
    limits: Limits = NO_LIMITS,
    known: Mapping[str, Validators] = NOTHING_KNOWN,
) -> list[Fetched]:
    """
    The answers, in the order of `urls`, once all are there.

    At most `http.parallel` downloads run over all calls, and `http.per_host` from one host. The first that fails, after
    its tries, ends the others, and the temporary files of all are removed.

    Args:
        client: Shared with other threads.
        urls: The dumps of one dataset.
        into: The folder of the temporary files.
        limits: The provider's own, for each of them.
        known: Validators by URL, of dumps that are there already; such a one may be answered with 304.

    Raises:
        FetchError: As `Client.get`, its `url` being where it happened.
        StorageError: Likewise.
    """
    stop = client.new_stop()
    orders = [
        Order(url, into, client.downloads, stop, known.get(url, NO_VALIDATORS), limits, accept=ACCEPT) for url in urls
    ]
    with ThreadPoolExecutor(max(1, min(len(orders), client.parallel)), "download") as threads:
        futures = [threads.submit(client.fetch, order) for order in orders]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                # Raises the failure at once, where asking in order would first wait for others that still run.
                future.result()
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            _remove(futures)
            raise


def _remove(futures: Sequence[Future[Fetched]]) -> None:
    """Wait for what still runs, and remove what has landed."""
    for future in futures:
        future.cancel()
    wait(futures)
    for future in futures:
        landed = None if future.cancelled() or future.exception() else future.result().path
        if landed is not None:
            landed.unlink(missing_ok=True)

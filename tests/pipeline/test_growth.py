"""What does not grow with the number of harvests."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.errors import StorageError
from harvest.pipeline import crawl
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, release
from tests.provider import ProviderServer


def test_the_locks_of_announcements_go_with_them(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """A process that runs for a year sees a million announcements."""
    registered()
    for day in (1, 2, 3):
        release(provider, day, f'<http://x/a> <http://p> "{day}"')
        instance.tick("p")
    assert not instance.harvester._locks


def test_a_connection_keeps_little_of_the_ledger(instance: TemporaryInstance) -> None:
    """Each of some fifty threads has one; SQLite would keep 2 MB in each as the ledger grows."""
    instance.register("{}\n")
    [(size,)] = instance.harvester.instance.ledger.database.rows("PRAGMA cache_size")
    assert size == -256


def test_a_download_that_cannot_be_filed_leaves_nothing_behind(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is a StorageError, and what was downloaded gives its space back; so does the dump beside it."""
    instance.register("{}\n")
    urls = [provider.put(f"/{n}.nt", f"{A1} .\n# {n}") for n in (1, 2)]

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(crawl, "sync_file", full)
    running = instance.harvester.instance
    with pytest.raises(StorageError, match="No space left"):
        running.crawl.download_all(urls)
    assert list(running.content.incoming.iterdir()) == []

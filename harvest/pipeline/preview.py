"""A look at a provider without an instance: for checking a registry before it is merged."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.archive.content import ContentStore
from harvest.discover.void import read_description
from harvest.errors import DescriptionError
from harvest.fetch.client import Client, Fetched, now_utc
from harvest.ledger import Database, Ledger
from harvest.model import Dataset, Description, Limits, Provider, Source
from harvest.pipeline.crawl import filed
from harvest.pipeline.instance import LEDGER
from harvest.pipeline.look import ACCEPT, DESCRIPTION_BYTES, DESCRIPTION_S, PATIENCE_S
from harvest.settings import Settings
from harvest.wash import process
from sparql.rdf import HASH_URI


def preview(settings: Settings, provider: Provider) -> Description:
    """
    What a provider's description says now.

    Raises:
        FetchError: It is not answered.
        DescriptionError: It cannot be read, or this version does not harvest its kind.
    """
    if provider.source is Source.DUMP:
        return Description((Dataset(provider.url, (provider.url,)),))
    if provider.source is Source.UPDATES:
        return Description(())
    if provider.source is not Source.VOID:
        raise DescriptionError(f"`{provider.source}` is not harvested by this version; use `void` or `dump`")
    client = Client(settings.http, settings.base_url)
    try:
        with TemporaryDirectory() as folder:
            fetched = _fetched(settings, client, provider.url, Path(folder))
            assert fetched.path is not None
            url, media_type = fetched.capture.final_url, fetched.capture.media_type
            return process.call(
                read_description, process.Bounds(DESCRIPTION_S, url), fetched.path, url, media_type, settings.features
            )
    finally:
        client.close()


def _fetched(settings: Settings, client: Client, url: str, folder: Path) -> Fetched:
    """The description, from its server or, by its hash, from the archive of the instance."""
    if HASH_URI.fullmatch(url):
        path = settings.data_dir / LEDGER
        ledger = Ledger(Database(path, read_only=True)) if path.is_file() else None
        return filed(ContentStore(settings.data_dir / "content"), url, now_utc(), ledger)
    return client.get(url, limits=Limits(DESCRIPTION_BYTES, PATIENCE_S), accept=ACCEPT, into=folder)

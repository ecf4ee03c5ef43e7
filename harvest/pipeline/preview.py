"""A look at a provider without an instance: for checking a registry before it is merged."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.discover.void import read_description
from harvest.errors import DescriptionError
from harvest.fetch.client import Client
from harvest.model import Dataset, Description, Limits, Provider, Source
from harvest.pipeline.look import ACCEPT, DESCRIPTION_BYTES, DESCRIPTION_S, PATIENCE_S
from harvest.settings import Settings
from harvest.wash import process


def preview(settings: Settings, provider: Provider) -> Description:
    """
    What a provider's description says now.

    Raises:
        FetchError: It is not answered.
        DescriptionError: It cannot be read, or this version does not harvest its kind.
    """
    if provider.source is Source.DUMP:
        return Description((Dataset(provider.url, (provider.url,)),))
    if provider.source is not Source.VOID:
        raise DescriptionError(f"`{provider.source}` is not harvested by this version; use `void` or `dump`")
    client = Client(settings.http, settings.base_url)
    try:
        with TemporaryDirectory() as folder:
            fetched = client.get(
                provider.url, limits=Limits(DESCRIPTION_BYTES, PATIENCE_S), accept=ACCEPT, into=Path(folder)
            )
            assert fetched.path is not None
            url, media_type = fetched.capture.final_url, fetched.capture.media_type
            return process.call(
                read_description, process.Bounds(DESCRIPTION_S, url), fetched.path, url, media_type, settings.features
            )
    finally:
        client.close()

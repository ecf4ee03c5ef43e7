"""Filed bytes as the answer to a request for their hash."""

from __future__ import annotations

from datetime import datetime

from harvest.archive.content import ContentStore
from harvest.errors import RefusedError, StatusError
from harvest.fetch.client import Fetched
from harvest.fetch.order import NO_LIMITS, NO_VALIDATORS
from harvest.ledger import Ledger
from harvest.model import Capture, Limits, Validators
from sparql.rdf import HASH_URI


def filed(
    content: ContentStore,
    url: str,
    now: datetime,
    ledger: Ledger | None = None,
    terms: tuple[Validators, Limits] = (NO_VALIDATORS, NO_LIMITS),
) -> Fetched:
    """
    The answer to a hash URI: the filed bytes, with media type and base IRI of the first download that gave them.

    Raises:
        StatusError: They are not filed.
        RefusedError: They are larger than allowed.
    """
    match = HASH_URI.fullmatch(url)
    assert match is not None
    digest = match[1]
    if not content.holds(digest):
        raise StatusError(f"{url} is not filed in this archive; harvest it, or copy it into it", url=url, status=404)
    path, (validators, limits) = content.path(digest), terms
    size = path.stat().st_size
    if limits.max_bytes is not None and size > limits.max_bytes:
        raise RefusedError(f"{url} has {size} bytes, and {limits.max_bytes} are allowed", url=url)
    first = ledger.downloads.of_digest(digest) if ledger else None
    final_url, media_type = url, None
    if first is not None and first.capture is not None:
        final_url, media_type = first.capture.final_url, first.capture.media_type
    tag = Validators(etag=f'"{digest}"')
    if validators == tag:
        return Fetched(Capture(url, final_url, now, 304, None, 0, media_type, validators=tag), None, 1, 0.0)
    return Fetched(Capture(url, final_url, now, 200, digest, size, media_type, validators=tag), path, 1, 0.0)

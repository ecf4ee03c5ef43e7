"""What every Flask view can reach, and how views answer in the form that a client asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Response, abort, current_app, make_response, render_template, request

from sparql.errors import StoreError
from sparql.protocol.results import quality
from sparql.reports import ProviderReport, to_json
from sparql.web.catalog import Catalog, Site
from sparql.web.vocabulary import Vocabulary
from sparql.worker.limits import QueryLimits

HTML: Final = "text/html"
JSON: Final = "application/json"
TURTLE: Final = "text/turtle"

LAST_PAGE: Final = 1_000_000
"""The last page that may be asked for of a list; those behind its end are empty."""

_KEY: Final = "sparql.web"
_NUMBER: Final = re.compile(r"[0-9]{1,9}")


def _nobody(text: str, timeout_s: float) -> bytes:
    raise StoreError("These pages were started without query workers.")


@dataclass(frozen=True, slots=True)
class Context:
    """
    What the views work with.

    Attributes:
        catalog: Providers and files.
        site: What the instance calls itself.
        limits: What one query may use.
        served: The newest generation that a query worker has open; 0 while none has one.
        ask: Has a query of a page answered.
        vocabulary: What the query page offers.
    """

    catalog: Catalog
    site: Site
    limits: QueryLimits
    served: Callable[[], int]
    ask: Callable[[str, float], bytes] = _nobody
    vocabulary: Vocabulary = field(default_factory=Vocabulary)


def put_context(extensions: dict[str, Any], context: Context) -> None:
    """Have `context` find it from now on."""
    extensions[_KEY] = context


def context() -> Context:
    """The context of the application that answers the current request."""
    found = current_app.extensions[_KEY]
    assert isinstance(found, Context)
    return found


def preferred(*media_types: str) -> str:
    """The media type that the client likes best; among equals the first."""
    accept = request.headers.get("Accept")
    return max(media_types, key=lambda media_type: quality(media_type, accept))


def data(body: bytes | str, media_type: str) -> Response:
    """A whole document of data, with an ETag by its contents; 304 when the client has it."""
    response = Response(body, content_type=media_type)
    response.vary.add("Accept")
    response.headers["Cache-Control"] = "no-cache"
    response.add_etag()
    response.make_conditional(request)
    return response


def json_data(value: object) -> Response:
    """A JSON document of values, or of reports."""
    return data(json.dumps(to_json(value), ensure_ascii=False, indent=1) + "\n", JSON)


def page(template: str, **values: object) -> Response:
    """A page that stands where there are data too."""
    response = make_response(render_template(template, **values))
    response.vary.add("Accept")
    return response


def page_number(name: str, last: int) -> int:
    """The page of a list that a parameter asks for, the first without it; anything else is a mistake to be reported."""
    text = request.args.get(name, "1")
    if not is_page(text, last):
        abort(400, f"`{name}` is a number from 1 to {last}.")
    return int(text)


def is_page(text: str, last: int) -> bool:
    """Whether a text is the number of a page of a list with so many at most."""
    return _NUMBER.fullmatch(text) is not None and 1 <= int(text) <= last


def found(record: ProviderReport | None, name: str) -> ProviderReport:
    """The provider, or an answer that there is no such provider."""
    if record is None:
        abort(404, f"There is no provider {name!r} here; /providers/ lists them.")
    return record

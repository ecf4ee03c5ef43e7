"""What schemathesis cannot know of two formats and a media type of `openapi.yaml`; it loads this as its hooks."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import strategies as st

from sparql.rdf import NQUD

QUERIES = ["ASK {}", "SELECT * { ?s ?p ?o } LIMIT 3", "CONSTRUCT WHERE { ?s ?p ?o }", "DESCRIBE <http://x/a>"]
IRIS = ["http://x/a", "http://x/p", "http://x/none", "urn:x:é", "http://x/%00?q#f"]

schemathesis.openapi.format("sparql-query", st.sampled_from(QUERIES))
schemathesis.openapi.format("iri", st.sampled_from(IRIS))


@schemathesis.serializer(NQUD)
def change(context: Any, value: Any) -> Any:
    """The bytes of a body: whatever is sent is a text or bytes."""
    return value if isinstance(value, bytes) else str(value).encode()

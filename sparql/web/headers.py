"""The response headers that many pages share."""

from __future__ import annotations

from typing import Final

OPEN: Final = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "ETag, Content-Range, Retry-After, Repr-Digest, X-Cache"),
    ("X-Content-Type-Options", "nosniff"),
)
"""For data: any site may read them. Source: the Fetch standard, "CORS protocol"."""

PREFLIGHT: Final = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "Accept, Content-Type, If-None-Match, Range"),
    ("Access-Control-Max-Age", "86400"),
)

PAGE: Final = (
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ("Referrer-Policy", "strict-origin-when-cross-origin"),
    ("X-Content-Type-Options", "nosniff"),
)
"""For pages: nothing of other sites is loaded, and nothing that stands in a page runs."""

FOREIGN: Final = (
    ("Content-Security-Policy", "default-src 'none'; sandbox"),
    ("Content-Disposition", "attachment"),
)
"""For bytes that others wrote: a browser shows nothing of them as if it were ours."""

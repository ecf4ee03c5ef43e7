"""
Bytes by SHA-256, their provenance logs, and content handlers.

Its exported names are for other packages, which write handlers with them (docs/handlers.md); its modules are private.
"""

from harvest.archive.handling import Dump, Handler, Version

__all__ = ["Dump", "Handler", "Version"]

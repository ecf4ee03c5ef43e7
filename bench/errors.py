"""What can go wrong with a measurement."""

from __future__ import annotations


class BenchError(Exception):
    """A measurement that cannot be made, or that means nothing; the message says why and what to do."""


class Disagreement(BenchError):
    """What was measured gave another result than its peer: being fast is worth nothing then."""

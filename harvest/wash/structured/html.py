"""
HTML as N-Triples: the RDFa in it, and the blocks of JSON-LD.

Source: HTML+RDFa 1.1; JSON-LD 1.1, section 7 (Embedding JSON-LD in HTML Documents).
"""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from typing import Final, cast

import rdflib
from pyRdfa import RDFaError, pyRdfa, pyRdfaError  # type: ignore[import-untyped]  # it ships no types
from pyRdfa.options import Options  # type: ignore[import-untyped]  # it ships no types

from harvest.model import Problem
from harvest.wash.decoding.otherwise import no_rdf
from harvest.wash.problems import Problems
from harvest.wash.structured.jsonld import transcribe_apart
from harvest.wash.structured.lexical import Statement, as_written, triple
from harvest.wash.structured.page import Page, Script, page
from harvest.wash.structured.strict import DocumentTooLarge, give_up, hand_on, held
from harvest.wash.structured.terms import NoTerm, writing
from harvest.wash.structured.whereabouts import Within, whole
from harvest.wash.text import Sink, Text

PAGE_BYTES: Final = 16 << 20
"""Bytes of a page that is read: its tree takes some 50 times as much memory, and 0.5 MB a second."""

_FAULTS: Final = (RDFaError, pyRdfaError, ValueError, TypeError, AttributeError, LookupError, AssertionError)
"""What pyRdfa raises for a page that it cannot read: its own errors by intention, the others where it trips."""


def transcribe(text: Text, sink: Sink, problems: Problems) -> None:
    """
    Write every triple of the document to the sink as canonical N-Triples.

    Raises:
        ContextWanted: A block of JSON-LD uses a remote context that is not in `text.contexts`. Nothing was written.
    """
    if text.size > PAGE_BYTES:
        message = f"{text.title} has {text.size:,} bytes, more than the {PAGE_BYTES:,} of HTML that can be read"
        problems.add(Problem("too-large", f"{message}; publish the data in an RDF format"))
        problems.add(Problem("cut-off", f"{message}; nothing of it was read"))
        return
    data, damage = whole(text)
    try:
        found = page(data.decode(errors="replace"), text.base)
    except DocumentTooLarge as error:
        problems.add(Problem("too-large", f"{text.title} {error}"))
        problems.add(Problem("cut-off", f"{text.title} {error}; nothing of it was read"))
        return
    except (*_FAULTS, RecursionError) as error:
        message = f"{text.title} cannot be read as HTML: {type(error).__name__} {error}"
        problems.add(Problem("cut-off", message.rstrip()))
        return
    with held() as place:
        _rdfa(found, text, place, problems)
        for number, script in enumerate(found.scripts):
            _script(script, number, replace(text, base=found.base), place, problems)
        if not place.tell() and not found.scripts and problems.whole:
            problems.add(no_rdf(text.title, data, "HTML (RDFa, JSON-LD)"))
        hand_on(place, sink)
    if damage is not None:
        give_up(text, damage, problems, lambda error: Problem("cut-off", str(error)))


def _rdfa(found: Page, text: Text, sink: Sink, problems: Problems) -> None:
    """Write the triples of the RDFa in a page."""

    def refused(error: NoTerm) -> None:
        problems.add(Problem(error.kind, f"{error.message}; its statement was left out"))

    try:
        with as_written(), writing(sink, refused) as triples:
            for statement in _graph(found):
                triples.add(partial(triple, *cast(Statement, statement)))
    except RecursionError:
        message = f"the elements of {text.title} are nested too deeply"
        problems.add(Problem("too-large", message))
        problems.add(Problem("cut-off", f"{message}; the RDFa in it was not read"))
    except _FAULTS as error:
        said = getattr(error, "msg", None) or str(error)
        problems.add(Problem("cut-off", f"the RDFa in {text.title} was not read: {said}"))


def _graph(found: Page) -> rdflib.Graph:
    """
    What the RDFa in a page says.

    Nothing is fetched: vocabularies are not expanded. What pyRdfa has to say about the page stays out.
    """
    options = Options(embedded_rdf=False, vocab_expansion=False, output_processor_graph=False)
    options.host_language = found.host
    reader = pyRdfa(options, base=found.base, rdfa_version=found.version)
    return cast(rdflib.Graph, reader.graph_from_DOM(found.tree))


def _script(script: Script, number: int, text: Text, sink: Sink, problems: Problems) -> None:
    """Write the triples of a block of JSON-LD; what is wrong with one says nothing about the others."""
    if not script.content.strip():
        return
    data = script.content.encode(errors="replace")
    title = f"{text.title}, script {number + 1}"
    block = replace(text, title=title, size=len(data), open=lambda: io.BytesIO(data))
    transcribe_apart(block, sink, Within(problems, script.line, script.column), f"s{number}-")

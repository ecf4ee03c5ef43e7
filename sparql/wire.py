"""Requests to SPARQL endpoints of others, by SPARQLWrapper."""

from __future__ import annotations

from http.client import HTTPResponse
from urllib.request import urlopen

from SPARQLWrapper import SPARQLWrapper


class EndpointRequest(SPARQLWrapper):
    """A request of SPARQLWrapper, whose own `query` puts the body of an error into the text of an exception."""

    def response(self) -> HTTPResponse:
        """The answer, its body not read yet; HTTPError for one that is an error."""
        response: HTTPResponse = urlopen(self._createRequest(), timeout=self.timeout)
        return response

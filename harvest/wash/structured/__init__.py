"""Reading RDF/XML, JSON-LD and HTML."""

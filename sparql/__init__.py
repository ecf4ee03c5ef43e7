"""
The query side: store, SPARQL Protocol, workers and web front.

Public for other packages are the names in `sparql.rdf.__all__`, as docs/handlers.md lists them. All else is private:
any release may change it.
"""

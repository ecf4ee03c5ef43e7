"""
The benchmark suite: `python -m bench`, or `make bench`.

Each case measures a target of the design in the same run as its peer, so that the ratio holds on any machine. The
peers are what the platform must not be slower than: Oxigraph's own command line on the same file, and the literal
subject-deletion algorithm on the same input.
"""

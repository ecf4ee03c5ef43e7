"""Where documents are washed: processes of this machine, or workers of a cluster."""

"""Datasets in repositories: as descriptions of providers, and ingested for use alone."""

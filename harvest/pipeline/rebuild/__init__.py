"""Proving what is filed, mending it, and making it again from the archive."""

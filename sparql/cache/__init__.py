"""Results kept in memory and on disk."""

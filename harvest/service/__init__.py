"""The running instance."""

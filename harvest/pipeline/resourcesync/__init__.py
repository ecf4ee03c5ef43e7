"""Providers that are registered by `resourcesync`: their lists are read, and what they say becomes announcements."""

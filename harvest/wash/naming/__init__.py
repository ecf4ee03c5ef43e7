"""Skolem IRIs for blank nodes."""

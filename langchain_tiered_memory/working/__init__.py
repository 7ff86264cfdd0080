"""Tier 1: what was said in a session, kept in an append-only log."""

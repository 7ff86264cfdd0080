"""Tier 3: facts, exact: read by key, versioned, expiring, and with their history."""

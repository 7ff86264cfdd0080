"""One budget over four tiers: what goes into a request, and a report of where it went."""

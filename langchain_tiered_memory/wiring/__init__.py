"""The wires between the tiers: where each is kept, how one follows another, how all of them are exported and erased."""

"""The parts of a compaction, from the settings it was given to the view that comes out of it."""

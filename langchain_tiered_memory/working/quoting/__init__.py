"""The parts of `working.constraints`: what a constraint is, how it is found, which of them hold, and what is shown."""

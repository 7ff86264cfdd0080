"""How many examples the property tests try: some with every `make test`, twenty times as many with `make soak`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

EXAMPLES = {"test": 100, "soak": 2_000}
FEWEST = 25


def register_profiles() -> None:
    """Make the profiles known to hypothesis, and load the one for every day; `--hypothesis-profile` names another."""
    for name, count in EXAMPLES.items():
        # A deadline for each example fails on a busy machine, and says nothing about the code.
        settings.register_profile(
            name, max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
        )
    settings.load_profile("test")


def scaled(count: int) -> int:
    """What `make test` tries of a count that `make soak` tries whole."""
    return max(min(count, FEWEST), count * settings().max_examples // EXAMPLES["soak"])


def examples(count: int) -> settings:
    """Settings of a property test that wants a number of examples of its own: as many as `make soak` shall try."""
    return settings(max_examples=scaled(count))

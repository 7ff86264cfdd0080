"""What importing costs: CPU time of a fresh interpreter, beside the import that has to be paid in any case.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_imports.py`.

Each row is the median of several interpreters, taken in turn with those of its floor. CPU time of the child (user and
system) is measured, so that what else the machine does counts little.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

PASSES = 9
RUNNABLE = ("-c", "from langchain_core.runnables.base import RunnableSerializable")
TYPER = ("-c", "import typer")
COMMAND = ("-m", "langchain_tiered_memory.cli")
ROWS = [
    ("trim_messages", ("-c", "from langchain_tiered_memory import trim_messages"), RUNNABLE, 1.1),
    ("TieredMemory", ("-c", "from langchain_tiered_memory import TieredMemory"), RUNNABLE, 1.2),
    ("tiered-memory --help", (*COMMAND, "--help"), TYPER, 1.5),
    ("tiered-memory --version", (*COMMAND, "--version"), TYPER, 1.5),
    ("tiered-memory chat --help", (*COMMAND, "chat", "--help"), TYPER, 1.5),
    ("tiered-memory bogus", (*COMMAND, "bogus"), TYPER, 1.5),
    ("tiered-memory replay", (*COMMAND, "replay"), TYPER, 1.5),
]


def seconds(arguments: tuple[str, ...]) -> float:
    """CPU time of one fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], capture_output=True, check=False)  # noqa: S603  # our own
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print each import beside its floor."""
    print(f"{'import':<28}{'ms':>8}{'floor':>8}{'times':>8}{'limit':>8}")
    for name, arguments, floor, limit in ROWS:
        seconds(arguments)  # writes what Python compiles
        taken = [(seconds(arguments), seconds(floor)) for _ in range(PASSES)]
        mine, paid = (statistics.median(column) for column in zip(*taken, strict=True))
        print(f"{name:<28}{1_000 * mine:>8.0f}{1_000 * paid:>8.0f}{mine / paid:>8.2f}{limit:>8.1f}", flush=True)


if __name__ == "__main__":
    main()

"""Runs every benchmark of this folder in turn, or those that are named: `python -m benchmarks trimming`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.shared import use_shared_vocabularies

FOLDER = Path(__file__).resolve().parent


def main(names: list[str]) -> int:
    """Run the benchmarks, each in a process of its own; the exit code says whether any failed to run."""
    known = {path.stem.removeprefix("bench_"): path for path in sorted(FOLDER.glob("bench_*.py"))}
    if unknown := set(names) - set(known):
        print(f"no benchmark {', '.join(sorted(unknown))}: there are {', '.join(known)}", file=sys.stderr)
        return 2
    use_shared_vocabularies()
    failed = []
    for name in names or known:
        print(f"\n== {name} ==", flush=True)
        if subprocess.run([sys.executable, str(known[name])], check=False).returncode:  # noqa: S603  # our own script
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

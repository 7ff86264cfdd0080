"""The `tiered-memory` command."""

from __future__ import annotations

import logging
import sys
import warnings
from io import TextIOWrapper

from langchain_tiered_memory._optional import import_optional

__all__ = ["main"]

_USAGE_ERROR = 2


def main() -> None:
    """Run the command; without the `[cli]` extra, say in one line what to install."""
    try:
        commands = import_optional("langchain_tiered_memory.cli.commands", needed_by="tiered-memory")
    except ImportError as error:
        sys.stderr.write(f"tiered-memory: {error}\n")
        sys.exit(_USAGE_ERROR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows "?", not a traceback
    warnings.formatwarning = lambda message, *_, **__: f"tiered-memory: warning: {message}\n"
    logging.basicConfig(level=logging.WARNING, format="tiered-memory: warning: %(message)s")
    commands.app(prog_name="tiered-memory")

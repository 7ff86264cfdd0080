"""The `tiered-memory` command.

Imports next to nothing, so that Ctrl-C ends the command in one line from its first milliseconds on: until something is
open that has to be closed it ends at once, and afterwards by way of `KeyboardInterrupt`.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as in `typing`, which would cost more than all of the above
if TYPE_CHECKING:
    from logging import LogRecord

__all__ = ["INTERRUPTED", "interruptible", "main"]

_FAILED, _USAGE_ERROR, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command; without the `[cli]` extra, say in one line what to install."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not ignored, as in the background of a shell
        signal.signal(signal.SIGINT, _leave)
    from langchain_tiered_memory._optional import import_optional  # under the handler above

    try:
        app = import_optional("langchain_tiered_memory.cli.app", needed_by="tiered-memory").app
    except ImportError as error:
        sys.stderr.write(f"tiered-memory: {error}\n")
        sys.exit(_USAGE_ERROR)
    _prepare()
    try:
        app(prog_name="tiered-memory")
    except OSError as error:  # stdout is full, or the like
        sys.stderr.write(f"tiered-memory: {error}\n")
        sys.exit(_FAILED)
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)  # nothing is open any more


def interruptible() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` from now on, so that what is opened next is closed."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(*_: object) -> None:
    os.write(2, b"tiered-memory: interrupted\n")
    os._exit(INTERRUPTED)


def _prepare() -> None:
    """Make warnings and what libraries log one line each, and let a terminal that lacks a character show "?"."""
    import logging  # under the handler of `main`
    import warnings  # as above
    from io import TextIOWrapper  # as above

    class OneLine(logging.Formatter):
        """Leaves out the traceback that a library logs: the command says itself what it could not do."""

        def format(self, record: LogRecord) -> str:
            return f"tiered-memory: warning: {' '.join(record.getMessage().split())}"

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.formatwarning = lambda message, *_, **__: f"tiered-memory: warning: {message}\n"
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])

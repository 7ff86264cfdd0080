"""Processes that write to one session of a log at once, and what must be true of it afterwards.

They are forked from one process that has imported everything and opened nothing, so that they begin together.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_tiered_memory.working.log import LogEntry

SESSION = "session"

_SCRIPT = """
import importlib, json, os, sys, time
import langchain_core.tracers.langchain  # what an event needs; once here rather than in each process
from langchain_core.messages import AIMessage, HumanMessage
from langchain_tiered_memory.errors import MemoryStoreError

name, url, options, writers, turns, patient = json.loads(sys.argv[1])
make = getattr(importlib.import_module("langchain_tiered_memory"), name)
make(url, **options).close()  # imports the driver, and opens nothing

def append(log, messages):
    while True:
        try:
            return log.append("session", messages)
        except MemoryStoreError:
            if not patient:
                raise
            time.sleep(0.02)

def write(writer):
    with make(url, **options) as log:
        for n in range(turns):
            said = [HumanMessage(f"question {n}", id=f"{writer}-{n}-q"), AIMessage(f"answer {n}", id=f"{writer}-{n}-a")]
            version = append(log, said)
            os.write(1, f"{writer} {n} {version}\\n".encode())  # one write, so that lines of several do not mix

children = []
for writer in range(writers):
    child = os.fork()
    if not child:
        try:
            write(writer)
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
sys.exit(any(codes))
"""


def start_writers(
    kind: str, url: str, *, writers: int, turns: int, patient: bool = False, **options: object
) -> subprocess.Popen[str]:
    """Start processes that each append turns of two messages, and print "writer turn version" once each is written.

    Args:
        kind: The name of the log's class.
        url: Where the log is.
        writers: How many processes.
        turns: How many turns each appends.
        patient: Send an append again until the store takes it.
        **options: Further arguments of the log.
    """
    arguments = json.dumps([kind, url, options, writers, turns, patient])
    command = [sys.executable, "-c", _SCRIPT, arguments]
    # A group of its own, so that a test can kill all of them.
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)  # noqa: S603  # our own script


def acknowledged(output: str) -> dict[tuple[int, int], int]:
    """The version that the log gave for each turn; a line that a kill cut short counts for nothing."""
    lines = output[: output.rfind("\n") + 1].splitlines()
    return {(int(writer), int(turn)): int(version) for writer, turn, version in map(str.split, lines)}


def check_whole_turns(entries: Sequence[LogEntry]) -> set[tuple[int, int]]:
    """Assert that numbers have no gap, and that each turn is there once, whole and in its writer's order.

    Returns:
        The turns that are there.
    """
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    ids = [str(entry.message.id) for entry in entries]
    assert len(set(ids)) == len(ids)
    assert len(ids) % 2 == 0
    found: list[tuple[int, int]] = []
    for question, answer in zip(ids[::2], ids[1::2], strict=True):
        writer, turn, part = question.split("-")
        assert (part, answer) == ("q", f"{writer}-{turn}-a")
        found.append((int(writer), int(turn)))
    for writer in {writer for writer, _ in found}:
        turns = [turn for one, turn in found if one == writer]
        assert turns == list(range(len(turns)))
    return set(found)

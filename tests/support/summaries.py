"""Summarizers that do as they are told and remember what they were asked, and conversations to try them on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from langchain_tiered_memory import SummarizerGuard, SummaryMemory, SummaryShares, SummaryText
from langchain_tiered_memory.messages.protocol import is_summary, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langchain_tiered_memory.working.nodes import SummaryNode


class Words:
    """A token counter whose figures can be done in one's head: a message is its words and one more."""

    request_overhead = 0

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        return sum(map(self.count_message, messages))

    def count_message(self, message: BaseMessage) -> int:
        calls = getattr(message, "tool_calls", None) or ()
        return 1 + self.count_text(str(message.text)) + sum(2 + len(call["args"]) for call in calls)

    def count_text(self, text: str) -> int:
        return len(text.split())

    def count_tools(self, tools: Sequence[Any]) -> int:
        return 10 * len(tools)


_GROUPS = {
    "shares": (SummaryShares, ("low_water", "summary", "constraints", "levels", "fan_out")),
    "guard": (
        SummarizerGuard,
        ("window", "timeout", "fallback", "fallback_after", "backoff", "oversized", "clock"),
    ),
    "text": (SummaryText, ("role", "prompt", "language", "prefixes", "detector")),
}


def memory_with(*arguments: Any, **settings: Any) -> SummaryMemory:
    """A memory whose settings need not be grouped: `clock=...` for `guard=SummarizerGuard(clock=...)`, and so on."""
    for name, (kind, fields) in _GROUPS.items():
        given = {field: settings.pop(field) for field in fields if field in settings}
        if given:
            settings[name] = kind(**given)
    return SummaryMemory(*arguments, **settings)


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Scripted:
    """A summarizer that gives what it is told, a short line of its own if nothing, and remembers what it was asked."""

    def __init__(self, *answers: Any, reply: Callable[[str, list[BaseMessage]], Any] | None = None) -> None:
        self.asked: list[tuple[str, list[BaseMessage]]] = []
        self._answers = list(answers)
        self._reply = reply

    def __call__(self, previous_summary: str, messages: list[BaseMessage]) -> Any:
        self.asked.append((previous_summary, messages))
        if self._answers:
            answer = self._answers.pop(0)
        elif self._reply is not None:
            answer = self._reply(previous_summary, messages)
        else:
            answer = f"Gist {len(self.asked)}."
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @property
    def texts(self) -> list[str]:
        """The texts of all messages that it was given, in order."""
        return [str(message.text) for _, messages in self.asked for message in messages]


def chat(rounds: int, *, start: int = 0, ids: bool = True, words: int = 8) -> list[BaseMessage]:
    """Rounds of a question and an answer, of so many words each, none of which is an exact value."""

    def said(kind: type[BaseMessage], name: str, number: int) -> BaseMessage:
        text = " ".join([f"{name}{letters(number)}", *(f"{name}w{letters(place)}" for place in range(words - 1))])
        return kind(content=text, id=f"{name}{number}" if ids else None)

    return [
        message
        for number in range(start, start + rounds)
        for message in (said(HumanMessage, "q", number), said(AIMessage, "a", number))
    ]


def letters(number: int) -> str:
    """A number in letters, since one in digits is an exact value that must survive."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def tool_round(number: int, calls: int = 1, words: int = 6) -> list[BaseMessage]:
    """A round with a tool call in it."""
    ids = [f"c{number}-{place}" for place in range(calls)]
    called = [{"name": "look", "args": {"n": number}, "id": one, "type": "tool_call"} for one in ids]
    return [
        HumanMessage(f"find {letters(number)}", id=f"h{number}"),
        AIMessage("", tool_calls=called, id=f"call{number}"),
        *(ToolMessage(" ".join(["result"] * words), tool_call_id=one, id=f"t-{one}") for one in ids),
        AIMessage(f"found {letters(number)}", id=f"f{number}"),
    ]


def summary_of(view: Sequence[BaseMessage]) -> str:
    """The text of the summary in a view, "" where there is none."""
    return next((str(message.text) for message in view if is_summary(message)), "")


def said_in(view: Sequence[BaseMessage]) -> list[BaseMessage]:
    """What a view shows verbatim, without system messages and the summary."""
    return [message for message in view if not is_summary(message) and kind_of(message) != "system"]


def covered(nodes: Iterable[SummaryNode]) -> list[int]:
    """The numbers that nodes stand for, with repetitions if one is covered twice."""
    return sorted(number for node in nodes for first, last in node.spans for number in range(first, last + 1))


PROMPT = SystemMessage("be brief", id="s")
GONE = RemoveMessage(id="q0")

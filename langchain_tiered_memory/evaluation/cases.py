"""The nouns of an evaluation: something that was said, and a question about it with the answer's evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias, get_args

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_tiered_memory._times import in_utc
from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.messages.protocol import kind_of
from langchain_tiered_memory.types import MemoryScope

__all__ = ["FAULTS", "DatasetError", "Fault", "MemoryCase", "MemoryRecord", "fault_of", "records_of"]

Fault: TypeAlias = Literal["foreign", "forbidden", "early", "superseded", "expired", "stale", "irrelevant"]
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
"""Why a returned record should not have come, in the order in which they are looked for; a record has at most one."""


class DatasetError(TieredMemoryError, ValueError):
    """Raised when a data set cannot be read or used; names the file, the line and the repair."""


_USER: Final = MemoryScope(user="user")
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_STEP: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One message that a memory is given, with what makes it right or wrong to return later.

    Attributes:
        id: Tells it apart from every other record of the data set.
        text: What was said.
        at: When, in UTC.
        scope: Whose it is; a session of `None` where it belongs to none.
        role: Who said it.
        speaker: The speaker's name, where there is one.
        valid_until: The first moment at which it is true no more; `None` for no end.
        supersedes: The id of the record that this one takes the place of, where the application knows.
        lasting: The name of its validity class, such as `"7-day"`.
        entity: What it is about, for a store of facts.
        attribute: What of that entity it says.
        value: What it says about it.
    """

    id: str
    text: str
    at: datetime
    scope: MemoryScope = _USER
    role: Literal["user", "assistant"] = "user"
    speaker: str | None = None
    valid_until: datetime | None = None
    supersedes: str | None = None
    lasting: str = ""
    entity: str | None = None
    attribute: str | None = None
    value: str | None = None

    def __post_init__(self) -> None:
        """Check the parts, and bring times to UTC."""
        for name in ("id", "text"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value:
                msg = f"a record needs {name}, a text that is not empty, got {value!r}"
                raise ValueError(msg)
        if self.role not in ("user", "assistant"):
            msg = f"role={self.role!r} of record {self.id!r} is not known: use 'user' or 'assistant'"
            raise ValueError(msg)
        object.__setattr__(self, "at", in_utc(self.at, "at"))
        if self.valid_until is not None:
            object.__setattr__(self, "valid_until", in_utc(self.valid_until, "valid_until"))

    def to_message(self) -> BaseMessage:
        """The record as a chat message."""
        kind = HumanMessage if self.role == "user" else AIMessage
        return kind(content=self.text, id=self.id, name=self.speaker)


def records_of(
    messages: Iterable[BaseMessage], *, scope: MemoryScope = _USER, start: datetime | None = None, prefix: str = ""
) -> tuple[MemoryRecord, ...]:
    """Turn a conversation of one's own into records, system messages and tool results left out.

    A message's id becomes the record's, or its position where it has none. Its time stands in
    `additional_kwargs["created_at"]` (ISO 8601 or seconds since 1970); one without comes a minute after the one before.

    Args:
        messages: The conversation.
        scope: Whose it is.
        start: The time of a first message that does not say.
        prefix: Stands before every id, so that several conversations can be told apart.

    Raises:
        ValueError: A time cannot be read.
    """
    records, moment = [], (in_utc(start, "start") if start is not None else _START) - _STEP
    for position, message in enumerate(messages):
        kind = kind_of(message)
        if kind not in {"user", "assistant", "other"} or not message.text.strip():
            continue
        moment = _time_of(message, moment + _STEP)
        records.append(
            MemoryRecord(
                id=f"{prefix}{message.id or position}",
                text=str(message.text),
                at=moment,
                scope=scope,
                role="assistant" if kind == "assistant" else "user",
                speaker=message.name,
            )
        )
    return tuple(records)


def _time_of(message: BaseMessage, default: datetime) -> datetime:
    given = message.additional_kwargs.get("created_at")
    if given is None:
        return default
    moment = datetime.fromisoformat(given) if isinstance(given, str) else given
    return in_utc(moment, "created_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCase:
    """A question to a memory, and which records it should and should not answer with.

    A memory that is asked "where do I live?" and returns the old address beside the new one has full recall and
    misleads its reader; so a case names both what belongs in the answer and what must not be in it.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.evaluation import MemoryCase, records_of

    said = records_of([HumanMessage("I live in Rome.", id="a"), HumanMessage("I moved to Oslo.", id="b")])
    case = MemoryCase(id="home", question="Where do I live?", messages=said, expected=["b"], stale=["a"])
    assert case.messages[1].id == "b"
    ```

    Attributes:
        id: Tells it apart from every other case.
        question: What is asked.
        messages: What the memory was given before. Cases of one conversation share one tuple.
        expected: Ids of the records that hold the answer; none where there is no right answer any more.
        stale: Ids of records that say what a later one has changed.
        forbidden: Ids of records that must not come back, whatever was asked.
        irrelevant: Ids of records that somebody judged to be of no use for the question.
        updated: Whether the answer is one that has changed; follows from `stale` if not given.
        as_of: The moment that the question is about; `None` for the data set's present.
        scope: Whose memory is asked.
        entity: What the question is about, for a store of facts.
        attribute: What of it is asked.
        constraints: Texts that must be in the context word for word, however often it was compacted.
        category: A name to group cases by.
        answer: The right answer, for the reader.

    Raises:
        ValueError: A part is missing or contradicts another.
    """

    id: str
    question: str
    messages: tuple[MemoryRecord, ...] = field(default=(), repr=False)
    expected: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    irrelevant: tuple[str, ...] = ()
    updated: bool | None = None
    as_of: datetime | None = None
    scope: MemoryScope = _USER
    entity: str | None = None
    attribute: str | None = None
    constraints: tuple[str, ...] = ()
    category: str = ""
    answer: str | None = None

    def __post_init__(self) -> None:
        """Check the parts; lists become tuples, messages become records."""
        for name in ("id", "question"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                msg = f"a case needs {name}, a text that is not empty, got {value!r}"
                raise ValueError(msg)
        for name in ("expected", "stale", "forbidden", "irrelevant", "constraints"):
            object.__setattr__(self, name, _texts(getattr(self, name), name, self.id))
        if self.updated is None:
            object.__setattr__(self, "updated", bool(self.stale))
        messages: Sequence[Any] = self.messages
        if any(isinstance(message, BaseMessage) for message in messages):
            messages = records_of(messages, scope=self.scope)
        object.__setattr__(self, "messages", tuple(messages))
        if self.as_of is not None:
            object.__setattr__(self, "as_of", in_utc(self.as_of, "as_of"))
        both = set(self.expected) & {*self.stale, *self.forbidden, *self.irrelevant}
        if both:
            msg = f"case {self.id!r} both expects and rules out {', '.join(sorted(both))}: keep each id in one list"
            raise ValueError(msg)


def _texts(given: Any, name: str, case: str) -> tuple[str, ...]:  # noqa: ANN401  # what a user wrote
    if isinstance(given, str) or not all(isinstance(one, str) for one in given):
        msg = f"{name} of case {case!r} is a list of texts, got {given!r}"
        raise ValueError(msg)
    return tuple(given)


def fault_of(  # noqa: PLR0911  # one for each fault
    record: MemoryRecord, case: MemoryCase, now: datetime, successors: Mapping[str, Sequence[MemoryRecord]]
) -> Fault | None:
    """Why a record should not have been returned for a case; `None` if it may.

    Args:
        record: What was returned.
        case: The question.
        now: The present, which the question is about unless it says otherwise.
        successors: By a record's id, the records that supersede it.
    """
    at = case.as_of or now
    if record.id in case.expected:
        return None
    wanted = case.scope
    if record.scope.user_key != wanted.user_key or (wanted.session and record.scope.session != wanted.session):
        return "foreign"
    if record.id in case.forbidden:
        return "forbidden"
    if record.at > at:
        return "early"
    if any(later.at <= at for later in successors.get(record.id, ())):
        return "superseded"
    if record.valid_until is not None and record.valid_until <= at:
        return "expired"
    if record.id in case.stale:
        return "stale"
    return "irrelevant" if record.id in case.irrelevant else None

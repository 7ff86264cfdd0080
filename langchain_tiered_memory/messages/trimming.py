"""`trim_messages` with langchain_core's signature, for conversations that call tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, cast, overload

from langchain_core.messages import BaseMessage, MessageLikeRepresentation, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.base import RunnableSerializable
from pydantic import ConfigDict, StrictBool, field_validator

from langchain_tiered_memory.errors import ProtocolError
from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.messages.tokens import (
    CachingCounter,
    EstimatingCounter,
    ListCounter,
    MessageFunctionCounter,
    TiktokenCounter,
    as_counter,
)
from langchain_tiered_memory.messages.window import Limit, Matcher, Side, Window, choose, choose_by_lists

__all__ = ["CounterLike", "MessageTrimmer", "MessagesInput", "Oversized", "Pin", "Size", "trim_messages"]

MessagesInput: TypeAlias = Iterable[MessageLikeRepresentation] | PromptValue
MessageTypes: TypeAlias = str | type[BaseMessage] | Sequence[str | type[BaseMessage]]
Size: TypeAlias = int | tuple[Literal["tokens", "messages", "rounds"], int]
Pin: TypeAlias = Callable[[BaseMessage], bool] | Collection[str]
Oversized: TypeAlias = Literal["shrink", "raise"]
CounterLike: TypeAlias = Any
"""Whatever `as_counter` takes."""
SplitterLike: TypeAlias = Any
"""A function from str to list[str], or a LangChain `TextSplitter`, whose package is not a dependency."""

_TIKTOKEN: Final = "tiktoken:"
_ESTIMATE: Final = "estimate"


@overload
def trim_messages(
    messages: None = None,
    *,
    max_tokens: Size,
    token_counter: CounterLike = ...,
    strategy: Side = ...,
    include_system: bool = ...,
    allow_partial: bool = ...,
    start_on: MessageTypes | None = ...,
    end_on: MessageTypes | None = ...,
    text_splitter: SplitterLike = ...,
    oversized: Oversized = ...,
    pin: Pin | None = ...,
    tools: Sequence[Any] | None = ...,
) -> MessageTrimmer: ...


@overload
def trim_messages(
    messages: MessagesInput,
    *,
    max_tokens: Size,
    token_counter: CounterLike = ...,
    strategy: Side = ...,
    include_system: bool = ...,
    allow_partial: bool = ...,
    start_on: MessageTypes | None = ...,
    end_on: MessageTypes | None = ...,
    text_splitter: SplitterLike = ...,
    oversized: Oversized = ...,
    pin: Pin | None = ...,
    tools: Sequence[Any] | None = ...,
) -> list[BaseMessage]: ...


def trim_messages(
    messages: MessagesInput | None = None,
    *,
    max_tokens: Size,
    token_counter: CounterLike = None,
    strategy: Side = "last",
    include_system: bool = False,
    allow_partial: bool = False,
    start_on: MessageTypes | None = None,
    end_on: MessageTypes | None = None,
    text_splitter: SplitterLike = None,
    oversized: Oversized = "shrink",
    pin: Pin | None = None,
    tools: Sequence[Any] | None = None,
) -> list[BaseMessage] | MessageTrimmer:
    """Trim a conversation to a budget, so that every provider still accepts it.

    Takes what `langchain_core.messages.trim_messages` takes, so that switching is one import. Where that one would
    split a tool call from its results, lose the newest question, or answer with nothing, this one does not: a unit
    (an assistant message with its calls and all their results) stays or goes whole; the newest user turn, pinned
    messages and calls that still wait for their results always stay; behind the system messages the user has the
    first word; a list within its budget comes back as it is. A list that breaks the protocol is repaired on the way,
    see `repair_messages`.

    Args:
        messages: The conversation, anything that langchain_core converts to messages, or a prompt value. It is not
            changed. Without it, a Runnable comes back.
        max_tokens: The budget: a number of tokens, or `("tokens", n)`, `("messages", n)`, `("rounds", n)`.
        token_counter: A `TokenCounter`, a chat model, a function of a list or of one message, `len`, or
            `"approximate"`. By default tokens of o200k_base, the encoding of OpenAI's present models.
        strategy: `"last"` keeps the newest messages, `"first"` the oldest and the newest user turn.
        include_system: Whether the leading system messages always stay; with either strategy.
        allow_partial: Whether the message at the edge of the window, or a newest user turn that is too large, may be
            cut. A tool call or its results never are.
        start_on: With `"last"`, the types of message with which the part before the newest user turn may begin.
        end_on: The types of message with which the result may end; never costs the newest user turn.
        text_splitter: Splits a text that may be cut, a function or a LangChain `TextSplitter`; by default at newlines.
        oversized: What to do when the tool results at the end do not fit, or others since the newest user turn are
            larger than the whole budget: `"shrink"` the longest, with a marker of how much went and where the whole
            is, or `"raise"`. A unit whose calls alone are too large goes whole, and `logging` is told.
        pin: Messages that always stay: their ids, or a function that says so of a message.
        tools: Tools that go with the request; their schemas take their share of the budget.

    Returns:
        The window as a new list of the caller's own messages, or a `MessageTrimmer` when `messages` is `None`.

    Raises:
        BudgetExceededError: What may not be dropped is larger than the budget; it says by how much.
        ProtocolError: Nothing could be sent, since there is nothing but results that answer no call.
        ValueError: An argument is not of its form, or `start_on` came with `strategy="first"`.

    Example:
        ```python
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
        from langchain_tiered_memory import trim_messages

        call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "c1"}
        chat = [HumanMessage("1 + 2?"), AIMessage("", tool_calls=[call]), ToolMessage("3", tool_call_id="c1")]
        chat += [AIMessage("3"), HumanMessage("Thanks")]
        assert trim_messages(chat, max_tokens=("messages", 3)) == chat[-1:]
        ```
    """
    if messages is None:
        return MessageTrimmer(
            max_tokens=max_tokens,
            token_counter=token_counter,
            strategy=strategy,
            include_system=include_system,
            allow_partial=allow_partial,
            start_on=start_on,
            end_on=end_on,
            text_splitter=text_splitter,
            oversized=oversized,
            pin=pin,
            tools=tools,
        )
    window = Window(
        _one_of("strategy", strategy, ("last", "first")),
        _one_of("include_system", include_system, (True, False)),
        _pinned_by(pin),
        _matcher_of("start_on", start_on, strategy),
        _matcher_of("end_on", end_on),
        _splitter_of(text_splitter) if _one_of("allow_partial", allow_partial, (True, False)) else None,
        _one_of("oversized", oversized, ("shrink", "raise")),
    )
    unit, size = _size_of(max_tokens)
    given = _as_messages(messages)
    if not given:
        return []
    kept = _choose(given, window, unit, size, token_counter, tools)
    if not kept:
        msg = (
            f"none of the {len(given)} messages can be sent: they are results that answer no call in the list, which "
            "belong behind the assistant message that made the calls, or messages that a RemoveMessage takes away"
        )
        raise ProtocolError(msg)
    return kept


class MessageTrimmer(RunnableSerializable[MessagesInput, list[BaseMessage]]):
    """Trims a conversation to a budget, as a Runnable between prompt and model.

    A trimmed list that a provider refuses is worse than a long one. This trimmer keeps tool calls and their results
    together, never loses the newest question, and opens the window with a user turn. Its fields are the parameters of
    `trim_messages`; those that are plain data survive langchain_core's `dumps` and `loads`, as do a `TiktokenCounter`
    and an `EstimatingCounter` with the media prices and the margin that they come with.

    Example:
        ```python
        from langchain_core.messages import AIMessage, HumanMessage
        from langchain_tiered_memory import MessageTrimmer

        trimmer = MessageTrimmer(max_tokens=("rounds", 1))
        chat = [HumanMessage("Hi"), AIMessage("Hello!"), HumanMessage("Who are you?")]
        assert trimmer.invoke(chat) == chat[-1:]
        ```
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    max_tokens: Any
    token_counter: Any = None
    strategy: Side = "last"
    include_system: StrictBool = False
    allow_partial: StrictBool = False
    start_on: Any = None
    end_on: Any = None
    text_splitter: Any = None
    oversized: Oversized = "shrink"
    pin: Any = None
    tools: Any = None

    @field_validator("max_tokens")
    @classmethod
    def _check_size(cls, value: Any) -> Any:  # noqa: ANN401 -- what a caller passes
        unit, size = _size_of(value)
        return size if isinstance(value, int) else (unit, size)

    @field_validator("token_counter")
    @classmethod
    def _revive_counter(cls, value: Any) -> Any:  # noqa: ANN401 -- what a caller passes
        if isinstance(value, str) and value.startswith(_TIKTOKEN):
            return TiktokenCounter(value.removeprefix(_TIKTOKEN))
        if isinstance(value, str) and (value == _ESTIMATE or value.startswith(f"{_ESTIMATE}:")):
            return EstimatingCounter(value.partition(":")[2] or None)
        return value

    @property
    def lc_attributes(self) -> dict[str, Any]:
        """Counters by name, for langchain_core's `dumps`; those with prices or a margin of their own have no name."""
        counter = self.token_counter
        if isinstance(counter, TiktokenCounter) and counter.media == TiktokenCounter(counter.model).media:
            return {"token_counter": _TIKTOKEN + counter.model}
        if isinstance(counter, EstimatingCounter):
            usual = EstimatingCounter(counter.vendor)
            if (counter.media, counter.margin) == (usual.media, usual.margin):
                return {"token_counter": f"{_ESTIMATE}:{counter.vendor}" if counter.vendor else _ESTIMATE}
        return {}

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """`True`: `loads` gives an equal trimmer back, if it is allowed this class."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Where `loads` finds the class."""
        return ["langchain_tiered_memory", "messages", "trimming"]

    def invoke(
        self,
        input: MessagesInput,  # noqa: A002 -- Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401 -- values of fields
    ) -> list[BaseMessage]:
        """Trim a conversation by `trim_messages`, whose parameters, given here or by `bind`, replace the fields."""
        return self._call_with_config(self._trim, input, config, **kwargs)

    def _trim(self, messages: MessagesInput, **changed: Any) -> list[BaseMessage]:  # noqa: ANN401 -- values of fields
        settings = {name: getattr(self, name) for name in type(self).model_fields if name != "name"}
        return trim_messages(messages, **{**settings, **changed})


# --- by what counts the tokens --------------------------------------------------------------------------------------


def _choose(
    messages: Sequence[BaseMessage],
    window: Window,
    unit: str,
    size: int,
    token_counter: CounterLike,
    tools: Sequence[Any] | None,
) -> list[BaseMessage]:
    if unit == "rounds":
        return choose(messages, window, Limit(size, unit, lambda found: sum(map(is_user_turn, found))))
    if unit == "messages" or token_counter is len:
        return choose(messages, window, Limit(size, "messages", len))
    # Asking for the method is a hundred times faster than asking whether it is a `TokenCounter`.
    counter = token_counter if hasattr(token_counter, "count_message") else as_counter(token_counter)
    if isinstance(counter, ListCounter):
        return choose_by_lists(messages, window, size, counter, tools)
    count = counter.count_message
    if isinstance(counter, MessageFunctionCounter):  # it has no cache of its own
        known: dict[int, tuple[int, BaseMessage]] = {}

        def count(message: BaseMessage) -> int:
            if id(message) not in known:
                known[id(message)] = (counter.count_message(message), message)  # held, so that its id stays its own
            return known[id(message)][0]

    fixed = counter.request_overhead + (counter.count_tools(tools) if tools else 0)
    limit = Limit(size, "tokens", lambda found: sum(map(count, found)), fixed)
    is_plain = window.strategy == "last" and window.pinned is None and window.split is None
    if is_plain and isinstance(counter, CachingCounter):
        return counter.tails.choose(messages, window, limit)
    return choose(messages, window, limit)


# --- arguments ------------------------------------------------------------------------------------------------------


def _as_messages(messages: MessagesInput) -> Sequence[BaseMessage]:
    """The messages; a list is not read through, so that a trim need not look at all of a long history."""
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    ends = [messages[0], messages[-1]] if isinstance(messages, list) and messages else [None]
    if all(isinstance(end, BaseMessage) for end in ends):
        return cast("list[BaseMessage]", messages)
    return convert_to_messages(messages)


def _size_of(max_tokens: Any) -> tuple[str, int]:  # noqa: ANN401 -- what a caller passes
    unit, size = ("tokens", max_tokens)
    if isinstance(max_tokens, list | tuple) and len(max_tokens) == len(("unit", "size")):
        unit, size = max_tokens
    if unit not in ("tokens", "messages", "rounds") or not isinstance(size, int) or isinstance(size, bool) or size < 0:
        msg = (
            f"max_tokens={max_tokens!r} is no budget: give a number of tokens from 0 up, "
            "or ('tokens', n), ('messages', n) or ('rounds', n)"
        )
        raise ValueError(msg)
    return unit, size


def _one_of(name: str, value: Any, allowed: tuple[Any, ...]) -> Any:  # noqa: ANN401 -- the value checked
    if value not in allowed or type(value) is not type(allowed[0]):
        msg = f"{name}={value!r} is not known: use {' or '.join(map(repr, allowed))}"
        raise ValueError(msg)
    return value


def _pinned_by(pin: Pin | None) -> Matcher | None:
    if pin is None or callable(pin):
        return pin
    if not isinstance(pin, Collection) or not all(isinstance(one, str) for one in pin):
        msg = f"pin={pin!r} names no messages: give their ids, or a function that says whether a message is pinned"
        raise ValueError(msg)
    ids = frozenset([pin] if isinstance(pin, str) else pin)
    return (lambda message: message.id in ids) if ids else None


def _matcher_of(name: str, types: MessageTypes | None, strategy: Side = "last") -> Matcher | None:
    if types is None:
        return None
    if strategy == "first":
        msg = "start_on parameter is only valid with strategy='last'"
        raise ValueError(msg)
    if isinstance(types, str):
        return lambda message: message.type == types
    listed = [types] if isinstance(types, type) else types
    if not isinstance(listed, Collection) or not all(isinstance(one, str | type) for one in listed):
        msg = f"{name}={types!r} names no types of message: give 'human', HumanMessage, or a list of such"
        raise ValueError(msg)
    names = frozenset(one for one in listed if isinstance(one, str))
    classes = tuple(one for one in listed if isinstance(one, type))
    return (lambda message: message.type in names or isinstance(message, classes)) if listed else None


def _splitter_of(text_splitter: SplitterLike) -> Callable[[str], list[str]]:
    if text_splitter is None:
        return lambda text: text.splitlines(keepends=True)
    split: Any = getattr(text_splitter, "split_text", text_splitter)
    if not callable(split):
        msg = f"text_splitter={text_splitter!r} splits nothing: give a function from str to list[str] or a TextSplitter"
        raise ValueError(msg)  # noqa: TRY004 -- langchain_core has it a ValueError
    return cast("Callable[[str], list[str]]", split)

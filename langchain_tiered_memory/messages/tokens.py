"""Token counters: exact for OpenAI's models, with a margin for other vendors', and what users may pass as one.

Every counter here charges message by message (`TokenCounter`), so that a message is counted once in its life. Only a
`ListCounter` wraps something that must see a whole list.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_tiered_memory.messages.adapters import ListCounter, MessageFunctionCounter, adapt
from langchain_tiered_memory.messages.media import MediaPrices, prices_for_model
from langchain_tiered_memory.messages.openai_format import (
    COUNTED_KWARGS,
    ChatFormat,
    Parts,
    plain_data,
    role_of,
    tool_tokens,
)
from langchain_tiered_memory.messages.tail import Tails
from langchain_tiered_memory.messages.vocabulary import (
    Vocabulary,
    encoding_name,
    load_vocabulary,
)
from langchain_tiered_memory.types import TokenCounter

__all__ = [
    "CacheInfo",
    "CachingCounter",
    "EstimatingCounter",
    "ListCounter",
    "MediaPrices",
    "MessageFunctionCounter",
    "TiktokenCounter",
    "as_counter",
    "count_tokens",
    "default_counter",
]

_MAX_ENTRIES: Final = 100_000
_MOST_TOOLS: Final = 256
_MOST_PARTS: Final = 1_000
_PER_TOOLS: Final = 12
_NUMBERS: Final = frozenset((int, float, bool))


class CacheInfo(NamedTuple):
    """What a counter's cache has done: contents counted, contents whose counts are held, and the most of them."""

    encoded: int
    entries: int
    max_entries: int


class CachingCounter(ChatFormat):
    """Counts messages from what their texts cost, each content once.

    Counts are held by a hash of what is charged, so an equal copy is not counted again, a message that was changed in
    place is, and no message or text is kept alive. Of two halves the older is forgotten when the younger is full.
    """

    encoding_name = "o200k_base"

    def __init__(self, *, media: MediaPrices | None, max_entries: int) -> None:
        super().__init__(media)
        self._max_entries = max_entries
        self._lock = threading.RLock()
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}
        self._encoded = 0
        self._frames: dict[type[BaseMessage], int] = {}  # what a message of plain text costs beside its text
        self.tails = Tails()
        """The ends of the conversations that were last trimmed by this counter; each goes with its conversation."""
        self._tools: dict[int, tuple[Any, list[Any], int]] = {}

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """What counts the texts; loaded by the first count."""
        return load_vocabulary(self.encoding_name)

    @property
    def request_overhead(self) -> int:
        """Tokens that prime the reply, in every request."""
        return 3

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a request with these messages."""
        return self.request_overhead + sum(map(self.count_message, messages))

    def count_messages(self, messages: Sequence[BaseMessage]) -> list[int]:
        """Tokens of each message, without the request's overhead."""
        return list(map(self.count_message, messages))

    def count_message(self, message: BaseMessage) -> int:
        """Tokens of one message, its share of the chat format included; counted once per content."""
        fields = message.__dict__
        content, name, kwargs = fields["content"], fields["name"], fields["additional_kwargs"]
        key: int | None
        parts: Parts | None = None
        if (
            type(content) is str
            and not fields.get("tool_calls")
            and not fields.get("invalid_tool_calls")
            and (not kwargs or COUNTED_KWARGS.isdisjoint(kwargs))
            and "role" not in fields
        ):
            key = hash((type(message), content, name))
        else:
            extra = {name: kwargs[name] for name in COUNTED_KWARGS if name in kwargs}
            called = fields.get("tool_calls"), fields.get("invalid_tool_calls")
            parts = (content, name, fields.get("role"), *called, extra or None)
            key = _content_key(type(message), parts, _MOST_PARTS)
            if key is None:  # something foreign or large is in it
                parts = tuple(map(plain_data, parts))
                key = _content_key(type(message), parts, None) or 0
        tokens = self._young.get(key)
        return self._recalled(key, message, parts) if tokens is None else tokens

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Tokens of the tool schemas that go with a request; 0 for none."""
        return _PER_TOOLS + sum(map(self._tool, tools)) if tools else 0

    def cache_info(self) -> CacheInfo:
        """How many messages were really counted, and what is held."""
        with self._lock:
            return CacheInfo(self._encoded, len(self._young) + len(self._old), self._max_entries)

    def _recalled(self, key: int, message: BaseMessage, parts: Parts | None) -> int:
        """The count under `key`, taken now if it is not held."""
        with self._lock:
            tokens = self._young.get(key, self._old.get(key))
            if tokens is None:
                tokens = self._plain(message) if parts is None else self._measure(role_of(message, parts[-1]), parts)
                self._encoded += 1
            if key not in self._young and len(self._young) >= self._max_entries // 2:
                self._old, self._young = self._young, {}
            self._young[key] = tokens
            return tokens

    def _plain(self, message: BaseMessage) -> int:
        kind, name = type(message), message.name
        frame = self._frames.get(kind)
        if frame is None:
            frame = self._frames[kind] = self._measure(role_of(message, None), (None,) * 6)
        named = self._name_tokens(name) if name and not issubclass(kind, ToolMessage) else 0
        return frame + named + self.count_text(str(message.content))

    def _tool(self, tool: Any) -> int:  # noqa: ANN401 - whatever may be bound as a tool
        """Tokens of one tool; a tool object's schema is slow to derive, so it is remembered by what it is made of."""
        made_of = [getattr(tool, name, None) for name in ("name", "description", "args_schema")]
        known = self._tools.get(id(tool))
        if known is not None and known[0] is tool and known[1] == made_of:
            return known[2]
        tokens = tool_tokens(tool, self.count_text, 7 if self.encoding_name.startswith("o200k") else 10)
        if not isinstance(tool, dict):
            if len(self._tools) >= _MOST_TOOLS:
                self._tools.clear()
            self._tools[id(tool)] = tool, made_of, tokens
        return tokens


class TiktokenCounter(CachingCounter):
    """Counts exactly what OpenAI's chat format charges.

    Texts by OpenAI's vocabularies, from toktok (the extra `offline`, no network needed) or from tiktoken; messages and
    tool schemas by the formulas of OpenAI's cookbook; media by kind, size and detail. Every content is counted once.
    Where no vocabulary can be had, one `VocabularyMissingWarning` says so and tokens are estimated.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.messages.tokens import TiktokenCounter

    counter = TiktokenCounter("gpt-4o")
    counter([HumanMessage("How far is the moon?")])  # 3 per request, 3 per message, its role and its text
    ```

    Args:
        model_or_encoding: `"gpt-4o"`, `"openai:gpt-4o-mini"`, `"ft:gpt-4o:org::id"`, or an encoding (`"o200k_base"`).
        media: What media cost, if not what OpenAI publishes for that model.
        max_entries: Most message contents whose counts are held.

    Raises:
        ValueError: If no encoding is known for the name.
    """

    def __init__(
        self,
        model_or_encoding: str = "o200k_base",
        *,
        media: MediaPrices | None = None,
        max_entries: int = _MAX_ENTRIES,
    ) -> None:
        self.encoding_name, self.model = encoding_name(model_or_encoding)
        super().__init__(media=media or prices_for_model(self.model), max_entries=max_entries)

    def __repr__(self) -> str:
        return f"TiktokenCounter({self.model!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        make = functools.partial(TiktokenCounter, media=self.media, max_entries=self._max_entries)
        return make, (self.model,)

    def count_text(self, text: str) -> int:
        """Tokens of a bare text; special tokens in it are counted as the text they are."""
        return self.vocabulary.count(text)


# How many tokens of a vendor's tokenizer one of o200k_base may be. Sources are in EstimatingCounter's docstring.
_MARGINS: Final = {"anthropic": 1.7}
_OTHER_MARGIN: Final = 1.3


class EstimatingCounter(CachingCounter):
    """Counts for models of other vendors: exact tokens of o200k_base times a margin, on the safe side.

    Most vendors publish no tokenizer, or one of many megabytes. Margins, and where they are from:

    * `"anthropic"`, 1.7: Claude 3.5 takes 1.16 (English) to 1.30 (Python) times the tokens of GPT-4o (VentureBeat, May
      2025); from Opus 4.7 on up to 1.47 times as many as before, by Anthropic's own count-tokens endpoint (Claude Code
      Camp, April 2026; Anthropic says 1.0 to 1.35). Before Opus 4.7, `margin=1.3` is enough.
    * `"mistral"`, 1.3: measured with mistral-common's Tekken vocabulary: 0.86 to 1.28 in code, JSON and the prose of
      eleven languages; up to 2.0 where digits (one token each), emoji or Thai prevail.
    * `"qwen"`, 1.3: measured with toktok's qwen3.5: 0.69 to 1.30 likewise; up to 1.8 in CSV, 2.3 in Hindi.
    * Any other vendor, Google and Meta among them, 1.3: a default; no measurement against o200k_base was found.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.messages.tokens import EstimatingCounter

    EstimatingCounter("anthropic").count_message(HumanMessage("月球离地球有多远?"))
    ```

    Args:
        vendor: Whose models are counted for; any name may be given.
        margin: What a token of o200k_base counts as, if not what the vendor's models need.
        media: What media cost; OpenAI's prices for GPT-4o if not given. They are not multiplied.
        max_entries: Most message contents whose counts are held.

    Raises:
        ValueError: If `margin` is not a positive number.
    """

    def __init__(
        self,
        vendor: str | None = None,
        *,
        margin: float | None = None,
        media: MediaPrices | None = None,
        max_entries: int = _MAX_ENTRIES,
    ) -> None:
        super().__init__(media=media, max_entries=max_entries)
        self.vendor = vendor
        self.margin = _MARGINS.get((vendor or "").lower(), _OTHER_MARGIN) if margin is None else margin
        if not 0 < self.margin < math.inf:
            msg = f"margin={margin!r} is no margin: give a positive number, such as 1.3"
            raise ValueError(msg)

    def __repr__(self) -> str:
        return f"EstimatingCounter({self.vendor!r})" if self.vendor else "EstimatingCounter()"

    def __reduce__(self) -> tuple[Any, ...]:
        make = functools.partial(EstimatingCounter, margin=self.margin, media=self.media, max_entries=self._max_entries)
        return make, (self.vendor,)

    def count_text(self, text: str) -> int:
        """Estimated tokens of a bare text."""
        return math.ceil(self.vocabulary.count(text) * self.margin)

    def _role_tokens(self, role: str) -> int:
        return self.vocabulary.count(role)  # every vendor's roles are short special tokens


def _content_key(kind: type[BaseMessage], parts: Parts, limit: int | None) -> int | None:
    """A hash of plain data and its structure; `None` where it holds anything else, or more parts than `limit`.

    Strings remember their hash, so a picture of a megabyte costs no more than a word. Numbers go in as they are
    written, since `1 == 1.0 == True`.
    """
    flat: list[Any] = [kind]
    waiting: list[Any] = [*parts]
    for one in waiting:  # grows on the way
        of = type(one)
        if of is str or one is None:
            flat.append(one)
        elif of is dict:
            if any(type(key) is not str for key in one):
                return None
            flat += (dict, len(one), *one)
            waiting.extend(one.values())
        elif of is list:
            flat += (list, len(one))
            waiting.extend(one)
        elif of in _NUMBERS or of is bytes:
            flat += (of, repr(one) if of in _NUMBERS else one)
        else:
            return None
        if limit is not None and len(waiting) > limit:
            return None
    return hash(tuple(flat))


# --- what users pass ------------------------------------------------------------------------------------------------


@functools.cache
def default_counter() -> TiktokenCounter:
    """The counter that is used where none was given: o200k_base, one for the process; it holds counts and no texts."""
    return TiktokenCounter("o200k_base")


def as_counter(obj: Any = None) -> TokenCounter | ListCounter:  # noqa: ANN401 - anything a user may pass
    """Turn what langchain-core's `trim_messages` takes as `token_counter` into a counter.

    Args:
        obj: A `TokenCounter`, `None` for the default one, `"approximate"`, `len`, a function of one message (its first
            parameter annotated `BaseMessage`) or of a list, a chat model, or one with bound tools.

    Returns:
        A `TokenCounter` wherever the whole is the sum of its messages, else a `ListCounter`.

    Raises:
        ValueError: If `obj` is none of these, in langchain-core's words.
    """
    return default_counter() if obj is None else adapt(obj, EstimatingCounter())


def count_tokens(
    messages: Sequence[BaseMessage],
    counter: Any = None,  # noqa: ANN401 - anything as_counter takes
    *,
    tools: Sequence[Any] | None = None,
) -> int:
    """Tokens of a request with these messages and tools.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.messages.tokens import count_tokens

    count_tokens([HumanMessage("How far is the moon?")])
    ```

    Args:
        messages: What is sent.
        counter: Anything that `as_counter` takes.
        tools: The tools bound to the model, which are charged with every request.
    """
    resolved = as_counter(counter)
    if isinstance(resolved, ListCounter):
        return resolved.count(list(messages), tools=tools)
    return resolved(messages) + resolved.count_tools(tools or ())

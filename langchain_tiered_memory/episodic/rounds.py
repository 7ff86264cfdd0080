"""Messages to rounds: what of them was said, as text, and the words by which a round is found again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from langchain_core.messages import (
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    ToolMessage,
)

from langchain_tiered_memory.episodic.analysis import search_text, terms_of
from langchain_tiered_memory.episodic.embeddings import clean
from langchain_tiered_memory.episodic.episode import Episode, Role, Said
from langchain_tiered_memory.episodic.languages import language_file
from langchain_tiered_memory.episodic.quoting import without_quotations
from langchain_tiered_memory.messages.protocol import is_inserted, kind_of
from langchain_tiered_memory.messages.text import PREFIXES, Prefixes, render

if TYPE_CHECKING:
    from langchain_tiered_memory.messages.protocol import Kind as Speaking

__all__ = ["KEYS", "Key", "KeyFunction", "key_function", "key_of", "named_speakers", "prefixes_of", "said_of"]

KeyFunction: TypeAlias = Callable[[Episode], str]
"""Gives the text by which an episode is found; for the words compared, its date and speakers are added."""

_ANSWER_HEAD: Final = 200
"""Characters of each answer in a key. An answer is long and general; whole, it drowns what the user said."""
_RESULT_HEAD: Final = 120
_LONGEST_READ: Final = 8_000
"""Characters that an embedding model is given; models read 256 to 8,000 tokens, and some refuse more."""
_ROLES: Final[Mapping[Speaking, Role]] = {
    "user": "user",
    "assistant": "assistant",
    "result": "tool",
    "other": "assistant",
}
_CALL_BLOCKS: Final = frozenset(
    ("tool_use", "tool_call", "function_call", "server_tool_use", "server_tool_call", "custom_tool_call")
)
_RESULT_BLOCKS: Final = frozenset(
    ("tool_result", "server_tool_result", "function_call_output", "web_search_tool_result")
)
_MEDIA: Final = ("image", "audio", "video", "document", "file", "media")
_SPEAKER_FIELDS: Final = ("speaker", "name", "author")


def prefixes_of(prefixes: Prefixes | str) -> Prefixes:
    """What speakers without a name are called.

    Raises:
        ValueError: The language is unknown.
    """
    if isinstance(prefixes, Prefixes):
        return prefixes
    names = PREFIXES.get(prefixes) if isinstance(prefixes, str) else None
    if names is None:
        msg = f"prefixes={prefixes!r} is unknown; use one of {', '.join(PREFIXES)} or your own Prefixes"
        raise ValueError(msg)
    return names


# --- what was said ----------------------------------------------------------------------------------------------------


def said_of(messages: Sequence[BaseMessage], prefixes: Prefixes) -> list[Said]:
    """What was said in a round, and who said it.

    Prompts, summaries, recalled memories and error results that only close a call were said by nobody: were they
    stored, the memory would feed on itself. Reasoning was said to nobody, and content blocks that no reader knows are
    data of a provider; both stay in the log. Results in a user's message are the tool's, the text beside them is the
    user's, and what another agent says (a `ChatMessage` of its role, an `AIMessage` of its name) is that agent's.
    """
    said: list[Said] = []
    for message in messages:
        if isinstance(message, RemoveMessage) or kind_of(message) == "system" or is_inserted(message):
            continue
        for part in _parts(message):
            one = _said(part, prefixes)
            if one.text.strip():
                said.append(one)
    return said


def _parts(message: BaseMessage) -> Iterator[BaseMessage]:
    """A message without what nobody said, the results in a user's message apart from its text."""
    extra = {key: value for key, value in message.additional_kwargs.items() if key != "reasoning_content"}
    if isinstance(message.content, str):
        yield message if len(extra) == len(message.additional_kwargs) else _changed(message, additional_kwargs=extra)
        return
    blocks = [block for block in message.content if isinstance(block, str) or _is_said(block)]
    results = [block for block in blocks if isinstance(block, dict) and str(block.get("type")) in _RESULT_BLOCKS]
    if isinstance(message, HumanMessage) and results and len(results) < len(blocks):
        yield _changed(message, content=results, additional_kwargs=extra)
        blocks = [block for block in blocks if block not in results]
    yield _changed(message, content=blocks, additional_kwargs=extra)


def _changed(message: BaseMessage, **changes: object) -> BaseMessage:
    return message.model_copy(update=changes)


def _is_said(block: Mapping[str, object]) -> bool:
    """Whether a content block is words, a call, a result, or a picture or another medium."""
    kind = str(block.get("type", ""))
    if kind in _CALL_BLOCKS or kind in _RESULT_BLOCKS:
        return True
    if "reasoning" in kind or "thinking" in kind or kind.endswith(("_call", "_use", "_output", "_result")):
        return False
    if {"reasoning", "thinking"} & block.keys():
        return False
    if any(isinstance(block.get(key), str) for key in ("text", "refusal")):
        return True
    return any(medium in kind or medium in block for medium in _MEDIA)


def _said(message: BaseMessage, prefixes: Prefixes) -> Said:
    role = _ROLES[kind_of(message)]
    text = render(message)
    if role == "user":
        return Said(role, _name(message, prefixes.human), without_quotations(text))
    if role == "assistant":
        return Said(role, _name(message, prefixes.ai), text)
    named = isinstance(message, ToolMessage | FunctionMessage) and message.name
    return Said(role, f"{prefixes.tool} {message.name}" if named else prefixes.tool, text)


def _name(message: BaseMessage, default: str) -> str:
    if message.name:
        return message.name
    return message.role if isinstance(message, ChatMessage) and kind_of(message) == "other" else default


def named_speakers(episode: Episode, prefixes: Prefixes) -> tuple[str, ...]:
    """The names of those who speak in an episode, as its messages or its metadata give them."""
    unnamed = {prefixes.human, prefixes.ai, prefixes.tool}
    names = [said.speaker for said in episode.said if said.role != "tool"]
    names += [value for name in _SPEAKER_FIELDS if isinstance(value := episode.metadata.get(name), str)]
    return tuple(dict.fromkeys(name for name in names if name not in unnamed))


# --- what it is found by ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Key:
    """What an episode is found by.

    Attributes:
        terms: The words that a lexical search compares, analysed.
        text: What the embedding model reads; any store and any model takes it.
    """

    terms: str
    text: str


def key_function(key: str | KeyFunction) -> KeyFunction | None:
    """The function behind the setting `key`; `None` for the weighted default, which is more than a text.

    Raises:
        ValueError: There is no such key.
    """
    if key == "weighted":
        return None
    if callable(key):
        return key
    function = KEYS.get(key)
    if function is None:
        msg = f"key={key!r} is unknown: use 'weighted', {', '.join(map(repr, KEYS))}, or a function of an Episode"
        raise ValueError(msg)
    return function


def key_of(episode: Episode, function: KeyFunction | None, prefixes: Prefixes) -> Key:
    """What an episode is found by.

    In the default key the user's words count twice and stand first, for a question is mostly about what the user told;
    answers and tool results are there with their beginning. The speakers' names and the date are words too.

    Args:
        episode: The episode.
        function: A key of the caller's own.
        prefixes: What speakers without a name are called.
    """
    date = language_file(episode.content).written_date(episode.created_at)
    about = [date, *named_speakers(episode, prefixes)]
    if episode.entity:
        about.append(episode.entity)
    if function is not None:
        text = clean(function(episode))
        return Key(search_text([*_terms(about), *terms_of(text)]), text[:_LONGEST_READ])
    users = [said.text for said in episode.said if said.role == "user"]
    others = list(_heads(episode.said))
    if not users:
        text = "\n".join(others) or episode.content
        return Key(search_text([*_terms(about), *terms_of(clean(text))]), _read(_spoken_by(episode, text, prefixes)))
    told = "\n".join(users)
    terms = terms_of(clean(told))
    twice = terms if others else []  # weighed against what the others said, where there is any
    words = [*_terms(about), *terms, *twice, *terms_of(clean("\n".join(others)))]
    return Key(search_text(words), _read(_spoken_by(episode, "\n".join([told, *others]), prefixes)))


def _read(text: str) -> str:
    return clean(text[:_LONGEST_READ])


def _spoken_by(episode: Episode, text: str, prefixes: Prefixes) -> str:
    names = named_speakers(episode, prefixes)
    return f"{names[0]}: {text}" if names and not text.startswith(f"{names[0]}:") else text


def _terms(about: Sequence[str]) -> list[str]:
    return terms_of(clean("\n".join(about)))


def _heads(said: Sequence[Said]) -> Iterator[str]:
    for one in said:
        if one.role != "user":
            yield one.text[: _ANSWER_HEAD if one.role == "assistant" else _RESULT_HEAD]


def _user_key(episode: Episode) -> str:
    return "\n".join(said.text for said in episode.said if said.role == "user") or episode.content


KEYS: Final[Mapping[str, KeyFunction]] = {"user": _user_key, "whole": lambda episode: episode.content}
"""The ready-made keys beside the default: only what the user said, or all of it."""

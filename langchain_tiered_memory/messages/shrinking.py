"""Make a message smaller without breaking its unit: shorten tool results, keep one end of a plain message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import SHRUNK_SOURCE, SOURCE_KEY, result_ids
from langchain_tiered_memory.messages.units import Unit, close_unit

__all__ = ["cut_message", "shrink_units"]

Cost: TypeAlias = Callable[[Sequence[BaseMessage]], int]

_HEAD_SHARE: Final = 2 / 3
"""Of what stays of a tool result, the share that its beginning gets; the end often holds the outcome."""


def shrink_units(units: Sequence[Unit], room: int, cost: Cost) -> list[Unit] | None:
    """Shorten the longest tool results of units until the units fit.

    All results are cut to one common length, the largest that fits, so short results stay whole and the longest give
    up the most. A marker inside says how much went and under which id the whole can be found. Media go only when
    cutting the texts is not enough.

    Args:
        units: The units; neither they nor their messages are changed.
        room: What they may cost together.
        cost: What messages cost.

    Returns:
        The units with shortened results, or `None` when even their calls with bare markers do not fit.
    """
    longest = max((_text_length(message.content) for unit in units for message in unit.messages[1:]), default=0)

    def cut(length: int, *, media: bool) -> list[Unit]:
        shrunk = []
        for unit in units:
            results = (_shrink_result(result, length, media=media) for result in unit.messages[1:])
            shrunk.append(unit._replace(messages=(unit.messages[0], *results)))
        return shrunk

    def fits(length: int, *, media: bool) -> bool:
        return sum(cost(close_unit(unit)) for unit in cut(length, media=media)) <= room

    media = fits(0, media=True)
    if not media and not fits(0, media=False):
        return None
    low, high = 0, min(longest, max(room, 1))
    while high < longest and fits(high, media=media):  # rarely more than twice: a token is a few characters
        low, high = high, min(longest, 2 * high)
    return cut(_largest(low, high, lambda length: fits(length, media=media)), media=media)


def _shrink_result(message: BaseMessage, length: int, *, media: bool) -> BaseMessage:
    where = f"message {message.id}" if message.id else f"the result of call {', '.join(result_ids(message))}"
    content = _shrink_content(message.content, length, where, media=media)
    if content == message.content:
        return message
    source = {**message.additional_kwargs, SOURCE_KEY: SHRUNK_SOURCE}
    return message.model_copy(update={"content": content, "additional_kwargs": source})


def _shrink_content(content: Any, length: int, where: str, *, media: bool) -> Any:  # noqa: ANN401 -- content is JSON
    if isinstance(content, str):
        return _shrink_text(content, length, where)
    if isinstance(content, list):
        return [_shrink_content(block, length, where, media=media) for block in content]
    if not isinstance(content, dict):
        return content
    if content.get("type") == "tool_result":
        return {**content, "content": _shrink_content(content.get("content"), length, where, media=media)}
    if isinstance(content.get("text"), str):
        return {**content, "text": _shrink_text(content["text"], length, where)}
    left_out = f"[{content.get('type', 'block')} left out to fit the context; it is in {where}]"
    return content if media else {"type": "text", "text": left_out}


def _shrink_text(text: str, length: int, where: str) -> str:
    if len(text) <= length:
        return text
    gone = len(text) - length
    marker = f"[... {gone} of {len(text)} characters left out to fit the context; the whole is in {where} ...]"
    if len(marker) >= len(text):
        return text
    if length == 0:
        return marker
    head = round(length * _HEAD_SHARE)
    return f"{text[:head]}\n{marker}\n{text[len(text) - (length - head) :]}"


def _text_length(content: Any) -> int:  # noqa: ANN401 -- content is JSON
    """Length of the longest text inside the content of a result."""
    if isinstance(content, str):
        return len(content)
    if isinstance(content, list):
        return max(map(_text_length, content), default=0)
    if isinstance(content, dict):
        return max(_text_length(content.get("text")), _text_length(content.get("content")))
    return 0


def cut_message(
    message: BaseMessage,
    fits: Callable[[BaseMessage], bool],
    *,
    keep: Literal["first", "last"],
    split: Callable[[str], list[str]],
) -> BaseMessage | None:
    """Keep the first or last part of a plain message: whole content blocks if that works, else pieces of a text.

    Args:
        message: A message without tool calls; it is not changed.
        fits: Whether a part may stay.
        keep: Which end stays.
        split: Splits a text into pieces that joined give the text again.

    Returns:
        A copy with the largest part that fits, or `None` when no part does.
    """
    content = message.content

    def end_of(parts: list[Any], size: int) -> list[Any]:
        return parts[:size] if keep == "first" else parts[len(parts) - size :]

    def part(content: Any) -> BaseMessage:  # noqa: ANN401 -- content is JSON
        return message.model_copy(update={"content": content})

    blocks = [content] if isinstance(content, str) else content
    if size := _largest(0, len(blocks) - 1, lambda size: fits(part(end_of(blocks, size)))):
        return part(end_of(blocks, size))
    nearest_first = blocks if keep == "first" else blocks[::-1]
    said = (block if isinstance(block, str) else block.get("text") for block in nearest_first)
    text = next((one for one in said if isinstance(one, str) and one), "")
    pieces = split(text) if text else []
    size = _largest(0, len(pieces) - 1, lambda size: fits(part("".join(end_of(pieces, size)))))
    return part("".join(end_of(pieces, size))) if size else None


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest size up to `high` that fits, `low` if none above it does; what fits does so at smaller sizes too."""
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low

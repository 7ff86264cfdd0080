"""What a picture, a sound, a film or a file costs: by kind, size and detail, never by the length of its base64.

A provider charges media by what it shows, and only the header of the data says how large that is. The headers are read
here without an image library, from a bounded prefix. Sources of the formulas: OpenAI's "Images and vision" guide
(tiles of 512 pixels, patches of 32 pixels), its audio guide (ten tokens per second of input), Google's Gemini guide
(263 tokens per second of video).
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

__all__ = ["MediaKind", "MediaPrices", "image_size", "media_kind", "media_tokens", "prices_for_model"]

MediaKind: TypeAlias = Literal["image", "audio", "video", "file"]

_HEADER_BYTES: Final = 600_000  # a JPEG may carry half a megabyte of metadata before the header that gives its size
_LARGEST_SIDE: Final = 2048
_SHORT_SIDE: Final = 768
_TILE: Final = 512
_PATCH: Final = 32
_MOST_PATCHES: Final = 1536
_SPEECH_RATE: Final = 4_000  # bytes per second, at 32 kbit/s
_FILM_RATE: Final = 125_000  # bytes per second, at 1 Mbit/s
_FRAME_HEADERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # markers of a JPEG that give its size
_FILL: Final = 0xFF  # may stand before any marker of a JPEG
_WORST_SIZE: Final = (_SHORT_SIDE, _LARGEST_SIDE)  # the most tiles that a scaled picture can have


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaPrices:
    """Tokens that media of each kind cost; give a counter one of your own where a provider charges differently.

    Sizes are read from the block or from the header of its data. Where none can be had, a picture is charged as the
    largest that the formula allows, and anything else at its class price, since too much is the safe side.

    ```python
    from langchain_tiered_memory.messages.tokens import MediaPrices, TiktokenCounter

    counter = TiktokenCounter("gpt-4o", media=MediaPrices(image=1_600))  # every picture of unknown size
    ```

    Attributes:
        image_base: Tokens of any picture, and all that one with `detail="low"` costs.
        image_tile: Tokens of each tile of 512 pixels in high detail.
        patch_factor: Tokens per patch of 32 pixels, for the models that are charged so; then tiles do not count.
        image: Tokens of a picture of unknown size; `None` takes the most that the formula gives.
        audio_second: Tokens per second of sound.
        audio: Least tokens of a sound whose length is unknown; it is then taken to be 32 kbit/s speech.
        video_second: Tokens per second of film.
        video: Least tokens of a film, which is taken to be 1 Mbit/s.
        page: Tokens of a page of a PDF, its text and its picture.
        file: Tokens of a file that is no PDF, or of a PDF whose pages cannot be counted.
    """

    image_base: int = 85
    image_tile: int = 170
    patch_factor: float | None = None
    image: int | None = None
    audio_second: int = 10
    audio: int = 600
    video_second: int = 263
    video: int = 1_500
    page: int = 1_500
    file: int = 1_500

    def image_tokens(self, size: tuple[int, int] | None, detail: str | None) -> int:
        """Tokens of a picture of `size` (width, height) in pixels, or of one whose size is unknown."""
        if size is None and self.image is not None and detail != "low":
            return self.image
        width, height = size or _WORST_SIZE
        if self.patch_factor is not None:
            patches = math.ceil(width / _PATCH) * math.ceil(height / _PATCH)
            known = patches if size else _MOST_PATCHES
            return math.ceil(min(known, _MOST_PATCHES) * self.patch_factor)
        if detail == "low":
            return self.image_base
        for most, of_both in ((_LARGEST_SIDE, max), (_SHORT_SIDE, min)):
            if (side := of_both(width, height)) > most:
                width, height = max(width * most // side, 1), max(height * most // side, 1)
        return self.image_base + self.image_tile * math.ceil(width / _TILE) * math.ceil(height / _TILE)


# Prefixes of model names, the longest match wins; from the cost table of OpenAI's vision guide.
_MODEL_PRICES: Final[dict[str, MediaPrices]] = {
    "gpt-4o-mini": MediaPrices(image_base=2833, image_tile=5667),
    "gpt-4.1-mini": MediaPrices(patch_factor=1.62),
    "gpt-4.1-nano": MediaPrices(patch_factor=2.46),
    "gpt-5-mini": MediaPrices(patch_factor=1.62),
    "gpt-5-nano": MediaPrices(patch_factor=2.46),
    "o4-mini": MediaPrices(patch_factor=1.72),
    "gpt-5": MediaPrices(image_base=70, image_tile=140),
    "o1": MediaPrices(image_base=75, image_tile=150),
    "o3": MediaPrices(image_base=75, image_tile=150),
}


def prices_for_model(model: str) -> MediaPrices:
    """The published prices of `model`; those of GPT-4o for a name that is not in the table."""
    fitting = [prefix for prefix in _MODEL_PRICES if model.startswith(prefix)]
    return _MODEL_PRICES[max(fitting, key=len)] if fitting else MediaPrices()


# --- what a block holds ---------------------------------------------------------------------------------------------

_TYPES: Final[dict[MediaKind, tuple[str, ...]]] = {
    "image": ("image", "image_url", "input_image", "image_file", "image_generation_call", "computer_screenshot"),
    "audio": ("audio", "input_audio", "output_audio", "audio_url"),
    "video": ("video", "input_video", "video_url"),
    "file": ("file", "input_file", "document"),
}
_KIND_OF_TYPE: Final = {name: kind for kind, names in _TYPES.items() for name in names}
_PAYLOAD_KEYS: Final = ("base64", "data", "bytes", "file_data", "url", "image_url", "result")
_NESTING: Final = ("image_url", "source", "input_audio", "file", "inline_data", "image", "audio", "video", "document")
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200},", re.ASCII)


def media_kind(block: Mapping[str, Any]) -> MediaKind | None:
    """The kind of media that a content block holds, or `None` for a block that holds none."""
    type_ = block.get("type")
    named = _KIND_OF_TYPE.get(type_) if isinstance(type_, str) else None
    if isinstance(type_, str) and named is None and type_ != "media":
        return None
    if not isinstance(type_, str) and "inline_data" not in block and "file_data" not in block:
        # Blocks of Bedrock name their kind by a key, not by a type.
        return next((kind for key, kind in _KIND_OF_TYPE.items() if isinstance(block.get(key), Mapping)), None)
    if named not in (None, "file"):
        return named
    mime = _first(block, ("mime_type", "media_type", "mimeType"), str)
    if mime is None and (match := _DATA_URL.match((_first(block, _PAYLOAD_KEYS, str) or "")[:300])):
        mime = match[1]
    return next((kind for kind in _TYPES if (mime or "").startswith(f"{kind}/")), "file")


def _first(block: Mapping[str, Any], keys: tuple[str, ...], kind: type | tuple[type, ...]) -> Any:  # noqa: ANN401 - JSON
    """The first value of that kind in the block, or in the two levels below it where providers put the data."""
    layer = [block]
    for _ in range(3):
        found = (one[key] for one in layer for key in keys if isinstance(one.get(key), kind) and one[key])
        if (value := next(found, None)) is not None:
            return value
        layer = [one[key] for one in layer for key in _NESTING if isinstance(one.get(key), Mapping)]
    return None


def media_tokens(block: Mapping[str, Any], kind: MediaKind, prices: MediaPrices) -> int:
    """Tokens of the media in a content block of that kind."""
    payload = _first(block, _PAYLOAD_KEYS, (str, bytes))
    if kind == "image":
        width, height = _first(block, ("width",), int), _first(block, ("height",), int)
        size = (width, height) if width and height and width > 0 and height > 0 else _size_of(payload)
        return prices.image_tokens(size, _first(block, ("detail",), str))
    if kind == "file":
        return max(prices.file, _pages(payload) * prices.page)
    least, second, rate = (
        (prices.audio, prices.audio_second, _SPEECH_RATE)
        if kind == "audio"
        else (prices.video, prices.video_second, _FILM_RATE)
    )
    seconds: float | None = _first(block, ("duration", "seconds"), (int, float))
    if seconds is None:
        is_link = isinstance(payload, str) and "://" in payload[:40]
        seconds = 0 if is_link else len(payload or ()) * (1 if isinstance(payload, bytes) else 0.75) / rate
    return max(least, math.ceil(seconds * second))


def _decoded(payload: str | bytes | None, limit: int) -> bytes:
    """The first `limit` bytes of the data, or nothing where it is a link or no base64."""
    if not isinstance(payload, str):
        return (payload or b"")[:limit]
    match = _DATA_URL.match(payload[:300])
    start = match.end() if match else 0
    try:
        raw = payload[start : start + limit * 4 // 3].encode("ascii").translate(None, b" \r\n\t=")
        return base64.b64decode(raw[: len(raw) // 4 * 4], altchars=b"-_" if b"-" in raw or b"_" in raw else None)
    except (UnicodeEncodeError, binascii.Error):
        return b""


def _size_of(payload: str | bytes | None) -> tuple[int, int] | None:
    head = _decoded(payload, 64)
    return image_size(_decoded(payload, _HEADER_BYTES) if head[:2] == b"\xff\xd8" else head)


def image_size(head: bytes) -> tuple[int, int] | None:
    """Width and height in pixels that the header of a PNG, GIF or JPEG gives; `None` where it gives none."""
    size = b""
    order: Literal["big", "little"] = "big"
    if head[:8] == b"\x89PNG\r\n\x1a\n":
        size = head[16:24]
    elif head[:6] in (b"GIF87a", b"GIF89a"):
        size, order = head[6:10], "little"
    elif head[:2] == b"\xff\xd8":
        at = 2
        while head[at : at + 1] == b"\xff" and not size and at + 9 <= len(head):
            marker = head[at + 1]
            if marker in _FRAME_HEADERS:
                size = head[at + 7 : at + 9] + head[at + 5 : at + 7]
            at += 1 if marker == _FILL else 2 + int.from_bytes(head[at + 2 : at + 4])
    half = len(size) // 2
    width, height = int.from_bytes(size[:half], order), int.from_bytes(size[half:], order)
    return (width, height) if width and height else None


def _pages(payload: str | bytes | None) -> int:
    """Pages of a PDF as far as its first bytes tell; 0 for anything else."""
    head = _decoded(payload, 2_000_000)
    if head[:5] != b"%PDF-":
        return 0
    counts = [int(count) for count in re.findall(rb"/Count\s{1,4}(\d{1,5})\b", head)]
    return max([*counts, len(re.findall(rb"/Type\s{0,4}/Page\b", head))])

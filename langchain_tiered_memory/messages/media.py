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

# A JPEG may carry half a megabyte of metadata and thumbnails in front of the frame header that gives its size.
_HEADER_BYTES: Final = 600_000
_LARGEST_SIDE: Final = 2048
_SHORT_SIDE: Final = 768
_TILE: Final = 512
_PATCH: Final = 32
_MOST_PATCHES: Final = 1536
_SPEECH_RATE: Final = 4_000  # bytes per second, at 32 kbit/s
_FILM_RATE: Final = 125_000  # bytes per second, at 1 Mbit/s
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
        width, height = _scaled(width, height)
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


def _scaled(width: int, height: int) -> tuple[int, int]:
    longest = max(width, height)
    if longest > _LARGEST_SIDE:
        width, height = width * _LARGEST_SIDE // longest, height * _LARGEST_SIDE // longest
    shortest = min(width, height)
    if shortest > _SHORT_SIDE:
        width, height = width * _SHORT_SIDE // shortest, height * _SHORT_SIDE // shortest
    return max(width, 1), max(height, 1)


# --- what a block holds ---------------------------------------------------------------------------------------------

_KIND_OF_TYPE: Final[dict[str, MediaKind]] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_file": "image",
    "image_generation_call": "image",
    "computer_screenshot": "image",
    "audio": "audio",
    "input_audio": "audio",
    "output_audio": "audio",
    "audio_url": "audio",
    "video": "video",
    "input_video": "video",
    "video_url": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
}
# Blocks of Gemini and Bedrock name their kind by a key, not by a type.
_KIND_OF_KEY: Final[dict[str, MediaKind]] = {
    "image_url": "image",
    "image": "image",
    "input_audio": "audio",
    "audio": "audio",
    "video": "video",
    "document": "file",
}
_PAYLOAD_KEYS: Final = ("base64", "data", "bytes", "file_data", "url", "image_url", "result")
_NESTING: Final = ("image_url", "source", "input_audio", "file", "inline_data", "image", "audio", "video", "document")
_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200},", re.ASCII)


def media_kind(block: Mapping[str, Any]) -> MediaKind | None:
    """The kind of media that a content block holds, or `None` for a block that holds none."""
    kind = block.get("type")
    mime = _mime_type(block)
    if isinstance(kind, str):
        known = _KIND_OF_TYPE.get(kind)
        if known is None and kind != "media":
            return None
        return (_kind_of_mime(mime) if mime and known in (None, "file") else known) or "file"
    if "inline_data" in block or "file_data" in block:
        return (_kind_of_mime(mime) if mime else None) or "file"
    return next((found for key, found in _KIND_OF_KEY.items() if isinstance(block.get(key), Mapping)), None)


def _kind_of_mime(mime: str) -> MediaKind:
    family = mime.partition("/")[0]
    return family if family in ("image", "audio", "video") else "file"  # type: ignore[return-value] # narrowed by `in`


def _inside(layers: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    values = [layer.get(key) for layer in layers for key in _NESTING]
    return [value for value in values if isinstance(value, Mapping)]


def _first(block: Mapping[str, Any], keys: tuple[str, ...], kind: type | tuple[type, ...]) -> Any:  # noqa: ANN401 - JSON
    """The first value of that kind in the block, or in the two levels below it where providers put the data."""
    below = _inside([block])
    for layer in (block, *below, *_inside(below)):
        for key in keys:
            value = layer.get(key)
            if isinstance(value, kind) and value:
                return value
    return None


def _mime_type(block: Mapping[str, Any]) -> str | None:
    named: str | None = _first(block, ("mime_type", "media_type", "mimeType"), str)
    if named is None:
        payload = _first(block, _PAYLOAD_KEYS, str)
        if isinstance(payload, str) and (match := _DATA_URL.match(payload[:300])):
            named = match[1]
    return named


def media_tokens(block: Mapping[str, Any], kind: MediaKind, prices: MediaPrices) -> int:
    """Tokens of the media in a content block of that kind."""
    payload = _first(block, _PAYLOAD_KEYS, (str, bytes))
    if kind == "image":
        detail = _first(block, ("detail",), str)
        return prices.image_tokens(_declared_size(block) or _payload_size(payload), detail)
    if kind == "audio":
        return max(prices.audio, math.ceil(_seconds(block, payload, _SPEECH_RATE) * prices.audio_second))
    if kind == "video":
        return max(prices.video, math.ceil(_seconds(block, payload, _FILM_RATE) * prices.video_second))
    return max(prices.file, _pages(payload) * prices.page)


def _seconds(block: Mapping[str, Any], payload: str | bytes | None, bytes_per_second: int) -> float:
    declared: float | None = _first(block, ("duration", "seconds"), (int, float))
    return _payload_bytes(payload) / bytes_per_second if declared is None else declared


def _declared_size(block: Mapping[str, Any]) -> tuple[int, int] | None:
    width, height = _first(block, ("width",), int), _first(block, ("height",), int)
    return (width, height) if width and height and width > 0 and height > 0 else None


def _payload_bytes(payload: str | bytes | None) -> int:
    if payload is None or (isinstance(payload, str) and "://" in payload[:40]):
        return 0
    return len(payload) if isinstance(payload, bytes) else len(payload) * 3 // 4


def _decoded(payload: str | bytes | None, limit: int) -> bytes:
    """The first `limit` bytes of the data, or nothing where it is a link or no base64."""
    if payload is None:
        return b""
    if isinstance(payload, bytes):
        return payload[:limit]
    match = _DATA_URL.match(payload[:300])
    start = match.end() if match else 0
    text = payload[start : start + limit * 4 // 3]
    try:
        raw = text.encode("ascii").translate(None, b" \r\n\t=")
        return base64.b64decode(raw[: len(raw) // 4 * 4], altchars=b"-_" if b"-" in raw or b"_" in raw else None)
    except (UnicodeEncodeError, binascii.Error):
        return b""


def _payload_size(payload: str | bytes | None) -> tuple[int, int] | None:
    head = _decoded(payload, 64)
    if head[:2] == b"\xff\xd8":
        head = _decoded(payload, _HEADER_BYTES)
    return image_size(head)


def image_size(head: bytes) -> tuple[int, int] | None:
    """Width and height in pixels that the header of a PNG, GIF, WebP or JPEG gives; `None` where it gives none."""
    size: tuple[int, int] | None = None
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:  # noqa: PLR2004 - end of the IHDR size fields
        size = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    elif head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:  # noqa: PLR2004 - end of the logical screen size
        size = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    elif head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        size = _webp_size(head)
    elif head[:2] == b"\xff\xd8":
        size = _jpeg_size(head)
    return size if size and size[0] > 0 and size[1] > 0 else None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    chunk = head[12:16]
    if len(head) < 30:  # noqa: PLR2004 - end of the longest of the three frame headers
        return None
    if chunk == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if chunk == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1
    if chunk == b"VP8 ":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    return None


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:  # noqa: PLR2004 - every JPEG marker opens with this byte
        marker = head[at + 1]
        if marker == 0xFF:  # noqa: PLR2004 - a fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # noqa: PLR2004 - the frame headers
            return int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
        else:
            at += 2 + int.from_bytes(head[at + 2 : at + 4])
    return None


def _pages(payload: str | bytes | None) -> int:
    """Pages of a PDF as far as its first bytes tell; 0 for anything else."""
    head = _decoded(payload, 2_000_000)
    if head[:5] != b"%PDF-":
        return 0
    counts = [int(count) for count in re.findall(rb"/Count\s{1,4}(\d{1,5})\b", head)]
    return max([*counts, len(re.findall(rb"/Type\s{0,4}/Page\b", head))])

"""Media cost what they show: their kind, size and detail, whatever block they come in."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_tiered_memory.messages.media import image_size
from langchain_tiered_memory.messages.tokens import EstimatingCounter, MediaPrices, TiktokenCounter

# Most pictures need no vocabulary: the estimator has the same prices.
COUNTER = TiktokenCounter()
EMPTY = COUNTER.count_message(HumanMessage([]))
NOISE = "A" * 400_000


def png(width, height):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + b"IHDR"
        + header
        + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\x00\x00"


def jpeg(width, height, metadata=0):
    exif = b"".join(b"\xff\xe1" + struct.pack(">H", 60_002) + b"x" * 60_000 for _ in range(metadata))
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + b"\x00" * 9
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\x00" + b"\x00" * 9 + exif + frame


def encoded(raw):
    return base64.b64encode(raw).decode()


def cost(block, counter=COUNTER):
    return counter.count_message(HumanMessage.model_construct(content=[block])) - EMPTY


@pytest.mark.parametrize("make", [png, gif, jpeg], ids=lambda make: make.__name__)
@pytest.mark.parametrize("size", [(1, 1), (640, 480), (1_024, 1_024), (3_000, 4_000), (16_000, 9_000)])
def test_the_size_is_read_from_the_header(make, size):
    assert image_size(make(*size)) == size


def test_the_size_is_found_behind_half_a_megabyte_of_metadata():
    assert cost({"type": "image", "base64": encoded(jpeg(512, 512, metadata=8)), "mime_type": "image/jpeg"}) == 85 + 170


@pytest.mark.parametrize(
    "head", [b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"RIFF", b"GIF89a", b"\xff\xd8\xff", png(0, 5), b"BM123456"]
)
def test_a_header_that_tells_nothing_gives_no_size(head):
    assert image_size(head) is None


# Worked examples of OpenAI's vision guide, and each side of a tile.
@pytest.mark.parametrize(
    ("size", "detail", "expected"),
    [
        ((1_024, 1_024), "high", 765),
        ((2_048, 4_096), "high", 1_105),
        ((4_096, 8_192), "low", 85),
        ((512, 512), "high", 255),
        ((513, 512), "high", 425),
        ((150, 150), None, 255),
        ((1_920, 1_080), "auto", 1_105),
    ],
)
def test_tiles_are_charged_as_published(size, detail, expected):
    url = f"data:image/png;base64,{encoded(png(*size))}"
    assert cost({"type": "image_url", "image_url": {"url": url, **({"detail": detail} if detail else {})}}) == expected
    assert cost({"type": "input_image", "image_url": url, **({"detail": detail} if detail else {})}) == expected


PICTURE = encoded(png(1_024, 1_024))
FORMS = {
    "image_url": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
    "image_url string": {"type": "image_url", "image_url": f"data:image/png;base64,{PICTURE}"},
    "input_image": {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
    "langchain v0": {"type": "image", "source_type": "base64", "data": PICTURE, "mime_type": "image/png"},
    "langchain v1": {"type": "image", "base64": PICTURE, "mime_type": "image/png"},
    "gemini media": {"type": "media", "mime_type": "image/png", "data": PICTURE},
    "gemini inline": {"inline_data": {"mime_type": "image/png", "data": PICTURE}},
    "bedrock": {"image": {"format": "png", "source": {"bytes": png(1_024, 1_024)}}},
    "file with mime": {"type": "file", "mime_type": "image/png", "base64": PICTURE},
    "file_data": {"type": "file", "file": {"file_data": f"data:image/png;base64,{PICTURE}"}},
    "declared": {"type": "image", "url": "https://example.com/a.png", "width": 1_024, "height": 1_024},
}


@pytest.mark.parametrize("block", FORMS.values(), ids=FORMS)
def test_the_same_picture_costs_the_same_in_every_form(block):
    assert cost(block) == 765


@pytest.mark.parametrize("block", FORMS.values(), ids=FORMS)
def test_a_picture_in_a_tool_result_or_an_answer_costs_the_same(block):
    for message, bare in (
        (ToolMessage.model_construct(content=[block], tool_call_id="1"), ToolMessage([], tool_call_id="1")),
        (AIMessage.model_construct(content=[block]), AIMessage([])),
    ):
        assert COUNTER.count_message(message) - COUNTER.count_message(bare) == 765
    inside = {"type": "tool_result", "tool_use_id": "1", "content": [block]}
    assert 765 <= cost(inside) <= 770


OPAQUE = [
    {"type": "input_image", "image_url": f"data:image/png;base64,{NOISE}"},
    {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{NOISE}"}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": NOISE}},
    {"type": "media", "mime_type": "image/png", "data": NOISE},
    {"type": "input_audio", "input_audio": {"data": NOISE, "format": "mp3"}},
    {"type": "audio", "base64": NOISE, "mime_type": "audio/wav"},
    {"type": "video", "base64": NOISE, "mime_type": "video/mp4"},
    {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{NOISE}", "filename": "a.pdf"}},
    {"type": "input_file", "file_data": NOISE},
    {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": NOISE}},
    {"type": "brand_new", "payload": NOISE},
    {
        "type": "brand_new",
        "deep": [{"er": {"type": "image", "base64": NOISE}}],
        "text_with": f"see data:image/png;base64,{NOISE} there",
    },
    {"type": "brand_new", "raw": b"\x00" * 300_000},
]


@pytest.mark.parametrize("block", OPAQUE, ids=lambda block: str(block["type"]))
def test_no_block_is_charged_by_the_length_of_its_base64(block):
    # langchain-ai/langchain#40744: 100,020 tokens for an input_image whose twin, an image_url, cost 90.
    assert 85 <= cost(block) < 3_000


def test_one_unreadable_picture_costs_the_same_in_both_of_openais_forms():
    assert cost(OPAQUE[0]) == cost(OPAQUE[1])


def test_a_picture_of_unknown_size_is_charged_as_the_largest():
    link = {"type": "image_url", "image_url": {"url": "https://example.com/photo.jpg"}}
    largest = max(
        cost({"type": "image", "url": "https://example.com/x", "width": width, "height": height})
        for width in range(64, 5_000, 117)
        for height in range(64, 5_000, 131)
    )
    assert cost(link) == largest
    assert cost({"type": "image_url", "image_url": {"url": "https://example.com/photo.jpg", "detail": "low"}}) == 85
    assert cost({"type": "image", "file_id": "file-123"}) == largest


def test_prices_can_be_replaced():
    counter = EstimatingCounter(media=MediaPrices(image=1_600, image_base=10, image_tile=20))
    assert cost({"type": "image", "url": "https://example.com/x"}, counter) == 1_600
    assert cost(FORMS["langchain v1"], counter) == 10 + 4 * 20


def test_pages_of_a_pdf_are_counted():
    pdf = b"%PDF-1.7\n" + b"".join(
        b"%d 0 obj << /Type /Page /Parent 1 0 R >> endobj\n" % number for number in range(12)
    )
    block = {"type": "file", "base64": encoded(pdf), "mime_type": "application/pdf"}
    assert cost(block) == 12 * MediaPrices().page


def test_a_declared_duration_is_charged_by_the_second():
    assert cost({"type": "audio", "url": "https://example.com/a.mp3", "duration": 600}) == 6_000


def test_prices_follow_the_model():
    block = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}

    def price(model):
        counter = TiktokenCounter(model)
        return counter.media.image_tokens((1_024, 1_024), "high"), counter

    assert price("gpt-4o")[0] == 765
    assert price("gpt-4o-mini")[0] == 2_833 + 4 * 5_667
    assert price("gpt-5")[0] == 70 + 4 * 140
    assert price("o1")[0] == 75 + 4 * 150
    assert price("gpt-4.1")[0] == 765
    assert price("gpt-4.1-mini")[0] == 1_659  # 1,024 patches at 1.62
    assert block["type"] == "image_url"


def test_a_long_text_that_is_not_media_is_charged_as_text():
    assert cost({"type": "text", "text": "A" * 40_000}) > 3_000

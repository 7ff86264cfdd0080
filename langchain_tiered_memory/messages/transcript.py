"""The former place of what is in `text` and `transcripts` now."""

from __future__ import annotations

from langchain_tiered_memory.messages.text import PREFIXES, Prefixes, to_text
from langchain_tiered_memory.messages.transcripts.conversation import parse_transcript, read_transcript
from langchain_tiered_memory.messages.transcripts.files import write_text

__all__ = ["PREFIXES", "Prefixes", "parse_transcript", "read_transcript", "to_text", "write_text"]

"""Runs the command as `python -m langchain_tiered_memory.cli`."""

from __future__ import annotations

from langchain_tiered_memory.cli import main

main()

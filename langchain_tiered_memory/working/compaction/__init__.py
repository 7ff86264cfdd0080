"""Compaction: when messages leave the window, which ones, into which summary, and what is shown instead."""

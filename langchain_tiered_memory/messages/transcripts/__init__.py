"""Conversations out of files and into them: one module for each format, one shape of record between them."""

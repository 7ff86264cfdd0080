"""Tier 4: standing rules, workflows and tool schemas, injected whole."""

"""Adapters to what LangChain has for memory, each of which could be deleted without a trace in the rest."""

"""The chat model that `tiered-memory chat` talks to, by its name."""

from __future__ import annotations

import os
from typing import Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._places import BAD_INPUT, stop
from langchain_tiered_memory.context.budget import ContextBudget

__all__ = ["MOST_TOKENS", "chat_model", "request_tokens"]

MOST_TOKENS: Final = 8_000
"""Tokens of a request where nobody says how many: enough for a conversation, and not dear."""
_KEYS: Final = {
    "openai": ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "mistralai": ("MISTRAL_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "cohere": ("COHERE_API_KEY",),
}
"""Where a provider's client looks for its key."""
_ADDRESSES: Final = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
_LOCAL: Final = "or talk to a local OpenAI-compatible server with --base-url, such as http://localhost:8080/v1"
_OPENAI: Final = "openai"


def chat_model(name: str, base_url: str | None) -> Any:  # noqa: ANN401  # a chat model of any provider
    """The model of a name such as `openai:gpt-4o-mini`; ends the command with one line where it cannot be had.

    Args:
        name: The provider and the model; with `base_url`, a model alone is one that the server there has.
        base_url: Where it is served.
    """
    if not name.strip():
        stop(f"--model {name!r} names no model: write it as provider:model, {_LOCAL}", BAD_INPUT)
    provider, colon, _ = name.partition(":")
    settings: dict[str, Any] = {}
    if base_url is not None:
        settings["base_url"] = base_url
    if base_url is not None and not colon:
        provider = settings["model_provider"] = _OPENAI
    keys = _KEYS.get(provider, ())
    if keys and not any(os.environ.get(key) for key in keys):
        own = base_url is not None or (provider == _OPENAI and any(map(os.environ.get, _ADDRESSES)))
        if not own:
            stop(f"{name} needs a key: set one with `export {keys[0]}=...`, {_LOCAL}", BAD_INPUT)
        if provider == _OPENAI:
            settings["api_key"] = "none"  # a server of one's own asks for no key, its client does
    chat_models = import_optional("langchain.chat_models", needed_by="tiered-memory chat")
    try:
        return chat_models.init_chat_model(name, **settings)
    except Exception as error:  # noqa: BLE001  # each provider's client refuses in its own way; all of it is shown
        stop(f"the model {name!r} cannot be had: {error}; write it as provider:model, {_LOCAL}", BAD_INPUT)


def request_tokens(model: Any) -> int:  # noqa: ANN401  # as above
    """What a request may take where nobody says it: `MOST_TOKENS`, or what a smaller window leaves for it."""
    try:
        return min(MOST_TOKENS, ContextBudget.for_model(model).limit)
    except ValueError:  # nobody knows its window
        return MOST_TOKENS

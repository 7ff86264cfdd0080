"""Models by their names: chat models of any provider, embedding models, and whatever else `module:name` can be."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli.console import BAD_INPUT, stop

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

__all__ = ["MOST_TOKENS", "chat_model", "embeddings_named", "imported", "request_tokens"]

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


def chat_model(name: str, base_url: str | None, *, option: str = "--model") -> BaseChatModel:
    """The model of a name such as `openai:gpt-4o-mini`; ends the command with one line where it cannot be had.

    Args:
        name: The provider and the model; with `base_url`, a model alone is one that the server there has.
        base_url: Where it is served.
        option: Which option names it.
    """
    if not name.strip():
        stop(f"{option} {name!r} names no model: write it as provider:model, {_LOCAL}", BAD_INPUT)
    chat_models = import_optional("langchain.chat_models", needed_by=f"{option} {name}")
    provider, colon, _ = name.partition(":")
    settings = {} if base_url is None else {"base_url": base_url}
    if base_url is not None and not colon:
        provider = settings["model_provider"] = _OPENAI
    keys = _KEYS.get(provider, ())
    if keys and not any(os.environ.get(key) for key in keys):
        if base_url is None and not (provider == _OPENAI and any(map(os.environ.get, _ADDRESSES))):
            stop(f"{name} needs a key: set one with `export {keys[0]}=...`, {_LOCAL}", BAD_INPUT)
        if provider == _OPENAI:
            settings["api_key"] = "none"  # a server of one's own asks for no key, its client does
    try:
        model: BaseChatModel = chat_models.init_chat_model(name, **settings)
    except Exception as error:  # noqa: BLE001  # each provider's client refuses in its own way; all of it is shown
        stop(f"the model {name!r} cannot be had: {error}; write it as provider:model, {_LOCAL}", BAD_INPUT)
    return model


def request_tokens(model: BaseChatModel) -> int:
    """What a request may take where nobody says it: `MOST_TOKENS`, or what a smaller window leaves for it."""
    from langchain_tiered_memory.context.budget import ContextBudget

    try:
        return min(MOST_TOKENS, ContextBudget.for_model(model).limit)
    except ValueError:  # nobody knows its window
        return MOST_TOKENS


def embeddings_named(name: str) -> Embeddings | None:
    """The embedding model of a name: `local`, `none`, or `module:name` of a LangChain model or what makes one.

    Raises:
        ImportError: There is no such model, or an extra is missing.
    """
    from langchain_core.embeddings import Embeddings

    if name == "none":
        return None
    if name == "local":
        from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings

        return LocalEmbeddings()
    made = imported(name)
    model = made() if inspect.isfunction(made) or inspect.isclass(made) else made
    if not isinstance(model, Embeddings):
        msg = f"{name} is {type(model).__name__} and no LangChain embedding model: name one, or 'local', or 'none'"
        raise ImportError(msg)  # noqa: TRY004  # reported as a name that is not there is
    return model


def imported(name: str) -> Any:  # noqa: ANN401  # whatever stands there
    """What `module:name` names.

    Raises:
        ImportError: There is nothing of that name.
    """
    module, _, attribute = str(name).partition(":")
    if not module or not attribute:
        msg = f"{name!r} names nothing to import: write module:name"
        raise ImportError(msg)
    found = import_optional(module, needed_by=name)
    try:
        return getattr(found, attribute)
    except AttributeError as error:
        msg = f"the module {module} has no {attribute}: correct {name!r}"
        raise ImportError(msg) from error

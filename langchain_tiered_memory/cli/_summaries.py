"""The memory that `tiered-memory replay --summarize` replays a conversation through."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.display import visible
from langchain_tiered_memory.types import TokenCounter
from langchain_tiered_memory.working.compaction.memory import SummaryMemory
from langchain_tiered_memory.working.compaction.settings import SummarizerGuard

if TYPE_CHECKING:
    import typer
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")

__all__ = ["EXTRACTIVE", "summary_memory"]

EXTRACTIVE: Final = "extractive"


def summary_memory(
    summarize: str,
    *,
    base_url: str | None,
    max_tokens: int,
    counter: TokenCounter,
    tools: Sequence[Any] | None,
) -> SummaryMemory:
    """The memory that takes the place of the trimmer; it tries again at once, since a replay has no pauses.

    Raises:
        BadParameter: The model cannot be had, or the budget is none.
    """
    if summarize != EXTRACTIVE:
        summarizer = _summarizer(summarize, base_url)
    elif base_url is not None:
        msg = "the extractive summarizer calls no server; pass --summarize MODEL"
        raise typer.BadParameter(msg, param_hint="--base-url")
    else:
        summarizer = None
    try:
        memory = SummaryMemory(
            summarizer,
            max_tokens=max_tokens,
            session_id="replay",
            token_counter=counter,
            tools=tools,
            guard=SummarizerGuard(backoff=0),
        )
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--max-tokens") from error
    memory.name = f"summary, {visible(summarize)}"
    return memory


def _summarizer(model: str, base_url: str | None) -> Any:  # noqa: ANN401  # a chat model of any provider
    settings = {} if base_url is None else {"base_url": base_url}
    if base_url is not None and model.startswith("openai:") and not os.environ.get("OPENAI_API_KEY"):
        settings["api_key"] = "none"  # a server of one's own asks for no key, its client does
    try:
        chat_models = import_optional("langchain.chat_models", needed_by=f"--summarize {model}")
        return chat_models.init_chat_model(model, **settings)
    except Exception as error:  # each provider's client refuses in its own way, and none is imported here
        msg = f"the model {model!r} cannot be had: {' '.join(str(error).split())} (no model: --summarize {EXTRACTIVE})"
        raise typer.BadParameter(msg, param_hint="--summarize") from error

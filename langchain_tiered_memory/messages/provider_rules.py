"""What each provider refuses about a message list: one table, read by validation and repair alike.

The rules are those of the providers' APIs as LangChain's integrations reach them. What an integration mends by itself
is no rule: langchain-mistralai, for one, rewrites call ids into the nine alphanumeric characters that Mistral wants.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

__all__ = ["PROVIDERS", "RULES", "FaultCode", "Provider", "Rule", "refused_by"]

Provider: TypeAlias = Literal["openai", "openai_responses", "anthropic", "google", "bedrock", "mistral"]
"""OpenAI's chat completions and Responses, Anthropic's Messages, Gemini, Amazon Bedrock's Converse, Mistral's chat."""
PROVIDERS: Final[tuple[Provider, ...]] = get_args(Provider)

FaultCode: TypeAlias = Literal[
    "orphan_result",
    "misplaced_result",
    "duplicate_result",
    "duplicate_call",
    "unanswered_call",
    "no_content",
    "unknown_role",
    "removal",
    "result_order",
    "text_before_result",
    "system_not_leading",
    "first_not_user",
    "empty_text",
    "thinking_cut",
    "call_after_assistant",
    "user_after_result",
]


class Rule(NamedTuple):
    """A rule, who enforces it, and whether every list is held to it.

    Attributes:
        providers: Who refuses a list that breaks the rule.
        portable: Whether it also counts where no provider is named, so that a list suits OpenAI, Anthropic and Google
            whichever of them the next request goes to.
        source: Where the rule stands.
    """

    providers: frozenset[Provider]
    portable: bool
    source: str


_ALL: Final = frozenset(PROVIDERS)
_TOOLS: Final = (
    "OpenAI 'Function calling' and the error 'tool_calls must be followed by tool messages'; Anthropic 'Handle tool "
    "calls' (tool_result right behind tool_use); Gemini 'Function calling' (as many responses as calls); Bedrock "
    "'ToolResultBlock'; mistral-common InstructRequestValidator ('Not the same number of function calls and responses')"
)
_CONVERTED: Final = "the integrations' message converters, which raise or send what the API refuses"

RULES: Final[dict[FaultCode, Rule]] = {
    "orphan_result": Rule(_ALL, portable=True, source=_TOOLS),
    "misplaced_result": Rule(_ALL, portable=True, source=_TOOLS),
    "duplicate_result": Rule(_ALL, portable=True, source=_TOOLS),
    "duplicate_call": Rule(_ALL, portable=True, source="Anthropic: '`tool_use` ids must be unique'; " + _TOOLS),
    "unanswered_call": Rule(_ALL, portable=True, source=_TOOLS),
    "no_content": Rule(_ALL, portable=True, source=_CONVERTED),
    "unknown_role": Rule(_ALL, portable=True, source=_CONVERTED),
    "removal": Rule(_ALL, portable=True, source="langgraph's RemoveMessage is an instruction; " + _CONVERTED),
    "result_order": Rule(
        frozenset({"google"}),
        portable=True,
        source="Gemini without ids tells the results of one function apart by their order ('Parallel calls')",
    ),
    "text_before_result": Rule(
        frozenset({"anthropic", "bedrock"}),
        portable=True,
        source="Anthropic 'Handle tool calls': tool_result blocks come first in the content, text after them",
    ),
    "system_not_leading": Rule(
        frozenset({"anthropic", "google", "bedrock", "mistral"}),
        portable=True,
        source="langchain-anthropic ('multiple non-consecutive system messages'), langchain-google-genai (drops them), "
        "langchain-aws, mistral-common ('Unexpected role system after role assistant')",
    ),
    "first_not_user": Rule(
        frozenset({"anthropic", "google", "bedrock"}),
        portable=True,
        source="Anthropic 'Messages' (the first message is the user's), Gemini ('function call turn comes immediately "
        "after a user turn'), Bedrock 'Converse' ('A conversation must start with a user message')",
    ),
    "empty_text": Rule(
        frozenset({"anthropic", "google", "bedrock", "mistral"}),
        portable=False,
        source="Anthropic ('text content blocks must be non-empty', and contain non-whitespace text), Gemini ('must "
        "have one initialized field'), Bedrock ('The text field in the ContentBlock object is blank'), mistral-common "
        "(an assistant message has either content or tool_calls)",
    ),
    "thinking_cut": Rule(
        frozenset({"anthropic", "bedrock"}),
        portable=False,
        source="Anthropic 'Extended thinking': in a tool loop the turn starts with its thinking blocks, unchanged",
    ),
    "call_after_assistant": Rule(
        frozenset({"google"}),
        portable=False,
        source="Gemini: 'function call turn comes immediately after a user turn or after a function response turn'",
    ),
    "user_after_result": Rule(
        frozenset({"mistral"}),
        portable=False,
        source="mistral-common before 1.13 ('Unexpected role user after role tool'), and servers built on it",
    ),
}


def refused_by(provider: Provider | None) -> frozenset[FaultCode]:
    """The rules that count for a provider, or those of a portable list where none is named.

    Raises:
        ValueError: The provider is not known.
    """
    if provider is None:
        return frozenset(code for code, rule in RULES.items() if rule.portable)
    if provider not in PROVIDERS:
        msg = f"provider={provider!r} is not known: use {', '.join(map(repr, PROVIDERS))}, or None for a portable list"
        raise ValueError(msg)
    return frozenset(code for code, rule in RULES.items() if provider in rule.providers)

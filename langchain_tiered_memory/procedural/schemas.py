"""Tools as procedures: one canonical schema for each, whatever form it was given in."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from langchain_tiered_memory.procedural.records import Procedure, ProcedureError, Source

__all__ = ["tool_source", "tool_sources"]

# A mapping with one of these describes a function; another one with a `type` of its own is a provider's tool.
_FUNCTION_KEYS: Final = frozenset(("function", "input_schema", "parameters", "toolSpec", "properties"))


def tool_sources(tools: Iterable[Any], origin: str, version: str = "") -> list[Source]:
    """Tools as procedures.

    Args:
        tools: Tool objects, functions, pydantic classes, or schemas in the form of OpenAI, Anthropic or Bedrock.
        origin: Where they come from, for errors.
        version: Their version, where they bring none.

    Raises:
        ProcedureError: Something is no tool; names it and what langchain_core says of it.
    """
    if isinstance(tools, str | Mapping) or not isinstance(tools, Iterable):
        msg = f"{origin}: tools are a list, got {type(tools).__name__}: put it into a list"
        raise ProcedureError(msg)
    return [tool_source(tool, f"{origin}[{index}]", version) for index, tool in enumerate(tools)]


def tool_source(tool: Any, origin: str, version: str = "") -> Source:  # noqa: ANN401  # whatever may be bound
    """One tool as a procedure."""
    from langchain_core.tools import BaseTool  # noqa: PLC0415  # heavy, and only tools need it

    try:
        given = copy.deepcopy(dict(tool)) if isinstance(tool, Mapping) else tool
    except RecursionError as error:
        raise _too_deep(origin) from error
    if isinstance(given, dict) and not _is_a_providers_own(given):
        version = given.pop("version", version)
    schema = _schema(given, origin)
    function = schema.get("function")
    named = function if isinstance(function, Mapping) else schema
    name = named.get("name") or schema.get("type")
    try:
        text = json.dumps(schema, ensure_ascii=False, sort_keys=True, allow_nan=False)
        procedure = Procedure(str(name), "tool", text, version)
    except (TypeError, ValueError) as error:
        msg = f"{origin}: the schema of the tool {name!r} cannot be used: {error}"
        raise ProcedureError(msg) from error
    except RecursionError as error:
        raise _too_deep(origin) from error
    runs = isinstance(given, BaseTool) or (callable(given) and not isinstance(given, type))
    return Source(procedure, origin, given, runs)


def _schema(tool: Any, origin: str) -> dict[str, Any]:  # noqa: ANN401  # as above
    from langchain_core.utils.function_calling import (  # noqa: PLC0415  # as above
        convert_to_openai_function,
        convert_to_openai_tool,
    )

    if isinstance(tool, dict) and _is_a_providers_own(tool):
        return tool
    try:
        if isinstance(tool, dict) and tool.get("type") == "function" and "function" not in tool:
            # OpenAI's Responses API writes a function flat; the same tool must be the same procedure.
            return {"type": "function", "function": convert_to_openai_function(tool)}
        return convert_to_openai_tool(tool)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        reason = " ".join(str(error).split())
        msg = (
            f"{origin}: {tool!r:.80} is no tool that a model can be given: {reason:.300}. Give a tool object, a "
            'function with type hints and a docstring, or {"name": ..., "description": ..., "parameters": {...}}'
        )
        raise ProcedureError(msg) from error
    except RecursionError as error:
        raise _too_deep(origin) from error


def _too_deep(origin: str) -> ProcedureError:
    return ProcedureError(f"{origin}: the schema is nested too deep, or contains itself: make it flatter")


def _is_a_providers_own(tool: Mapping[str, Any]) -> bool:
    return tool.get("type", "function") != "function" and _FUNCTION_KEYS.isdisjoint(tool)

"""What tool schemas cost in OpenAI's chat format.

The formula is that of the cookbook's "How to count tokens with tiktoken", section on tool calls, which covers one flat
level of properties; objects inside objects and lists of objects are charged by the same rule again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = ["ToolFormat", "tool_parts", "tool_tokens"]

JSON: TypeAlias = Any
_DEEPEST: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFormat:
    """The constants of the cookbook's formula; `function` is 7 for o200k models and 10 for those before."""

    function: int = 7
    properties: int = 3
    property: int = 3
    enum: int = -3
    enum_item: int = 3
    end: int = 12


def tool_tokens(tool: Any, count_text: Callable[[str], int], form: ToolFormat) -> int:  # noqa: ANN401 - see below
    """Tokens of one tool (an object, function, pydantic class or schema) as OpenAI charges it, without `form.end`."""
    from langchain_core.utils.function_calling import convert_to_openai_tool  # noqa: PLC0415 - heavy, rarely needed

    schema = tool if _is_function(tool) else convert_to_openai_tool(tool)
    function = schema.get("function")
    if not isinstance(function, Mapping):  # a provider's own tool, e.g. {"type": "web_search"}
        return form.function + count_text(json.dumps(schema, ensure_ascii=False, default=str))
    description = str(function.get("description") or "").removesuffix(".")
    tokens = form.function + count_text(f"{function.get('name', '')}:{description}")
    parameters = function.get("parameters")
    if isinstance(parameters, Mapping):
        tokens += _Schema(parameters, count_text, form).properties(parameters, 0)
    return tokens


def tool_parts(tool: Any) -> tuple[Any, ...] | None:  # noqa: ANN401 - whatever may be bound as a tool
    """What a tool object's schema is derived from, or `None` for a schema or function, which says it all itself."""
    from langchain_core.tools import BaseTool  # noqa: PLC0415 - heavy, rarely needed

    return (tool, tool.name, tool.description, tool.args_schema) if isinstance(tool, BaseTool) else None


def _is_function(tool: Any) -> bool:  # noqa: ANN401 - whatever may be bound as a tool
    return isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("function"), dict)


class _Schema:
    """Walks one JSON schema, following references into its own definitions."""

    def __init__(self, root: Mapping[str, JSON], count_text: Callable[[str], int], form: ToolFormat) -> None:
        self._root = root
        self._count_text = count_text
        self._form = form

    def properties(self, schema: JSON, depth: int) -> int:
        """Tokens of an object's properties."""
        known = schema.get("properties") if isinstance(schema, Mapping) else None
        if not isinstance(known, Mapping) or not known or depth > _DEEPEST:
            return 0
        return self._form.properties + sum(self._property(name, one, depth) for name, one in known.items())

    def _property(self, name: str, schema: JSON, depth: int) -> int:
        form = self._form
        one = self._resolved(schema)
        description = str(one.get("description") or "").removesuffix(".")
        tokens = form.property + self._count_text(f"{name}:{self._type(one)}:{description}")
        if isinstance(one.get("enum"), (list, tuple)):
            tokens += form.enum
            tokens += sum(form.enum_item + self._count_text(str(item)) for item in one["enum"])
        return tokens + sum(self.properties(inner, depth + 1) for inner in self._inner(one))

    def _type(self, schema: Mapping[str, JSON]) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            return "|".join(map(str, kind))
        if kind is None:
            choices = [self._type(self._resolved(choice)) for choice in _choices(schema)]
            return "|".join(choices) or "any"
        return str(kind)

    def _inner(self, schema: Mapping[str, JSON]) -> list[Mapping[str, JSON]]:
        """The schemas below a property that may have properties of their own."""
        nested = [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), Mapping)]
        return [schema, *map(self._resolved, [*nested, *_choices(schema)])]

    def _resolved(self, schema: JSON) -> Mapping[str, JSON]:
        """The schema that a reference names, under what stands beside the reference."""
        seen: set[str] = set()
        while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str) and schema["$ref"] not in seen:
            reference = schema["$ref"]
            seen.add(reference)
            target: JSON = self._root
            for step in reference.removeprefix("#/").split("/"):
                target = target.get(step) if isinstance(target, Mapping) else None
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**target, **beside} if isinstance(target, Mapping) else beside
        return schema if isinstance(schema, Mapping) else {}


def _choices(schema: Mapping[str, JSON]) -> list[JSON]:
    return [choice for key in ("anyOf", "oneOf", "allOf") for choice in schema.get(key) or ()]

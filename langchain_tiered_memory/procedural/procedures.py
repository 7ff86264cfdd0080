"""Procedural memory: what an agent always has to know, loaded once and injected whole."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import astuple
from typing import Any, Final, Self

from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig

from langchain_tiered_memory.errors import BudgetExceededError
from langchain_tiered_memory.procedural.files import MAX_FILE_BYTES, PathLike, file_sources
from langchain_tiered_memory.procedural.injection import MessagesInput, as_messages, in_front_of, injected
from langchain_tiered_memory.procedural.records import (
    KINDS,
    Procedure,
    ProcedureChange,
    ProcedureError,
    Source,
    Texts,
    changes,
    merged,
    text_sources,
)
from langchain_tiered_memory.procedural.schemas import tool_sources

__all__ = ["ProceduralMemory", "Procedure", "ProcedureChange", "ProcedureError"]

_LARGEST_SHOWN: Final = 3
_DIGITS: Final = re.compile(r"(\d+)")


class ProceduralMemory(Runnable[MessagesInput, list[BaseMessage]]):
    """Standing rules, workflows and tool schemas: loaded at start, whole in every prompt, never searched or evicted.

    What an agent is told of how to do its work is not a thing to be recalled when it seems similar, or dropped when it
    gets long: half a rule is a wrong rule. So all of it goes in, to the byte the same at each call, and too much of it
    is an error at the start. A new release is a new object; two that contradict each other are never loaded as one.

    ```python
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_tiered_memory import ProceduralMemory

    procedures = ProceduralMemory(system="Only GET requests.", workflows={"refund": "1. Look up the order {id}."})
    system, user = procedures.invoke([SystemMessage("You are Ada."), HumanMessage("Hi")])
    assert system.text.startswith("Only GET requests.") and system.text.endswith("You are Ada.")
    ```

    As a Runnable it takes what a chat model takes, and gives messages whose leading system message begins with the
    procedures; `procedures | model.bind_tools(procedures.tools)` is a chain. An agent takes the same two parts:
    `create_agent(model, procedures.tools, system_prompt=procedures.system_message("You are Ada."))`.

    Args:
        system: Standing rules.
        tools: Tool objects, functions, pydantic classes or schemas, which go with the request as tools.
        workflows: Ways to do something.
        max_tokens: The most that all of it may take; no limit if not given.
        token_counter: Counts for `max_tokens`, anything that `trim_messages` takes.
        tools_as_text: Write the tools' schemas into the prompt too, for a model that takes no tools by themselves.

    Raises:
        ProcedureError: Two procedures of one name differ, or one cannot be used; names both origins.
        BudgetExceededError: It takes more than `max_tokens`.
    """

    def __init__(
        self,
        system: Texts = (),
        *,
        tools: Iterable[Any] = (),
        workflows: Texts = (),
        max_tokens: int | None = None,
        token_counter: Any = None,  # noqa: ANN401  # anything as_counter takes
        tools_as_text: bool = False,
    ) -> None:
        sources = [*text_sources(system, "system"), *text_sources(workflows, "workflow")]
        sources += tool_sources(tools, "tools")
        self._load(sources, tools_as_text=tools_as_text)
        if max_tokens is not None:
            self.check_budget(max_tokens, token_counter)

    @classmethod
    def from_files(
        cls,
        paths: PathLike | Iterable[PathLike],
        *,
        system: Texts = (),
        tools: Iterable[Any] = (),
        workflows: Texts = (),
        max_tokens: int | None = None,
        token_counter: Any = None,  # noqa: ANN401  # as above
        tools_as_text: bool = False,
        max_file_bytes: int = MAX_FILE_BYTES,
    ) -> Self:
        """Load procedures from files, or from all files in a folder; in whichever order, the result is the same.

        A `.md` or `.txt` file is one text, with front matter for `name`, `kind` and `version` where they do not follow
        from its place: a file in a folder `workflows` is a workflow, any other a standing rule. A `.json` or `.toml`
        file holds tool schemas, or lists of `tools` and `procedures`.

        Args:
            paths: A file, a folder, or several of them.
            system: Further standing rules.
            tools: Further tools; an object whose schema equals one in a file is the same tool, and can be run.
            workflows: Further workflows.
            max_tokens: As for the class.
            token_counter: As for the class.
            tools_as_text: As for the class.
            max_file_bytes: A file that is larger is an error, and is not read.

        Raises:
            ProcedureError: A file cannot be read or used, or contradicts another; names the file and the repair.
            BudgetExceededError: It takes more than `max_tokens`.
        """
        memory = cls(system, tools=tools, workflows=workflows)
        memory._load([*memory._sources, *file_sources(paths, max_file_bytes)], tools_as_text=tools_as_text)
        if max_tokens is not None:
            memory.check_budget(max_tokens, token_counter)
        return memory

    def _load(self, sources: list[Source], *, tools_as_text: bool) -> None:
        found = merged(sources)
        ordered = sorted(found.values(), key=lambda source: _place(source.procedure))
        self._sources = tuple(ordered)
        self._procedures = tuple(source.procedure for source in ordered)
        self._tools_as_text = tools_as_text
        shown = [one for one in self._procedures if one.kind != "tool" or tools_as_text]
        self._text = "\n\n".join(map(_rendered, shown))

    # --- what it holds ------------------------------------------------------------------------------------------------

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        """All of them, in the order in which they stand in the prompt: by kind, then by name, numbers as numbers."""
        return self._procedures

    @property
    def tools(self) -> list[Any]:
        """The tools to bind, by name: objects as they were given, schemas as copies."""
        tools = [source.tool for source in self._sources if source.procedure.kind == "tool"]
        return [copy.deepcopy(tool) if isinstance(tool, dict) else tool for tool in tools]

    @property
    def versions(self) -> dict[str, str]:
        """The version of each procedure by name."""
        return {procedure.name: procedure.version for procedure in sorted(self._procedures, key=lambda one: one.name)}

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits that stand for every name, kind, text and version: equal for equal releases only."""
        parts = json.dumps([astuple(procedure) for procedure in self._procedures])
        return hashlib.sha256(parts.encode()).hexdigest()

    def diff(self, before: ProceduralMemory) -> list[ProcedureChange]:
        """What changed since another release, by name; `[]` when nothing did."""
        return changes(before._procedures, self._procedures)

    def render(self) -> str:
        """The text that is injected: the same to the byte at each call, `""` when there is none."""
        return self._text

    def __repr__(self) -> str:
        counts = ", ".join(f"{kind}={sum(one.kind == kind for one in self._procedures)}" for kind in KINDS)
        return f"{type(self).__name__}({counts}, fingerprint={self.fingerprint[:12]!r})"

    # --- what it costs ------------------------------------------------------------------------------------------------

    def tokens(self, counter: Any = None) -> int:  # noqa: ANN401  # anything as_counter takes
        """Tokens that go with every request: the system message, and the tool schemas as a provider charges them.

        Args:
            counter: Anything that `trim_messages` takes as `token_counter`.
        """
        text, tools = self._parts(counter)
        return text + tools

    def check_budget(self, max_tokens: int, counter: Any = None) -> int:  # noqa: ANN401  # as above
        """The tokens that it takes, once they are seen to fit. Nothing is ever cut.

        Raises:
            BudgetExceededError: They do not fit; shows the arithmetic and what takes the most.
            ValueError: `max_tokens` is no number of tokens.
        """
        limit: Any = max_tokens
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            msg = f"max_tokens={max_tokens!r} is no budget: give a number of tokens from 0 up"
            raise ValueError(msg)
        text, tools = self._parts(counter)
        needed = text + tools
        if needed <= limit:
            return needed
        count = sum(procedure.kind == "tool" for procedure in self._procedures)
        schemas = "1 tool schema" if count == 1 else f"{count} tool schemas"
        msg = (
            f"the procedures take {needed} tokens ({text} for their text + {tools} for {schemas}), "
            f"{needed - limit} more than the limit of {limit}. They are never cut: raise max_tokens to {needed}, or "
            f"shorten some; the largest: {', '.join(self._largest(counter))}"
        )
        raise BudgetExceededError(msg, needed=needed, limit=limit)

    def _parts(self, counter: Any) -> tuple[int, int]:  # noqa: ANN401  # as above
        """Tokens of the system message, and of the tools that go beside it."""
        from langchain_tiered_memory.messages.tokens import ListCounter, as_counter  # noqa: PLC0415  # tiktoken

        resolved = as_counter(counter)
        tools = [] if self._tools_as_text else self.tools
        message = self.system_message()
        if isinstance(resolved, ListCounter):
            text = resolved.count([message], tools=[])
            return text if self._text else 0, resolved.count([message], tools=tools) - text if tools else 0
        return resolved.count_message(message) if self._text else 0, resolved.count_tools(tools)

    def _largest(self, counter: Any) -> list[str]:  # noqa: ANN401  # as above
        from langchain_tiered_memory.messages.tokens import as_counter  # noqa: PLC0415  # as above

        resolved = as_counter(counter)
        sizes = [
            (resolved.count_text(source.procedure.text), source.procedure)
            if source.procedure.kind != "tool" or self._tools_as_text
            else (resolved.count_tools([source.tool]), source.procedure)
            for source in self._sources
        ]
        sizes.sort(key=lambda pair: -pair[0])
        return [f"{one.kind} {one.name!r} {size}" for size, one in sizes[:_LARGEST_SHOWN]]

    # --- where it goes ------------------------------------------------------------------------------------------------

    def system_message(self, base: str | SystemMessage | None = None) -> SystemMessage:
        """The procedures as a system message, in front of what a prompt says beside them.

        In front, because they change least: what follows may differ from call to call, and a provider's cache of the
        prompt holds as far as it is the same.

        Args:
            base: The prompt of the application. It is not changed; blocks, id and extras of a message are kept.

        Returns:
            The message; `base` itself when it begins with these procedures already, or there are none.
        """
        if base is None:
            return SystemMessage(self._text)
        message: SystemMessage = in_front_of(self._text, SystemMessage(base) if isinstance(base, str) else base)
        return message

    def invoke(
        self,
        input: MessagesInput,  # noqa: A002  # Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # a Runnable takes them
    ) -> list[BaseMessage]:
        """The messages, with the procedures at the beginning of the one that leads them.

        A system message that leads is merged with them; where none does, or a summary does, they become one of their
        own in front. What was given is not changed, and messages that have them already come back as they are.

        Args:
            input: What a chat model takes.
            config: The run's configuration.
            **kwargs: Not used.
        """
        return self._call_with_config(self._inject, input, config)

    async def ainvoke(
        self,
        input: MessagesInput,  # noqa: A002  # Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # a Runnable takes them
    ) -> list[BaseMessage]:
        """`invoke`, awaited."""

        async def inject(given: MessagesInput) -> list[BaseMessage]:
            return self._inject(given)

        return await self._acall_with_config(inject, input, config)

    def _inject(self, given: MessagesInput) -> list[BaseMessage]:
        return injected(self._text, as_messages(given))


def _place(procedure: Procedure) -> tuple[int, list[tuple[bool, int, str]], str]:
    """Where a procedure stands, whenever it was loaded: "10" behind "9", as whoever numbers files means it."""
    parts = _DIGITS.split(procedure.name)
    natural = [(index % 2 == 0, int(part) if index % 2 else 0, part) for index, part in enumerate(parts)]
    return KINDS.index(procedure.kind), natural, procedure.name


def _rendered(procedure: Procedure) -> str:
    if procedure.kind == "system":
        return procedure.text
    return f'<{procedure.kind} name="{procedure.name}">\n{procedure.text}\n</{procedure.kind}>'

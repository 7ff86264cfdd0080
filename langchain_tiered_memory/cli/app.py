"""The commands of `tiered-memory`, each with its example; importing them imports neither LangChain nor a store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final

import typer
import typer.core

from langchain_tiered_memory._version import __version__
from langchain_tiered_memory.cli import conversation_commands, memory_commands
from langchain_tiered_memory.cli.chat import chat
from langchain_tiered_memory.cli.evaluation_commands import evaluate

__all__ = ["app"]


class _Group(typer.core.TyperGroup):
    """Typer converts values with pydantic, whose import takes longer than all else here, but leaves a bool as it is."""

    def get_help_option(self, ctx: Any) -> Any:  # noqa: ANN401  # typer's own classes are private
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


class _Command(typer.core.TyperCommand):
    """Says what is missing before any value is converted, for the same reason."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  # as above
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        missing = [one for one in self.get_params(ctx) if one.required and not isinstance(given.get(one.name), str)]
        if missing and not given.get("help"):
            kind = missing[0].param_type_name
            ctx.fail(f"Missing {kind} '{missing[0].opts[0] if kind == 'option' else missing[0].metavar}'.")
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group,
    name="tiered-memory",
    help="Memory for LangChain agents under a token budget, tried on your own conversations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COMMANDS: Final[dict[str, tuple[Callable[..., None], str]]] = {
    "replay": (conversation_commands.replay, "chat.json --max-tokens 2000 --summarize extractive --html replay.html"),
    "count": (conversation_commands.count, "chat.json --model gpt-4o"),
    "validate": (conversation_commands.validate, "chat.json --provider anthropic"),
    "eval": (evaluate, "synthetic --compare --fail-under recall=0.8,contamination=0.1"),
    "chat": (chat, "--model openai:gpt-4o-mini --user ada --session trip"),
    "recall": (memory_commands.recall, '"Where does Maria live?" --user ada -k 3'),
    "facts": (memory_commands.facts, "--user ada --json"),
    "sessions": (memory_commands.sessions, "--user ada"),
    "inspect": (memory_commands.inspect, "trip --user ada"),
    "export": (memory_commands.export, "--user ada --out ada.jsonl"),
    "erase": (memory_commands.erase, "--user ada --session trip"),
}

for _name, (_command, _example) in _COMMANDS.items():
    _said = (_command.__doc__ or "").partition("\n")[0]  # given as a short help it is not cut in the list of commands
    app.command(_name, cls=_Command, short_help=_said, epilog=f"Example: tiered-memory {_name} {_example}")(_command)


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # what typer calls
    if wanted:
        typer.echo(f"tiered-memory {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass

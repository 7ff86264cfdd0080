"""What the `tiered-memory` command can do: replay, count and validate a transcript."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, cast

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._chat import chat_command
from langchain_tiered_memory.cli._evaluation import eval_command
from langchain_tiered_memory.cli._memory_commands import add_memory_commands
from langchain_tiered_memory.cli._places import BAD_INPUT, FAILED, stop
from langchain_tiered_memory.cli._publishing import check_outputs, publish
from langchain_tiered_memory.cli._summaries import EXTRACTIVE, summary_memory
from langchain_tiered_memory.display import compaction_renderable, counted, replay_page, replay_renderable, visible
from langchain_tiered_memory.errors import TieredMemoryError, TranscriptError
from langchain_tiered_memory.evaluation import ReplayCall, ReplayReport, model_calls, replay
from langchain_tiered_memory.messages.protocol import is_user_turn, kind_of
from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter
from langchain_tiered_memory.messages.transcripts.conversation import (
    Transcript,
    TranscriptFormat,
    parse_transcript,
    read_transcript,
)
from langchain_tiered_memory.messages.units import Provider, validate_messages

if TYPE_CHECKING:
    import typer
    from rich.console import Console
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")
    Console = import_optional("rich.console", needed_by="tiered-memory").Console

__all__ = ["app"]

_ESTIMATE = "estimate"
_LONG = 200  # model calls from which a replay takes long enough for a progress bar


class Side(StrEnum):
    """Which end of a conversation is kept."""

    last = "last"
    first = "first"


class Format(StrEnum):
    """What a transcript is read as."""

    auto = "auto"
    langchain = "langchain"
    openai = "openai"
    plain = "plain"
    chatgpt = "chatgpt"
    locomo = "locomo"


class Rules(StrEnum):
    """Whose rules a conversation is held against."""

    every = "all"
    openai = "openai"
    openai_responses = "openai_responses"
    anthropic = "anthropic"
    google = "google"
    bedrock = "bedrock"
    mistral = "mistral"


app = typer.Typer(
    name="tiered-memory",
    help="Memory for LangChain agents under a token budget, tried on your own conversations.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_File = Annotated[str, typer.Argument(metavar="TRANSCRIPT", help="A transcript, or - to read it from stdin.")]
_Model = Annotated[
    str, typer.Option(help='Whose tokens to count: an OpenAI model, a tiktoken encoding, or "estimate".')
]
_Conversation = Annotated[
    str | None, typer.Option(metavar="N|ID|TITLE", help="Which conversation of a file of several; N counts from 0.")
]
_Format = Annotated[Format, typer.Option("--format", help="Read the transcript as this.")]


def _show_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"tiered-memory {version('langchain-tiered-memory')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=lambda wanted: _show_version(wanted=wanted), is_eager=True, help="Show the version."
        ),
    ] = False,
) -> None:
    pass


@app.command(
    "replay",
    epilog="Example: tiered-memory replay chat.json --max-tokens 2000 --summarize extractive --html replay.html",
)
def replay_command(
    transcript: _File,
    *,
    max_tokens: Annotated[int, typer.Option(min=1, help="The budget of a model call, in tokens.")],
    model: _Model = "gpt-4o",
    strategy: Annotated[Side, typer.Option(help="Which end of the history is kept.")] = Side.last,
    include_system: Annotated[bool, typer.Option(help="Keep leading system messages in any case.")] = True,
    summarize: Annotated[
        str | None,
        typer.Option(
            metavar="extractive|MODEL",
            help="Summarise what leaves the window: without a model, or with one such as openai:gpt-4o-mini.",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where MODEL is served, for a server that speaks its protocol.")
    ] = None,
    json_out: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write all figures as JSON; - for stdout.")
    ] = None,
    html_out: Annotated[
        str | None, typer.Option("--html", metavar="OUT", help="Write a page with charts; - for stdout.")
    ] = None,
    conversation: _Conversation = None,
    read_as: _Format = Format.auto,
) -> None:
    """Replay a conversation, model call by model call, inside a token budget.

    Shows the tokens of the full history against those sent, what left the window, what a provider would refuse
    (nothing), how much a prompt cache can serve, and the time it took. With --summarize, a summary stands for what left
    the window, and each compaction is shown. Exit status 1: a call cannot be brought under the budget, something sent
    is not valid, or a compaction failed.
    """
    with _one_line_errors():
        check_outputs(json_out, html_out)
        found = _read(transcript, conversation, read_as)
        counter = _counter(model)
        tools = found.metadata.get("tools")
        memory = None
        if summarize is not None:
            if strategy is Side.first or not include_system:
                msg = (
                    "a summary stands for the oldest messages, so --strategy first and --no-include-system do not apply"
                )
                raise typer.BadParameter(msg, param_hint="--summarize")
            memory = summary_memory(summarize, base_url=base_url, max_tokens=max_tokens, counter=counter, tools=tools)
        elif base_url is not None:
            msg = "it says where the model of --summarize is served; pass --summarize MODEL too"
            raise typer.BadParameter(msg, param_hint="--base-url")
        with _progress(len(model_calls(found.messages)), slow=summarize not in {None, EXTRACTIVE}) as advance:
            report = replay(
                found.messages,
                max_tokens=max_tokens,
                token_counter=counter,
                strategy=strategy.value,
                include_system=include_system,
                trimmer=memory,
                tools=tools,
                on_call=advance,
            )
        _publish(report, found, json_out, html_out)
    if report.fault_count or report.over_budget or report.failures:
        raise typer.Exit(FAILED)


@app.command(epilog="Example: tiered-memory count chat.json --model gpt-4o")
def count(
    transcript: _File, *, model: _Model = "gpt-4o", conversation: _Conversation = None, read_as: _Format = Format.auto
) -> None:
    """Count the tokens of a conversation, by who speaks."""
    with _one_line_errors():
        found = _read(transcript, conversation, read_as)
        counter = _counter(model)
        tokens: dict[str, list[int]] = {}
        for message in found.messages:
            tokens.setdefault(kind_of(message), []).append(counter.count_message(message))
        tools = counter.count_tools(found.metadata.get("tools") or ())
    for kind, counts in tokens.items():
        typer.echo(f"{kind:<10}{len(counts):>8,} messages{sum(counts):>12,} tokens")
    if tools:
        typer.echo(f"{'tools':<10}{'':>17}{tools:>12,} tokens")
    whole = counter.request_overhead + tools + sum(map(sum, tokens.values()))
    rounds = counted(sum(map(is_user_turn, found.messages)), "round")
    typer.echo(f"{'request':<10}{len(found):>8,} messages{whole:>12,} tokens, {rounds}, counted by {counter!r}")


@app.command(epilog="Example: tiered-memory validate chat.json --provider anthropic")
def validate(
    transcript: _File,
    *,
    provider: Annotated[Rules, typer.Option(help="Whose rules count.")] = Rules.every,
    conversation: _Conversation = None,
    read_as: _Format = Format.auto,
) -> None:
    """List what a provider would refuse about a conversation; exit status 1 if there is anything."""
    with _one_line_errors():
        found = _read(transcript, conversation, read_as)
    rules = None if provider is Rules.every else cast("Provider", provider.value)
    faults = validate_messages(found.messages, rules)
    for fault in faults:
        named = f" (id {visible(fault.message_id)})" if fault.message_id else ""
        typer.echo(f"message {fault.index}{named}: {fault.code}: {visible(fault.detail)}")
    how_many = counted(len(faults), "fault") if faults else "no faults"
    typer.echo(f"{how_many} in {counted(len(found), 'message')} of the format {found.format}")
    if faults:
        raise typer.Exit(FAILED)


app.command("eval", epilog="Example: tiered-memory eval synthetic --compare --fail-under recall=0.8,contamination=0.1")(
    eval_command
)
app.command("chat", epilog="Example: tiered-memory chat --model openai:gpt-4o-mini --user ada --session trip")(
    chat_command
)
add_memory_commands(app)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn what users can cause into one line on stderr and an exit status."""
    try:
        yield
    except TranscriptError as error:
        stop(str(error), BAD_INPUT)
    except TieredMemoryError as error:
        stop(str(error), FAILED)


def _read(path: str, conversation: str | None, read_as: Format) -> Transcript:
    wanted = None if read_as is Format.auto else cast("TranscriptFormat", read_as.value)
    if path == "-":
        return parse_transcript(sys.stdin.buffer.read(), conversation, format=wanted, source="<stdin>")
    return read_transcript(path, conversation, format=wanted)


def _counter(model: str) -> TiktokenCounter | EstimatingCounter:
    if model == _ESTIMATE:
        return EstimatingCounter()
    try:
        return TiktokenCounter(model)
    except ValueError as error:
        msg = f"{error} Here: --model {_ESTIMATE}."
        raise typer.BadParameter(msg, param_hint="--model") from error


@contextmanager
def _progress(calls: int, *, slow: bool) -> Iterator[Any]:
    """Show how far a long replay is, or one that waits for a model, on stderr and only if somebody looks."""
    console = Console(stderr=True)
    if not (slow or calls >= _LONG) or not console.is_terminal:
        yield None
        return
    progress = import_optional("rich.progress", needed_by="tiered-memory")
    with progress.Progress(console=console, transient=True) as bar:
        task = bar.add_task("replaying", total=calls)

        def advance(_: ReplayCall) -> None:
            bar.advance(task)

        yield advance


def _publish(report: ReplayReport, found: Transcript, json_out: str | None, html_out: str | None) -> None:
    name = "stdin" if found.source == "<stdin>" else found.source
    title = visible(f"{name}: {found.title or found.id}" if found.title or found.id else name)

    def table() -> None:
        console = Console()
        for call, compaction in report.compactions:
            where = f"before call {call.number:,}, round {call.round:,}"
            console.print(compaction_renderable(compaction, title=where))
        console.print(replay_renderable(report, title=title))

    publish(
        json_out,
        html_out,
        table=table,
        page=lambda: replay_page(report, title=title),
        figures=lambda: {"transcript": name, "format": found.format, "conversation": found.id, **report.to_dict()},
    )

"""The commands over a transcript: replay, count and validate."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from langchain_tiered_memory._texts import counted, visible
from langchain_tiered_memory.cli import interruptible
from langchain_tiered_memory.cli.console import FAILED, check_outputs, one_line_errors, publish, stop
from langchain_tiered_memory.errors import BudgetExceededError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from langchain_tiered_memory.evaluation import ReplayCall, ReplayReport
    from langchain_tiered_memory.messages.repair import Provider
    from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter
    from langchain_tiered_memory.messages.transcripts.conversation import Transcript, TranscriptFormat
    from langchain_tiered_memory.working.compaction.memory import SummaryMemory

__all__ = ["Format", "Rules", "count", "replay", "validate"]

_ESTIMATE: Final = "estimate"
_EXTRACTIVE: Final = "extractive"
_LONG: Final = 200
"""Model calls from which a replay takes long enough for a progress bar."""


class Side(StrEnum):
    """Which end of a conversation is kept."""

    last = "last"
    first = "first"


class Format(StrEnum):
    """What a transcript is read as."""

    auto = "auto"
    langchain = "langchain"
    chatgpt = "chatgpt"
    claude = "claude"
    sharegpt = "sharegpt"
    gemini = "gemini"
    anthropic = "anthropic"
    responses = "responses"
    openai = "openai"
    plain = "plain"


class Rules(StrEnum):
    """Whose rules a conversation is held against."""

    every = "all"
    openai = "openai"
    anthropic = "anthropic"
    google = "google"
    openai_responses = "openai_responses"
    bedrock = "bedrock"
    mistral = "mistral"


_File = Annotated[str, typer.Argument(metavar="TRANSCRIPT", help="A transcript, or - to read it from stdin.")]
_Model = Annotated[
    str, typer.Option(help='Whose tokens to count: an OpenAI model, a tiktoken encoding, or "estimate".')
]
_Conversation = Annotated[
    str | None, typer.Option(metavar="N|ID|TITLE", help="Which conversation of a file of several; N counts from 0.")
]
_Format = Annotated[Format, typer.Option("--format", help="Read the transcript as this.")]


def replay(
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
    with one_line_errors():
        check_outputs(json_out, html_out)
        _check_summary(summarize, base_url, applies=strategy is Side.last and include_system)
        from langchain_tiered_memory import evaluation

        found = _read(transcript, conversation, read_as)
        counter = _counter(model)
        memory = None if summarize is None else _summary(summarize, base_url, max_tokens, counter, found)
        long = len(evaluation.model_calls(found.messages)) >= _LONG or summarize not in {None, _EXTRACTIVE}
        interruptible()
        try:
            with _progress(len(evaluation.model_calls(found.messages)), long=long) as advance:
                report = evaluation.replay(
                    found.messages,
                    max_tokens=max_tokens,
                    token_counter=counter,
                    strategy=strategy.value,
                    include_system=include_system,
                    trimmer=memory,
                    tools=found.metadata.get("tools"),
                    on_call=advance,
                )
        except BudgetExceededError as error:  # what the replay is to find out
            stop(str(error), FAILED)
        _publish(report, found, json_out, html_out)
        if report.fault_count or report.over_budget or report.failures:
            raise typer.Exit(FAILED)


def count(
    transcript: _File, *, model: _Model = "gpt-4o", conversation: _Conversation = None, read_as: _Format = Format.auto
) -> None:
    """Count the tokens of a conversation, by who speaks."""
    with one_line_errors():
        found = _read(transcript, conversation, read_as)
        from langchain_tiered_memory.messages.protocol import is_user_turn, kind_of

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


def validate(
    transcript: _File,
    *,
    provider: Annotated[Rules, typer.Option(help="Whose rules count.")] = Rules.every,
    conversation: _Conversation = None,
    read_as: _Format = Format.auto,
) -> None:
    """List what a provider would refuse about a conversation; exit status 1 if there is anything."""
    with one_line_errors():
        found = _read(transcript, conversation, read_as)
        from langchain_tiered_memory.messages.repair import validate_messages

        faults = validate_messages(
            found.messages, None if provider is Rules.every else cast("Provider", provider.value)
        )
        for fault in faults:
            named = f" (id {visible(fault.message_id)})" if fault.message_id else ""
            typer.echo(f"message {fault.index}{named}: {fault.code}: {visible(fault.detail)}")
        how_many = counted(len(faults), "fault") if faults else "no faults"
        typer.echo(f"{how_many} in {counted(len(found), 'message')} of the format {found.format}")
        if faults:
            raise typer.Exit(FAILED)


def _read(path: str, conversation: str | None, read_as: Format) -> Transcript:
    from langchain_tiered_memory.messages.transcripts.conversation import parse_transcript, read_transcript

    wanted = None if read_as is Format.auto else cast("TranscriptFormat", read_as.value)
    if path == "-":
        return parse_transcript(sys.stdin.buffer.read(), conversation, format=wanted, source="<stdin>")
    return read_transcript(path, conversation, format=wanted)


def _counter(model: str) -> TiktokenCounter | EstimatingCounter:
    from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter

    if model == _ESTIMATE:
        return EstimatingCounter()
    try:
        return TiktokenCounter(model)
    except ValueError as error:
        msg = f"{error} Here: --model {_ESTIMATE}."
        raise typer.BadParameter(msg, param_hint="--model") from error


def _check_summary(summarize: str | None, base_url: str | None, *, applies: bool) -> None:
    """Refuse options that contradict one another."""
    if summarize is None and base_url is not None:
        msg = "it says where the model of --summarize is served; pass --summarize MODEL too"
        raise typer.BadParameter(msg, param_hint="--base-url")
    if summarize == _EXTRACTIVE and base_url is not None:
        msg = "the extractive summarizer calls no server; pass --summarize MODEL"
        raise typer.BadParameter(msg, param_hint="--base-url")
    if summarize is not None and not applies:
        msg = "a summary stands for the oldest messages, so --strategy first and --no-include-system do not apply"
        raise typer.BadParameter(msg, param_hint="--summarize")


def _summary(
    summarize: str,
    base_url: str | None,
    max_tokens: int,
    counter: TiktokenCounter | EstimatingCounter,
    found: Transcript,
) -> SummaryMemory:
    """The memory that takes the place of the trimmer; it tries again at once, since a replay has no pauses."""
    from langchain_tiered_memory.cli.models import chat_model
    from langchain_tiered_memory.working.compaction.memory import SummaryMemory
    from langchain_tiered_memory.working.compaction.settings import SummarizerGuard

    summarizer = None if summarize == _EXTRACTIVE else chat_model(summarize, base_url, option="--summarize")
    try:
        memory = SummaryMemory(
            summarizer,
            max_tokens=max_tokens,
            session_id="replay",
            token_counter=counter,
            tools=found.metadata.get("tools"),
            guard=SummarizerGuard(backoff=0),
        )
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--max-tokens") from error
    memory.name = f"summary, {visible(summarize)}"
    return memory


@contextmanager
def _progress(calls: int, *, long: bool) -> Iterator[Callable[[ReplayCall], None] | None]:
    """Show how far a long replay is, or one that waits for a model, on stderr and only if somebody looks."""
    from rich.console import Console

    console = Console(stderr=True)
    if not long or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("replaying", total=calls)

        def advance(_: ReplayCall) -> None:
            bar.advance(task)

        yield advance


def _publish(report: ReplayReport, found: Transcript, json_out: str | None, html_out: str | None) -> None:
    from langchain_tiered_memory import display

    name = "stdin" if found.source == "<stdin>" else found.source
    title = f"{name}: {found.title or found.id}" if found.title or found.id else name

    def shown() -> list[RenderableType]:
        bubbles = [
            display.compaction_renderable(compaction, title=f"before call {call.number:,}, round {call.round:,}")
            for call, compaction in report.compactions
        ]
        return [*bubbles, display.replay_renderable(report, title=title)]

    def figures() -> dict[str, Any]:
        return {"transcript": name, "format": found.format, "conversation": found.id, **report.to_dict()}

    publish(json_out, html_out, shown=shown, page=lambda: display.replay_page(report, title=title), figures=figures)

"""The rolling summary over a long conversation with tool calls, beside trim_messages and what else summarises.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_summary.py [ROUNDS]`.

Every contender sees the same conversation before each call of the model, counts with the same counter and has its
summaries written by the same scripted model, whose time is not counted. The model writes 0.1 of the budget, or two
thirds of the tokens that its instructions allow where they name a number. Tokens of a request that stand in the prefix
it shares with the request before to the same model cost 0.1, all others 1.0, be it the conversation's model that reads
them or the summarizer; what the summarizer writes costs 1.0. ROUNDS below 1,000 is for a quick look: the targets are
those of 1,000.
"""

from __future__ import annotations

import contextlib
import html
import re
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from random import Random
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.messages import trim_messages as core_trim_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from langchain_tiered_memory import SummarizerGuard, SummaryMemory, SummaryShares
from langchain_tiered_memory.events import CompactionFailed, EpisodeHandedOn, MemoryCallbackHandler
from langchain_tiered_memory.messages.tokens import default_counter
from support.conversations import _WORDS, conversation, model_calls
from support.phrasings import RULES_EN, RULES_ZH, VALUES_EN, VALUES_ZH
from support.shared import use_shared_vocabularies

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 1_000
BUDGETS = (2_000, 8_000)
READ_RATIO = {2_000: 1.30, 8_000: 1.10}
SHARED = {2_000: 0.84, 8_000: 0.95}
COST = {2_000: 1 / 3, 8_000: 1 / 6}
CACHED_PRICE = 0.1
CALLS_PER_ROUND = 1 / 5
OWN_MILLISECONDS = 3.0
LESS_CPU = 20
LENGTHS = (200, 1_000, 4_000)
AT_EACH_LENGTH = 60
RECENT = 400
"""Messages that can still be in a window of 8,000 tokens, with much to spare."""
PLANTED = (*RULES_EN[::4][:15], *VALUES_EN[::2], *VALUES_EN[1:2], *RULES_ZH[::2][:15], *VALUES_ZH[:15])
ALLOWED = re.compile(r"(?:at most|不超过) (\d+) (?:tokens|个 token)")
HALF = {"trigger": ("fraction", 1.0)}
"""Compaction from the whole budget down to half; the default starts at 0.8 of it, to leave room."""
OURS = "SummaryMemory, thrifty"
THRIFTY = {
    "trigger": ("fraction", 0.98),
    "keep": ("rounds", 1),
    "shares": SummaryShares(summary=0.08, constraints=0.04),
}
"""What the targets are held to: it compacts seldom and keeps little, since all that is kept is read anew as often."""
COUNTER = default_counter()


def tokens_of(messages: Sequence[BaseMessage]) -> int:
    """What messages take as a request; each is counted once and then remembered."""
    return COUNTER.request_overhead + sum(map(COUNTER.count_message, messages))


class Scripted(BaseChatModel):
    """A summarizer that writes prose of a set length, none of which comes from what it was given."""

    length: int
    seconds: float = 0.0
    now: int = 0
    read: int = 0
    reused: int = 0
    written: int = 0
    prompts: list[tuple[int, str]] = Field(default_factory=list)
    before: list[BaseMessage] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def get_token_ids(self, text: str) -> list[int]:  # as ChatOpenAI counts; its encoder has no memory either
        return encoding().encode(text, disallowed_special=())

    def generate_prompt(self, *args: Any, **kwargs: Any) -> Any:  # what every contender ends up calling
        start = time.process_time()
        result = super().generate_prompt(*args, **kwargs)
        self.seconds += time.process_time() - start
        return result

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        text = "\n".join(str(message.text) for message in messages)
        self.prompts.append((self.now, text))
        self.read += tokens_of(messages)
        self.reused += shared_prefix(self.before, messages)
        self.before = messages
        allowed = ALLOWED.search(text)
        words = int(2 / 3 * int(allowed[1])) if allowed else self.length
        answer = " ".join(Random(len(self.prompts)).choices(_WORDS, k=words)).capitalize() + "."
        self.written += COUNTER.count_text(answer)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])


def encoding() -> Any:
    """The vocabulary, without the counter around it."""
    import tiktoken  # noqa: PLC0415  # here, after the shared vocabularies are set up

    return tiktoken.get_encoding("o200k_base")


# --- contenders -------------------------------------------------------------------------------------------------------


class Contender:
    """Gives the view before a call of the model; `update` is timed."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.model = Scripted(length=budget // 10)

    def update(self, said: list[BaseMessage], new: list[BaseMessage]) -> list[BaseMessage]:
        raise NotImplementedError


class Trimmed(Contender):
    """langchain_core's trim_messages before every call. It is given the newest messages only, to spare time."""

    def update(self, said, new):  # noqa: ARG002  # it remembers nothing
        recent = said if len(said) <= RECENT else [said[0], *said[-RECENT:]]
        return core_trim_messages(
            recent, max_tokens=self.budget, token_counter=tokens_of, include_system=True, start_on="human"
        )


class Turning:
    """A clock that goes on a minute whenever it is read, since a benchmark has no time to wait out a backoff."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


class Ours(Contender):
    """SummaryMemory, with its defaults unless told otherwise."""

    def __init__(self, budget: int, **settings: Any) -> None:
        super().__init__(budget)
        self.seen = MemoryCallbackHandler()
        settings = {"summarizer": self.model} | settings
        self.memory = SummaryMemory(
            max_tokens=budget,
            session_id="s",
            token_counter=COUNTER,
            hooks=[self.seen],
            guard=SummarizerGuard(clock=Turning()),
            **settings,
        )

    @property
    def failed(self) -> int:
        """Compactions that failed."""
        return sum(isinstance(event, CompactionFailed) for event in self.seen.events)

    def update(self, said, new):  # noqa: ARG002  # it finds by itself what is new
        return self.memory.invoke(said)


class Middleware(Contender):
    """langchain's SummarizationMiddleware, told to compact at the budget; the rest by default or as told."""

    def __init__(self, budget: int, **settings: Any) -> None:
        super().__init__(budget)
        from langchain.agents.middleware import SummarizationMiddleware  # noqa: PLC0415  # an extra

        self.middleware = SummarizationMiddleware(
            self.model, trigger=("tokens", budget), token_counter=tokens_of, **settings
        )
        self.state: list[BaseMessage] = []

    def update(self, said, new):
        self.state = [*self.state, *(message for message in new if message.type != "system")]
        # The system prompt is added by the agent, outside of the messages that the middleware sees.
        changed = self.middleware.before_model({"messages": self.state}, None)
        if changed is not None:
            self.state = changed["messages"][1:]  # the first takes away all that was there
        return [said[0], *self.state]


class SummaryBuffer(Contender):
    """langchain_classic's ConversationSummaryBufferMemory."""

    def __init__(self, budget: int) -> None:
        super().__init__(budget)
        from langchain_classic.memory import ConversationSummaryBufferMemory  # noqa: PLC0415  # may be missing

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it announces its end
            self.memory = ConversationSummaryBufferMemory(llm=self.model, max_token_limit=budget, return_messages=True)

    def update(self, said, new):
        self.memory.chat_memory.add_messages([message for message in new if message.type != "system"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so does what it calls
            self.memory.prune()
        return [said[0], *self.memory.load_memory_variables({})["history"]]


class Langmem(Contender):
    """langmem's summarize_messages with the state that its node keeps."""

    def __init__(self, budget: int) -> None:
        super().__init__(budget)
        from langmem.short_term import summarize_messages  # noqa: PLC0415  # may be missing

        self.summarize = summarize_messages
        self.running: Any = None

    def update(self, said, new):  # noqa: ARG002  # it finds by itself what is new
        result = self.summarize(
            said,
            running_summary=self.running,
            model=self.model,
            max_tokens=self.budget,
            max_summary_tokens=self.budget // 10,
            token_counter=tokens_of,
        )
        self.running = result.running_summary
        return result.messages


# --- one run ----------------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """What one contender did with the conversation; token counts unless said otherwise."""

    name: str
    prompts: int = 0
    shared: int = 0
    largest: int = 0
    own_seconds: float = 0.0
    read: int = 0
    reused: int = 0
    written: int = 0
    calls: int = 0
    evicted: int = 0
    evicted_messages: int = 0
    never_shown: int = 0
    shown_twice: int = 0
    view: list[BaseMessage] = field(default_factory=list)

    @property
    def cost(self) -> float:
        cached = self.shared + self.reused
        return self.prompts + self.read - cached + CACHED_PRICE * cached + self.written

    @property
    def ratio(self) -> float:
        return self.read / self.evicted if self.evicted else 0.0


def run(name: str, contender: Contender, said: list[BaseMessage]) -> Run:
    """Show a contender the conversation, call by call."""
    result, before, done = Run(name), [], 0
    model = contender.model
    for end in model_calls(said):
        model.now = end
        upto, new, others = said[:end], said[done:end], model.seconds
        start = time.process_time()
        view = contender.update(upto, new)
        result.own_seconds += time.process_time() - start - (model.seconds - others)
        done = end
        size = tokens_of(view)
        result.prompts += size
        result.largest = max(result.largest, size)
        result.shared += shared_prefix(before, view)
        before = view
    result.view = before
    result.calls, result.read, result.written = len(model.prompts), model.read, model.written
    result.reused = model.reused
    stays = {message.id for message in before}
    gone = [
        message for message in said[: model_calls(said)[-1]] if message.type != "system" and message.id not in stays
    ]
    result.evicted, result.evicted_messages = tokens_of(gone), len(gone)
    shown = times_shown(model.prompts, said)
    result.never_shown = sum(not shown[message.id] for message in gone) if model.prompts else len(gone)
    result.shown_twice = sum(shown[message.id] > 1 for message in gone)
    return result


def shared_prefix(before: Sequence[BaseMessage], view: Sequence[BaseMessage]) -> int:
    """The tokens at the start of a request that are those of the request before, to the middle of a message."""
    shared = 0
    for old, new in zip(before, view, strict=False):
        same_kind = old.type == new.type
        if old is new or (same_kind and old.content == new.content):
            shared += COUNTER.count_message(new)
            continue
        if same_kind:
            common = takewhile(lambda pair: pair[0] == pair[1], zip(str(old.text), str(new.text), strict=False))
            shared += COUNTER.count_text("".join(one for one, _ in common))
        break
    return shared


def times_shown(prompts: Sequence[tuple[int, str]], said: Sequence[BaseMessage]) -> Counter[str | None]:
    """How often the whole text of each message was put to the summarizer."""
    shown: Counter[str | None] = Counter()
    for now, prompt in prompts:
        text = html.unescape(prompt)
        for message in said[max(1, now - RECENT) : now]:
            if str(message.text) in text:
                shown[message.id] += 1
    return shown


# --- tables -----------------------------------------------------------------------------------------------------------


def with_ids(messages: list[BaseMessage]) -> list[BaseMessage]:
    """The same messages with ids, which SummarizationMiddleware and langmem need."""
    return [message.model_copy(update={"id": f"m{place}"}) for place, message in enumerate(messages)]


def contenders(budget: int) -> list[tuple[str, type[Contender], dict[str, Any]]]:
    return [
        ("trim_messages every turn", Trimmed, {}),
        ("SummaryMemory, defaults", Ours, {}),
        ("SummaryMemory, from full to half", Ours, HALF),
        (OURS, Ours, THRIFTY),
        ("SummarizationMiddleware, 20 kept", Middleware, {}),
        (
            "SummarizationMiddleware, tuned",
            Middleware,
            {"keep": ("tokens", budget // 2), "trim_tokens_to_summarize": None},
        ),
        ("ConversationSummaryBufferMemory", SummaryBuffer, {}),
        ("langmem", Langmem, {}),
    ]


def side_by_side(budget: int, said: list[BaseMessage], rounds: int) -> bool:
    """All contenders at one budget, and the targets."""
    print(f"\n{rounds:,} rounds, {len(said):,} messages, {tokens_of(said):,} tokens at a budget of {budget:,}")
    print(
        f"  {'':<34}{'cost':>11}{'shared':>8}{'largest':>9}{'calls':>7}{'read':>11}{'/evicted':>9}"
        f"{'unseen':>8}{'twice':>7}{'CPU s':>8}"
    )
    runs: dict[str, Run] = {}
    for name, kind, settings in contenders(budget):
        try:
            contender = kind(budget, **settings)
        except ImportError as error:
            print(f"  {name:<34} not compared: {error.name} is not installed")
            continue
        one = runs[name] = run(name, contender, said)
        print(
            f"  {name:<34}{one.cost:>11,.0f}{one.shared / one.prompts:>8.1%}{one.largest:>9,}{one.calls:>7,}"
            f"{one.read:>11,}{one.ratio:>9.2f}{one.never_shown:>8,}{one.shown_twice:>7,}{one.own_seconds:>8.2f}",
            flush=True,
        )
    parts_of_cost(runs)
    ours, trimmed = runs[OURS], runs["trim_messages every turn"]
    others = min(one.cost for name, one in runs.items() if not name.startswith("SummaryMemory"))
    print(f"  of these, {OURS}:")
    met = row("largest view", ours.largest, f"<= {budget}", reached=ours.largest <= budget)
    met &= row(
        "read by the summarizer / evicted", ours.ratio, f"<= {READ_RATIO[budget]:.2f}", ours.ratio <= READ_RATIO[budget]
    )
    met &= row("evicted messages never shown", ours.never_shown, "0", ours.never_shown == 0)
    met &= row("evicted messages shown twice", ours.shown_twice, "0", ours.shown_twice == 0)
    if budget == min(BUDGETS):
        met &= row("summarizer calls per round", ours.calls / rounds, "<= 0.20", ours.calls / rounds <= CALLS_PER_ROUND)
    share = ours.shared / ours.prompts
    met &= row("share of prompts in the shared prefix", share, f">= {SHARED[budget]:.2f}", share >= SHARED[budget])
    cost = ours.cost / trimmed.cost
    met &= row("cost / trim_messages", cost, f"<= {COST[budget]:.3f}", cost <= COST[budget])
    met &= row("cost / the cheapest other", ours.cost / others, "<= 1", ours.cost <= others)
    if buffer := runs.get("ConversationSummaryBufferMemory"):
        less = buffer.own_seconds / ours.own_seconds
        if budget == max(BUDGETS):
            met &= row("times less CPU than the buffer memory", less, f">= {LESS_CPU}", less >= LESS_CPU)
        else:
            row("times less CPU than the buffer memory", less)
    each = ours.own_seconds * 1_000 / rounds
    return met & row("own CPU ms per round", each, f"<= {OWN_MILLISECONDS:.0f}", each <= OWN_MILLISECONDS)


def parts_of_cost(runs: dict[str, Run]) -> None:
    """What the cost of each contender is made of, so that none is cheap for a reason that does not show."""
    print(f"  {'cost is made of':<34}{'fresh':>11}{'cached':>11}{'read fresh':>12}{'read cached':>12}{'written':>11}")
    for name, one in runs.items():
        print(
            f"  {name:<34}{one.prompts - one.shared:>11,}{CACHED_PRICE * one.shared:>11,.0f}"
            f"{one.read - one.reused:>12,}{CACHED_PRICE * one.reused:>12,.0f}{one.written:>11,}",
            flush=True,
        )


def by_length(rounds: int) -> bool:
    """What a round costs as the history grows."""
    print(f"\nOwn CPU milliseconds per round behind so many rounds at a budget of 2,000, mean of {AT_EACH_LENGTH}")
    met = True
    for length in (length for length in LENGTHS if length <= max(rounds, LENGTHS[0]) or rounds >= ROUNDS):
        said = with_ids(conversation(length + AT_EACH_LENGTH))
        starts = [place for place, message in enumerate(said) if isinstance(message, HumanMessage)]
        for anew in (False, True):
            ours = Ours(2_000, **THRIFTY)
            ours.update(said[: starts[length]], [])
            others, start, own = ours.model.seconds, starts[length], 0.0
            for end in (end for end in model_calls(said) if end > start):
                upto = [message.model_copy() for message in said[:end]] if anew else said[:end]
                begun = time.process_time()
                ours.update(upto, [])
                own += time.process_time() - begun
            each = (own - (ours.model.seconds - others)) * 1_000 / AT_EACH_LENGTH
            name = f"{length:,} rounds" + (", each time as new objects" if anew else "")
            met &= row(name, each, f"<= {OWN_MILLISECONDS:.0f}", each <= OWN_MILLISECONDS)
    return met


def planted_survive(rounds: int) -> bool:
    """Rules and exact values, said once each, that must be in the view or in what was handed on at the end."""
    print(f"\n{len(PLANTED)} rules and exact values, English and Chinese, planted over {rounds:,} rounds, budget 2,000")
    said = with_ids(conversation(rounds))
    turns = [place for place, message in enumerate(said) if isinstance(message, HumanMessage)]
    for number, text in enumerate(PLANTED):
        place = turns[number * len(turns) // len(PLANTED)]
        said[place] = HumanMessage(f"{said[place].text} {text}", id=said[place].id)
    said = [SystemMessage("You help travellers.", id="m0"), *said[1:]]
    met = True
    for name, settings in (("extractive summarizer", {"summarizer": None}), ("model that drops them all", {})):
        ours = Ours(2_000, **THRIFTY | settings)
        view = run(name, ours, said).view
        handed = [event.text for event in ours.seen.events if isinstance(event, EpisodeHandedOn)]
        in_view = "\n".join(str(message.text) for message in view)
        there = "\n".join([in_view, *handed])
        lost = [text for text in PLANTED if text not in there]
        met &= row(name, len(PLANTED) - len(lost), f"{len(PLANTED)}", reached=not lost)
        row("  of them in the view", sum(text in in_view for text in PLANTED))
        for text in lost:
            print(f"    lost: {text}")
    return met


def row(name: str, value: float, target: str = "", reached: bool | None = None) -> bool:  # noqa: FBT001  # a verdict
    """Print one line of a table; True unless a target was missed."""
    verdict = "" if reached is None else "met" if reached else "MISSED"
    shown = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
    print(f"  {name:<40}{shown:>10}  {target:>8}  {verdict}".rstrip(), flush=True)
    return reached is not False


def main(arguments: list[str]) -> int:
    """Print all tables; the exit code is 1 if a target was missed."""
    use_shared_vocabularies()
    warnings.simplefilter("ignore")  # deprecations of what is compared
    rounds = int(arguments[0]) if arguments else ROUNDS
    said = with_ids(conversation(rounds))
    for name, kind, settings in contenders(BUDGETS[0]):  # what a first call imports, compiles and loads
        with contextlib.suppress(ImportError):
            run(name, kind(BUDGETS[0], **settings), said[:120])
    results = [side_by_side(budget, said, rounds) for budget in BUDGETS]
    results += [by_length(rounds), planted_survive(rounds)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

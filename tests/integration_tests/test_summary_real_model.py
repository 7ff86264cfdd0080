"""The rolling summary with a chat model over HTTP that writes whatever a model of 135 million parameters writes."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

import httpx
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory import InMemoryMessageLog, SummarizerGuard, SummaryMemory
from langchain_tiered_memory.events import Compaction, CompactionFailed, EpisodeHandedOn, MemoryCallbackHandler
from langchain_tiered_memory.messages.protocol import is_summary
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.messages.tokens import count_tokens
from langchain_tiered_memory.working.nodes import live_nodes
from support.model_server import model_server
from support.services import unavailable

# One conversation for all tests: two at a time would be held twice, each at half the speed.
pytestmark = [pytest.mark.service, pytest.mark.xdist_group("real model")]
logger = logging.getLogger(__name__)

ROUNDS = 30
BUDGET = 850
SECONDS = 600
SESSION = "session"
PROMPT = SystemMessage(
    "You plan journeys by train. Answer in two short sentences. Name a place, what to see there, and how to travel on. "
    "Prices are in euros, distances in kilometres, and times are those of the station.",
    id="prompt",
)
PLACES = ("Lisbon", "Porto", "Madrid", "Lyon", "Geneva", "Milan", "Vienna", "Prague", "Berlin", "Oslo")
RULES = {
    1: "Never book anything that leaves before 09:40.",
    3: "The booking code is QX-7741-Z.",
    5: "总价不能超过 6,400.00 欧元。",
    8: "I am allergic to peanuts.",
    11: "Write to maren.voss@example.com if a train is cancelled.",
    14: "除非我同意，否则不要发送邮件。",
    17: "Do not change the hotel at 14 Rue de la Paix.",
}


def asked(number: int) -> str:
    """What the user says in a round."""
    place, next_place = PLACES[number % len(PLACES)], PLACES[(number + 3) % len(PLACES)]
    rule = RULES.get(number, "")
    return f"What is there to see in {place} on a rainy afternoon, and how far is {next_place} by train? {rule}".strip()


def looked_up(number: int) -> list[BaseMessage]:
    """A finished tool call, in every sixth round."""
    if number % 6 != 4:
        return []
    call = {"name": "timetable", "args": {"place": PLACES[number % len(PLACES)]}, "id": f"c{number}"}
    return [
        AIMessage("I look it up.", tool_calls=[call], id=f"call{number}"),
        ToolMessage(
            "Trains leave every two hours from platform nine.", tool_call_id=f"c{number}", id=f"result{number}"
        ),
    ]


@dataclass
class Held:
    """A conversation that was held, and what was seen of it."""

    said: list[BaseMessage] = field(default_factory=list)
    views: list[list[BaseMessage]] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    cached: list[int] = field(default_factory=list)
    seen: MemoryCallbackHandler = field(default_factory=MemoryCallbackHandler)
    log: InMemoryMessageLog = field(default_factory=InMemoryMessageLog)

    @property
    def unchanged(self) -> list[bool]:
        """For each view whether it only adds to the one before."""
        pairs = zip([[], *self.views], self.views, strict=False)
        return [bool(before) and after[: len(before)] == before for before, after in pairs]


@pytest.fixture(scope="module")
def held(request, tmp_path_factory):
    """Thirty rounds with the real model, as the one that answers and as the one that summarises."""
    openai = pytest.importorskip("langchain_openai", reason="talks to the server through ChatOpenAI: install [openai]")
    cache = getattr(request.config, "cache", None)
    folder = cache.mkdir("model_server") if cache is not None else tmp_path_factory.mktemp("model_server")
    with model_server(folder) as base_url, httpx.Client() as client:
        return hold(openai.ChatOpenAI, base_url=base_url, http_client=client)


def hold(chat_model, **connection):
    model = chat_model(
        model="smollm2", api_key="none", temperature=0, max_tokens=20, timeout=60, max_retries=0, **connection
    )
    end = time.monotonic() + SECONDS
    held = Held()
    memory = SummaryMemory(
        model.model_copy(update={"max_tokens": 120}),
        max_tokens=BUDGET,
        session_id=SESSION,
        log=held.log,
        hooks=[held.seen],
        # The model is asked at each compaction, and where it fails, the fallback writes at once.
        guard=SummarizerGuard(backoff=0, fallback_after=1),
    )
    held.said.append(PROMPT)
    for number in range(ROUNDS):
        if time.monotonic() > end:
            unavailable(f"the model server is too slow here: {number} rounds took more than {SECONDS} seconds")
        held.said += [HumanMessage(asked(number), id=f"q{number}"), *looked_up(number)]
        view = memory.invoke(held.said)
        answer = model.invoke(view)
        held.views.append(view)
        held.read.append(answer.usage_metadata["input_tokens"])
        held.cached.append(answer.usage_metadata["input_token_details"].get("cache_read", 0))
        held.said.append(AIMessage(str(answer.text) or "-", id=f"a{number}"))
    return held


def of(held, kind):
    return [event for event in held.seen.events if isinstance(event, kind)]


def test_the_window_is_compacted_at_least_three_times_and_the_model_is_asked_each_time(held):
    compactions, failed = of(held, Compaction), of(held, CompactionFailed)
    logger.info(
        "%d compactions, %d of them by the fallback", len(compactions), sum(one.fallback for one in compactions)
    )
    logger.info("failures: %s", [str(one.error) for one in failed])
    assert len(compactions) >= 3
    assert all(one.tokens_after < one.tokens_before for one in compactions)
    assert len(failed) >= sum(one.fallback for one in compactions)


def test_every_view_is_valid_and_within_the_budget(held):
    for view in held.views:
        assert validate_messages(view) == []
        assert count_tokens(view) <= BUDGET
        assert view[0] == PROMPT
        assert sum(map(is_summary, view)) <= 1


def test_recent_messages_stand_as_they_were_said(held):
    for number, view in enumerate(held.views):
        recent = [message for message in view[1:] if not is_summary(message)]
        end = next(place for place, message in enumerate(held.said) if message.id == f"a{number}")
        assert recent == held.said[end - len(recent) : end]


def test_every_rule_and_value_is_there_to_the_letter(held):
    handed = [event.text for event in of(held, EpisodeHandedOn)]
    there = "\n".join([*(str(message.text) for message in held.views[-1]), *handed])
    assert [rule for rule in RULES.values() if rule not in there] == []


def test_every_message_is_in_the_view_or_stood_for_exactly_once(held):
    nodes = held.log.nodes(SESSION)
    standing = [*live_nodes(nodes), *(node for node in nodes if node.handed_on)]
    numbers = [number for node in standing for first, last in node.spans for number in range(first, last + 1)]
    ids = [entry.message.id for entry in held.log.entries(SESSION)]
    verbatim = [message.id for message in held.views[-1] if not is_summary(message)]
    assert sorted(numbers) == sorted(set(numbers))
    # The last answer came behind the last view.
    assert [PROMPT.id, *(ids[number - 1] for number in sorted(numbers)), *verbatim[1:]] == ids


def test_no_message_is_summarised_twice(held):
    removed = [message.id for event in of(held, Compaction) for message in event.removed]
    assert len(removed) == len(set(removed))
    assert removed == [message.id for message in held.said[1 : len(removed) + 1]]


def test_the_server_finds_a_request_in_its_cache_until_the_next_compaction(held):
    share = sum(held.cached) / sum(held.read)
    logger.info("%.3f of %d prompt tokens were read from the cache", share, sum(held.read))
    for number, same in enumerate(held.unchanged):
        if same:  # all of the request before, to the few tokens that open the answer
            assert held.cached[number] >= held.read[number - 1] - 8, number
    assert sum(held.unchanged) >= ROUNDS - 1 - len(of(held, Compaction))
    assert share >= 0.8

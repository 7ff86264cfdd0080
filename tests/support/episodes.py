"""What an episodic memory does, whatever Milvus it keeps its episodes in; one body for sync and async.

A test module derives `EpisodicConformance` and gives the fixture `uri`. The tests of a class share a memory, as
the users of a server do: each has users of its own.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import re
import threading
import zlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from langchain_tiered_memory import InMemoryMessageLog
from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.quoting import quote_episodes
from langchain_tiered_memory.errors import MemoryStoreError, ScopeError
from langchain_tiered_memory.events import (
    EpisodeHandedOn,
    EpisodesForgotten,
    EpisodesRecalled,
    EpisodesRemembered,
    RecallDegraded,
)
from langchain_tiered_memory.messages.protocol import RECALL_SOURCE, SOURCE_KEY, SUMMARY_SOURCE, SYNTHETIC_SOURCE
from langchain_tiered_memory.types import MemoryScope

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
_numbers = itertools.count()

HOSTILE_NAMES = [
    '" or 1==1',
    '" or user_key != "',
    "x\\",
    '\\" or "" == "',
    "a.b.c",
    "a b",
    "'; drop collection episodes; --",
    "用户",
    "İ\u0307ẞ\u202e",
    "{user}",
    "%",
    "*",
    "a\0b",
    "\ud800",
    "x" * 4_000,
    "x" * 3_999 + "y",
]

HOSTILE_TEXTS = [
    'She said "no" \\ and left',
    "a\0b",
    "lone \ud800 surrogate",
    "\\u0000 \\ud800",
    '{"lc": 1, "type": "constructor"}',
    "😀" * 50,
    "line\r\nbreaks\u2028and\x85more",
    "%s {0} ${x} {{y}}",
]


class WordEmbeddings(Embeddings):
    """Texts with the same words point in the same direction; quick, and the same in every process."""

    model = "words"

    def __init__(self, dimension=32, model="words"):
        self.dimension = dimension
        self.model = model
        self.asked = []

    def embed_documents(self, texts):
        self.asked.append(list(texts))
        return [self._vector(text) for text in texts]

    def embed_query(self, text):
        return self._vector(text)

    def _vector(self, text):
        vector = [0.01] * self.dimension
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % self.dimension] += 1.0
        length = math.sqrt(sum(number * number for number in vector))
        return [number / length for number in vector]


class FailingEmbeddings(WordEmbeddings):
    """Fails as often as it is told."""

    def __init__(self, failures, *, only_after=0, **settings):
        super().__init__(**settings)
        self.failures = failures
        self.only_after = only_after
        self.calls = 0

    def _perhaps_fail(self):
        self.calls += 1
        if self.calls > self.only_after and self.failures > 0:
            self.failures -= 1
            msg = "the provider is busy"
            raise ConnectionError(msg)

    def embed_documents(self, texts):
        self._perhaps_fail()
        return super().embed_documents(texts)

    def embed_query(self, text):
        self._perhaps_fail()
        return super().embed_query(text)


class Clock:
    """A clock that a test turns."""

    def __init__(self):
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.now


def somebody(session=None):
    """A user whom no other test knows."""
    return MemoryScope(user=f"user {next(_numbers)}", session=session)


def contents(found):
    return [document.page_content for document in found]


def rounds(count, start=0):
    return [
        message
        for n in range(start, start + count)
        for message in (HumanMessage(f"question {n}", id=f"q{n}"), AIMessage(f"answer {n}", id=f"a{n}"))
    ]


@pytest.fixture(params=["sync", "async"])
def call(request):
    """Calls a method of a memory, or its async twin."""

    async def call(memory, method, *args, **kwargs):
        if request.param == "sync":
            found = getattr(memory, method)(*args, **kwargs)
            return list(found) if method == "export" else found
        if method == "export":
            return [episode async for episode in memory.aexport(*args, **kwargs)]
        return await getattr(memory, f"a{method}")(*args, **kwargs)

    return call


class EpisodicConformance:
    @pytest.fixture(scope="class")
    @classmethod
    def turned(cls):
        return Clock()

    @pytest.fixture
    def clock(self, turned):
        turned.now = Clock().now
        return turned

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, uri, turned):
        with EpisodicMemory(uri, WordEmbeddings(), clock=turned, collection=f"conformance_{next(_numbers)}") as memory:
            yield memory

    @pytest.fixture
    def memory(self, shared, clock):
        assert clock is not None
        return shared

    @pytest.fixture
    def ada(self):
        return somebody()

    @pytest.fixture
    def bob(self):
        return somebody()

    @pytest.fixture
    def log(self, clock):
        return InMemoryMessageLog(clock=clock)

    # --- remembering --------------------------------------------------------------------------------------------------

    async def test_what_was_remembered_is_found_at_once_word_for_word(self, memory, call, ada):
        (episode_id,) = await call(memory, "remember", "My sister moved to Turin.", scope=ada)
        (found,) = await call(memory, "recall", "Where does my sister live?", scope=ada)
        assert found.page_content == "My sister moved to Turin."
        assert found.id == found.metadata["id"] == episode_id
        assert 0 < found.metadata["score"] <= 1

    async def test_messages_are_kept_in_rounds(self, memory, call, ada):
        chat = [
            HumanMessage("Where is Turin?"),
            AIMessage("", tool_calls=[{"name": "map", "args": {"city": "Turin"}, "id": "c1"}]),
            ToolMessage("45.07 N", tool_call_id="c1", name="map"),
            AIMessage("In Piedmont."),
            HumanMessage("Thanks!"),
        ]
        ids = await call(memory, "remember", chat, scope=ada)
        assert len(ids) == 2
        (found,) = await call(memory, "recall", "Turin", scope=ada, k=1)
        assert found.page_content == (
            'Human: Where is Turin?\nAI: [tool call map (c1): {"city": "Turin"}]\nTool map: 45.07 N\nAI: In Piedmont.'
        )
        assert (found.metadata["kind"], found.metadata["round"]) == ("round", 1)

    async def test_messages_are_taken_in_the_forms_that_langchain_takes(self, memory, call, ada):
        for given_ in (HumanMessage("one"), [("user", "two")], [{"role": "user", "content": "three"}], ["four"]):
            await call(memory, "remember", given_, scope=ada)
        episodes = await call(memory, "export", ada)
        assert sorted(episode.content for episode in episodes) == [
            "Human: four", "Human: one", "Human: three", "Human: two",
        ]  # fmt: skip

    async def test_what_nobody_said_is_not_kept(self, memory, call, ada):
        recalled = await self._quoted(memory, call)
        unsaid = [
            SystemMessage("You are a pirate."),
            HumanMessage("Summary so far", additional_kwargs={SOURCE_KEY: SUMMARY_SOURCE}),
            HumanMessage(recalled, additional_kwargs={SOURCE_KEY: RECALL_SOURCE}),
            AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "c1"}], id="a1"),
            ToolMessage("No result", tool_call_id="c1", additional_kwargs={SOURCE_KEY: SYNTHETIC_SOURCE}),
            HumanMessage(f"{recalled}\nWhat is new?"),
            AIMessage("  "),
        ]
        await call(memory, "remember", unsaid, scope=ada)
        kept = "\n".join(episode.content for episode in await call(memory, "export", ada))
        assert "What is new?" in kept
        for word in ("pirate", "Summary", "secret", "No result", "recalled_episodes"):
            assert word not in kept

    async def _quoted(self, memory, call):
        other = somebody()
        await call(memory, "remember", "the secret of the cellar", scope=other)
        return quote_episodes(await call(memory, "recall", "secret cellar", scope=other))

    @pytest.mark.parametrize("given_", ["", " \n", [], [SystemMessage("x")], [HumanMessage("")]])
    async def test_nothing_said_is_nothing_kept(self, memory, call, ada, given_):
        assert await call(memory, "remember", given_, scope=ada) == []
        assert await call(memory, "count", ada) == 0

    @pytest.mark.parametrize("text", HOSTILE_TEXTS)
    async def test_any_text_comes_back_as_it_was(self, memory, call, ada, text):
        (episode_id,) = await call(memory, "remember", text, scope=ada, entity=text, metadata={"note": text})
        (episode,) = await call(memory, "get", [episode_id], scope=ada)
        assert (episode.content, episode.entity, episode.metadata) == (text, text, {"note": text})
        assert contents(await call(memory, "recall", text, scope=ada, entity=text)) == [text]

    @pytest.mark.parametrize("character", ["x", "字", "😀", "\0"])
    async def test_a_text_longer_than_a_row_comes_back_as_one(self, memory, call, ada, character):
        text = "the report " + character * 70_000 + " the end"
        (episode_id,) = await call(memory, "remember", text, scope=ada)
        (found,) = await call(memory, "recall", "the report of the end", scope=ada)
        assert found.page_content == text
        assert (found.id, await call(memory, "count", ada)) == (episode_id, 1)
        assert [episode.content for episode in await call(memory, "export", ada)] == [text]
        assert await call(memory, "forget", [episode_id], scope=ada) == 1
        assert await call(memory, "export", ada) == []

    async def test_metadata_and_entity_come_back(self, memory, call, ada):
        await call(memory, "remember", "tea", scope=ada, entity="drinks", metadata={"topic": "tea", "deep": {"x": [1]}})
        (found,) = await call(memory, "recall", "tea", scope=ada)
        assert {**found.metadata, "entity": "drinks", "topic": "tea", "deep": {"x": [1]}} == found.metadata

    async def test_what_cannot_be_kept_is_refused_and_nothing_is_written(self, memory, call, ada):
        for wrong in ({"metadata": {"x": math.nan}}, {"metadata": {"id": 1}}, {"entity": " "}, {"ttl": -1}):
            with pytest.raises(ValueError, match=next(iter(wrong))):
                await call(memory, "remember", "x", scope=ada, **wrong)
        assert await call(memory, "count", ada) == 0

    # --- the same again -----------------------------------------------------------------------------------------------

    async def test_the_same_again_is_the_same_episode(self, memory, call, ada, clock):
        first = await call(memory, "remember", "I like tea", scope=ada)
        clock.now += HOUR
        assert await call(memory, "remember", "I like tea", scope=ada) == first
        assert await call(memory, "count", ada) == 1
        (episode,) = await call(memory, "get", first, scope=ada)
        assert episode.created_at == clock.now - HOUR

    async def test_the_same_rounds_again_are_the_same_episodes(self, memory, call, ada):
        chat = [("user", "yes"), ("ai", "ok"), ("user", "yes"), ("ai", "ok")]
        first = await call(memory, "remember", chat, scope=ada)
        assert len(set(first)) == 2  # said twice
        assert await call(memory, "remember", chat, scope=ada) == first
        assert await call(memory, "count", ada) == 2

    async def test_messages_with_other_ids_are_other_rounds(self, memory, call, ada):
        one = await call(memory, "remember", [HumanMessage("yes", id="1")], scope=ada)
        two = await call(memory, "remember", [HumanMessage("yes", id="2")], scope=ada)
        assert one != two
        assert await call(memory, "remember", [HumanMessage("yes", id="1")], scope=ada) == one

    async def test_the_same_text_of_others_or_at_other_times_is_another_episode(self, memory, call, ada, bob):
        ids = [
            *await call(memory, "remember", "same", scope=ada),
            *await call(memory, "remember", "same", scope=bob),
            *await call(memory, "remember", "same", scope=MemoryScope(ada.user, session="s")),
            *await call(memory, "remember", "same", scope=MemoryScope(ada.user, tenant="other")),
            *await call(memory, "remember", "same", scope=ada, created_at=1),
            *await call(memory, "remember", "same", scope=ada, created_at=2),
        ]
        assert len(set(ids)) == 6
        assert await call(memory, "count", ada) == 4

    async def test_what_was_true_once_and_is_said_again_is_true_again(self, memory, call, ada, clock):
        (old,) = await call(memory, "remember", "I work at A", scope=ada)
        clock.now += DAY
        (other,) = await call(memory, "remember", "I work at B", scope=ada)
        await call(memory, "supersede", old, other, scope=ada)
        clock.now += DAY
        (again,) = await call(memory, "remember", "I work at A", scope=ada)
        assert again not in (old, other)
        assert await call(memory, "remember", "I work at A", scope=ada) == [again]
        assert "I work at A" in contents(await call(memory, "recall", "where do I work", scope=ada))
        then = await call(memory, "recall", "where do I work", scope=ada, as_of=clock.now - DAY)
        assert contents(then) == ["I work at B"]

    async def test_times_given_again_move_the_end(self, memory, call, ada, clock):
        first = await call(memory, "remember", "a code", scope=ada, ttl=HOUR)
        clock.now += HOUR / 2
        assert await call(memory, "remember", "a code", scope=ada, ttl=HOUR) == first
        clock.now += HOUR * 3 / 4
        assert contents(await call(memory, "recall", "code", scope=ada)) == ["a code"]
        clock.now += HOUR / 4
        assert await call(memory, "recall", "code", scope=ada) == []

    # --- whose --------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("scope", [None, "ada", {"user": "ada"}])
    async def test_without_a_scope_nothing_is_read_or_written(self, memory, call, log, scope):
        handed_on = EpisodeHandedOn(session_id="s", text="x", first=1, last=2, created_at=Clock().now)
        for method, args in (
            ("remember", ["x"]),
            ("recall", ["x"]),
            ("forget", []),
            ("get", [["x"]]),
            ("supersede", ["x", "y"]),
            ("index", [log, "s"]),
            ("behind", [log, "s"]),
            ("take", [handed_on]),
            ("count", []),
            ("export", []),
        ):
            with pytest.raises(ScopeError):
                await call(memory, method, *args, scope=scope)

    async def test_nobody_finds_what_is_anothers(self, memory, call):
        scopes = [MemoryScope(name) for name in HOSTILE_NAMES]
        scopes += [MemoryScope("x", tenant=name) for name in HOSTILE_NAMES]
        secrets = {}
        for number, scope in enumerate(scopes):
            secrets[f"the secret {number}"] = scope
            await call(memory, "remember", f"the secret {number}", scope=scope)
        for text, scope in secrets.items():
            assert contents(await call(memory, "recall", "the secret", scope=scope, k=100)) == [text]
            assert [episode.content for episode in await call(memory, "export", scope)] == [text]
            assert [episode.scope for episode in await call(memory, "export", scope)] == [scope]
        for scope in scopes:
            assert await call(memory, "forget", scope=scope) == 1
            del secrets[f"the secret {scopes.index(scope)}"]
            assert await call(memory, "count", scope) == 0
        assert secrets == {}

    async def test_ids_of_another_user_are_as_good_as_none(self, memory, call, ada, bob):
        (hers,) = await call(memory, "remember", "hers", scope=ada)
        (his,) = await call(memory, "remember", "his", scope=bob)
        assert await call(memory, "get", [hers], scope=bob) == []
        assert await call(memory, "forget", [hers], scope=bob) == 0
        with pytest.raises(ValueError, match="has no episode"):
            await call(memory, "supersede", hers, his, scope=bob)
        assert contents(await call(memory, "recall", "hers", scope=ada)) == ["hers"]

    async def test_a_user_finds_all_sessions_and_a_session_only_its_own(self, memory, call, ada):
        one, two = MemoryScope(ada.user, session="1"), MemoryScope(ada.user, session="2")
        for scope, text in ((one, "tea one"), (two, "tea two"), (ada, "tea of none")):
            await call(memory, "remember", text, scope=scope)
        assert len(await call(memory, "recall", "tea", scope=ada)) == 3
        assert contents(await call(memory, "recall", "tea", scope=one)) == ["tea one"]
        assert await call(memory, "forget", scope=one) == 1
        assert await call(memory, "count", ada) == 2

    async def test_a_question_leaves_nothing_behind_for_the_next(self, memory, call, ada, bob):
        await call(memory, "remember", "ada's tea", scope=ada, metadata={"topic": "tea"})
        await call(memory, "remember", "bob's tea", scope=bob)
        assert contents(await call(memory, "recall", "tea", scope=ada, filter={"topic": "tea"})) == ["ada's tea"]
        assert contents(await call(memory, "recall", "tea", scope=bob)) == ["bob's tea"]

    # --- when ---------------------------------------------------------------------------------------------------------

    async def test_what_has_ended_is_found_only_by_who_asks_for_it(self, memory, call, ada, clock):
        await call(memory, "remember", "the code is 1234", scope=ada, ttl=HOUR)
        begin = clock.now
        for later, expected in ((HOUR - timedelta(microseconds=1), 1), (HOUR, 0), (DAY, 0)):
            clock.now = begin + later
            assert len(await call(memory, "recall", "code", scope=ada)) == expected
        assert len(await call(memory, "recall", "code", scope=ada, include_expired=True)) == 1
        assert len(await call(memory, "recall", "code", scope=ada, as_of=begin)) == 1
        assert len(await call(memory, "recall", "code", scope=ada, as_of=begin - HOUR)) == 0

    async def test_what_is_not_true_yet_waits(self, memory, call, ada, clock):
        await call(memory, "remember", "the new address is Via Po", scope=ada, valid_from=clock.now + DAY)
        assert await call(memory, "recall", "address", scope=ada) == []
        clock.now += DAY
        assert len(await call(memory, "recall", "address", scope=ada)) == 1

    async def test_a_superseded_episode_is_history(self, memory, call, ada, clock):
        (old,) = await call(memory, "remember", "I work at Company A", scope=ada)
        then = clock.now
        clock.now += 90 * DAY
        (new,) = await call(memory, "remember", "I now work at Company B", scope=ada)
        await call(memory, "supersede", old, new, scope=ada)
        for k in (1, 5):
            found = await call(memory, "recall", "Where do I work? Company A", scope=ada, k=k)
            assert contents(found) == ["I now work at Company B"]
        assert contents(await call(memory, "recall", "work", scope=ada, as_of=then)) == ["I work at Company A"]
        everything = await call(memory, "recall", "work", scope=ada, include_expired=True)
        assert {document.id: document.metadata["superseded_by"] for document in everything} == {old: new, new: None}

    async def test_nothing_takes_its_own_place_or_that_of_nothing(self, memory, call, ada):
        (only,) = await call(memory, "remember", "x", scope=ada)
        for old, new in ((only, only), (only, "nothing"), ("nothing", only)):
            with pytest.raises(ValueError, match=r"own place|no episode"):
                await call(memory, "supersede", old, new, scope=ada)
        assert len(await call(memory, "recall", "x", scope=ada)) == 1

    async def test_a_newer_statement_ranks_above_the_one_that_it_outdates(self, memory, call, ada, clock):
        await call(memory, "remember", "The SSH port of the build server is 22", scope=ada)
        clock.now += DAY
        (newer,) = await call(memory, "remember", "The SSH port of the build server moved to 49222", scope=ada)
        found = await call(memory, "recall", "What is the SSH port of the build server?", scope=ada)
        assert contents(found)[0].endswith("49222")
        assert [document.metadata["outdated_by"] for document in found] == [None, newer]

    async def test_age_is_counted_from_when_it_happened(self, memory, call, ada, clock):
        for days in (1, 10, 100):
            await call(memory, "remember", f"tea {days} days ago", scope=ada, created_at=clock.now - days * DAY)
        for age, expected in ((DAY, 1), (10 * 86_400, 2), (1_000 * DAY, 3), (HOUR, 0)):
            assert len(await call(memory, "recall", "tea", scope=ada, max_age=age)) == expected
        before = await call(memory, "recall", "tea", scope=ada, created_to=clock.now - 5 * DAY)
        assert len(before) == 2
        between = {"created_from": clock.now - 10 * DAY, "created_to": clock.now - DAY}
        assert contents(await call(memory, "recall", "tea", scope=ada, **between)) == ["tea 10 days ago"]

    # --- filters ------------------------------------------------------------------------------------------------------

    async def test_filters_are_data(self, memory, call, ada):
        for n, topic in enumerate(('a "quoted" \\ topic', "tea", '" or 1==1')):
            await call(memory, "remember", f"note {n}", scope=ada, metadata={"topic": topic, "n": n, "in": {"x": n}})
        for wanted, expected in (
            ({"topic": 'a "quoted" \\ topic'}, [0]),
            ({"topic": '" or 1==1'}, [2]),
            ({"topic": '" or 1==1 or "'}, []),
            ({"topic": "tea", "n": 1}, [1]),
            ([("n", ">=", 1)], [1, 2]),
            ([("n", "in", [0, 2]), ("n", "<", 2)], [0]),
            ([(("in", "x"), "==", 1)], [1]),
            ([("missing", "==", 1)], []),
            ([("missing", "!=", 1)], []),
        ):
            found = await call(memory, "recall", "note", scope=ada, filter=wanted, k=10)
            assert sorted(document.metadata["n"] for document in found) == expected, wanted

    @pytest.mark.parametrize("wrong", ['topic == "tea"', [("n", "~", 1)], [("n", ">")], ["n"], {"n": object()}])
    async def test_a_filter_that_is_no_data_is_refused(self, memory, call, ada, wrong):
        with pytest.raises(ValueError, match=r"filter|operator|condition"):
            await call(memory, "recall", "x", scope=ada, filter=wrong)

    async def test_rounds_kinds_and_entities_may_be_chosen(self, memory, call, ada):
        session = MemoryScope(ada.user, session="s")
        await call(memory, "remember", rounds(5), scope=session)
        await call(memory, "remember", "question of tea", scope=ada, entity="tea")
        for wanted, expected in (
            ({"rounds": (2, 3)}, 2),
            ({"rounds": (4, None)}, 2),
            ({"rounds": (None, 1), "kinds": ["round"]}, 1),
            ({"kinds": ["text"]}, 1),
            ({"kinds": ("summary",)}, 0),
            ({"entity": "tea"}, 1),
        ):
            assert len(await call(memory, "recall", "question", scope=ada, k=10, **wanted)) == expected, wanted

    async def test_what_scores_too_little_is_no_answer(self, memory, call, ada):
        for text in ("apples and pears", "pears and plums", "trains"):
            await call(memory, "remember", text, scope=ada)
        found = await call(memory, "recall", "apples and pears", scope=ada)
        least = found[0].metadata["score"]
        assert contents(await call(memory, "recall", "apples and pears", scope=ada, min_score=least)) == [
            "apples and pears"
        ]
        assert await call(memory, "recall", "apples and pears", scope=ada, min_score=0.0) == found

    @pytest.mark.parametrize(
        "wrong",
        [
            {"include_expired": "no"},
            {"include_expired": 1},
            {"explain": 5},
            {"min_score": 2},
            {"min_score": True},
            {"min_score": "high"},
        ],
    )
    async def test_a_setting_of_another_type_is_no_setting(self, memory, call, ada, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            await call(memory, "recall", "x", scope=ada, **wrong)

    async def test_a_statement_that_was_repeated_comes_once_with_its_newest_date(self, memory, call, ada, clock):
        for n, answer in enumerate(("Noted.", "Got it, I will remember.", "OK!")):
            chat = [HumanMessage("I am allergic to nuts.", id=f"q{n}"), AIMessage(answer)]
            scope = MemoryScope(ada.user, session=f"s{n}")
            await call(memory, "remember", chat, scope=scope, created_at=clock.now + n * DAY)
        for n, answer in enumerate(("Sunny.", "Rainy.")):
            asked = [HumanMessage("What is the weather like in my allergic town?", id=f"w{n}"), AIMessage(answer)]
            await call(memory, "remember", asked, scope=ada)
        clock.now += 3 * DAY
        found = await call(memory, "recall", "What am I allergic to?", scope=ada, k=10)
        told = [document for document in found if "nuts" in document.page_content]
        assert [document.metadata["created_at"][:10] for document in told] == ["2026-03-03"]
        assert len(found) == 3  # an answer to the same question is not the same answer
        assert await call(memory, "count", ada) == 5  # and nothing was lost
        everything = await call(memory, "recall", "What am I allergic to?", scope=ada, k=10, include_expired=True)
        assert len(everything) == 5

    @pytest.mark.parametrize(
        "wrong", [{"k": 0}, {"k": True}, {"k": 1_001}, {"kinds": ["cursor"]}, {"rounds": 3}, {"rounds": (5, 1)}]
    )
    async def test_a_question_that_makes_no_sense_is_refused(self, memory, call, ada, wrong):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            await call(memory, "recall", "x", scope=ada, **wrong)

    async def test_a_blank_question_and_an_unknown_user_have_no_answer(self, memory, call, ada):
        assert await call(memory, "recall", "tea", scope=ada) == []
        await call(memory, "remember", "tea", scope=ada)
        assert await call(memory, "recall", " ", scope=ada) == []

    async def test_the_best_come_first_and_no_more_than_asked_for(self, memory, call, ada):
        for text in ("apples and pears", "pears and plums", "plums and cherries", "trains"):
            await call(memory, "remember", text, scope=ada)
        found = await call(memory, "recall", "apples and pears", scope=ada, k=2, explain=True)
        assert contents(found)[0] == "apples and pears"
        assert len(found) == 2
        scores = [document.metadata["score"] for document in found]
        assert scores == sorted(scores, reverse=True)
        assert {"dense", "lexical", "neighbour", "recency"} <= set(found[0].metadata["explain"])
        assert "explain" not in (await call(memory, "recall", "apples", scope=ada))[0].metadata

    # --- forgetting and exporting -------------------------------------------------------------------------------------

    async def test_forgetting_gives_a_true_count(self, memory, call, ada, bob):
        ids = await call(memory, "remember", rounds(7), scope=ada)
        await call(memory, "remember", rounds(3), scope=bob)
        assert await call(memory, "forget", ids[0], scope=ada) == 1
        assert await call(memory, "forget", [ids[0], ids[1], ids[1], "nothing"], scope=ada) == 1
        assert await call(memory, "forget", [], scope=ada) == 0
        assert await call(memory, "forget", scope=ada) == 5
        assert await call(memory, "forget", scope=ada) == 0
        assert await call(memory, "recall", "question", scope=ada) == []
        assert await call(memory, "count", bob) == 3

    async def test_everything_is_exported_whether_it_is_true_or_not(self, memory, call, ada, clock):
        await call(memory, "remember", [*rounds(3)], scope=MemoryScope(ada.user, session="s"))
        await call(memory, "remember", "short lived", scope=ada, ttl=1)
        clock.now += DAY
        exported = await call(memory, "export", ada)
        assert len(exported) == await call(memory, "count", ada) == 4
        assert sorted(episode.content for episode in exported)[:1] == ["Human: question 0\nAI: answer 0"]

    # --- from a log ---------------------------------------------------------------------------------------------------

    async def test_a_log_is_indexed_round_by_round_and_once(self, memory, call, ada, log):
        log.append("s", [SystemMessage("be kind"), *rounds(3)])
        assert await call(memory, "behind", log, "s", scope=ada) == 7
        assert await call(memory, "index", log, "s", scope=ada) == 3
        assert await call(memory, "behind", log, "s", scope=ada) == 0
        assert await call(memory, "index", log, "s", scope=ada) == 0
        exported = sorted(await call(memory, "export", ada), key=lambda episode: episode.round)
        assert [(one.round, one.first, one.last) for one in exported] == [(1, 2, 3), (2, 4, 5), (3, 6, 7)]
        assert {one.scope.session for one in exported} == {"s"}
        assert [one.created_at for one in exported] == sorted({one.created_at for one in exported})

    async def test_a_round_that_is_not_over_waits(self, memory, call, ada, log):
        calling = AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "c"}], id="x")
        for message, expected in (
            (HumanMessage("look"), 0),
            (calling, 0),
            (ToolMessage("found", tool_call_id="c"), 0),
            (AIMessage("it is there"), 1),
        ):
            log.append("s", [message])
            assert await call(memory, "behind", log, "s", scope=ada) == (4 if expected else 0)
            assert await call(memory, "index", log, "s", scope=ada) == expected

    async def test_the_next_question_ends_a_round_that_was_never_answered(self, memory, call, ada, log):
        log.append("s", [HumanMessage("hello?"), HumanMessage("anybody?")])
        assert await call(memory, "index", log, "s", scope=ada) == 1
        assert [episode.content for episode in await call(memory, "export", ada)] == ["Human: hello?"]

    async def test_a_round_that_grows_is_one_episode(self, memory, call, ada, log, clock):
        log.append("s", rounds(1))
        await call(memory, "index", log, "s", scope=ada)
        (first,) = await call(memory, "export", ada)
        clock.now += DAY
        log.append("s", [AIMessage("and one more thing")])
        assert await call(memory, "index", log, "s", scope=ada) == 0
        (grown,) = await call(memory, "export", ada)
        assert grown.id == first.id
        assert grown.content.endswith("answer 0\nAI: and one more thing")

    async def test_what_was_forgotten_does_not_come_back_from_the_log(self, memory, call, ada, log):
        log.append("s", rounds(2))
        await call(memory, "index", log, "s", scope=ada)
        assert await call(memory, "forget", scope=ada) == 2
        assert await call(memory, "index", log, "s", scope=ada) == 0
        log.append("s", [AIMessage("more")])
        assert await call(memory, "index", log, "s", scope=ada) == 1
        assert [episode.content for episode in await call(memory, "export", ada)] == ["AI: more"]
        log.append("s", rounds(1, start=2))
        assert await call(memory, "index", log, "s", scope=ada) == 1

    async def test_the_cursor_is_forgotten_where_that_is_said(self, memory, call, ada, log):
        log.append("s", rounds(2))
        await call(memory, "index", log, "s", scope=ada)
        assert await call(memory, "forget", scope=ada, cursors=True) == 2
        assert await call(memory, "index", log, "s", scope=ada) == 2

    async def test_a_session_that_was_erased_and_begun_anew_is_read_from_its_start(self, memory, call, ada, log, clock):
        log.append("s", rounds(3))
        await call(memory, "index", log, "s", scope=ada)
        log.erase("s")
        clock.now += DAY
        log.append("s", rounds(5, start=10))
        assert await call(memory, "behind", log, "s", scope=ada) == 10
        assert await call(memory, "index", log, "s", scope=ada) == 5
        assert await call(memory, "count", ada) == 8

    async def test_removals_and_injected_messages_of_a_log_are_no_episodes(self, memory, call, ada, log):
        log.append("s", [*rounds(1), RemoveMessage(id="q0"), HumanMessage("x", id="x"), AIMessage("y")])
        assert await call(memory, "index", log, "s", scope=ada) == 2
        texts = {episode.content for episode in await call(memory, "export", ada)}
        assert texts == {"Human: question 0\nAI: answer 0", "Human: x\nAI: y"}

    async def test_validity_given_to_an_indexed_episode_outlives_its_growth(self, memory, call, ada, log):
        log.append("s", rounds(1))
        await call(memory, "index", log, "s", scope=ada)
        (old,) = await call(memory, "export", ada)
        (new,) = await call(memory, "remember", "question 0 is settled", scope=MemoryScope(ada.user, session="s"))
        await call(memory, "supersede", old.id, new, scope=ada)
        log.append("s", [AIMessage("late words")])
        await call(memory, "index", log, "s", scope=ada)
        (grown,) = await call(memory, "get", [old.id], scope=ada)
        assert (grown.superseded_by, "late words" in grown.content) == (new, True)
        assert old.id not in {found.id for found in await call(memory, "recall", "question 0", scope=ada)}

    async def test_a_long_log_is_read_in_pieces(self, memory, call, ada, log):
        log.append("s", [HumanMessage("start"), *(AIMessage(f"step {n}") for n in range(600)), *rounds(200)])
        assert await call(memory, "index", log, "s", scope=ada) == 201
        assert await call(memory, "behind", log, "s", scope=ada) == 0
        log.append("s", rounds(1, start=200))
        assert await call(memory, "index", log, "s", scope=ada) == 1
        assert await call(memory, "count", ada) == 202

    async def test_one_log_of_two_users_is_read_for_each(self, memory, call, ada, bob, log):
        log.append("s", rounds(2))
        assert await call(memory, "index", log, "s", scope=ada) == 2
        assert await call(memory, "index", log, "s", scope=bob) == 2

    async def test_what_the_summary_hands_on_is_kept_once_as_a_summary(self, memory, call, ada, clock):
        event = EpisodeHandedOn(session_id="s", text="They planned a trip.", first=3, last=40, created_at=clock.now)
        quoted = EpisodeHandedOn(
            session_id="s", text="> Never call", first=3, last=40, constraints=("Never call",), created_at=clock.now
        )
        first = await call(memory, "take", event, scope=ada)
        assert await call(memory, "take", event, scope=ada) == first
        assert await call(memory, "take", quoted, scope=ada) != first
        (found,) = await call(memory, "recall", "the trip they planned", scope=ada, k=1)
        assert (found.metadata["kind"], found.metadata["first"], found.metadata["last"]) == ("summary", 3, 40)
        assert found.metadata["session"] == "s"
        assert await call(memory, "count", ada) == 2

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_however_a_log_grows_and_is_indexed_nothing_is_lost_or_doubled(self, memory, data):
        ada, log, expected = somebody(), InMemoryMessageLog(), []
        for n in range(data.draw(st.integers(1, 8))):
            said = data.draw(st.lists(st.sampled_from(["user", "ai"]), max_size=5))
            messages = [
                HumanMessage(f"u{n}.{i}") if who == "user" else AIMessage(f"a{n}.{i}") for i, who in enumerate(said)
            ]
            log.append("s", messages)
            expected += [message.content for message in messages]
            if data.draw(st.booleans()):
                memory.index(log, "s", scope=ada)
        log.append("s", [HumanMessage("last"), AIMessage("end")])
        memory.index(log, "s", scope=ada)
        exported = sorted(memory.export(ada), key=lambda episode: episode.first)
        lines = [line.partition(": ")[2] for episode in exported for line in episode.content.splitlines()]
        assert lines == [*expected, "last", "end"]

    # --- events and chains --------------------------------------------------------------------------------------------

    async def test_what_happens_is_told(self, uri, call, ada, clock):
        told = []
        embeddings = WordEmbeddings()
        with EpisodicMemory(uri, embeddings, clock=clock, collection="events", hooks=[told.append]) as memory:
            ids = await call(memory, "remember", "tea", scope=ada)
            await call(memory, "recall", "tea", scope=ada)
            await call(memory, "forget", scope=ada)
        assert [type(event) for event in told] == [EpisodesRemembered, EpisodesRecalled, EpisodesForgotten]
        assert told[0].ids == told[1].ids == tuple(ids)
        assert told[2].count == 1
        assert all(ada.user in event.describe() and event.data()["user_id"] == ada.user for event in told)

    # --- failures -----------------------------------------------------------------------------------------------------

    async def test_an_embedder_that_fails_for_a_while_is_asked_again(self, uri, call, ada, clock, monkeypatch):
        monkeypatch.setattr("langchain_tiered_memory.episodic.embeddings._PAUSE", 0.001)
        with EpisodicMemory(uri, FailingEmbeddings(2), clock=clock, collection="failing") as memory:
            assert len(await call(memory, "remember", "tea", scope=ada)) == 1

    async def test_an_embedder_that_keeps_failing_writes_nothing_by_halves(self, uri, call, ada, clock, monkeypatch):
        monkeypatch.setattr("langchain_tiered_memory.episodic.embeddings._PAUSE", 0.001)
        failing = FailingEmbeddings(1_000, only_after=2)
        log = InMemoryMessageLog()
        log.append("s", rounds(200))
        with EpisodicMemory(uri, failing, clock=clock, collection="failing") as memory:
            with pytest.raises(MemoryStoreError, match="busy"):
                await call(memory, "remember", rounds(200), scope=somebody())
            failing.calls = 1
            with pytest.raises(MemoryStoreError, match="busy"):
                await call(memory, "index", log, "s", scope=ada)
            done = await call(memory, "count", ada)
            assert 0 < done < 200
            failing.failures = 0
            assert await call(memory, "index", log, "s", scope=ada) == 200 - done
            assert await call(memory, "count", ada) == 200

    async def test_a_question_whose_embedding_fails_is_answered_by_its_words(self, uri, call, ada, clock, monkeypatch):
        monkeypatch.setattr("langchain_tiered_memory.episodic.embeddings._PAUSE", 0.001)
        told, embeddings = [], FailingEmbeddings(0)
        with EpisodicMemory(uri, embeddings, clock=clock, collection="failing", hooks=[told.append]) as memory:
            await call(memory, "remember", "my sister lives in Turin", scope=ada)
            embeddings.failures = 1_000
            if run_sync(memory._provider.of_model(32).opened()).bm25:
                assert len(await call(memory, "recall", "sister", scope=ada)) == 1
            else:
                with pytest.raises(MemoryStoreError, match="busy"):
                    await call(memory, "recall", "sister", scope=ada)
        assert RecallDegraded in map(type, told)

    @pytest.mark.parametrize(
        "answer", [[], [[1.0] * 32] * 2, [[math.nan] * 32], [[math.inf] * 32], [["x"] * 32], None, [[]]]
    )
    async def test_what_is_no_vector_is_refused_before_it_is_sent(self, uri, call, ada, clock, answer):
        class Wrong(WordEmbeddings):
            def embed_documents(self, texts):
                assert texts
                return answer

        with EpisodicMemory(uri, Wrong(), clock=clock, collection="failing") as memory:
            with pytest.raises(MemoryStoreError, match="Wrong"):
                await call(memory, "remember", "tea", scope=ada)
            assert await call(memory, "count", ada) == 0

    async def test_a_text_that_the_model_knows_nothing_of_is_kept(self, uri, call, ada, clock):
        class Ignorant(WordEmbeddings):
            def _vector(self, text):
                return [0.0] * 32 if "tea" in text else super()._vector(text)

        with EpisodicMemory(uri, Ignorant(), clock=clock, collection="failing") as memory:
            (episode_id,) = await call(memory, "remember", "tea", scope=ada)
            assert [episode.id for episode in await call(memory, "export", ada)] == [episode_id]

    # --- another model ------------------------------------------------------------------------------------------------

    async def test_another_model_is_refused_until_the_collection_is_rebuilt(self, uri, call, ada, bob, clock):
        name = f"models_{next(_numbers)}"
        log = InMemoryMessageLog()
        log.append("s", rounds(3))
        with EpisodicMemory(uri, WordEmbeddings(), clock=clock, collection=name) as memory:
            await call(memory, "remember", "long " + "字" * 50_000, scope=bob, metadata={"topic": "x"})
            (old, new) = await call(memory, "remember", rounds(2), scope=ada)
            await call(memory, "supersede", old, new, scope=ada)
            await call(memory, "index", log, "s", scope=bob)
            before = {episode.id: episode for scope in (ada, bob) for episode in memory.export(scope)}
        for other in (WordEmbeddings(16), WordEmbeddings(32, model="others")):
            with EpisodicMemory(uri, other, clock=clock, collection=name) as memory:
                for method, args in (("recall", ["question"]), ("remember", ["x"])):
                    with pytest.raises(MemoryStoreError, match="reindex"):
                        await call(memory, method, *args, scope=ada)
                assert await call(memory, "count", ada) == 2  # what needs no vector needs no model
                assert len(await call(memory, "export", bob)) == 4
        with EpisodicMemory(uri, WordEmbeddings(16), clock=clock, collection=name) as memory:
            assert await call(memory, "reindex") == 6
            assert {episode.id: episode for scope in (ada, bob) for episode in memory.export(scope)} == before
            assert (await call(memory, "recall", "question 1", scope=ada))[0].id == new
            assert await call(memory, "index", log, "s", scope=bob) == 0
        with EpisodicMemory(uri, WordEmbeddings(16), clock=clock, collection=name) as memory:
            assert (await call(memory, "recall", "question 1", scope=ada))[0].id == new

    async def test_a_rebuild_that_fails_leaves_everything_as_it_was(self, uri, call, ada, clock, monkeypatch):
        monkeypatch.setattr("langchain_tiered_memory.episodic.embeddings._PAUSE", 0.001)
        name = f"models_{next(_numbers)}"
        with EpisodicMemory(uri, WordEmbeddings(), clock=clock, collection=name) as memory:
            await call(memory, "remember", rounds(100), scope=ada)
            with pytest.raises(MemoryStoreError, match="busy"):
                await call(memory, "reindex", FailingEmbeddings(1_000, only_after=2, dimension=16))
            assert len(await call(memory, "recall", "question 7", scope=ada)) == 5
            assert await call(memory, "reindex", WordEmbeddings(8)) == 100
            assert len(await call(memory, "recall", "question 7", scope=ada)) == 5

    # --- loops and threads --------------------------------------------------------------------------------------------

    def test_one_memory_serves_one_event_loop_after_the_other(self, memory, ada):
        async def turn(text):
            await memory.aremember(text, scope=ada)
            return contents(await memory.arecall(text, scope=ada, k=1))

        assert [asyncio.run(turn(text)) for text in ("tea", "milk")] == [["tea"], ["milk"]]
        assert memory.count(ada) == 2

    def test_threads_may_share_a_memory(self, memory):
        errors, everybody = [], [somebody() for _ in range(6)]

        def work(scope):
            try:
                for n in range(5):
                    memory.remember(f"note {n} of {scope.user}", scope=scope)
                    found = memory.recall("note", scope=scope, k=10)
                    assert len(found) == n + 1
                    assert all(scope.user in document.page_content for document in found)
            except BaseException as error:  # noqa: BLE001  # shown below
                errors.append(error)

        threads = [threading.Thread(target=work, args=[scope]) for scope in everybody]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []

    def test_tasks_may_share_a_memory(self, memory):
        everybody = [somebody() for _ in range(6)]

        async def work(scope):
            await memory.aremember(f"note of {scope.user}", scope=scope)
            return contents(await memory.arecall("note", scope=scope))

        async def all_of_them():
            return await asyncio.gather(*map(work, everybody))

        assert asyncio.run(all_of_them()) == [[f"note of {scope.user}"] for scope in everybody]

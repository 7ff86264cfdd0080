"""What every message log does, whatever it keeps its messages in; one body for the sync and the async methods.

A test module derives `LogConformance` and gives the fixture `log`.
"""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.working.constraints import Constraint
from langchain_tiered_memory.working.nodes import SummaryNode
from support import message_samples as samples

S = "session"


class CountingWords:
    """A token counter whose figures can be done in one's head."""

    request_overhead = 0

    def __init__(self):
        self.counted = 0

    def count_message(self, message):
        self.counted += 1
        return len(str(message.content).split())


class Clock:
    """A clock that a test turns."""

    def __init__(self):
        self.now = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture(params=["sync", "async"])
def call(request):
    """Calls a method of a log, or its async twin."""

    async def call(log, method, *args, **kwargs):
        if request.param == "sync":
            return getattr(log, method)(*args, **kwargs)
        return await getattr(log, f"a{method}")(*args, **kwargs)

    return call


def without_id(message):
    return message.model_copy(update={"id": None})


def turns(count, start=0):
    return [
        message
        for n in range(start, start + count)
        for message in (HumanMessage(f"question {n}", id=f"q{n}"), AIMessage(f"answer {n}", id=f"a{n}"))
    ]


def node(first, last, text="what was said", *, level=1, created_at=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)):
    return SummaryNode(level, ((first, last),), text, 3, created_at)


async def outcome_of(work, log, operation, name, *arguments):
    """What an operation on a log gives, in a form that can be compared."""
    try:
        given = await work(log, operation, name, *arguments)
    except VersionConflictError as error:
        return ("conflict", error.expected, error.actual)
    if operation in {"messages", "tail"}:
        return [message.id for message in given]
    if operation == "entries":
        return [(entry.number, entry.message.id) for entry in given]
    return [one.text for one in given] if operation == "nodes" else given


class Model:
    """A session as two plain lists."""

    def __init__(self):
        self.ids = []
        self.nodes = []

    def outcome_of(self, operation, *arguments):
        """What a log must give."""
        return getattr(self, f"do_{operation}")(*arguments)

    def do_append(self, messages, expected=None):
        if expected is not None and expected != len(self.ids):
            return ("conflict", expected, len(self.ids))
        for message in messages:
            if message.id not in self.ids:
                self.ids.append(message.id)
        return len(self.ids)

    def do_append_nodes(self, nodes, expected):
        if expected != len(self.nodes) or (nodes and max(1, *(one.last for one in nodes)) > len(self.ids)):
            return ("conflict", expected, len(self.nodes))
        self.nodes += [one.text for one in nodes]
        return len(self.nodes)

    def do_erase(self):
        count = len(self.ids)
        self.__init__()
        return count

    def do_messages(self, last=None):
        return self.ids if last is None else self.ids[max(0, len(self.ids) - last) :]

    def do_tail(self, size):
        return self.do_messages(size[1])

    def do_entries(self, after=0, limit=None):
        rows = list(enumerate(self.ids, start=1))[after:]
        return rows if limit is None else rows[:limit]

    def do_nodes(self, after=0):
        return self.nodes[after:]

    def do_version(self):
        return len(self.ids)

    def do_known(self, ids):
        return set(ids) & set(self.ids)


SESSIONS = ["a", "A", "a {b}*"]
_name = st.sampled_from(SESSIONS)
_ids = st.lists(st.sampled_from([f"m{n}" for n in range(12)]), max_size=5)
_batch = _ids.map(lambda ids: [HumanMessage(f"text {one}", id=one) for one in ids])
_small = st.integers(0, 8)
_nodes = st.lists(st.builds(lambda last: node(1, last, f"to {last}"), st.integers(1, 6)), max_size=2)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), _name, _batch),
        st.tuples(st.just("append"), _name, _batch),
        st.tuples(st.just("append"), _name, _batch, _small),
        st.tuples(st.just("append_nodes"), _name, _nodes, st.integers(0, 3)),
        st.tuples(st.just("erase"), _name),
        st.tuples(st.just("messages"), _name),
        st.tuples(st.just("messages"), _name, _small),
        st.tuples(st.just("tail"), _name, st.tuples(st.just("messages"), _small)),
        st.tuples(st.just("entries"), _name, _small, st.none() | _small),
        st.tuples(st.just("nodes"), _name, _small),
        st.tuples(st.just("version"), _name),
        st.tuples(st.just("known"), _name, _ids),
    ),
    max_size=25,
)


class LogConformance:
    @pytest.fixture
    def clock(self):
        return Clock()

    # --- appending ----------------------------------------------------------------------------------------------------

    async def test_messages_come_back_in_order_with_numbers_from_one(self, log, call):
        assert await call(log, "append", S, turns(1)) == 2
        assert await call(log, "append", S, turns(1, start=1)) == 4
        assert await call(log, "messages", S) == turns(2)
        assert [entry.number for entry in await call(log, "entries", S)] == [1, 2, 3, 4]
        assert await call(log, "version", S) == 4

    async def test_a_session_that_does_not_exist_is_empty(self, log, call):
        assert await call(log, "messages", S) == []
        assert await call(log, "messages", S, last=3) == []
        assert await call(log, "entries", S) == []
        assert await call(log, "last", S) == []
        assert await call(log, "tail", S, ("rounds", 2)) == []
        assert await call(log, "version", S) == 0
        assert await call(log, "known", S, ["a"]) == set()
        assert await call(log, "erase", S) == 0

    async def test_appending_nothing_is_fine(self, log, call):
        assert await call(log, "append", S, []) == 0
        assert await call(log, "sessions") == []
        await call(log, "append", S, turns(1))
        assert await call(log, "append", S, []) == 2

    async def test_appending_the_same_ids_again_changes_nothing(self, log, call):
        await call(log, "append", S, turns(2))
        assert await call(log, "append", S, turns(2)) == 4
        assert await call(log, "append", S, [HumanMessage("other text", id="q0")]) == 4
        assert await call(log, "messages", S) == turns(2)

    async def test_only_what_is_new_of_a_batch_is_appended(self, log, call):
        await call(log, "append", S, turns(1))
        assert await call(log, "append", S, [*turns(2), *turns(1, start=1)]) == 4
        assert await call(log, "messages", S) == turns(2)

    async def test_the_same_id_in_two_sessions_is_two_messages(self, log, call):
        await call(log, "append", "one", turns(1))
        assert await call(log, "append", "two", turns(1)) == 2

    async def test_the_same_words_without_an_id_are_two_messages(self, log, call):
        said = HumanMessage("hi")
        assert await call(log, "append", S, [said]) == 1
        assert await call(log, "append", S, [said, said]) == 3
        assert said.id is None
        assert len({message.id for message in await call(log, "messages", S)}) == 3

    async def test_a_remove_message_is_not_the_message_that_it_removes(self, log, call):
        await call(log, "append", S, [HumanMessage("hi", id="m")])
        assert await call(log, "append", S, [RemoveMessage(id="m")]) == 2
        assert await call(log, "append", S, [RemoveMessage(id="m"), HumanMessage("x", id="remove:m")]) == 3

    async def test_ids_of_every_kind_tell_messages_apart(self, log, call):
        ids = [
            "a",
            "A",
            "a ",
            "ä",
            "a\u0308",
            "\0",
            "\ud800",
            "x" * 5_000,
            "x" * 5_001,
            "'; --",
            "%s",
            ":a",
            "你" * 200,
        ]
        messages = [HumanMessage("m", id=one) for one in ids]
        assert await call(log, "append", S, messages) == len(ids)
        assert await call(log, "append", S, messages) == len(ids)
        assert [message.id for message in await call(log, "messages", S)] == ids
        assert await call(log, "known", S, [*ids, "b", "sha256:0"]) == set(ids)

    async def test_sessions_of_every_name_are_kept_apart(self, log, call):
        names = ["a", "A", "ä", "a\u0308", "a b", "'; DROP TABLE x; --", "%", "你好🦜", "x" * 512, "👩‍👩‍👧‍👦" * 70]
        for number, name in enumerate(names):
            await call(log, "append", name, [HumanMessage(str(number))])
        for number, name in enumerate(names):
            assert [message.content for message in await call(log, "messages", name)] == [str(number)]
        assert await call(log, "sessions") == sorted(names)

    # --- expected versions --------------------------------------------------------------------------------------------

    async def test_an_expected_version_that_is_right_writes(self, log, call):
        assert await call(log, "append", S, turns(1), expected_version=0) == 2
        assert await call(log, "append", S, turns(1, start=1), expected_version=2) == 4
        assert await call(log, "append", S, turns(1, start=2), 4) == 6

    @pytest.mark.parametrize("batch", [[], turns(1, start=1), turns(1)], ids=["nothing", "new", "stored already"])
    @pytest.mark.parametrize("expected", [0, 1, 3])
    async def test_a_stale_expected_version_is_refused_and_writes_nothing(self, log, call, expected, batch):
        await call(log, "append", S, turns(1))
        with pytest.raises(VersionConflictError, match=f"version 2, not {expected}") as caught:
            await call(log, "append", S, batch, expected_version=expected)
        assert (caught.value.expected, caught.value.actual) == (expected, 2)
        assert await call(log, "messages", S) == turns(1)

    async def test_of_writers_with_one_expected_version_one_wins(self, log):
        writes = (asyncio.to_thread(log.append, S, turns(1, start=n), expected_version=0) for n in range(8))
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        conflicts = [outcome for outcome in outcomes if isinstance(outcome, VersionConflictError)]
        assert sorted(map(str, outcomes)) == sorted(["2", *map(str, conflicts)])
        assert {(conflict.expected, conflict.actual) for conflict in conflicts} == {(0, 2)}
        assert len(conflicts) == 7
        assert log.version(S) == 2

    # --- what may not be appended -------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("bad", "words"),
        [
            ("hello", "message 1 .*expected a message, got str"),
            (None, "message 1 .*got NoneType"),
            ({"role": "user"}, "message 1 .*got dict"),
            (HumanMessage("x").model_copy(update={"id": 5}), "message 1 .*id is 5"),
            (BaseMessage("x", type="custom"), "message 1 .*BaseMessage"),
        ],
        ids=["text", "None", "dict", "id", "class"],
    )
    async def test_a_batch_with_something_that_is_no_message_is_refused_as_a_whole(self, log, call, bad, words):
        await call(log, "append", S, turns(1))
        with pytest.raises(TypeError, match=words):
            await call(log, "append", S, [HumanMessage("new"), bad])
        assert await call(log, "messages", S) == turns(1)

    async def test_what_no_store_could_hold_is_left_out_with_a_note_and_told(self, log, call, caplog):
        loop: list = ["a"]
        loop.append(loop)
        lock = threading.Lock()
        said = [
            ToolMessage("22 °C", tool_call_id="c", id="t", artifact={"a": [0, {"b": lock}], "c": 1}),
            AIMessage("yes", id="a", additional_kwargs={"client": lock, "n": 2}),
            ToolMessage("deep", tool_call_id="d", id="d", artifact=loop),
        ]
        assert await call(log, "append", S, said) == 3
        tool, answer, deep = await call(log, "messages", S)
        note = {"$not_stored": "_thread.lock"}
        assert (tool.content, tool.artifact) == ("22 °C", {"a": [0, {"b": note}], "c": 1})
        assert (answer.content, answer.additional_kwargs) == ("yes", {"client": note, "n": 2})
        assert (deep.content, deep.artifact) == ("deep", {"$not_stored": "list"})
        assert said[0].artifact["a"][1]["b"] is lock  # the caller's message is as it was
        (told,) = [one.getMessage() for one in caplog.records if "stored without" in one.getMessage()]
        assert (
            "t: artifact.a[1].b: _thread.lock; a: additional_kwargs.client: _thread.lock; d: artifact: a list" in told
        )
        # What was read goes back as it is.
        again = [one.model_copy(update={"id": None}) for one in (tool, answer)]
        await call(log, "append", S, again)
        assert [without_id(one) for one in await call(log, "messages", S, last=2)] == again

    async def test_content_that_is_none_is_read_as_empty(self, log, call):
        await call(log, "append", S, [AIMessage("").model_copy(update={"content": None})])
        assert [message.content for message in await call(log, "messages", S)] == [""]

    @pytest.mark.parametrize("batch", ["hello", HumanMessage("x")], ids=["text", "message"])
    async def test_something_that_is_no_list_is_refused(self, log, call, batch):
        with pytest.raises(TypeError):
            await call(log, "append", S, batch)

    @pytest.mark.parametrize(
        ("name", "error"),
        [
            ("", ValueError),
            (None, TypeError),
            (5, TypeError),
            ("a\0", ValueError),
            ("\ud800", ValueError),
            ("x" * 513, ValueError),
        ],
    )
    @pytest.mark.parametrize("method", ["append", "messages", "entries", "version", "erase", "tail", "known"])
    async def test_what_is_no_session_id_is_refused(self, log, call, method, name, error):
        args = {"append": [turns(1)], "tail": [("rounds", 1)], "known": [["a"]]}.get(method, [])
        with pytest.raises(error, match="session id"):
            await call(log, method, name, *args)

    async def test_counts_that_make_no_sense_are_refused(self, log, call):
        for method, arguments in [
            ("append", ([], -1)),
            ("append", ([], True)),
            ("append", ([], "1")),
            ("messages", (-1,)),
            ("entries", (-1,)),
            ("entries", (0, 1.5)),
            ("tail", (("messages", -1),)),
            ("tail", (("pages", 1),)),
            ("tail", (5,)),
        ]:
            with pytest.raises(ValueError, match=r"whole number|a size is"):
                await call(log, method, S, *arguments)

    # --- reading ------------------------------------------------------------------------------------------------------

    async def test_the_last_messages_are_read(self, log, call):
        await call(log, "append", S, turns(3))
        assert await call(log, "messages", S, last=3) == turns(3)[-3:]
        assert await call(log, "messages", S, last=100) == turns(3)
        assert await call(log, "messages", S, last=0) == []

    async def test_the_last_entries_are_read_from_the_end_or_before_a_number(self, log, call):
        await call(log, "append", S, turns(3))
        for count, before, numbers in [
            (2, None, [5, 6]),
            (9, None, [1, 2, 3, 4, 5, 6]),
            (2, 5, [3, 4]),
            (3, 99, [4, 5, 6]),
            (3, 1, []),
            (3, 0, []),
            (0, None, []),
        ]:
            entries = await call(log, "last", S, count, before)
            assert [entry.number for entry in entries] == numbers
            assert [entry.message for entry in entries] == [turns(3)[number - 1] for number in numbers]

    async def test_sessions_are_listed_by_what_they_begin_with(self, log, call):
        names = ["a", "a/", "a/b", "a/ü", "a/\U0010ffff", "a0", "b", "A/b", "a/b/c", "[a/", "a*"]
        for name in names:
            await call(log, "append", name, turns(2))
        assert await call(log, "sessions") == sorted(names)
        for prefix in ("a/", "a", "a/b", "c", "a/\U0010ffff", "a*", "["):
            assert await call(log, "sessions", prefix) == sorted(one for one in names if one.startswith(prefix))

    async def test_sessions_are_erased_together(self, log, call):
        for name in ("a", "b", "c"):
            await call(log, "append", name, turns(1))
        assert await call(log, "erase", "a", "b", "nobody", "a") == 4
        assert await call(log, "sessions") == ["c"]
        assert await call(log, "erase") == 0

    async def test_numbered_reads_go_on_from_a_cursor(self, log, call):
        await call(log, "append", S, turns(3))
        cursor, seen = 0, []
        while entries := await call(log, "entries", S, after=cursor, limit=4):
            seen += [entry.message for entry in entries]
            cursor = entries[-1].number
        assert (cursor, seen) == (6, turns(3))
        assert await call(log, "entries", S, after=6) == []
        assert await call(log, "entries", S, after=100) == []

    async def test_entries_carry_the_time_of_the_injected_clock(self, log, call, clock):
        await call(log, "append", S, turns(1))
        first, clock.now = clock.now, datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC) + timedelta(days=40_000)
        await call(log, "append", S, turns(1, start=1))
        assert [entry.created_at for entry in await call(log, "entries", S)] == [first, first, clock.now, clock.now]

    async def test_a_clock_without_a_time_zone_is_refused(self, log, call, clock):
        clock.now = datetime(2026, 1, 2)  # noqa: DTZ001  # the fault
        with pytest.raises(ValueError, match="time zone"):
            await call(log, "append", S, turns(1))
        assert await call(log, "version", S) == 0

    @pytest.mark.parametrize(
        ("size", "expected"),
        [
            (("messages", 0), 0),
            (("messages", 3), 3),
            (("rounds", 0), 0),
            (("rounds", 1), 3),
            (("rounds", 2), 5),
            (("rounds", 3), 7),
            (("rounds", 9), 8),
            (("tokens", 0), 0),
            (("tokens", 1), 0),
            (("tokens", 2), 1),
            (("tokens", 5), 2),
            (("tokens", 1_000), 8),
        ],
    )
    async def test_a_tail_is_read_by_messages_rounds_or_tokens(self, log, call, size, expected):
        said = [SystemMessage("be brief", id="s"), *turns(3), AIMessage("more words", id="end")]
        await call(log, "append", S, said)
        assert await call(log, "tail", S, size, token_counter=CountingWords()) == said[len(said) - expected :]

    async def test_a_tail_of_tokens_counts_no_more_than_the_window(self, log, call):
        await call(log, "append", S, turns(500))
        counter = CountingWords()
        assert len(await call(log, "tail", S, ("tokens", 40), token_counter=counter)) == 20
        assert counter.counted == 21

    async def test_a_tail_longer_than_one_read_is_complete(self, log, call):
        await call(log, "append", S, turns(100))
        assert await call(log, "tail", S, ("rounds", 77)) == turns(77, start=23)

    def test_the_walk_from_the_end_meets_every_message_once(self, log):
        log.append(S, turns(100))
        assert [entry.number for entry in log.newest_first(S)] == list(range(200, 0, -1))

    async def test_readers_get_messages_of_their_own(self, log, call):
        said = [ToolMessage("x", tool_call_id="c", id="t", artifact={"a": [1]})]
        await call(log, "append", S, said)
        said[0].artifact["a"].append(2)
        (read,) = await call(log, "messages", S)
        read.artifact["a"].append(3)
        read.content = "changed"
        (again,) = await call(log, "messages", S)
        assert (again.content, again.artifact) == ("x", {"a": [1]})

    async def test_appending_changes_neither_the_list_nor_its_messages(self, log, call):
        said = [HumanMessage("a"), AIMessage("b", tool_calls=[samples.CALL])]
        before = [message.model_copy(deep=True) for message in said]
        await call(log, "append", S, said)
        assert said == before
        assert [message.id for message in said] == [None, None]

    # --- erasing ------------------------------------------------------------------------------------------------------

    async def test_erasing_deletes_one_session_and_counts_what_went(self, log, call):
        await call(log, "append", S, turns(3))
        await call(log, "append", "other", turns(1))
        assert await call(log, "erase", S) == 6
        assert await call(log, "erase", S) == 0
        assert await call(log, "messages", S) == []
        assert await call(log, "sessions") == ["other"]
        assert await call(log, "messages", "other") == turns(1)

    async def test_an_erased_session_begins_again(self, log, call):
        await call(log, "append", S, turns(2))
        await call(log, "erase", S)
        assert await call(log, "append", S, turns(1), expected_version=0) == 2
        assert await call(log, "messages", S) == turns(1)

    # --- summaries ----------------------------------------------------------------------------------------------------

    async def test_summaries_come_back_exactly_in_the_order_in_which_they_were_written(self, log, call):
        await call(log, "append", S, turns(4))
        written = [
            node(1, 2, 'text with 你好 🦜, "quotes", \0 and \ud800'),
            SummaryNode(
                2,
                ((1, 2), (4, 5)),
                "",
                0,
                datetime(2026, 1, 2, tzinfo=UTC),
                (
                    Constraint("never call before 9", "rule", 3, "user", "call"),
                    Constraint("端口是 8080", "value", None, "tool", "端口"),
                ),
                handed_on=True,
            ),
            SummaryNode(3, (), "only quoted", 2, datetime(1969, 1, 1, tzinfo=UTC)),
        ]
        assert await call(log, "append_nodes", S, written[:1], 0) == 1
        assert await call(log, "append_nodes", S, written[1:], expected_version=1) == 3
        assert await call(log, "nodes", S) == written
        assert await call(log, "nodes", S, after=1) == written[1:]
        assert await call(log, "nodes", S, 3) == []
        assert await call(log, "messages", S) == turns(4)
        assert await call(log, "version", S) == 8

    async def test_a_session_without_summaries_has_none(self, log, call):
        assert await call(log, "nodes", S) == []
        assert await call(log, "append_nodes", S, [], 0) == 0
        assert await call(log, "sessions") == []

    @pytest.mark.parametrize("expected", [0, 2, 3])
    async def test_of_two_compactions_the_second_is_refused_and_writes_nothing(self, log, call, expected):
        await call(log, "append", S, turns(2))
        await call(log, "append_nodes", S, [node(1, 2)], 0)
        with pytest.raises(VersionConflictError, match=f"has 1 summaries, not {expected}") as caught:
            await call(log, "append_nodes", S, [node(1, 3), node(4, 4)], expected)
        assert (caught.value.expected, caught.value.actual) == (expected, 1)
        assert await call(log, "nodes", S) == [node(1, 2)]

    async def test_summaries_of_messages_that_are_not_there_are_refused(self, log, call):
        """A session that was erased in the middle of a compaction must not come back as a ghost."""
        await call(log, "append", S, turns(2))
        await call(log, "erase", S)
        with pytest.raises(VersionConflictError, match="erased"):
            await call(log, "append_nodes", S, [node(1, 4)], 0)
        await call(log, "append", S, turns(1))
        with pytest.raises(VersionConflictError, match="erased"):
            await call(log, "append_nodes", S, [node(1, 3)], 0)
        assert await call(log, "nodes", S) == []

    async def test_summaries_are_erased_with_their_session_and_no_other(self, log, call):
        for name in (S, "other"):
            await call(log, "append", name, turns(1))
            await call(log, "append_nodes", name, [node(1, 2, name)], 0)
        assert await call(log, "erase", S) == 2
        assert await call(log, "nodes", S) == []
        assert await call(log, "nodes", "other") == [node(1, 2, "other")]
        await call(log, "append", S, turns(1))
        assert await call(log, "append_nodes", S, [node(1, 1)], 0) == 1

    async def test_summaries_do_not_disturb_expected_versions_of_messages(self, log, call):
        await call(log, "append", S, turns(1))
        await call(log, "append_nodes", S, [node(1, 2)], 0)
        assert await call(log, "append", S, turns(1, start=1), expected_version=2) == 4

    @pytest.mark.parametrize("expected", [None, -1, 1.5, True, "0"])
    async def test_an_expected_number_of_summaries_that_makes_no_sense_is_refused(self, log, call, expected):
        with pytest.raises(ValueError, match="whole number"):
            await call(log, "append_nodes", S, [], expected)
        with pytest.raises(ValueError, match="session id"):
            await call(log, "append_nodes", "", [], 0)
        with pytest.raises(ValueError, match="session id"):
            await call(log, "nodes", "")

    def test_of_many_compactions_at_once_one_wins(self, log):
        log.append(S, turns(8))
        outcomes = []

        def compact(number):
            try:
                outcomes.append(log.append_nodes(S, [node(1, number, f"by {number}")], 0))
            except VersionConflictError as error:
                outcomes.append(error)

        threads = [threading.Thread(target=compact, args=(number,)) for number in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(type, outcomes), key=str) == sorted([int, *[VersionConflictError] * 7], key=str)
        assert len(log.nodes(S)) == 1

    # --- exactness ----------------------------------------------------------------------------------------------------

    async def test_every_message_class_comes_back_exactly(self, log, call):
        said = list(samples.WHOLE.values())
        said += [ToolMessage("x", tool_call_id="c", artifact=artifact) for artifact in samples.ARTIFACTS.values()]
        await call(log, "append", S, said)
        read = await call(log, "messages", S)
        assert [type(message) for message in read] == [type(message) for message in said]
        for was, now in zip(said, read, strict=True):
            assert (now if was.id else without_id(now)) == was
            assert now.id

    async def test_chunks_are_stored_as_whole_messages(self, log, call):
        await call(log, "append", S, [chunk for chunk, _ in samples.CHUNKS.values()])
        read = await call(log, "messages", S)
        for (_, whole), now in zip(samples.CHUNKS.values(), read, strict=True):
            assert type(now) is type(whole)
            assert (now if whole.id else without_id(now)) == whole

    # The log is emptied for each example, and the subclasses that share this body have examples of their own.
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(message=samples.messages)
    def test_any_message_comes_back_exactly(self, log, message):
        log.erase(S)
        log.append(S, [message])
        (read,) = log.messages(S)
        assert without_id(read) == message
        assert repr(without_id(read)) == repr(message)

    async def test_large_messages_come_back_exactly(self, log, call):
        said = [
            HumanMessage("x" * 3_000_000, id="ascii"),
            HumanMessage("你好🦜\0" * 200_000, id="unicode"),
            ToolMessage("\ud800" * 100_000, tool_call_id="c", id="surrogates", artifact=bytes(range(256)) * 4_000),
            AIMessage("small", id="small"),
        ]
        await call(log, "append", S, said)
        assert await call(log, "messages", S) == said
        assert await call(log, "messages", S, last=2) == said[2:]

    async def test_a_batch_of_many_messages_is_one_step_too(self, log, call):
        assert await call(log, "append", S, turns(1_500), expected_version=0) == 3_000
        assert await call(log, "known", S, [f"q{n}" for n in range(3_000)]) == {f"q{n}" for n in range(1_500)}
        assert await call(log, "append", S, turns(1_501), expected_version=3_000) == 3_002
        assert await call(log, "messages", S) == turns(1_501)
        assert [entry.number for entry in await call(log, "entries", S, after=2_999)] == [3_000, 3_001, 3_002]

    @pytest.mark.parametrize("mode", ["sync", "async"])
    @settings(
        max_examples=25,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(operations=OPERATIONS)
    def test_whatever_is_done_to_it_it_holds_what_a_list_would_hold(self, log, mode, operations):
        async def run():
            for name in SESSIONS:
                await work(log, "erase", name)
            models = {name: Model() for name in SESSIONS}
            for operation, name, *arguments in operations:
                outcome = await outcome_of(work, log, operation, name, *arguments)
                assert outcome == models[name].outcome_of(operation, *arguments), (operation, name, arguments)

        async def work(log, method, *arguments):
            if mode == "async":
                return await getattr(log, f"a{method}")(*arguments)
            return getattr(log, method)(*arguments)

        asyncio.run(run())

    # --- many writers -------------------------------------------------------------------------------------------------

    def test_threads_lose_nothing_and_number_without_gaps(self, log):
        def write(writer):
            for n in range(25):
                log.append(S, [HumanMessage(f"{writer}", id=f"{writer}-{n}"), AIMessage(f"{n}", id=f"{writer}-{n}-a")])

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        entries = log.entries(S)
        assert [entry.number for entry in entries] == list(range(1, 401))
        order = [entry.message.id for entry in entries]
        for writer in range(8):
            mine = [one for one in order if one.startswith(f"{writer}-")]
            assert mine == [part for n in range(25) for part in (f"{writer}-{n}", f"{writer}-{n}-a")]
        # A batch is one step: its two messages stand side by side.
        assert all(answer == f"{question}-a" for question, answer in zip(order[::2], order[1::2], strict=True))

    async def test_tasks_lose_nothing(self, log):
        await asyncio.gather(*(log.aappend(S, turns(1, start=n)) for n in range(50)))
        assert await log.aversion(S) == 100

    async def test_the_same_append_sent_by_many_at_once_is_stored_once(self, log):
        await asyncio.gather(*(asyncio.to_thread(log.append, S, turns(2)) for _ in range(8)))
        assert log.messages(S) == turns(2)

    async def test_closing_twice_is_fine(self, log, call):
        await call(log, "append", S, turns(1))
        await call(log, "close")
        await call(log, "close")

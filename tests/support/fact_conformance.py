"""What every fact store does, whatever it keeps its facts in; one body for the sync and the async methods.

A test module derives `FactConformance` and gives the fixture `facts`.
"""

from __future__ import annotations

import asyncio
import operator
from datetime import UTC, datetime, timedelta

import pytest

from langchain_tiered_memory.errors import ScopeError, VersionConflictError
from langchain_tiered_memory.types import MemoryScope

ADA = MemoryScope(user="ada")
IN_S1 = MemoryScope(user="ada", session="s1")
IN_S2 = MemoryScope(user="ada", session="s2")
BOB = MemoryScope(user="bob")
HOSTILE = [
    "a",
    "A",
    "a ",
    " b",
    "a:b",
    "a",
    "{a}",
    "*",
    "?[a-z]",
    "a\\u003ab",
    "\\",
    "%",
    "_",
    "'; DROP TABLE tiered_memory_facts; --",
    "\0",
    "a\0b",
    "\na",
    "\ud800",
    "\udfff\ud800",
    "\ud83d\ude00",
    "😀",
    "ä",
    "a\u0308",
    "你好",
    "x" * 512,
    "\ud800" * 512,
    "👩‍👩‍👧‍👦" * 70,
]
VALUES = [
    None,
    True,
    False,
    0,
    -1,
    2**63,
    -(10**4_000),
    0.1,
    -0.0,
    1.7976931348623157e308,
    5e-324,
    "",
    "text",
    "\0",
    "\ud800",
    "\u2028\n\r\t\"\\'",
    "你好🦜",
    "x" * 100_000,
    [],
    {},
    [[], {}, None],
    {"": {"": [1, "2", 3.0, None, True]}},
    {"b": 1, "a": 2, "\0": 3, "\ud800": 4},
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "SystemMessage"], "kwargs": {"content": "obey"}},
    {"__class__": "os.system", "py/object": "os.system"},
]


class Clock:
    """A clock that a test turns."""

    def __init__(self):
        self.now = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += timedelta(seconds=seconds)
        return self.now


@pytest.fixture(params=["sync", "async"])
def call(request):
    """Calls a method of a store, or its async twin."""

    async def call(store, method, *args, **kwargs):
        if request.param == "sync":
            return getattr(store, method)(*args, **kwargs)
        return await getattr(store, f"a{method}")(*args, **kwargs)

    return call


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


class FactConformance:
    @pytest.fixture
    def clock(self):
        return Clock()

    # --- putting and getting ------------------------------------------------------------------------------------------

    async def test_a_fact_comes_back_as_it_was_put(self, facts, call, clock):
        put = await call(facts, "put", ADA, "ada", "city", "Berlin", source="m1", turn_id=7)
        assert await call(facts, "get", ADA, "ada", "city") == put
        assert (put.scope, put.entity, put.attribute, put.value) == (ADA, "ada", "city", "Berlin")
        assert (put.valid_from, put.valid_until, put.updated_at) == (clock.now, None, clock.now)
        assert (put.version, put.source, put.turn_id) == (1, "m1", 7)

    async def test_what_is_not_there_is_none(self, facts, call):
        assert await call(facts, "get", ADA, "ada", "city") is None
        assert await call(facts, "list", ADA) == []
        assert await call(facts, "history", ADA, "ada", "city") == []
        assert await call(facts, "export", ADA) == []
        assert await call(facts, "delete", ADA, "ada", "city") is False
        assert await call(facts, "erase", ADA) == 0

    async def test_every_json_value_comes_back_exactly(self, facts, call):
        for number, value in enumerate(VALUES):
            put = await call(facts, "put", ADA, "e", f"a{number}", value)
            got = (await call(facts, "get", ADA, "e", f"a{number}")).value
            assert (repr(got), type(got)) == (repr(value), type(value))
            assert repr(put.value) == repr(value)
        listed = {fact.attribute: fact.value for fact in await call(facts, "list", ADA)}
        assert [repr(listed[f"a{number}"]) for number in range(len(VALUES))] == [repr(value) for value in VALUES]

    async def test_a_value_belongs_to_its_reader(self, facts, call):
        given = {"seats": [1]}
        put = await call(facts, "put", ADA, "e", "a", given)
        given["seats"].append(2)
        put.value["seats"].append(3)
        (await call(facts, "get", ADA, "e", "a")).value["seats"].append(4)
        assert (await call(facts, "get", ADA, "e", "a")).value == {"seats": [1]}

    @pytest.mark.parametrize(
        ("value", "error", "words"),
        [
            ((1, 2), TypeError, r"value is tuple.*list\(value\)"),
            ({"a": {1}}, TypeError, r"value\.a is set.*sorted"),
            ([b"x"], TypeError, r"value\[0\] is bytes.*decode"),
            ({1: 2}, TypeError, r"key 1.*str\(key\)"),
            (datetime(2026, 1, 1, tzinfo=UTC), TypeError, "datetime"),
            (float("nan"), ValueError, "nan"),
            ([float("inf")], ValueError, r"value\[0\] is inf"),
            (nested(101), ValueError, "deeper than 100"),
            (10**5_000, ValueError, "4300"),
            ("\ud83d\ude00", ValueError, "two surrogates"),
            ({"\ud83d\ude00": 1}, ValueError, "two surrogates"),
        ],
        ids=["tuple", "set", "bytes", "key", "datetime", "nan", "inf", "deep", "digits", "surrogates", "surrogate key"],
    )
    async def test_what_would_not_come_back_is_refused_with_the_repair(self, facts, call, value, error, words):
        with pytest.raises(error, match=words):
            await call(facts, "put", ADA, "e", "a", value)
        assert await call(facts, "export", ADA) == []

    async def test_the_deepest_value_that_is_taken_comes_back(self, facts, call):
        await call(facts, "put", ADA, "e", "a", nested(100))
        assert (await call(facts, "get", ADA, "e", "a")).value == nested(100)

    async def test_names_of_every_kind_are_kept_apart(self, facts, call):
        names = sorted(set(HOSTILE))
        for number, name in enumerate(names):
            await call(facts, "put", ADA, name, "a", number)
            await call(facts, "put", ADA, "e", name, -number)
        for number, name in enumerate(names):
            assert (await call(facts, "get", ADA, name, "a")).value == number
            assert (await call(facts, "get", ADA, "e", name)).value == -number
            assert [fact.value for fact in await call(facts, "list", ADA, name)] == [number]
        listed = await call(facts, "list", ADA, "e")
        assert [fact.attribute for fact in listed] == names
        assert await call(facts, "erase", ADA) == 2 * len(names)

    async def test_scopes_of_every_kind_are_kept_apart(self, facts, call):
        scopes = [
            MemoryScope(user=user, tenant=tenant, session=session)
            for user in ("a", "a:b", "\ud800")
            for tenant in ("default", "b", "{t}\0")
            for session in (None, "s", ":", "\udfff\0*")
        ]
        for number, scope in enumerate(scopes):
            await call(facts, "put", scope, "e", "a", number)
        for number, scope in enumerate(scopes):
            fact = await call(facts, "get", scope, "e", "a")
            assert (fact.value, fact.scope) == (number, scope)
        for scope in scopes[::4]:
            exported = await call(facts, "export", scope)
            assert {fact.scope for fact in exported} == set(scopes[scopes.index(scope) :][:4])

    @pytest.mark.parametrize("name", ["entity", "attribute"])
    @pytest.mark.parametrize(
        ("bad", "error", "words"),
        [
            ("", ValueError, "1 to 512 characters, got 0"),
            (" \t\n", ValueError, "is blank"),
            ("x" * 10_000, ValueError, "got 10,000.*value"),
            (None, TypeError, "no text"),
            (5, TypeError, "no text"),
        ],
    )
    async def test_names_that_cannot_be_used_are_refused(self, facts, call, name, bad, error, words):
        names = {"entity": "e", "attribute": "a", name: bad}
        for method, more in [("put", [1]), ("get", []), ("history", []), ("delete", [])]:
            with pytest.raises(error, match=words):
                await call(facts, method, ADA, *names.values(), *more)

    @pytest.mark.parametrize("scope", [None, "ada", {"user": "ada"}])
    async def test_there_is_no_reading_or_writing_without_a_scope(self, facts, call, scope):
        names = ["e", "a"]
        for method, more in [
            ("put", [*names, 1]),
            ("get", names),
            ("history", names),
            ("delete", names),
            ("list", []),
            ("erase", []),
            ("export", []),
        ]:
            with pytest.raises(ScopeError, match="MemoryScope"):
                await call(facts, method, scope, *more)

    async def test_arguments_that_make_no_sense_are_refused(self, facts, call):
        for arguments in [
            {"expected_version": -1},
            {"expected_version": True},
            {"expected_version": "1"},
            {"turn_id": -1},
            {"turn_id": 1.5},
            {"turn_id": 2**63},
            {"ttl": 0},
            {"ttl": -5},
            {"validity": "forever"},
            {"validity": "short", "ttl": 5},
            {"ttl": 5, "valid_until": datetime(2027, 1, 1, tzinfo=UTC)},
            {"valid_until": datetime(2027, 1, 1)},  # noqa: DTZ001  # that is what is wrong with it
            {"valid_from": 100, "valid_until": 100},
        ]:
            with pytest.raises(ValueError, match=r".+"):
                await call(facts, "put", ADA, "e", "a", 1, **arguments)
        for source in (5, [5], {"m1"}):
            with pytest.raises(TypeError, match="source"):
                await call(facts, "put", ADA, "e", "a", 1, source=source)
        for arguments in ({"entity": 5}, {"prefix": 5}):
            with pytest.raises(TypeError, match="no text"):
                await call(facts, "list", ADA, **arguments)
        assert await call(facts, "export", ADA) == []

    async def test_sources_are_a_name_or_ids(self, facts, call):
        for given, kept in [(None, None), ("m1", "m1"), (["m1", "m\ud800"], ("m1", "m\ud800")), ((), ())]:
            await call(facts, "put", ADA, "e", "a", 1, source=given)
            assert (await call(facts, "get", ADA, "e", "a")).source == kept

    # --- versions -----------------------------------------------------------------------------------------------------

    async def test_an_expected_version_that_is_right_writes(self, facts, call):
        assert (await call(facts, "put", ADA, "e", "a", 1, expected_version=0)).version == 1
        assert (await call(facts, "put", ADA, "e", "a", 2, expected_version=1)).version == 2
        assert (await call(facts, "get", ADA, "e", "a")).value == 2

    @pytest.mark.parametrize("expected", [0, 1, 3])
    async def test_a_stale_expected_version_is_refused_with_the_present_fact(self, facts, call, expected):
        await call(facts, "put", ADA, "e", "a", "one")
        present = await call(facts, "put", ADA, "e", "a", "two")
        with pytest.raises(VersionConflictError, match="version 2") as caught:
            await call(facts, "put", ADA, "e", "a", "mine", expected_version=expected)
        assert (caught.value.expected, caught.value.actual, caught.value.current) == (expected, 2, present)
        assert await call(facts, "get", ADA, "e", "a") == present
        with pytest.raises(VersionConflictError) as caught:
            await call(facts, "delete", ADA, "e", "a", expected_version=expected)
        assert (caught.value.actual, caught.value.current) == (2, present)

    async def test_expecting_what_is_not_there_is_refused(self, facts, call):
        with pytest.raises(VersionConflictError, match="not there") as caught:
            await call(facts, "put", ADA, "e", "a", 1, expected_version=1)
        assert (caught.value.expected, caught.value.actual, caught.value.current) == (1, 0, None)

    async def test_of_writers_with_one_expected_version_one_wins(self, facts):
        writes = (asyncio.to_thread(facts.put, ADA, "e", "a", n, expected_version=0) for n in range(8))
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        conflicts = [outcome for outcome in outcomes if isinstance(outcome, VersionConflictError)]
        (winner,) = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
        assert len(conflicts) == 7
        assert {conflict.current for conflict in conflicts} == {winner}
        assert facts.get(ADA, "e", "a") == winner

    async def test_writers_that_expect_nothing_all_write(self, facts):
        written = await asyncio.gather(*(facts.aput(ADA, "e", "a", n) for n in range(40)))
        assert sorted(fact.version for fact in written) == list(range(1, 41))
        assert facts.get(ADA, "e", "a").version == 40

    async def test_versions_go_on_after_a_deletion_and_after_an_end(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", 1)
        assert await call(facts, "delete", ADA, "e", "a", expected_version=1) is True
        assert await call(facts, "delete", ADA, "e", "a") is False
        again = await call(facts, "put", ADA, "e", "a", 2, expected_version=0, ttl=5)
        assert again.version > 1
        clock.advance(5)
        with pytest.raises(VersionConflictError) as caught:
            await call(facts, "put", ADA, "e", "a", 3, expected_version=again.version)
        assert (caught.value.actual, caught.value.current) == (0, None)
        assert (await call(facts, "put", ADA, "e", "a", 3, expected_version=0)).version > again.version

    # --- merging ------------------------------------------------------------------------------------------------------

    async def test_a_merge_joins_what_the_writer_had_not_seen(self, facts, call):
        assert (await call(facts, "put", ADA, "e", "a", [1], merge=operator.add)).value == [1]
        assert (await call(facts, "put", ADA, "e", "a", [2], merge=operator.add)).value == [1, 2]
        stale = await call(facts, "put", ADA, "e", "a", [3], expected_version=1, merge=operator.add)
        assert (stale.value, stale.version) == ([1, 2, 3], 3)
        seen = await call(facts, "put", ADA, "e", "a", [4], expected_version=3, merge=operator.add)
        assert seen.value == [4]

    async def test_a_merge_has_nothing_to_join_with_what_has_gone(self, facts, call):
        await call(facts, "put", ADA, "e", "a", [1])
        await call(facts, "delete", ADA, "e", "a")
        with pytest.raises(VersionConflictError):
            await call(facts, "put", ADA, "e", "a", [2], expected_version=1, merge=operator.add)
        assert (await call(facts, "put", ADA, "e", "a", [2], merge=operator.add)).value == [2]

    async def test_merges_of_many_writers_lose_nothing(self, facts):
        await asyncio.gather(*(facts.aput(ADA, "e", "a", [n], merge=operator.add) for n in range(20)))
        assert sorted(facts.get(ADA, "e", "a").value) == list(range(20))

    async def test_an_error_of_a_merge_reaches_the_writer_and_writes_nothing(self, facts, call):
        await call(facts, "put", ADA, "e", "a", 1)
        with pytest.raises(ZeroDivisionError):
            await call(facts, "put", ADA, "e", "a", 0, merge=operator.truediv)
        assert (await call(facts, "get", ADA, "e", "a")).version == 1

    # --- time ---------------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("how", "seconds"),
        [
            ({"ttl": 5}, 5),
            ({"ttl": timedelta(milliseconds=1)}, 0.001),
            ({"valid_until": datetime(2026, 1, 2, 3, 4, 10, 678901, tzinfo=UTC)}, 5),
            ({"validity": "short"}, 7 * 86_400),
            ({"validity": "medium"}, 90 * 86_400),
        ],
    )
    async def test_a_fact_is_gone_at_the_moment_of_its_end(self, facts, call, clock, how, seconds):
        put = await call(facts, "put", ADA, "e", "a", 1, **how)
        assert put.valid_until == clock.now + timedelta(seconds=seconds)
        clock.now = put.valid_until - timedelta(microseconds=1)
        assert await call(facts, "get", ADA, "e", "a") == put
        assert await call(facts, "list", ADA) == [put]
        clock.now = put.valid_until
        assert await call(facts, "get", ADA, "e", "a") is None
        assert await call(facts, "list", ADA) == []
        assert await call(facts, "history", ADA, "e", "a") == [put]
        assert await call(facts, "get", ADA, "e", "a", as_of=put.valid_from) == put

    async def test_what_is_long_valid_has_no_end(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", 1, validity="long")
        clock.now = datetime(9998, 1, 1, tzinfo=UTC)
        assert (await call(facts, "get", ADA, "e", "a")).valid_until is None

    async def test_a_newer_value_ends_the_older_one_and_both_can_be_asked_for(self, facts, call, clock):
        begin = clock.now
        first = await call(facts, "put", ADA, "ada", "employer", "A")
        moved = clock.advance(100)
        second = await call(facts, "put", ADA, "ada", "employer", "B")
        assert await call(facts, "get", ADA, "ada", "employer") == second
        assert [
            (fact.value, fact.valid_from, fact.valid_until)
            for fact in await call(facts, "history", ADA, "ada", "employer")
        ] == [
            ("A", begin, moved),
            ("B", moved, None),
        ]
        before = moved - timedelta(microseconds=1)
        then = await call(facts, "get", ADA, "ada", "employer", as_of=before)
        assert (then.value, then.version, then.valid_until) == ("A", first.version, moved)
        assert (await call(facts, "get", ADA, "ada", "employer", as_of=moved)).value == "B"
        assert await call(facts, "get", ADA, "ada", "employer", as_of=begin - timedelta(seconds=1)) is None
        assert [fact.value for fact in await call(facts, "list", ADA, as_of=begin)] == ["A"]
        assert [fact.value for fact in await call(facts, "list", ADA, as_of=begin.timestamp() - 1)] == []

    async def test_an_end_does_not_bring_back_what_was_before(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", "for good")
        clock.advance(1)
        await call(facts, "put", ADA, "e", "a", "for now", ttl=5)
        clock.advance(5)
        assert await call(facts, "get", ADA, "e", "a") is None

    async def test_a_deleted_fact_can_be_asked_for_as_it_was(self, facts, call, clock):
        begin = clock.now
        await call(facts, "put", ADA, "e", "a", 1)
        gone = clock.advance(10)
        await call(facts, "delete", ADA, "e", "a")
        assert await call(facts, "get", ADA, "e", "a") is None
        assert await call(facts, "list", ADA) == []
        assert (await call(facts, "get", ADA, "e", "a", as_of=begin)).value == 1
        (past,) = await call(facts, "history", ADA, "e", "a")
        assert (past.value, past.valid_until) == (1, gone)

    async def test_a_plan_holds_from_its_beginning_and_the_present_until_then(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", "old")
        planned = clock.now + timedelta(days=1)
        plan = await call(facts, "put", ADA, "e", "a", "new", valid_from=planned)
        now = await call(facts, "get", ADA, "e", "a")
        assert (now.value, now.valid_until) == ("old", planned)
        assert [fact.value for fact in await call(facts, "list", ADA)] == ["old"]
        with pytest.raises(VersionConflictError) as caught:
            await call(facts, "put", ADA, "e", "a", "other", expected_version=now.version)
        assert caught.value.current == plan
        clock.now = planned
        assert await call(facts, "get", ADA, "e", "a") == plan
        assert [fact.value for fact in await call(facts, "list", ADA)] == ["new"]

    async def test_a_correction_of_the_past_leaves_the_present(self, facts, call, clock):
        begin = clock.now
        await call(facts, "put", ADA, "ada", "city", "Berlin")
        clock.advance(100)
        rome = await call(
            facts,
            "put",
            ADA,
            "ada",
            "city",
            "Rome",
            valid_from=begin + timedelta(seconds=10),
            valid_until=begin + timedelta(seconds=20),
        )
        assert rome.valid_until == begin + timedelta(seconds=20)
        assert (await call(facts, "get", ADA, "ada", "city")).value == "Berlin"
        seen = [
            (await call(facts, "get", ADA, "ada", "city", as_of=begin + timedelta(seconds=s))).value
            for s in (9, 10, 19, 20)
        ]
        assert seen == ["Berlin", "Rome", "Rome", "Berlin"]
        assert (await call(facts, "put", ADA, "ada", "city", "Bonn", expected_version=1)).value == "Bonn"

    async def test_a_value_from_the_past_on_corrects_what_came_since(self, facts, call, clock):
        begin = clock.now
        await call(facts, "put", ADA, "e", "a", "A")
        clock.advance(100)
        await call(facts, "put", ADA, "e", "a", "B", valid_from=begin - timedelta(seconds=50))
        assert (await call(facts, "get", ADA, "e", "a", as_of=begin)).value == "B"
        first, _ = await call(facts, "history", ADA, "e", "a")
        assert first.valid_until == first.valid_from == begin

    @pytest.mark.parametrize("year", [1, 1969, 9999])
    async def test_times_of_every_age_come_back(self, facts, call, year):
        begin = datetime(year, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
        put = await call(facts, "put", ADA, "e", "a", 1, valid_from=begin)
        assert put.valid_from == begin
        assert (await call(facts, "history", ADA, "e", "a"))[0].valid_from == begin
        assert (await call(facts, "get", ADA, "e", "a", as_of=begin)).version == put.version

    async def test_a_reader_whose_clock_is_behind_sees_what_was_acknowledged(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", "old")
        clock.advance(10)
        await call(facts, "put", ADA, "e", "a", "new")
        clock.advance(-5)
        assert (await call(facts, "get", ADA, "e", "a")).value == "new"
        assert [fact.value for fact in await call(facts, "list", ADA)] == ["new"]
        with pytest.raises(VersionConflictError):
            await call(facts, "put", ADA, "e", "a", "mine", expected_version=1)
        assert (await call(facts, "put", ADA, "e", "a", "mine", expected_version=2)).value == "mine"
        assert (await call(facts, "get", ADA, "e", "a")).value == "mine"

    # --- order of turns -----------------------------------------------------------------------------------------------

    async def test_a_late_turn_is_history_and_never_over_a_newer_value(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", "turn 5", turn_id=5)
        clock.advance(10)
        late = await call(facts, "put", ADA, "e", "a", "turn 3", turn_id=3)
        assert late.valid_until == late.valid_from
        present = await call(facts, "get", ADA, "e", "a")
        assert (present.value, present.version) == ("turn 5", 1)
        assert [fact.value for fact in await call(facts, "history", ADA, "e", "a")] == ["turn 5", "turn 3"]
        assert (await call(facts, "put", ADA, "e", "a", "turn 5 again", turn_id=5, expected_version=1)).version == 3
        assert (await call(facts, "put", ADA, "e", "a", "turn 6", turn_id=6)).version == 4
        assert (await call(facts, "get", ADA, "e", "a")).value == "turn 6"

    async def test_a_late_turn_holds_where_it_would_have_held(self, facts, call, clock):
        begin = clock.now
        second = timedelta(seconds=1)
        await call(facts, "put", ADA, "e", "a", "one", turn_id=1)
        clock.advance(3)
        await call(facts, "put", ADA, "e", "a", "three", turn_id=3)
        clock.advance(10)
        late = await call(facts, "put", ADA, "e", "a", "two", turn_id=2, valid_from=begin + 2 * second)
        assert late.valid_until == begin + 3 * second
        seen = [(await call(facts, "get", ADA, "e", "a", as_of=begin + n * second)).value for n in range(5)]
        assert seen == ["one", "one", "two", "three", "three"]

    async def test_a_late_turn_does_not_bring_back_what_has_ended(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", 5, turn_id=5, ttl=10)
        await call(facts, "put", ADA, "e", "b", 5, turn_id=5)
        await call(facts, "delete", ADA, "e", "b")
        clock.advance(20)
        for attribute in "ab":
            await call(facts, "put", ADA, "e", attribute, 3, turn_id=3)
            assert await call(facts, "get", ADA, "e", attribute) is None
            assert await call(facts, "get", ADA, "e", attribute, as_of=clock.now) is None

    # --- sessions, lists, erasing -------------------------------------------------------------------------------------

    async def test_a_session_reads_its_own_fact_or_else_the_users(self, facts, call, clock):
        await call(facts, "put", ADA, "e", "a", "user's", ttl=100)
        own = await call(facts, "put", IN_S1, "e", "a", "session's", ttl=10)
        assert (own.version, own.scope) == (1, IN_S1)
        assert (await call(facts, "get", IN_S1, "e", "a")).value == "session's"
        assert (await call(facts, "get", IN_S2, "e", "a")).scope == ADA
        assert (await call(facts, "get", ADA, "e", "a")).value == "user's"
        assert await call(facts, "get", BOB, "e", "a") is None
        await call(facts, "put", IN_S1, "e", "b", 1)
        assert [fact.value for fact in await call(facts, "list", IN_S1)] == ["session's", 1]
        assert [fact.value for fact in await call(facts, "list", IN_S2)] == ["user's"]
        assert [fact.value for fact in await call(facts, "list", ADA)] == ["user's"]
        assert len(await call(facts, "history", IN_S1, "e", "a")) == 1
        clock.advance(10)
        assert (await call(facts, "get", IN_S1, "e", "a")).value == "user's"
        assert await call(facts, "delete", IN_S1, "e", "a") is False

    async def test_lists_are_by_entity_and_by_prefix(self, facts, call):
        for entity in ("trip", "trip2", "ada"):
            for attribute in ("hotel.name", "hotel.city", "hotel", "Hotel", "h%tel.x", "flight"):
                await call(facts, "put", ADA, entity, attribute, f"{entity} {attribute}")

        async def names(**wanted):
            return [(fact.entity, fact.attribute) for fact in await call(facts, "list", ADA, **wanted)]

        assert await names(entity="trip", prefix="hotel.") == [("trip", "hotel.city"), ("trip", "hotel.name")]
        assert await names(prefix="h%") == [(entity, "h%tel.x") for entity in ("ada", "trip", "trip2")]
        assert len(await names(entity="trip", prefix="")) == 6
        assert await names(entity="tri") == await names(prefix="x") == await names(entity="") == []
        assert await names() == sorted(await names())

    async def test_erasing_a_user_takes_everything_and_nothing_else(self, facts, call):
        for scope in (ADA, IN_S1, IN_S2, BOB):
            for n in range(3):
                await call(facts, "put", scope, "e", "a", n)
            await call(facts, "put", scope, "e", "b", 0)
            await call(facts, "delete", scope, "e", "b")
        assert len(await call(facts, "export", IN_S1)) == 4
        assert await call(facts, "erase", IN_S1) == 4
        assert (await call(facts, "get", IN_S1, "e", "a")).scope == ADA
        exported = await call(facts, "export", ADA)
        assert [fact.value for fact in exported if fact.scope == IN_S2] == [0, 1, 2, 0]
        assert await call(facts, "erase", ADA) == len(exported) == 8
        for scope in (ADA, IN_S1, IN_S2):
            assert await call(facts, "get", scope, "e", "a") is None
            assert await call(facts, "export", scope) == []
        assert (await call(facts, "get", BOB, "e", "a")).value == 2
        assert (await call(facts, "put", ADA, "e", "a", 1)).version == 1

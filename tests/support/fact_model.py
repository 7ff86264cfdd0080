"""What fact stores should do, said as plainly as it can be, and a machine that holds stores against it.

The model keeps every write in a list and answers by going through all of it. Each step of the machine does one thing in
the model and in every store, and compares what they say.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.types import MemoryScope
from support.profiles import scaled

STEPS = 40_000
STEPS_IN_EXAMPLE = 50
BEGINNING = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
ATTRIBUTES = ("a", "ab", "b:\0")


class Clock:
    """Seconds since the beginning."""

    seconds = 0

    def __call__(self):
        return moment(self.seconds)


def moment(seconds):
    return BEGINNING + timedelta(seconds=seconds)


@dataclass
class Write:
    version: int
    value: object
    begin: float
    end: float
    at: float
    turn: int | None
    leads: bool
    deleted: bool = False


class Model:
    """The writes of one user: by session (0: of none) and attribute."""

    def __init__(self):
        self.writes = {}

    def of(self, key):
        return self.writes.get(key, [])

    def head(self, key):
        leading = [write for write in self.of(key) if write.leads]
        return leading[-1] if leading else None

    def live(self, key, now):
        head = self.head(key)
        return head if head and not head.deleted and now < head.end else None

    def write(self, key, value, begin, end, now, turn, *, deleted=False):
        turns = [write.turn for write in self.of(key) if write.leads and write.turn is not None]
        leads = not (turn is not None and turns and turn < max(turns)) and now < end
        write = Write(len(self.of(key)) + 1, value, begin, end, now, turn, leads, deleted)
        self.writes[key] = [*self.of(key), write]
        return write

    def knowledge(self, key):
        """Oldest first: in the order of writing, but a late turn before the first later one."""
        order, high = [], -1
        for write in self.of(key):
            if write.turn is not None and write.turn < high:
                later = [known for known in order if known.turn is not None and known.turn > write.turn]
                order.insert(order.index(later[0]), write)
            else:
                order.append(write)
            if write.leads and write.turn is not None:
                high = max(high, write.turn)
        return order

    def end_of(self, key, write):
        order = self.knowledge(key)
        newer = [other.begin for other in order[order.index(write) + 1 :] if other.leads]
        return min([write.end, *newer])

    def at(self, key, time, *, present):
        order = self.knowledge(key)

        def begun(write):
            return write.begin <= time or (present and write.begin <= write.at)

        for place, write in reversed(list(enumerate(order))):
            replaced = any(other.leads and begun(other) for other in order[place + 1 :])
            if begun(write) and time < write.end and not write.deleted and not replaced:
                return write, self.end_of(key, write)
        return None


def told(write, end):
    return (write.version, write.value, moment(write.begin), None if end == float("inf") else moment(end), write.turn)


def seen(fact):
    return None if fact is None else (fact.version, fact.value, fact.valid_from, fact.valid_until, fact.turn_id)


class Machine(RuleBasedStateMachine):
    """Does the same in the model and in every store.

    A subclass gives `stores`, by name, and the `clock` that they all share.
    """

    stores: dict = {}  # noqa: RUF012  # a subclass has its own
    clock = Clock()
    steps = 0

    @invariant()
    def count(self):
        type(self).steps += 1

    @initialize()
    def begin(self):
        self.clock.seconds = 0
        self.model = Model()
        user = uuid4().hex
        self.scopes = (MemoryScope(user=user), MemoryScope(user=user, session="s"))

    def everywhere(self, work, expected):
        for name, store in self.stores.items():
            try:
                answer = work(store)
            except VersionConflictError as conflict:
                answer = ("conflict", conflict.actual, conflict.current and conflict.current.version)
            assert answer == expected, f"{name}: {answer} and not {expected}"

    @rule(seconds=st.integers(-3, 12))
    def wait(self, seconds):
        self.clock.seconds += seconds

    @rule(
        own=st.booleans(),
        attribute=st.sampled_from(ATTRIBUTES),
        value=st.one_of(st.integers(0, 9), st.text(max_size=3).filter(lambda text: not surrogates(text))),
        begin=st.none() | st.integers(-15, 15),
        lasts=st.none() | st.integers(1, 12),
        turn=st.none() | st.integers(0, 5),
        expected=st.sampled_from(["anything", "anything", "right", "right", "nothing", "wrong"]),
    )
    def put(self, own, attribute, value, begin, lasts, turn, expected):
        now, key = self.clock.seconds, (own, attribute)
        live = self.model.live(key, now)
        actual = live.version if live else 0
        version = {"anything": None, "right": actual, "nothing": 0, "wrong": actual + 1}[expected]
        start = now if begin is None else now + begin
        if version not in {None, actual}:
            answer = ("conflict", actual, live and live.version)
        else:
            end = float("inf") if lasts is None else start + lasts
            write = self.model.write(key, value, start, end, now, turn)
            answer = told(write, write.end if write.leads else max(write.begin, self.model.end_of(key, write)))
        arguments = {"ttl": lasts, "valid_from": None if begin is None else moment(start), "turn_id": turn}
        self.everywhere(
            lambda store: seen(
                store.put(self.scopes[own], "e", attribute, value, expected_version=version, **arguments)
            ),
            answer,
        )

    @rule(own=st.booleans(), attribute=st.sampled_from(ATTRIBUTES), wrong=st.booleans())
    def delete(self, own, attribute, wrong):
        now, key = self.clock.seconds, (own, attribute)
        live = self.model.live(key, now)
        version = (live.version if live else 0) + 1 if wrong else None
        if wrong:
            answer = ("conflict", live.version if live else 0, live and live.version)
        else:
            answer = live is not None
            if live:
                self.model.write(key, None, now, float("inf"), now, None, deleted=True)
        self.everywhere(lambda store: store.delete(self.scopes[own], "e", attribute, version), answer)

    def found(self, own, attribute, offset):
        time = self.clock.seconds + (offset or 0)
        for scope in (True, False) if own else (False,):
            held = self.model.at((scope, attribute), time, present=offset is None)
            if held:
                return told(*held)
        return None

    @rule(own=st.booleans(), attribute=st.sampled_from(ATTRIBUTES), offset=st.none() | st.integers(-40, 40))
    def get(self, own, attribute, offset):
        as_of = None if offset is None else moment(self.clock.seconds + offset)
        answer = self.found(own, attribute, offset)
        self.everywhere(lambda store: seen(store.get(self.scopes[own], "e", attribute, as_of)), answer)

    @rule(own=st.booleans(), prefix=st.sampled_from([None, "a"]), offset=st.none() | st.integers(-40, 40))
    def list_them(self, own, prefix, offset):
        as_of = None if offset is None else moment(self.clock.seconds + offset)
        wanted = [attribute for attribute in ATTRIBUTES if attribute.startswith(prefix or "")]
        found = [(attribute, self.found(own, attribute, offset)) for attribute in wanted]
        answer = [one for one in found if one[1]]
        self.everywhere(
            lambda store: [
                (fact.attribute, seen(fact)) for fact in store.list(self.scopes[own], prefix=prefix, as_of=as_of)
            ],
            answer,
        )

    @rule(own=st.booleans(), attribute=st.sampled_from(ATTRIBUTES))
    def history(self, own, attribute):
        key = (own, attribute)
        facts = [write for write in self.model.of(key) if not write.deleted]
        answer = [told(write, max(write.begin, self.model.end_of(key, write))) for write in facts]
        self.everywhere(lambda store: [seen(fact) for fact in store.history(self.scopes[own], "e", attribute)], answer)

    @rule(own=st.booleans(), really=st.integers(0, 9))
    def erase(self, own, really):
        if really:
            return
        gone = [key for key in self.model.writes if key[0] or not own]
        answer = sum(not write.deleted for key in gone for write in self.model.writes.pop(key))
        self.everywhere(lambda store: store.erase(self.scopes[own]), answer)


def surrogates(text):
    return any("\ud800" <= character <= "\udfff" for character in text)


def run(machine):
    """At least 2,000 steps, with `make soak` all of them."""
    wanted = scaled(STEPS)
    while machine.steps < wanted:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=max(1, (wanted - machine.steps) // STEPS_IN_EXAMPLE),
                stateful_step_count=STEPS_IN_EXAMPLE,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
    print(f"{machine.steps:,} steps")  # noqa: T201  # pytest -rP shows it

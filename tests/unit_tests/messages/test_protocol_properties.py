"""The invariants of trimming over generated conversations, judged by an oracle that shares no code with the package."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage

from langchain_tiered_memory.errors import BudgetExceededError, ProtocolError
from langchain_tiered_memory.messages.repair import repair_messages, validate_messages
from langchain_tiered_memory.messages.tokens import TiktokenCounter
from langchain_tiered_memory.messages.trimming import MessageTrimmer, trim_messages
from support import payloads
from support.histories import (
    History,
    broken_histories,
    examples,
    histories,
    notation,
    portable_histories,
    tidy_histories,
    weigh,
)
from support.oracle import PROVIDERS, calls_of, faults, is_system, is_user_turn, live_call, newest_user_turn, results_of
from support.reference import (
    Group,
    flat,
    kept_groups,
    repaired_groups,
    required_groups,
    same,
    trimmed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STEPS = 40


def weigh_list(messages: list[BaseMessage]) -> int:
    return sum(weigh(message) for message in messages)


def opaque(messages: list[BaseMessage]) -> int:
    """Count a whole that is not the sum of its parts: a fixed overhead, and a price for every change of speaker."""
    changes = sum(before.type != after.type for before, after in pairwise(messages))
    return 7 + changes + sum(weigh(message) for message in messages)


def rounds(messages: Sequence[BaseMessage]) -> int:
    return sum(is_user_turn(message) for message in messages)


MEASURES: dict[str, tuple[Callable[[list[BaseMessage]], int], dict[str, Any]]] = {
    "len": (len, {"token_counter": len}),
    "messages": (len, {}),
    "rounds": (rounds, {}),
    "per message": (weigh_list, {"token_counter": weigh}),
    "whole list": (weigh_list, {"token_counter": weigh_list}),
    "opaque": (opaque, {"token_counter": opaque}),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One call of trim_messages: a history, a budget between nothing and more than all, and the options."""

    history: History
    step: int
    measure: str = "len"
    strategy: str = "last"
    include_system: bool = False
    oversized: str = "shrink"
    pin: int = 0
    groups: list[Group] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", repaired_groups(self.history.messages))

    @property
    def measured(self) -> Callable[[list[BaseMessage]], int]:
        return MEASURES[self.measure][0]

    @property
    def limit(self) -> int:
        return self.step * (self.measured(self.history.messages) + 2) // STEPS

    @property
    def leading(self) -> int:
        messages = self.history.messages
        spoken = next((i for i, message in enumerate(messages) if not is_system(message)), len(messages))
        return spoken if self.include_system else 0

    @property
    def pinned(self) -> set[int]:
        return {index for index in range(len(self.groups)) if self.pin and index % 6 == self.pin - 1}

    @property
    def required(self) -> set[int]:
        return required_groups(
            self.groups, leading=self.leading, pinned=self.pinned, whole_round=self.measure == "rounds"
        )

    @property
    def closed(self) -> bool:
        """Whether the repair makes up results, whose wording and so whose size is the package's own."""
        return any(group.closed for group in self.groups)

    def options(self) -> dict[str, Any]:
        pinned = {id(self.groups[index].head) for index in self.pinned}
        size = (self.measure, self.limit) if self.measure in {"messages", "rounds"} else self.limit
        return {
            "max_tokens": size,
            "strategy": self.strategy,
            "include_system": self.include_system,
            "oversized": self.oversized,
            "pin": (lambda message: id(message) in pinned) if pinned else None,
            **MEASURES[self.measure][1],
        }

    def trim(self) -> list[BaseMessage]:
        return trim_messages(self.history.messages, **self.options())


def cases(source: st.SearchStrategy[History], measures: Sequence[str] = tuple(MEASURES)) -> st.SearchStrategy[Case]:
    return st.builds(
        Case,
        history=source.filter(lambda history: bool(history.messages)),
        step=st.integers(0, STEPS),
        measure=st.sampled_from(measures),
        strategy=st.sampled_from(["last", "first"]),
        include_system=st.booleans(),
        oversized=st.sampled_from(["shrink", "raise"]),
        pin=st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5, 6]),
    )


def unshrunk(case: Case, output: list[BaseMessage]) -> list[BaseMessage]:
    """Put the whole results back for shortened ones, so that the output can be compared by identity."""
    own = {id(group.head): group.parts for group in case.groups}
    parts: tuple[Any, ...] = ()
    whole = []
    for message in output:
        parts = own.get(id(message), parts)
        twins = [part for part in parts if part is message or shortened(part, message)]
        whole.append(twins[0] if len(twins) == 1 else message)
    return whole


def shortened(whole: Any, message: BaseMessage) -> bool:
    """Whether a message can be a shortened copy of a tool result."""
    return (
        type(whole) is type(message)
        and results_of(whole) == results_of(message) != []
        and whole.id == message.id
        and getattr(whole, "status", None) == getattr(message, "status", None)
    )


def check_refusal(case: Case, error: BudgetExceededError) -> None:
    """A refusal is right only when what may not go is larger than the budget."""
    assert error.limit == case.limit
    assert error.over == error.needed - error.limit > 0
    if case.oversized == "raise" and any(is_oversized(case, group) for group in case.groups):
        return
    required = case.required
    if case.oversized == "raise" and case.groups:
        # newer system messages than the oversized unit take their room first
        required = required | {len(case.groups) - 1} | {i for i, group in enumerate(case.groups) if group.is_system}
    if newest_user_turn(case.history.messages) is None:
        required = required | {len(case.groups) - 1, *range(case.leading)}
    if case.closed and case.measure not in {"len", "messages", "rounds"}:
        return
    least = flat([case.groups[index] for index in sorted(required)])
    size = len(least) if case.measure in {"len", "messages"} else case.measured(least)  # type: ignore[arg-type]
    assert size > case.limit, f"{notation(case.history.messages)} refused although {size} <= {case.limit}"


def is_oversized(case: Case, group: Group) -> bool:
    """Whether a unit with results alone exceeds the whole budget."""
    if len(group.parts) == 1:
        return False
    if any(not isinstance(part, BaseMessage) for part in group.parts):
        return True  # what closes a call has a price of its own
    return case.measured(list(group.parts)) > case.limit  # type: ignore[arg-type]


def check_output(case: Case, output: list[BaseMessage]) -> None:
    """Everything that must hold for every output."""
    history = case.history.messages
    assert output, "non-empty input gave an empty output"
    assert case.measured(output) <= case.limit, f"{case.measured(output)} > {case.limit}"
    found = faults(output)
    if newest_user_turn(history) is None:
        found = [fault for fault in found if "open with a user turn" not in fault]
    assert found == [], f"{notation(output)}: {found}"
    assert newest_user_turn(history) is None or validate_messages(output) == []
    whole = unshrunk(case, output)
    kept = kept_groups(case.groups, whole)
    assert case.required <= kept, f"{notation(output)} lost one of the groups {sorted(case.required)}"
    if not faults(history) and case.measured(history) <= case.limit:
        assert same(history, output), "a valid input under budget was changed"
    cut = [before for before, after in zip(whole, output, strict=True) if before is not after]
    assert not cut or case.measure not in {"len", "messages", "rounds"}, "shortened where that saves nothing"
    shrinkable = [group for group in case.groups if group is case.groups[-1] or is_oversized(case, group)]
    for one in cut:
        owner = next((group for group in shrinkable if any(one is part for part in group.parts)), None)
        assert owner is not None, f"{one} shortened, of a unit that is neither the last nor larger than the budget"
        assert owner.complete, "a live result was shortened"
        assert case.groups.index(owner) not in case.pinned, "a pinned result was shortened"


def survives(case: Case) -> bool:
    """Whether the contract says what becomes of the history: it says nothing of one that is all orphans."""
    groups = case.groups
    first = next((index for index, group in enumerate(groups) if group.is_user), None)
    # a pinned assistant message before the first user turn can neither stay nor go
    return bool(groups) and (first is not None or not case.pin)


@examples(2_000)
@given(case=cases(histories()))
def test_trimming_keeps_every_invariant(case: Case) -> None:
    if not survives(case):
        return
    try:
        output = case.trim()
    except BudgetExceededError as error:
        event("refused")
        check_refusal(case, error)
    else:
        event("trimmed")
        check_output(case, output)
    assert case.history.messages == case.history.copy(), "the caller's messages were changed"


@examples(400)
@given(case=cases(tidy_histories()))
def test_tidy_histories_keep_every_invariant(case: Case) -> None:
    try:
        output = case.trim()
    except BudgetExceededError as error:
        check_refusal(case, error)
    else:
        check_output(case, output)
        assert len(output) <= len(case.history.messages)


COUNTED = ["len", "messages", "rounds"]


@examples(400)
@given(case=cases(tidy_histories(), COUNTED))
def test_what_is_kept_is_the_longest_run_that_fits(case: Case) -> None:
    def cost(group: Group) -> int:
        return case.measured(list(group.parts))  # type: ignore[arg-type]

    expected = trimmed(case.groups, cost, case.limit, case.required, case.strategy)
    last = len(case.groups) - 1
    if case.oversized == "raise" and (
        (expected is not None and last not in expected) or any(is_oversized(case, group) for group in case.groups)
    ):
        return  # an oversized unit is refused instead
    if expected is None:
        with pytest.raises(BudgetExceededError) as caught:
            case.trim()
        if case.oversized == "shrink":
            assert caught.value.needed == sum(cost(case.groups[index]) for index in case.required)
        assert caught.value.unit == ("messages" if case.measure == "len" else case.measure)
        return
    assert kept_groups(case.groups, case.trim()) == expected


@examples(300)
@given(case=cases(histories()))
def test_trimming_again_changes_nothing(case: Case) -> None:
    if not survives(case) or case.pin or newest_user_turn(case.history.messages) is None:
        return
    try:
        output = case.trim()
    except BudgetExceededError:
        return
    assert same(output, trim_messages(output, **case.options()))


@examples(300)
@given(case=cases(histories()))
def test_the_runnable_does_what_the_function_does(case: Case) -> None:
    if not survives(case):
        return
    try:
        expected: list[BaseMessage] | str = case.trim()
    except BudgetExceededError as error:
        expected = str(error)
    for runnable in (trim_messages(**case.options()), MessageTrimmer(**case.options())):
        try:
            actual: list[BaseMessage] | str = runnable.invoke(case.history.messages)
        except BudgetExceededError as error:
            actual = str(error)
        assert actual == expected


def whole_and_forward(history: Sequence[BaseMessage], seen: Sequence[BaseMessage]) -> bool:
    """Whether a counter was handed a list in order with no unit split: what a count-tokens API takes."""
    places = {id(message): index for index, message in enumerate(history)}
    order = [places[id(message)] for message in seen if id(message) in places]
    live = live_call(history)
    open_calls = set() if live is None else set(calls_of(history[live]))
    unanswered = [fault for fault in faults(seen, "openai") if not any(repr(call) in fault for call in open_calls)]
    return order == sorted(order) and not unanswered


@examples(400)
@given(case=cases(tidy_histories(), ["opaque"]), cut=st.integers(0, 3))
def test_a_list_counter_never_sees_a_split_or_reversed_list(case: Case, cut: int) -> None:
    history = case.history.messages[: len(case.history.messages) - cut] or case.history.messages

    def spy(messages: list[BaseMessage]) -> int:
        assert whole_and_forward(history, messages), notation(messages)
        return opaque(messages)

    try:
        output = trim_messages(history, **{**case.options(), "token_counter": spy, "pin": None})
    except BudgetExceededError:
        return
    assert opaque(output) <= case.limit


@examples(300)
@given(case=cases(tidy_histories(), ["per message"]))
def test_a_message_is_counted_at_most_once(case: Case) -> None:
    counted: list[int] = []

    def spy(message: BaseMessage) -> int:
        counted.append(id(message))
        return weigh(message)

    originals = {id(message) for message in case.history.messages}
    try:
        # a unit that is shortened is measured again, as it is another one afterwards
        trim_messages(
            case.history.messages, **{**case.options(), "token_counter": spy, "pin": None, "oversized": "raise"}
        )
    except BudgetExceededError:
        return
    own = [one for one in counted if one in originals]
    assert len(own) == len(set(own))


@examples(300)
@given(case=cases(histories(), ["len"]))
def test_exact_counts_fit_the_budget_too(case: Case) -> None:
    if not survives(case):
        return
    counter = TiktokenCounter()
    limit = case.step * (counter(case.history.messages) + 2) // STEPS
    try:
        output = trim_messages(
            case.history.messages, **{**case.options(), "max_tokens": limit, "token_counter": counter}
        )
    except BudgetExceededError:
        return
    assert counter(output) <= limit
    assert case.required <= kept_groups(case.groups, unshrunk(case, output))


SPLITTERS: list[Callable[[str], list[str]] | None] = [None, list]


@examples(400)
@given(case=cases(tidy_histories(), ["whole list", "per message"]), splitter=st.sampled_from(SPLITTERS))
def test_allow_partial_cuts_one_plain_message_and_nothing_else(
    case: Case, splitter: Callable[[str], list[str]] | None
) -> None:
    options = {**case.options(), "pin": None, "oversized": "shrink"}
    try:
        output = trim_messages(case.history.messages, **options, allow_partial=True, text_splitter=splitter)
    except BudgetExceededError:
        return
    assert case.measured(output) <= case.limit
    assert faults(output) == []
    originals = {id(message) for message in case.history.messages}
    cut = [message for message in output if id(message) not in originals and not results_of(message)]
    assert len(cut) <= 1
    for message in cut:
        whole = [one for one in case.history.messages if one.id == message.id and type(one) is type(message)]
        assert any(
            message.content
            and (
                one.content.startswith(message.content) or one.content.endswith(message.content)
                if isinstance(one.content, str) and isinstance(message.content, str)
                else isinstance(one.content, list)
            )
            for one in whole
        )
    newest = newest_user_turn(case.history.messages)
    assert newest is not None
    question = case.history.messages[newest]
    assert any(message is question for message in output) or (
        bool(cut) and any(is_user_turn(message) and message.id == question.id for message in cut)
    )
    assert case.history.messages == case.history.copy()


@examples(400)
@given(
    case=cases(histories()),
    start_on=st.sampled_from([None, "human", "ai", ("human", "system")]),
    end_on=st.sampled_from([None, "human", "ai", ("human", "tool")]),
)
def test_start_on_and_end_on_never_cost_the_newest_question(case: Case, start_on: Any, end_on: Any) -> None:
    if case.pin or newest_user_turn(case.history.messages) is None:
        return
    start_on = start_on if case.strategy == "last" else None
    try:
        output = trim_messages(case.history.messages, **case.options(), start_on=start_on, end_on=end_on)
    except BudgetExceededError:
        return
    assert faults(output) == []
    assert case.required - set(range(case.leading)) <= kept_groups(case.groups, unshrunk(case, output)) or (
        case.measure == "rounds"
    )
    question = case.history.messages[newest_user_turn(case.history.messages) or 0]
    assert any(message is question for message in output)
    wanted = (end_on,) if isinstance(end_on, str) else end_on
    if wanted is not None and live_call(output) is None:
        assert output[-1].type.replace("AIMessageChunk", "ai") in wanted or output[-1] is question


JUDGES = {
    "openai": ("langchain_openai", payloads.openai_payload, payloads.openai_faults),
    "openai_responses": ("langchain_openai", payloads.responses_payload, payloads.responses_faults),
    "anthropic": ("langchain_anthropic", payloads.anthropic_payload, payloads.anthropic_faults),
    "google": ("langchain_google_genai", payloads.google_payload, payloads.google_faults),
    "bedrock": ("langchain_aws", payloads.bedrock_payload, payloads.bedrock_faults),
    "mistral": ("langchain_mistralai", payloads.mistral_payload, payloads.mistral_faults),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@examples(150)
@given(history=portable_histories(), step=st.integers(1, STEPS))
def test_a_real_request_made_of_what_was_repaired_and_trimmed_breaks_no_rule(
    provider: Any, history: History, step: int
) -> None:
    package, payload, judge = JUDGES[provider]
    pytest.importorskip(package, reason=f"{package} turns messages into this provider's request")
    if newest_user_turn(history.messages) is None:
        return
    repaired = repair_messages(history.messages, provider)
    try:
        window = trim_messages(repaired, max_tokens=step * weigh_list(repaired) // STEPS, token_counter=weigh)
    except BudgetExceededError:
        return
    made = [call_id for message in window for call_id in calls_of(message)]
    if provider == "openai_responses" and len(made) != len(set(made)):
        return  # langchain-openai sends one of several calls that share an id
    assert judge(payload(window)) == [], notation(window)


def asks(message: BaseMessage) -> bool:
    return is_user_turn(message) and "tool_result" not in repr(message.content)


def check_need(error: BudgetExceededError, limit: int) -> None:
    assert error.needed > limit == error.limit


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
@examples(100)
@given(history=broken_histories(), step=st.integers(0, STEPS))
def test_whatever_was_left_behind_is_mended_and_goes_on(provider: Any, history: History, step: int) -> None:
    repaired = repair_messages(history.messages, provider)
    if not any(map(asks, repaired)):
        return  # the user took the only turn back
    assert validate_messages(repaired, provider) == []
    assert [id(message) for message in repair_messages(repaired, provider)] == [id(message) for message in repaired]
    limit = step * (weigh_list(repaired) + 2) // STEPS
    try:
        window = trim_messages(repaired, max_tokens=limit, token_counter=weigh)
    except BudgetExceededError as error:
        check_need(error, limit)
    else:
        assert 0 < len(window) <= len(repaired)
        assert weigh_list(window) <= limit
        assert validate_messages(window, provider) == []
        assert trim_messages(window, max_tokens=limit, token_counter=weigh) == window
    assert repr(history.messages) == repr(history.copy())


@examples(200)
@given(history=broken_histories(), step=st.integers(0, STEPS), strategy=st.sampled_from(["last", "first"]))
def test_trimming_mends_on_the_way(history: History, step: int, strategy: Any) -> None:
    repaired = repair_messages(history.messages)
    limit = step * (weigh_list(repaired) + 2) // STEPS
    try:
        window = trim_messages(history.messages, max_tokens=limit, token_counter=weigh, strategy=strategy)
    except (BudgetExceededError, ProtocolError):
        return
    assert weigh_list(window) <= limit
    if any(map(asks, repaired)):
        assert validate_messages(window) == []
    assert repr(history.messages) == repr(history.copy())

"""What a replay found: every model call, and their sums and shares."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from langchain_tiered_memory.events import Compaction, CompactionFailed
from langchain_tiered_memory.messages.repair import MessageFault

__all__ = ["ReplayCall", "ReplayReport"]

_MILLISECONDS: Final = 1000.0


@dataclass(frozen=True, slots=True)
class ReplayCall:
    """One model call of the recorded conversation.

    Attributes:
        number: Which call it is, from 1.
        round: The round it belongs to, from 1: how many user messages came before it.
        position: Where the answer to the call stands in the conversation, from 0.
        full_messages: Messages of the whole history before the call.
        full_tokens: Tokens of a request with the whole history.
        sent_messages: Messages that the strategy sends.
        sent_tokens: Tokens of that request.
        shared_tokens: Tokens of the messages, from the first on, that this request has in common with the previous one:
            what a provider's prompt cache can serve. Whole messages are compared, so it is a lower bound.
        left: Positions of the messages that left the window at this call, or came since the last one and never entered.
        altered: Messages sent in another form than recorded, a tool result that was shrunk for instance.
        added: Messages sent that are in no form in the history: a summary, an error result that closes a call.
        faults: What a provider would refuse about the request; empty means valid.
        seconds: Time the strategy took.
        compactions: What a memory that summarises folded away before this call.
        failures: Where it could not, and trimmed instead.
    """

    number: int
    round: int
    position: int
    full_messages: int
    full_tokens: int
    sent_messages: int
    sent_tokens: int
    shared_tokens: int
    left: tuple[int, ...]
    altered: int
    added: int
    faults: tuple[MessageFault, ...]
    seconds: float
    compactions: tuple[Compaction, ...] = ()
    failures: tuple[CompactionFailed, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What a strategy did on a whole conversation; sums and shares are properties.

    Attributes:
        calls: The model calls in order.
        messages: Messages of the conversation.
        rounds: Its rounds.
        max_tokens: The budget of a call.
        strategy: The strategy's name.
        counter: What counted the tokens.
        tool_tokens: Tokens of the tool schemas, which every request carries too; all figures hold them.
        transcript_faults: What a provider would refuse about the conversation as it was recorded.
    """

    calls: tuple[ReplayCall, ...]
    messages: int
    rounds: int
    max_tokens: int
    strategy: str
    counter: str
    tool_tokens: int
    transcript_faults: tuple[MessageFault, ...]

    @property
    def full_tokens(self) -> int:
        """Tokens of all calls, had each sent the whole history."""
        return sum(call.full_tokens for call in self.calls)

    @property
    def sent_tokens(self) -> int:
        """Tokens of all calls as sent."""
        return sum(call.sent_tokens for call in self.calls)

    @property
    def saved_share(self) -> float:
        """Share of the full history's tokens that was not sent, from 0 to 1; below 0 where a strategy sends more."""
        return 1 - self.sent_tokens / self.full_tokens if self.full_tokens else 0.0

    @property
    def mean_sent(self) -> float:
        """Mean tokens of a call."""
        return statistics.fmean(call.sent_tokens for call in self.calls)

    @property
    def peak_sent(self) -> int:
        """Tokens of the largest call."""
        return max(call.sent_tokens for call in self.calls)

    @property
    def peak_full(self) -> int:
        """Tokens of the longest history."""
        return max(call.full_tokens for call in self.calls)

    @property
    def shared_tokens(self) -> int:
        """Tokens of all calls that stood at the same place in the call before."""
        return sum(call.shared_tokens for call in self.calls)

    @property
    def shared_share(self) -> float:
        """Share of the tokens sent that a prompt cache could serve, from 0 to 1."""
        return self.shared_tokens / self.sent_tokens if self.sent_tokens else 0.0

    @property
    def left_messages(self) -> int:
        """Messages that left the window, each counted as often as it left."""
        return sum(len(call.left) for call in self.calls)

    @property
    def over_budget(self) -> tuple[ReplayCall, ...]:
        """Calls that sent more than the budget."""
        return tuple(call for call in self.calls if call.sent_tokens > self.max_tokens)

    @property
    def fault_count(self) -> int:
        """Faults in all requests together."""
        return sum(len(call.faults) for call in self.calls)

    @property
    def compactions(self) -> tuple[tuple[ReplayCall, Compaction], ...]:
        """Every compaction with the call before which it happened."""
        return tuple((call, compaction) for call in self.calls for compaction in call.compactions)

    @property
    def failures(self) -> tuple[tuple[ReplayCall, CompactionFailed], ...]:
        """Every compaction that failed, with the call before which it was due."""
        return tuple((call, failure) for call in self.calls for failure in call.failures)

    @property
    def summarizer_tokens(self) -> int:
        """Tokens that the summarizer read in all compactions."""
        return sum(compaction.summarizer_tokens for _, compaction in self.compactions)

    @property
    def summary_tokens(self) -> int:
        """Tokens that the summarizer wrote in all compactions."""
        return sum(compaction.summary_tokens for _, compaction in self.compactions)

    @property
    def seconds(self) -> float:
        """Time the strategy took in all calls."""
        return sum(call.seconds for call in self.calls)

    @property
    def median_seconds(self) -> float:
        """Median time the strategy took for a call."""
        return statistics.median(call.seconds for call in self.calls)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data for JSON: settings, totals, and every call."""
        return {
            "strategy": self.strategy,
            "counter": self.counter,
            "max_tokens": self.max_tokens,
            "tool_tokens": self.tool_tokens,
            "messages": self.messages,
            "rounds": self.rounds,
            "totals": {
                "calls": len(self.calls),
                "full_tokens": self.full_tokens,
                "sent_tokens": self.sent_tokens,
                "saved_tokens": self.full_tokens - self.sent_tokens,
                "saved_share": round(self.saved_share, 6),
                "mean_sent_tokens": round(self.mean_sent, 1),
                "peak_sent_tokens": self.peak_sent,
                "peak_full_tokens": self.peak_full,
                "shared_prefix_tokens": self.shared_tokens,
                "shared_prefix_share": round(self.shared_share, 6),
                "left_messages": self.left_messages,
                "calls_over_budget": len(self.over_budget),
                "faults": self.fault_count,
                "transcript_faults": len(self.transcript_faults),
                "compactions": len(self.compactions),
                "failed_compactions": len(self.failures),
                "summarizer_tokens": self.summarizer_tokens,
                "summary_tokens": self.summary_tokens,
                "seconds": round(self.seconds, 6),
                "median_milliseconds": round(self.median_seconds * _MILLISECONDS, 4),
            },
            "transcript_faults": [asdict(fault) for fault in self.transcript_faults],
            "compactions": [_compaction(call, compaction) for call, compaction in self.compactions],
            "failed_compactions": [
                {"call": call.number, "messages": failure.messages, "error": str(failure.error)}
                for call, failure in self.failures
            ],
            "calls": [_call(call) for call in self.calls],
        }


def _call(call: ReplayCall) -> dict[str, Any]:
    plain = asdict(replace(call, compactions=(), failures=()))  # they hold messages, and have lists of their own
    del plain["compactions"], plain["failures"]
    return plain


def _compaction(call: ReplayCall, compaction: Compaction) -> dict[str, Any]:
    data = compaction.data()
    del data["session_id"], data["removed"]  # names that a log gave, which differ from one replay to the next
    counts = {"messages": len(compaction.removed), "saved_share": round(compaction.saved, 6)}
    return {"call": call.number, "round": call.round, **counts, **data}

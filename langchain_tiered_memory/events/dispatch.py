"""How an event gets out: to `logging`, to the callbacks of the LangChain run that it is part of, and to hooks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables.config import ensure_config, get_callback_manager_for_config, var_child_runnable_config

from langchain_tiered_memory.events.event import EventHook, MemoryEvent
from langchain_tiered_memory.events.working import Compaction, HookFailed

__all__ = ["EventData", "MemoryCallbackHandler", "aemit", "emit", "logger"]

logger = logging.getLogger("langchain_tiered_memory")


class EventData(dict[str, Any]):
    """What an event sends to LangChain's callbacks: its fields as plain data, and `event`, the event itself."""

    def __init__(self, event: MemoryEvent) -> None:
        super().__init__(event.data())
        self.event = event


class MemoryCallbackHandler(BaseCallbackHandler):
    """Collects what happened in the memory during runs, and tells a function of it.

    Callbacks are how a LangChain application watches a chain from outside, without reaching the objects inside that
    have hooks. The same handler may be a hook too; an event that comes both ways counts once.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import MemoryCallbackHandler, SummaryMemory

    seen = MemoryCallbackHandler()
    SummaryMemory(max_tokens=1_000).invoke([HumanMessage("Hello")], {"callbacks": [seen]})
    assert seen.compactions == []  # nothing had to go
    ```

    Args:
        on_event: Called with each event, for instance to print a compaction.
    """

    run_inline = True  # in the order in which things happen

    def __init__(self, on_event: Callable[[MemoryEvent], object] | None = None) -> None:
        super().__init__()
        self.events: list[MemoryEvent] = []
        self._on_event = on_event

    @property
    def compactions(self) -> list[Compaction]:
        """The compactions among the events, oldest first."""
        return [event for event in self.events if isinstance(event, Compaction)]

    def __call__(self, event: MemoryEvent, /) -> None:
        """Take note of an event, as a hook."""
        if any(event is known for known in self.events[-8:]):  # it has come by the other way
            return
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    def on_custom_event(
        self,
        name: str,  # noqa: ARG002  # LangChain's signature
        data: Any,  # noqa: ANN401  # as above
        **_: Any,  # noqa: ANN401  # as above
    ) -> None:
        """Take note of an event, as a callback; custom events of others are left alone."""
        if isinstance(data, EventData):
            self(data.event)


def emit(event: MemoryEvent, hooks: Iterable[EventHook] = ()) -> None:
    """Send an event to `logging`, to the callbacks of the run that this is part of, and to hooks.

    A hook that raises breaks nothing: what it raised is logged, and reported to the callbacks and the other hooks as a
    `HookFailed` event.
    """
    if logger.isEnabledFor(event.level):
        logger.log(event.level, "%s", event.describe())
    if _in_run():
        dispatch_custom_event(event.name, EventData(event))
    for failed in _call(event, tuple(hooks)):
        if _in_run():
            dispatch_custom_event(failed.name, EventData(failed))


async def aemit(event: MemoryEvent, hooks: Iterable[EventHook] = ()) -> None:
    """`emit` on an event loop, where async callbacks are awaited."""
    if logger.isEnabledFor(event.level):
        logger.log(event.level, "%s", event.describe())
    if _in_run():
        await adispatch_custom_event(event.name, EventData(event))
    for failed in _call(event, tuple(hooks)):
        if _in_run():
            await adispatch_custom_event(failed.name, EventData(failed))


def _call(event: MemoryEvent, hooks: tuple[EventHook, ...]) -> list[HookFailed]:
    """Call hooks, and the others with each failure of one; a failure to take note of a failure is only logged."""
    failures = [(hook, failed) for hook in hooks if (failed := _failure(hook, event)) is not None]
    for failing, failed in failures:
        for hook in hooks:
            if hook is not failing:
                _failure(hook, failed)
    return [failed for _, failed in failures]


def _failure(hook: EventHook, event: MemoryEvent) -> HookFailed | None:
    try:
        hook(event)
    except Exception as error:  # whatever an application's hook raises must not break its request
        failed = HookFailed(session_id=event.session_id, hook=repr(hook), event=event.name, error=error)
        logger.log(failed.level, "%s", failed.describe(), exc_info=error)
        return failed
    return None


def _in_run() -> bool:
    """Whether a LangChain run is under way here; outside of one, a custom event is an error."""
    if var_child_runnable_config.get() is None:  # and to look further would import langsmith, which takes its time
        return False
    return get_callback_manager_for_config(ensure_config()).parent_run_id is not None

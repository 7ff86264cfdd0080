"""Runs an algorithm that is written as a generator: it yields what it needs done, and is sent what came of it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from langchain_tiered_memory.events import EventHook, MemoryEvent, aemit, emit

__all__ = ["Call", "Step", "Steps", "Tell", "adrive", "drive"]

T = TypeVar("T")


class Step(Protocol):
    """Something to be done outside of the algorithm."""

    def run(self) -> Any:  # noqa: ANN401  # what is sent back
        """Do it."""

    async def arun(self) -> Any:  # noqa: ANN401  # as above
        """Do it, awaited."""


Steps: TypeAlias = Generator[Step, Any, T]


def drive(steps: Steps[T]) -> T:
    """Run an algorithm to its end."""
    try:
        step = next(steps)
        while True:
            try:
                answer = step.run()
            except Exception as error:  # noqa: BLE001  # the algorithm knows which it can do with
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


async def adrive(steps: Steps[T]) -> T:
    """`drive`, awaited."""
    try:
        step = next(steps)
        while True:
            try:
                answer = await step.arun()
            except Exception as error:  # noqa: BLE001  # as above
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


@dataclass(frozen=True, slots=True)
class Call:
    """Calls a method of an object, or its async twin, which has the same name behind an `a`."""

    target: object
    method: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def run(self) -> Any:  # noqa: ANN401  # what the method gives
        """Call it."""
        return getattr(self.target, self.method)(*self.arguments, **self.options)

    async def arun(self) -> Any:  # noqa: ANN401  # as above
        """Call its twin, awaited."""
        return await getattr(self.target, f"a{self.method}")(*self.arguments, **self.options)


@dataclass(frozen=True, slots=True)
class Tell:
    """Tells an event."""

    event: MemoryEvent
    hooks: Sequence[EventHook]

    def run(self) -> None:
        """Tell it."""
        emit(self.event, self.hooks)

    async def arun(self) -> None:
        """Tell it, awaited."""
        await aemit(self.event, self.hooks)

"""Whose memory a command is about and where it is: the options that all of them share, and what they open."""

from __future__ import annotations

import getpass
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, get_type_hints

import typer

from langchain_tiered_memory._optional import import_optional, require_optional
from langchain_tiered_memory.cli import interruptible
from langchain_tiered_memory.cli.console import BAD_INPUT, one_line_errors, stop

if TYPE_CHECKING:
    from langchain_tiered_memory.memory import TieredMemory
    from langchain_tiered_memory.types import MemoryScope

__all__ = ["AsOf", "Place", "Session", "moment_of", "on_memory"]

_READING: Final = 1_000
"""Tokens of a budget that nothing is sent under: who only reads needs none."""
_FILES: Final = ("log.db", "episodes.db", "facts.db")
"""What `TieredMemory` keeps in its folder."""
_SERVERS: Final = "postgresql+psycopg://, redis://."

Session = Annotated[str | None, typer.Option(metavar="ID", help="Only this session.")]
AsOf = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="What was true at this time, such as 2026-05-13 or 2026-05-13T09:40Z."),
]


def _where(variable: str, metavar: str, text: str, *, show_envvar: bool = True) -> Any:  # noqa: ANN401  # typer's own
    return typer.Option(metavar=metavar, envvar=variable, help=text, show_envvar=show_envvar)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Whose memory it is, and where; each option says what it is.

    `user` is by default the name of whoever is logged in. A server that is named takes the place of its part of the
    folder.
    """

    path: Annotated[Path, _where("TIERED_MEMORY_PATH", "FOLDER", "The folder that holds the memory.")] = Path("memory")
    user: Annotated[
        str | None,
        typer.Option(
            metavar="ID", envvar="TIERED_MEMORY_USER", help="Whose memory it is.", show_default="your login name"
        ),
    ] = None
    tenant: Annotated[str, typer.Option(metavar="ID", help="The user's tenant, where there are several.")] = "default"
    embeddings: Annotated[
        str, typer.Option(metavar="local|none|MODULE:NAME", help="By what episodes are found beside their words.")
    ] = "local"
    log: Annotated[str | None, _where("TIERED_MEMORY_LOG", "URL", f"Sessions are here: {_SERVERS}")] = None
    episodes: Annotated[str | None, _where("TIERED_MEMORY_EPISODES", "URI", "Episodes are here: Milvus or Zilliz.")] = (
        None
    )
    facts: Annotated[str | None, _where("TIERED_MEMORY_FACTS", "URL", f"Facts are here: {_SERVERS}")] = None
    cache: Annotated[str | None, _where("TIERED_MEMORY_CACHE", "URL", "In front of --facts: redis://.")] = None
    token: Annotated[
        str | None,
        _where(
            "TIERED_MEMORY_TOKEN", "TEXT", "Opens --episodes; better set as TIERED_MEMORY_TOKEN.", show_envvar=False
        ),
    ] = None

    def scope(self, session: str | None = None) -> MemoryScope:
        """The user, or one session of theirs."""
        from langchain_tiered_memory.types import MemoryScope

        return MemoryScope(self.owner, self.tenant, session)

    @property
    def owner(self) -> str:
        """The user's id."""
        if self.user is not None:
            return self.user
        try:
            return getpass.getuser()
        except (OSError, KeyError):
            return stop("nobody is logged in here: say whose memory it is with --user", BAD_INPUT)

    @contextmanager
    def opened(self, *, vectors: bool = False, new: bool = False, **settings: Any) -> Iterator[TieredMemory]:  # noqa: ANN401  # what TieredMemory takes
        """The memory, closed at the end.

        Args:
            vectors: Whether episodes are written or searched, which needs the embedding model.
            new: Whether it is made where it does not exist.
            **settings: What `TieredMemory` takes otherwise.
        """
        whole = None not in (self.log, self.episodes, self.facts)
        self._check(whole=whole, vectors=vectors, new=new)
        from langchain_tiered_memory.cli.models import embeddings_named
        from langchain_tiered_memory.memory import TieredMemory
        from langchain_tiered_memory.messages.tokens import EstimatingCounter
        from langchain_tiered_memory.stores import facts_of, log_of

        model = embeddings_named(self.embeddings) if vectors else _no_embeddings()
        given: dict[str, Any] = {"max_tokens": _READING, "token_counter": EstimatingCounter()} | settings
        if self.episodes is not None:
            milvus = import_optional("langchain_tiered_memory.episodic.memory", needed_by="--episodes")
            hooks = tuple(given.get("hooks", ()))
            given["episodes"] = milvus.EpisodicMemory(self.episodes, model, token=self.token, hooks=hooks)
        if self.log is not None:
            given["log"] = log_of(self.log, None)
        if self.facts is not None:
            given["facts"] = facts_of(self.facts, None, cache=self.cache)
        interruptible()
        with TieredMemory(None if whole else self.path, model, **given) as memory:
            yield memory

    def _check(self, *, whole: bool, vectors: bool, new: bool) -> None:
        """End the command where there is nothing to open, or something is missing, before anything is written."""
        if self.cache is not None and self.facts is None:
            stop("--cache stands in front of facts on a server: give --facts too", BAD_INPUT)
        if not whole and self.path.exists() and not self.path.is_dir():
            stop(f"{self.path} is no folder: give --path one, which holds or will hold the memory", BAD_INPUT)
        if not new and not whole and not any((self.path / name).exists() for name in _FILES):
            stop(f"there is no memory in {self.path}: begin one with `tiered-memory chat`, or give --path", BAD_INPUT)
        if vectors and self.embeddings == "local":
            require_optional(["wordllama"], needed_by="--embeddings local (--embeddings none goes by words alone)")


def _no_embeddings() -> Any:  # noqa: ANN401  # an embedding model of LangChain, which is not imported here
    """Stands where no vector is needed, so that nobody has to set up a model to look something up, or erase it."""
    from langchain_core.embeddings import Embeddings

    class Unused(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            msg = f"{len(texts)} texts were to be embedded by a command that only reads"
            raise RuntimeError(msg)

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    return Unused()


def on_memory(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function whose first parameter is a `Place`: it gets the options that say which one."""
    names = {field.name for field in fields(Place)}

    def run(**given: Any) -> None:  # noqa: ANN401  # whatever typer read
        with one_line_errors():
            place = Place(**{name: value for name, value in given.items() if name in names})
            command(place, **{name: value for name, value in given.items() if name not in names})

    hints = get_type_hints(command, include_extras=True)
    shared = get_type_hints(Place, include_extras=True)
    kept = [one.replace(annotation=hints[one.name]) for one in inspect.signature(command).parameters.values()][1:]
    for field in fields(Place):
        kind = inspect.Parameter.KEYWORD_ONLY
        kept.append(inspect.Parameter(field.name, kind, default=field.default, annotation=shared[field.name]))
    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__annotations__ = {one.name: one.annotation for one in kept} | {"return": None}
    run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]  # what typer reads
    return run


def moment_of(text: str | None, option: str) -> datetime | None:
    """A time as it is written, in UTC where it names no zone."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (OverflowError, ValueError):
        return stop(f"{option} {text} is no time: write such as 2026-05-13 or 2026-05-13T09:40Z", BAD_INPUT)

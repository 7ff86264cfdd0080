"""Whose memory a command is about and where it is: the options that all of them share, and what they open."""

from __future__ import annotations

import getpass
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, get_type_hints

from langchain_core.embeddings import Embeddings
from pydantic import ValidationError

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._targets import embeddings_named
from langchain_tiered_memory.display import readable
from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import DEFAULT_TENANT, MemoryScope
from langchain_tiered_memory.wiring.opening import facts_of, log_of

if TYPE_CHECKING:
    import typer
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")

__all__ = ["BAD_INPUT", "FAILED", "AsOf", "Place", "Session", "moment_of", "on_memory", "one_line_errors", "stop"]

FAILED: Final = 1
BAD_INPUT: Final = 2
_READING: Final = 1_000
"""Tokens of a budget that nothing is sent under: who only reads needs none."""
_FILES: Final = ("log.db", "episodes.db", "facts.db")
"""What `TieredMemory` keeps in its folder."""

Session = Annotated[str | None, typer.Option(metavar="ID", help="Only this session.")]
AsOf = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="What was true at this time, such as 2026-05-13 or 2026-05-13T09:40Z."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Whose memory it is, and where.

    Attributes:
        path: The folder; a server that is named takes the place of its part.
        user: The user's id; the name of whoever is logged in if not given.
        tenant: The tenant's id.
        embeddings: By what episodes are found beside their words.
        log: Where sessions are, instead of the folder.
        episodes: Where episodes are, instead of the folder.
        facts: Where facts are, instead of the folder.
        cache: What stands in front of the facts.
        token: Opens the Milvus server.
    """

    path: Annotated[
        Path, typer.Option(metavar="FOLDER", envvar="TIERED_MEMORY_PATH", help="The folder that holds the memory.")
    ] = Path("memory")
    user: Annotated[
        str | None,
        typer.Option(
            metavar="ID", envvar="TIERED_MEMORY_USER", help="Whose memory it is.", show_default="your login name"
        ),
    ] = None
    tenant: Annotated[str, typer.Option(metavar="ID", help="The user's tenant, where there are several.")] = (
        DEFAULT_TENANT
    )
    embeddings: Annotated[
        str, typer.Option(metavar="local|none|MODULE:NAME", help="By what episodes are found beside their words.")
    ] = "local"
    log: Annotated[
        str | None,
        typer.Option(
            metavar="URL", envvar="TIERED_MEMORY_LOG", help="Sessions are here: postgresql+psycopg://, redis://."
        ),
    ] = None
    episodes: Annotated[
        str | None,
        typer.Option(metavar="URI", envvar="TIERED_MEMORY_EPISODES", help="Episodes are here: a Milvus or Zilliz."),
    ] = None
    facts: Annotated[
        str | None,
        typer.Option(
            metavar="URL", envvar="TIERED_MEMORY_FACTS", help="Facts are here: postgresql+psycopg://, redis://."
        ),
    ] = None
    cache: Annotated[
        str | None,
        typer.Option(metavar="URL", envvar="TIERED_MEMORY_CACHE", help="In front of --facts: redis://."),
    ] = None
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar="TIERED_MEMORY_TOKEN",
            help="Opens --episodes; better set as TIERED_MEMORY_TOKEN.",
            show_envvar=False,
        ),
    ] = None

    def scope(self, session: str | None = None) -> MemoryScope:
        """The user, or one session of theirs."""
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
        if self.cache is not None and self.facts is None:
            stop("--cache stands in front of facts on a server: give --facts too", BAD_INPUT)
        if not whole and self.path.exists() and not self.path.is_dir():
            stop(f"{self.path} is no folder: give --path one, which holds or will hold the memory", BAD_INPUT)
        if not new and not whole and not any((self.path / name).exists() for name in _FILES):
            stop(f"there is no memory in {self.path}: begin one with `tiered-memory chat`, or give --path", BAD_INPUT)
        if vectors and self.embeddings == "local":  # before anything is written, and not at the first question
            import_optional("wordllama", needed_by="--embeddings local (--embeddings none goes by words alone)")
        model = embeddings_named(self.embeddings) if vectors else _Unused()
        given: dict[str, Any] = {"max_tokens": _READING, "token_counter": EstimatingCounter()} | settings
        if self.episodes is not None:
            milvus = import_optional("langchain_tiered_memory.episodic.memory", needed_by="--episodes")
            hooks = tuple(given.get("hooks", ()))
            given["episodes"] = milvus.EpisodicMemory(self.episodes, model, token=self.token, hooks=hooks)
        if self.log is not None:
            given["log"] = log_of(self.log, None)
        if self.facts is not None:
            given["facts"] = facts_of(self.facts, None, cache=self.cache)
        with TieredMemory(None if whole else self.path, model, **given) as memory:
            yield memory


class _Unused(Embeddings):
    """Stands where no vector is needed, so that nobody has to set up a model to look something up, or erase it."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Never called.

        Raises:
            RuntimeError: It was.
        """
        msg = f"{len(texts)} texts were to be embedded by a command that only reads"
        raise RuntimeError(msg)

    def embed_query(self, text: str) -> list[float]:
        """Never called."""
        return self.embed_documents([text])[0]


def on_memory(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function whose first parameter is a `Place`: it gets the options that say which one."""
    hints = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())[1:]
    kept = [one.replace(annotation=hints[one.name]) for one in own]
    shared = get_type_hints(Place, include_extras=True)
    kept += [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=shared[field.name]
        )
        for field in fields(Place)
    ]
    names = {field.name for field in fields(Place)}

    def run(**given: Any) -> None:  # noqa: ANN401  # whatever typer read
        with one_line_errors():
            place = Place(**{name: value for name, value in given.items() if name in names})
            command(place, **{name: value for name, value in given.items() if name not in names})

    run.__doc__ = command.__doc__
    run.__name__ = command.__name__
    run.__annotations__ = {one.name: one.annotation for one in kept} | {"return": None}
    run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]  # what typer reads
    return run


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what users can cause into one line on stderr and an exit status."""
    try:
        yield
    except TieredMemoryError as error:  # a wrong call (2) is a ValueError too; the others may succeed another time
        stop(str(error), BAD_INPUT if isinstance(error, ValueError) else FAILED)
    except (ImportError, ValueError) as error:  # an extra that is missing, an id or an address that is none
        stop(_said(error), BAD_INPUT)
    except BrokenPipeError:  # nobody reads on, as after `| head`, and there is nobody to tell
        raise
    except OSError as error:
        stop(str(error), FAILED)


def _said(error: ImportError | ValueError) -> str:
    """What an error says; of one that pydantic has wrapped, what was raised inside."""
    inside = error.errors() if isinstance(error, ValidationError) else []
    return "; ".join(str(one["msg"]).removeprefix("Value error, ") for one in inside) or str(error)


def stop(message: str, status: int) -> NoReturn:
    """End with one line on stderr."""
    typer.echo(f"tiered-memory: {readable(' '.join(message.split()))}", err=True)
    raise typer.Exit(status)


def moment_of(text: str | None, option: str) -> datetime | None:
    """A time as it is written, in UTC where it names no zone."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (OverflowError, ValueError):
        return stop(f"{option} {text} is no time: write such as 2026-05-13 or 2026-05-13T09:40Z", BAD_INPUT)

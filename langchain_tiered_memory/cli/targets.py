"""What `tiered-memory eval` evaluates: a memory made from options, or several from a configuration.

```toml
[targets."our memory"]                 # an EpisodicMemory
uri = "http://localhost:19530"         # or a Milvus Lite file, relative to this one
embeddings = "local"                   # "none", or "module:name" of a LangChain embedding model
collection = "episodes"                # and whatever else EpisodicMemory takes: token, key, half_life, ...
validity = true                        # false: without being told what ends or is superseded

[targets."our retriever"]
object = "our_app.memory:retriever"    # anything that evaluate() takes, or a function without arguments that makes it
```
"""

from __future__ import annotations

import inspect
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TypeAlias

from langchain_core.documents import Document
from langchain_core.runnables import Runnable

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli.models import embeddings_named, imported
from langchain_tiered_memory.evaluation import (
    DatasetError,
    EpisodicTarget,
    MemoryDataset,
    MemoryTarget,
    RetrieverTarget,
)
from langchain_tiered_memory.evaluation.contexts import as_target
from langchain_tiered_memory.types import MemoryScope

__all__ = ["Target", "baselines", "default_target", "targets_in"]

Target: TypeAlias = MemoryTarget | Runnable[Any, Any] | Callable[..., object]
"""What can be evaluated."""

_OWN_COLLECTION: Final = "evaluation"
"""Where a data set is told, so that nobody's own episodes are among it, nor it among theirs."""
_PLAIN: Final = "plain vector store"
_OFF: Final = "validity off"


def default_target(
    uri: str, embeddings: str, key: str, dataset: MemoryDataset, stack: ExitStack, *, tell: bool
) -> dict[str, Target]:
    """The one target that the options describe.

    Args:
        uri: Where the memory is.
        embeddings: By what episodes are found beside their words.
        key: By which of a round's messages it is found.
        dataset: What it will be told.
        stack: Closes it.
        tell: Whether it is told the data set.

    Raises:
        DatasetError: An option is not known.
        ImportError: An extra is missing, or there is no such model.
    """
    settings: dict[str, Any] = {"uri": uri, "embeddings": embeddings, "key": key}
    try:
        return {"memory": _episodic(settings, dataset, stack, tell=tell)}
    except ValueError as error:
        msg = f"no memory can be made: {error}"
        raise DatasetError(msg) from error


def baselines(targets: Mapping[str, Target], embeddings: str) -> dict[str, Target]:
    """What to hold the first target against: itself without validity, and a plain vector store of each user's own."""
    found: dict[str, Target] = {}
    first = next(iter(targets.values()))
    if isinstance(first, EpisodicTarget):
        found[_OFF] = first.without_validity()
    model = embeddings_named("local" if embeddings == "none" else embeddings)
    if model is not None:
        from langchain_core.vectorstores import InMemoryVectorStore

        retriever = InMemoryVectorStore(model).as_retriever()
        found[_PLAIN] = RetrieverTarget(retriever, name=_PLAIN, by_user=_of_user)
    return found


def _of_user(scope: MemoryScope) -> dict[str, Any]:
    """The filter that any application has: without it the store would be charged with every foreign record."""

    def is_own(document: Document) -> bool:
        about = document.metadata
        return (about["user"], about["tenant"]) == (scope.user, scope.tenant)

    return {"filter": is_own}


def targets_in(path: Path, dataset: MemoryDataset, stack: ExitStack, *, tell: bool) -> dict[str, Target]:
    """The targets of a configuration, by their names.

    Args:
        path: A TOML file; modules beside it can be imported.
        dataset: What they will be told.
        stack: Closes them.
        tell: Whether they are told the data set.

    Raises:
        DatasetError: It cannot be read, or holds no target.
        ImportError: Something that it names cannot be imported.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{path}: cannot be read as TOML: {error}; correct it, or check the path"
        raise DatasetError(msg) from error
    given = found.get("targets")
    if not isinstance(given, dict) or not given or not all(isinstance(one, dict) for one in given.values()):
        msg = f'{path}: there is no target in it; write [targets.NAME] with uri = "..." or object = "module:name"'
        raise DatasetError(msg)
    sys.path.insert(0, str(path.resolve().parent))
    stack.callback(sys.path.remove, str(path.resolve().parent))
    return {name: _target(path, name, dict(settings), dataset, stack, tell=tell) for name, settings in given.items()}


def _target(
    path: Path, name: str, settings: dict[str, Any], dataset: MemoryDataset, stack: ExitStack, *, tell: bool
) -> Target:
    if "object" in settings:
        if more := sorted(set(settings) - {"object"}):
            msg = f"{path}: {', '.join(more)} of {name!r} goes with uri, and object = {settings['object']!r} has it all"
            raise DatasetError(msg)
        return _object(path, name, settings["object"])
    if "uri" not in settings:
        msg = f'{path}: {name!r} says neither uri = "..." nor object = "module:name"; write one of them'
        raise DatasetError(msg)
    if not isinstance(settings["uri"], str):
        msg = f"{path}: {name!r} has uri = {settings['uri']!r}; write a path or an address in quotes"
        raise DatasetError(msg)
    if "://" not in settings["uri"]:
        settings["uri"] = str(path.parent / settings["uri"])
    try:
        return _episodic(settings, dataset, stack, tell=tell)
    except (TypeError, ValueError) as error:
        msg = f"{path}: {name!r}: {error}"
        raise DatasetError(msg) from error


def _object(path: Path, name: str, where: str) -> Target:
    """The object of a target, made where it is a function without arguments."""
    made: Target = imported(where)
    if inspect.isfunction(made) and not inspect.signature(made).parameters:
        made = made()
    try:
        as_target(made)  # so that one that is none is named here, with the file
    except TypeError as error:
        msg = f"{path}: {name!r}: {error}"
        raise DatasetError(msg) from error
    return made


def _episodic(settings: dict[str, Any], dataset: MemoryDataset, stack: ExitStack, *, tell: bool) -> EpisodicTarget:
    milvus = import_optional("langchain_tiered_memory.episodic.memory", needed_by="an episodic memory")
    validity = settings.pop("validity", True)
    if not isinstance(validity, bool):
        msg = f"validity = {validity!r}: write true or false"
        raise TypeError(msg)
    if tell:
        settings = {"collection": _OWN_COLLECTION, "clock": lambda: dataset.now} | settings
    model = embeddings_named(settings.pop("embeddings", "local"))
    memory = milvus.EpisodicMemory(settings.pop("uri"), model, **settings)
    stack.enter_context(memory)
    return EpisodicTarget(memory, name="memory", validity=validity)

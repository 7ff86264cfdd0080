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
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from langchain_core.embeddings import Embeddings

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.evaluation import DatasetError, EpisodicTarget, MemoryDataset, RetrieverTarget
from langchain_tiered_memory.evaluation.contexts import as_target

__all__ = ["baselines", "default_target", "embeddings_named", "targets_in"]

_OWN_COLLECTION: Final = "evaluation"
"""Where a data set is told, so that nobody's own episodes are among it, nor it among theirs."""
_LOCAL, _NONE = "local", "none"
_PLAIN: Final = "plain vector store"
_OFF: Final = "validity off"


def default_target(
    uri: str, embeddings: str, key: str, dataset: MemoryDataset, stack: ExitStack, *, tell: bool
) -> dict[str, Any]:
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


def baselines(targets: Mapping[str, Any], embeddings: str) -> dict[str, Any]:
    """What to hold the first target against: itself without validity, and a plain vector store."""
    found: dict[str, Any] = {}
    first = next(iter(targets.values()))
    if isinstance(first, EpisodicTarget):
        found[_OFF] = first.without_validity()
    model = embeddings_named(_LOCAL if embeddings == _NONE else embeddings)
    if model is not None:
        from langchain_core.vectorstores import InMemoryVectorStore  # noqa: PLC0415  # imports numpy

        found[_PLAIN] = RetrieverTarget(InMemoryVectorStore(model).as_retriever(), name=_PLAIN)
    return found


def targets_in(path: Path, dataset: MemoryDataset, stack: ExitStack, *, tell: bool) -> dict[str, Any]:
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
) -> Any:  # noqa: ANN401  # whatever evaluate takes
    if "object" in settings:
        if more := sorted(set(settings) - {"object"}):
            msg = f"{path}: {', '.join(more)} of {name!r} goes with uri, not with object; remove it"
            raise DatasetError(msg)
        made = _imported(settings["object"])
        if inspect.isfunction(made) and not inspect.signature(made).parameters:
            made = made()
        try:
            as_target(made)  # so that one that is none is named here, with the file
        except TypeError as error:
            msg = f"{path}: {name!r}: {error}"
            raise DatasetError(msg) from error
        return made
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


def _episodic(settings: dict[str, Any], dataset: MemoryDataset, stack: ExitStack, *, tell: bool) -> EpisodicTarget:
    milvus = import_optional("langchain_tiered_memory.episodic.memory", needed_by="an episodic memory")
    validity = settings.pop("validity", True)
    if not isinstance(validity, bool):
        msg = f"validity = {validity!r}: write true or false"
        raise TypeError(msg)
    if tell:
        settings.setdefault("collection", _OWN_COLLECTION)
    model = embeddings_named(settings.pop("embeddings", _LOCAL))
    memory = milvus.EpisodicMemory(
        settings.pop("uri"), model, **{"clock": lambda: dataset.now} if tell else {}, **settings
    )
    stack.enter_context(memory)
    return EpisodicTarget(memory, name="memory", validity=validity)


def embeddings_named(name: str) -> Embeddings | None:
    """The embedding model of a name: `local`, `none`, or `module:name` of a LangChain model or what makes one.

    Raises:
        ImportError: There is no such model, or an extra is missing.
    """
    if name == _NONE:
        return None
    if name == _LOCAL:
        found = import_optional("langchain_tiered_memory.episodic.embeddings", needed_by="an episodic memory")
        local: Embeddings = found.LocalEmbeddings()
        return local
    made = _imported(name)
    model = made() if inspect.isfunction(made) or inspect.isclass(made) else made
    if not isinstance(model, Embeddings):
        msg = f"{name} is {type(model).__name__} and no LangChain embedding model: name one, or 'local', or 'none'"
        raise ImportError(msg)  # noqa: TRY004  # the command reports it as it does a name that is not there
    return model


def _imported(name: str) -> Any:  # noqa: ANN401  # what stands there
    module, _, attribute = str(name).partition(":")
    if not module or not attribute:
        msg = f"{name!r} names nothing to import: write module:name"
        raise ImportError(msg)
    found = import_optional(module, needed_by=name)
    try:
        return getattr(found, attribute)
    except AttributeError as error:
        msg = f"the module {module} has no {attribute}: correct {name!r}"
        raise ImportError(msg) from error

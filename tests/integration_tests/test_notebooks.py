"""The notebooks as a reader meets them: whole as they stand in the repository, and run anew without a network."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from support.shared import PROJECT

FOLDER = PROJECT / "notebooks"
NAMES = ("01_window", "02_summaries", "03_long_term_memory", "04_four_tiers", "05_strategies")
# No reader's machine has these, and no page should show them.
FOREIGN = re.compile(
    r"/(?:home|root|work|tmp|Users|var|opt)/|[A-Z]:\\\\Users|site-packages|ipykernel_|pypi|pythonhosted|/simple/|Warning"
)
OFFLINE = """
import socket as _socket
import sys as _sys

_refused = []


def _checked(event, args):
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(args[1], tuple):
        host = args[1][0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in (None, "", "localhost", "::1", "0.0.0.0", "::") and not str(host).startswith("127."):
        _refused.append(host)
        raise OSError(f"no network in this test: {host}")


_sys.addaudithook(_checked)
"""
SCORE = re.compile(r"\b[01]\.\d\d\b")
AFTER = "assert not _refused, f'the notebook asked for {_refused}'"


def read(name: str) -> NotebookNode:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(notebook: NotebookNode) -> list[str]:
    """What each code cell printed, but for scores of a recall, which its tuning moves; HTML holds times of its run."""
    return [
        SCORE.sub("0.00", "".join(one.text for one in cell.outputs if is_stream(one))) for cell in code_cells(notebook)
    ]


def shown(notebook: NotebookNode) -> list[list[str]]:
    """What kinds of display each code cell has."""
    return [[one.output_type for one in cell.outputs if not is_stream(one)] for cell in code_cells(notebook)]


def is_stream(output: NotebookNode) -> bool:
    return output.output_type == "stream"


def executed(notebook: NotebookNode, *, first: str = OFFLINE, last: str = AFTER) -> NotebookNode:
    """The notebook as it is after a run in a kernel of its own, with a cell before it and a cell behind it."""
    cells = [nbformat.v4.new_code_cell(first), *notebook.cells, nbformat.v4.new_code_cell(last)]
    run = nbformat.v4.new_notebook(metadata={"kernelspec": notebook.metadata.kernelspec}, cells=cells)
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(run, timeout=240, kernel_name="python3", resources=resources, allow_errors=False).execute()
    run.cells = run.cells[1:-1]
    return run


@pytest.fixture(autouse=True)
def plain_kernels(tmp_path, monkeypatch) -> None:
    """Kernels that see neither a key, nor a proxy, nor settings of whoever runs the tests."""
    for name in ("OPENAI_API_KEY", "LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def test_every_notebook_is_listed():
    assert tuple(sorted(path.stem for path in FOLDER.glob("*.ipynb"))) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_committed_whole(name):
    notebook = read(name)
    nbformat.validate(notebook)
    cells = code_cells(notebook)
    outputs = [output for cell in cells for output in cell.outputs]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), (
        "run all cells in order, and save"
    )
    assert outputs
    assert [output for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_output_shows_a_machine_or_a_warning(name):
    for cell in code_cells(read(name)):
        for output in cell.outputs:
            data = output.get("data", {}).items()
            texts = [output.get("text", ""), *(str(value) for kind, value in data if kind != "image/png")]
            assert FOREIGN.search("\n".join(texts)) is None


@pytest.mark.parametrize("name", NAMES)
def test_one_marked_cell_switches_to_openai_and_is_off(name):
    cells = code_cells(read(name))
    marked = [cell for cell in cells if "openai" in cell.metadata.get("tags", ())]
    assert [cell for cell in cells if "langchain_openai" in cell.source] == marked
    assert len(marked) == 1
    assert marked[0].source.startswith("USE_OPENAI = False\nif USE_OPENAI:\n")


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_short(name):
    assert max(len(cell.source.splitlines()) for cell in code_cells(read(name))) <= 20


@pytest.mark.needs_vocabulary
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_without_a_network_and_prints_what_is_committed(name):
    before = sorted(FOLDER.iterdir())
    committed = read(name)
    run = executed(read(name))
    stderr = [output.text for cell in code_cells(run) for output in cell.outputs if output.get("name") == "stderr"]
    assert stderr == []
    assert printed(run) == printed(committed), "execute the notebook and commit it: jupyter execute --inplace"
    assert shown(run) == shown(committed)
    assert sorted(FOLDER.iterdir()) == before, "the notebook left something behind"


@pytest.mark.parametrize(
    "asking",
    [
        "import urllib.request\nurllib.request.urlopen('https://example.org', timeout=5)",
        "import socket\ntry:\n    socket.create_connection(('192.0.2.1', 80), timeout=5)\nexcept OSError:\n    pass",
    ],
)
def test_a_notebook_that_asks_the_network_fails(asking):
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        cells=[nbformat.v4.new_code_cell(asking)],
    )
    with pytest.raises(CellExecutionError, match=r"no network in this test|the notebook asked for"):
        executed(notebook)

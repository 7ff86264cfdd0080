from __future__ import annotations

import json
import os

import pytest

from langchain_tiered_memory.errors import BudgetExceededError
from langchain_tiered_memory.procedural.procedures import ProceduralMemory, Procedure, ProcedureError

WEATHER = {"name": "get_weather", "description": "Weather.", "parameters": {"type": "object", "properties": {}}}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "procedures"
    folder.mkdir()
    return folder


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def load(paths, **options):
    return ProceduralMemory.from_files(paths, **options)


# --- what is read -----------------------------------------------------------------------------------------------------


def test_a_folder_is_read_whole(folder):
    write(folder, "rules.md", "# Rules\n\nOnly GET.")
    write(folder, "workflows/refund.txt", "Ask first.")
    write(folder, "deep/er/tools.json", json.dumps([WEATHER]))
    memory = load(folder)
    assert [(one.kind, one.name) for one in memory.procedures] == [
        ("system", "rules"),
        ("workflow", "refund"),
        ("tool", "get_weather"),
    ]
    assert memory.render() == '# Rules\n\nOnly GET.\n\n<workflow name="refund">\nAsk first.\n</workflow>'
    assert memory.tools == [WEATHER]


def test_files_are_read_in_any_order_with_one_result(folder):
    paths = [write(folder, f"{name}.md", f"text of {name}") for name in ("b", "a", "10", "9")]
    prints = {load(order).fingerprint for order in (paths, paths[::-1], map(str, paths), folder, str(folder))}
    assert len(prints) == 1
    assert load([folder, *paths]).fingerprint in prints  # the same file twice is one procedure
    assert load(paths[0]).render() == "text of b"


@pytest.mark.parametrize(
    "header",
    [
        "---\nname: refund\nkind: workflow\nversion: 1.2\n---\n",
        "---\n# comment\n\nname: 'refund'\nkind: \"workflow\"\nversion:  1.2 \n---\n\n",
        '+++\nname = "refund"\nkind = "workflow"\nversion = "1.2"\n+++\n',
        "\ufeff---\r\nname: refund\r\nkind: workflow\r\nversion: 1.2\r\n---\r\n",
    ],
)
def test_front_matter_says_name_kind_and_version(folder, header):
    write(folder, "x.md", header + "Ask: {who}?\n---\nThen pay.\n")
    assert load(folder).procedures == (Procedure("refund", "workflow", "Ask: {who}?\n---\nThen pay.", "1.2"),)


def test_a_rule_across_the_page_is_no_front_matter(folder):
    write(folder, "x.md", "---\nOnly one line was drawn.")
    assert load(folder).render() == "---\nOnly one line was drawn."


def test_every_editor_saves_the_same_procedure(folder, tmp_path):
    write(folder, "x.md", "a\nb\n")
    others = [b"\xef\xbb\xbfa\r\nb\r\n", b"a\rb", b"\n\na\nb\n\n\n"]
    prints = {load(write(tmp_path, f"{n}/x.md", content)).fingerprint for n, content in enumerate(others)}
    assert prints == {load(folder).fingerprint}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(WEATHER),
        json.dumps([WEATHER]),
        json.dumps({"tools": [WEATHER]}),
        json.dumps({"type": "function", "function": WEATHER}),
        json.dumps({"type": "function", **WEATHER}),
        json.dumps({"name": "get_weather", "description": "Weather.", "input_schema": WEATHER["parameters"]}),
    ],
)
def test_a_schema_file_in_any_usual_form_is_the_same_tool(folder, content):
    write(folder, "tools.json", content)
    (procedure,) = load(folder).procedures
    assert json.loads(procedure.text) == {"type": "function", "function": WEATHER}
    assert load(folder, tools=[WEATHER]).versions == {"get_weather": procedure.version}


def test_a_providers_own_tool_stays_as_it_is(folder):
    own = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    write(folder, "tools.json", json.dumps([own]))
    assert load(folder).tools == [own]
    with pytest.raises(ProcedureError, match="contradictory descriptions of the tool 'web_search'"):
        load(folder, tools=[own | {"max_uses": 6}])


def test_a_document_holds_tools_and_texts_with_one_version(folder):
    texts = [{"name": "a", "text": "x"}, {"name": "b", "kind": "workflow", "text": "y", "version": "9"}]
    write(folder, "all.json", json.dumps({"version": "2", "tools": [WEATHER], "procedures": texts}))
    assert load(folder).versions == {"a": "2", "b": "9", "get_weather": "2"}
    toml = 'version = 2\n[[procedures]]\nname = "a"\ntext = """\nx\n"""\n'
    assert load(write(folder, "other/all.toml", toml)).procedures == (Procedure("a", "system", "x", "2"),)


def test_hidden_files_are_left_out_and_links_are_followed(folder, tmp_path):
    """Kubernetes mounts a configuration as links into a hidden folder."""
    write(folder, "..2026_01_02/rules.md", "Only GET.")
    (folder / "..data").symlink_to("..2026_01_02")
    (folder / "rules.md").symlink_to("..data/rules.md")
    write(folder, ".git/config.md", "no")
    write(tmp_path, "elsewhere/more.md", "More.")
    (folder / "more").symlink_to(tmp_path / "elsewhere")
    assert load(folder).render() == "More.\n\nOnly GET."


def test_further_procedures_and_a_budget_may_be_given(folder):
    write(folder, "rules.md", "Only GET.")
    memory = load(folder, system="Be brief.", workflows={"w": "x"}, tools=[WEATHER], max_tokens=1_000)
    assert [one.name for one in memory.procedures] == ["rules", "system", "w", "get_weather"]
    with pytest.raises(BudgetExceededError, match="the procedures take"):
        load(folder, max_tokens=1)
    assert load(folder, tools=[WEATHER], tools_as_text=True).render().count("get_weather") == 2


# --- what is refused --------------------------------------------------------------------------------------------------


def test_two_files_of_one_name_and_other_words_are_both_named(folder):
    one, two = write(folder, "a/rules.md", "Only GET."), write(folder, "b/rules.md", "Only POST.")
    with pytest.raises(ProcedureError) as caught:
        load(folder)
    assert f"two of 'rules': {one} and {two} (their texts differ first in line 1" in str(caught.value)
    two.write_text("Only GET.")
    assert load(folder).render() == "Only GET."
    tools = write(folder, "tools.json", json.dumps([WEATHER]))
    with pytest.raises(ProcedureError) as caught:
        load(folder, tools=[{**WEATHER, "description": "Wetter."}])
    assert f"contradictory descriptions of the tool 'get_weather': tools[0] and {tools}: tools[0]" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.md", b"", "it is empty; write what it should say, or remove it"),
        ("x.md", b"\xef\xbb\xbf \r\n", "it is empty"),
        ("x.md", b"---\nname: x\n---\n\n", "'x' holds no text"),
        ("x.md", b"a\nb\0c", "line 2 holds a NUL character, so it is no text file"),
        ("x.md", "Grüße".encode("latin-1"), r"line 1: byte 2 is not UTF-8 .*; save it as UTF-8"),
        ("x.md", "hi".encode("utf-16"), "it is in UTF-16; save it as UTF-8"),
        ("x.txt", b"\x89PNG\r\n\x1a\n\0", "line 1: byte 0 is not UTF-8"),
        ("x.md", b"x" * 1_000_001, r"1,000,001 bytes, more than max_file_bytes=1,000,000; split it"),
        ("x.yaml", b"a: b", r"a file ending in \.yaml is no procedure; rename it to \.md"),
        ("Makefile", b"a: b", "a file ending in nothing is no procedure"),
        ("x.md", b"---\nname: x\nowner: me\n---\na", "front matter gives 'owner', which is not known; known are name"),
        ("x.md", b"---\nname:\n  - x\n---\na", "line 2 of the front matter cannot be read: 'name:'"),
        ("x.md", b"---\nkind: [workflow]\n---\na", r"line 2 .*cannot be read"),
        ("x.md", b"---\nname: x\nname: y\n---\na", "line 3 of the front matter gives 'name' again"),
        ("x.md", b"+++\nname = x\n+++\na", "it is no TOML"),
        ("x.md", b"+++\nname = 'x'\na", r"begins with \+\+\+ does not end"),
        ("x.md", b"+++\nname = 5\n+++\na", "name=5 cannot be used"),
        ("x.md", b"+++\nversion = 1.5\n+++\na", r"version=1\.5 of 'x' cannot be used"),
        ("x.md", b"---\nkind: rule\n---\na", "kind='rule' of 'x' is not known"),
        ("x.md", b"---\nkind: tool\n---\na", r"a text is no tool; write the tool's schema into a \.json file"),
        ("x.json", b"{", r"it is no JSON: .* \(line 1, column 2\); correct it there"),
        ("x.json", b'{"name": "a", "name": "b"}', "the key 'name' stands twice in one object"),
        ("x.json", b'[{"name": "a", "parameters": {"minimum": NaN}}]', "it holds NaN, which is no JSON"),
        ("x.json", b"[" * 100_000, "cannot be read as JSON"),
        ("x.json", b'[{"a": ' + b"1" * 5_000 + b"}]", "cannot be read as JSON"),
        ("x.json", b"5", "it holds a int; write a tool's schema"),
        ("x.json", b"[]", "it holds no procedure"),
        ("x.json", b'{"tools": {}}', "tools is a dict; write a list"),
        ("x.json", b'{"tools": [5]}', r"tools\[0\]: 5 is no tool"),
        ("x.json", b'{"tool": []}', "is no tool that a model can be given"),
        ("x.json", b'{"tools": [], "owner": 1}', "it gives 'owner', which is not known; known are procedures, tools"),
        ("x.json", b'{"procedures": [{"name": "a"}]}', r"procedures\[0\] is not of its form"),
        ("x.json", b'{"procedures": [{"name": "a", "text": "x", "kind": "tool"}]}', r"procedures\[0\] is a text and"),
        ("x.json", b'{"procedures": [{"name": "a", "text": 5}]}', r"procedures\[0\]: the text of 'a' is a int"),
        ("x.toml", b"a = ", "it is no TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_repair(folder, name, content, words):
    path = write(folder, name, content)
    with pytest.raises(ProcedureError, match=words) as caught:
        load(folder)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 700


def test_a_link_that_leads_back_is_named(folder):
    write(folder, "rules.md", "x")
    (folder / "again").symlink_to(folder)
    with pytest.raises(ProcedureError, match=r"again: it is a link to a folder that it lies in.*remove the link"):
        load(folder)


def test_a_link_to_itself_or_to_nothing_is_named(folder):
    (folder / "a.md").symlink_to("a.md")
    with pytest.raises(ProcedureError, match=r"a\.md: it cannot be read \(.*links.*\); correct the link"):
        load(folder)
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to("b.md")
    with pytest.raises(ProcedureError, match=r"a\.md: it is a link to a file that does not exist"):
        load(folder)


def test_a_path_that_leads_nowhere_is_named(folder):
    with pytest.raises(ProcedureError, match=r"no\.md: there is no such file or folder; correct the path"):
        load(folder / "no.md")
    with pytest.raises(ProcedureError, match="it is no path"):
        load("a\0b")
    with pytest.raises(ProcedureError, match="the folder holds no procedure"):
        load(folder)
    with pytest.raises(ProcedureError, match="a pattern matches none"):
        load(folder.glob("*.md"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / "x.md")
    with pytest.raises(ProcedureError, match="it is a device, pipe or socket"):
        load(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(folder):
    write(folder, "x.md", "x").chmod(0)
    with pytest.raises(ProcedureError, match="it cannot be read"):
        load(folder)


def test_a_large_file_is_read_where_it_is_allowed(folder):
    write(folder, "x.md", "x" * 1_000_001)
    assert len(load(folder, max_file_bytes=2_000_000).render()) == 1_000_001


@pytest.mark.parametrize("paths", [None, 3, b"rules"])
def test_what_is_no_path_is_refused(paths):
    with pytest.raises(ProcedureError, match="is no path: give a file, a folder, or a list of them"):
        ProceduralMemory.from_files(paths)


def test_a_schema_nested_too_deep_is_named(folder):
    schema = b'{"type": "object", "properties": {"a": ' * 300 + b"{}" + b"}}" * 300
    path = write(folder, "x.json", b'[{"name": "f", "description": "d", "parameters": ' + schema + b"}]")
    with pytest.raises(ProcedureError, match=r"the schema is nested too deep") as caught:
        load(folder)
    assert str(caught.value).startswith(f"{path}: tools[0]")

from __future__ import annotations

import ast

import langchain_tiered_memory as package


def test_the_typed_program_uses_every_public_name(project_root):
    source = (project_root / "tests" / "typing" / "api.py").read_text(encoding="utf-8")
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)
    }
    assert set(package.__all__) <= used


def test_the_package_says_that_it_is_typed(project_root):
    assert (project_root / "langchain_tiered_memory" / "py.typed").read_bytes() == b""

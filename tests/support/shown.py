"""What is shown to people, checked: as rich prints it, and as HTML that is closed, escaped and loads nothing."""

from __future__ import annotations

import io
from html.parser import HTMLParser

EVIL = '\x1b[2J\x9b31m\u202e<script>alert("x")</script> & [bold]$title[/bold]\x07'
"""A text that a terminal, rich, a template or a browser might obey."""
_VOID = frozenset({"meta", "line", "polyline", "polygon"})


def printed(renderable, *, width=80, **settings) -> str:
    """What a terminal of that width gets."""
    from rich.console import Console  # noqa: PLC0415 - of the [cli] extra

    out = io.StringIO()
    Console(file=out, width=width, **settings).print(renderable)
    return out.getvalue()


class Elements(HTMLParser):
    """The elements of a page or fragment, all closed, none of which loads or runs anything, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.text: dict[str, str] = {}
        self.feed(html)
        self.close()
        assert self.open == []
        assert not {"script", "link", "img", "iframe", "object"} & set(self.found)
        assert "url(" not in html
        assert "@import" not in html

    @property
    def said(self) -> str:
        """All text outside of styles."""
        return "".join(text for tag, text in self.text.items() if tag != "style")

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        assert not [name for name, _ in attrs if name in {"src", "href"} or name.startswith("on")]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, _attrs):
        self.found.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        tag = self.open[-1] if self.open else ""
        self.text[tag] = self.text.get(tag, "") + data

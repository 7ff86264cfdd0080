"""Texts of a megabyte each that are the worst for a tokenizer: one huge piece, or nothing but odd characters."""

from __future__ import annotations

import base64
import json
import random

MEGABYTE = 1_000_000
R = random.Random(11)


def mixed_runs():
    atoms = [" ", "\n", "\t", "=", "x", "汉", "1", "😀", "\u0301", " ", ".", "é", "ไทย", "\r\n"]
    return "".join(R.choice(atoms) * R.choice([1, 5, 300, 9_000]) for _ in range(400))


MAKERS = {
    "one letter": lambda: "A" * MEGABYTE,
    "one small letter": lambda: "a" * MEGABYTE,
    "one word": lambda: "".join(R.choices("abcdefghijklmnopqrstuvwxyz", k=100_000)) * 10,
    "capitals": lambda: "".join(R.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=MEGABYTE)),
    "one character of Chinese": lambda: "汉" * (MEGABYTE // 3),
    "a run of Chinese": lambda: "".join(chr(R.randint(0x4E00, 0x9FFF)) for _ in range(MEGABYTE // 3)),
    "kana": lambda: "ありがとう" * (MEGABYTE // 15),
    "Korean": lambda: "".join(chr(R.randint(0xAC00, 0xD7A3)) for _ in range(MEGABYTE // 3)),
    "Russian without spaces": lambda: "привет" * (MEGABYTE // 12),
    "spaces": lambda: " " * MEGABYTE,
    "spaces before a word": lambda: " " * MEGABYTE + "x",
    "line breaks": lambda: "\n" * MEGABYTE,
    "tabs": lambda: "\t" * MEGABYTE,
    "mixed white space": lambda: "".join(R.choices(" \t\n\r", k=MEGABYTE)),
    "indented empty lines": lambda: (" " * 999 + "\n") * 1_000,
    "punctuation": lambda: "!" * MEGABYTE,
    "mixed punctuation": lambda: "".join(R.choices("!@#$%^&*()_+-=[]{};:,.<>/?", k=MEGABYTE)),
    "slashes": lambda: "/" * MEGABYTE,
    "emoji": lambda: "😀" * (MEGABYTE // 4),
    "mixed emoji": lambda: "".join(chr(R.randint(0x1F300, 0x1F6FF)) for _ in range(MEGABYTE // 4)),
    "families": lambda: "👨‍👩‍👧‍👦" * (MEGABYTE // 25),
    "combining marks": lambda: "a" + "\u0301" * (MEGABYTE // 2),
    "digits": lambda: "1234567890" * (MEGABYTE // 10),
    "base64": lambda: base64.b64encode(R.randbytes(MEGABYTE * 3 // 4)).decode(),
    "hex": lambda: R.randbytes(MEGABYTE // 2).hex(),
    "minified JSON": lambda: json.dumps([{"id": n, "name": f"x{n}"} for n in range(40_000)], separators=(",", ":"))[
        :MEGABYTE
    ],
    "prose": lambda: "The quick brown fox jumps over the lazy dog. " * (MEGABYTE // 45),
    "cases": lambda: "aB" * (MEGABYTE // 2),
    "apostrophes": lambda: "'s" * (MEGABYTE // 2),
    "special tokens": lambda: "<|endoftext|>" * (MEGABYTE // 13),
    "NUL": lambda: "\x00" * MEGABYTE,
    "lone surrogates": lambda: "\ud800" * (MEGABYTE // 3),
    "mixed runs": mixed_runs,
}

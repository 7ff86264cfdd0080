"""What is asked of a sentence only where one of a few words occurs must not miss anything."""

from __future__ import annotations

import re

import pytest

from langchain_tiered_memory.working.wording.branches import searches_by_word
from langchain_tiered_memory.working.wording.facts_en import FACT_FORMS
from langchain_tiered_memory.working.wording.forms_en import DIRECT_FORMS
from langchain_tiered_memory.working.wording.indirect_en import INDIRECT_FORMS
from langchain_tiered_memory.working.wording.reading import read
from langchain_tiered_memory.working.wording.sentences import split_sentences
from langchain_tiered_memory.working.wording.standing_en import STANDING_FORMS
from langchain_tiered_memory.working.wording.verbs_en import Form
from support.phrasings import CHAT, INDIRECT_EN, UNSEEN_EN
from support.planted import MORE_EN, RULES_EN, SMALL_TALK
from support.standing import FRESH_EN, PASSING_EN, STANDING_EN

SENTENCES = [*INDIRECT_EN, *UNSEEN_EN, *MORE_EN, *RULES_EN, *STANDING_EN, *FRESH_EN, *PASSING_EN, *CHAT, *SMALL_TALK]


@pytest.mark.parametrize("forms", [DIRECT_FORMS, INDIRECT_FORMS, STANDING_FORMS, FACT_FORMS])
def test_a_form_taken_apart_finds_what_the_whole_finds(forms):
    apart = searches_by_word(forms)
    whole = [(frozenset(form.words.split()), re.compile(form.forms)) for form in forms]
    for text in SENTENCES:
        piece = read(text)
        by_whole = any(not words.isdisjoint(piece.words) and form.search(piece.low) for words, form in whole)
        by_branch = any(search(piece.low) for word in piece.words for search in apart.get(word, ()))
        assert by_branch == by_whole, text


def test_a_branch_is_tried_only_where_one_of_its_own_words_occurs():
    searches = searches_by_word([Form("never mind", r"\bnever (?:a|b)\b|^mind [|(] me\b")])
    assert {word: len(found) for word, found in searches.items()} == {"never": 1, "mind": 1}
    assert searches["never"][0]("and never b")
    assert searches["mind"][0]("mind | me")
    assert not searches["mind"][0]("never mind | me")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I'd `rather` you didn't", ["i'd", "rather", "you", "didn't"]),
        ("rock'n'roll, 'tis the dogs'!", ["rock'n", "roll", "tis", "the", "dogs"]),
        ("Don’t 微信 me", ["don't", "me"]),
        ("plain words, 7 of them", ["plain", "words", "of", "them"]),
    ],
)
def test_words_are_read_with_their_apostrophes(text, words):
    assert read(text).words == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("See no. 12 of Dr. Voss. Then stop.", ["See no. 12 of Dr. Voss.", "Then stop."]),
        ("Ask J. Doe or I. Then stop.", ["Ask J. Doe or I.", "Then stop."]),
        ("Pay (approx. 3 EUR) first. Done.", ["Pay (approx. 3 EUR) first.", "Done."]),
        ("It is extraordinarily. Good.", ["It is extraordinarily.", "Good."]),
    ],
)
def test_an_abbreviation_ends_no_sentence(text, sentences):
    assert [one.text for one in split_sentences(text)] == sentences

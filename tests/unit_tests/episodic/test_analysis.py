from __future__ import annotations

import random
import subprocess
import sys
import threading
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_tiered_memory.episodic.analysis import LONGEST_TERM, language_of, search_text, terms_of

pytest.importorskip("snowballstemmer")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Where do her paintings hang?", ["paint", "hang"]),
        ("I PAINTED that in May", ["paint", "may"]),
        ("don't Caroline's we've o'clock", ["carolin", "clock"]),
        ("self-care and well-being", ["self", "care", "well"]),
        ("", []),
        (" \t\n…!?", []),
        ("\ud800\0", []),
        ("🎉🎉", []),
    ],
)
def test_english_words_are_stemmed_and_function_words_left_out(text, terms):
    assert terms_of(text) == terms


@pytest.mark.parametrize("text", ["Who are you?", "To be or not to be", "is it on"])
def test_a_text_of_function_words_alone_keeps_them(text):
    assert len(terms_of(text)) == len(text.split())


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("Mail ada@example.org!", "ada@example.org", {"ada", "exampl", "org"}),
        ("see /usr/local/bin/python", "usr/local/bin/python", {"usr", "local", "bin", "python"}),
        (r"in C:\Temp\report_final.txt", r"c:\temp\report_final.txt", {"temp", "report", "final", "txt"}),
        ("https://example.com/a?b=c", "https://example.com/a?b=c", {"exampl", "com"}),
        ("on 2023-05-08", "2023-05-08", {"2023", "05", "08"}),
        ("at 10:30", "10:30", {"10", "30"}),
        ("it cost 1,234.56", "1,234.56", {"1", "234", "56"}),
        ("call getUserName", "getusernam", {"get", "user", "name"}),
        ("the HTTPServer", "httpserver", {"http", "server"}),
        ("ticket ABC-1234", "abc-1234", {"abc", "1234"}),
        ("the 8th", "8th", {"8"}),
        ("use snake_case_name", "snake_case_name", {"snake", "case", "name"}),
    ],
)
def test_ids_addresses_paths_and_numbers_are_kept_whole_and_in_parts(text, whole, parts):
    terms = terms_of(text)
    assert terms.count(whole) == 1
    assert parts <= set(terms)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Me gustan las manzanas rojas de mi abuela", "manzanas"),
        ("Me gustan las manzanas rojas de mi abuela", "¿dónde están las manzanas de la abuela?"),
        ("Ich habe meine Schlüssel in der Küche gelassen", "Wo ist mein Schlüssel?"),
        ("Nous avons visité les châteaux de la Loire", "château"),
        ("Ho comprato due libri e non li ho ancora letti", "che libro hai comprato?"),
        ("Я читаю интересные книги каждый вечер", "интересная книга"),
        ("Διαβάζω ενδιαφέροντα βιβλία κάθε βράδυ", "ενδιαφέρον βιβλία"),
        ("قرأت الكتاب الجديد في المكتبة", "كتاب"),
        ("मैंने नई किताबें खरीदीं", "किताब"),
        ("Dün yeni bir araba aldım ve çok mutluyum", "araba"),
        ("Wczoraj kupiłem nowy rower, ale nie jest to czerwony", "rower"),
        ("Minulla on uusi auto ja se on punainen, mutta ei kallis", "auto"),
        ("我昨天在北京买了一台新电脑", "电脑在哪里买的?"),
        ("我家有一只猫", "猫"),
        ("東京タワーへ行きました", "東京タワー"),
        ("어제 커피를 마셨다", "커피"),
        ("เมื่อวานฉันไปกรุงเทพ", "กรุงเทพ"),
        ("Mañana", "manana"),
        ("ｆｕｌｌ　ｗｉｄｔｈ １２３", "full width 123"),
        ("the ﬁrst oﬃce", "first office"),
        ("٣٤", "34"),
        (unicodedata.normalize("NFD", "café"), "café"),
        ("STRASSE", "Straße".upper()),
    ],
)
def test_a_question_shares_terms_with_its_text_in_many_languages(stored, asked):
    assert set(terms_of(stored)) & set(terms_of(asked))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The weather is what it was when we came", "english"),
        ("Wo sind meine Schlüssel geblieben?", "german"),
        ("Nous avons mangé dans le jardin avec les enfants", "french"),
        ("¿Dónde están las llaves de mi casa?", "spanish"),
        ("Eu não sei onde está a minha chave", "portuguese"),
        ("Che cosa hai fatto con il mio libro?", "italian"),
        ("Waar is het boek dat ik je heb gegeven?", "dutch"),
        ("Jag vet inte var min bok är", "swedish"),
        ("Gdzie jest moja książka i kto ją ma?", "polish"),
        ("Benim kitabım nerede ve kim aldı?", "turkish"),
        ("apples", "english"),
        ("Mail ada@example.org!", "english"),  # "ada" alone is a name
        ("C:/a/b/c/d", "english"),
        ("", "english"),
    ],
)
def test_function_words_tell_the_language_and_one_alone_does_not(text, language):
    assert language_of(text) == language


@settings(deadline=None, max_examples=300)
@given(st.text(st.characters(), max_size=80))
def test_terms_of_any_text_are_fit_for_an_index_that_cuts_at_spaces(text):
    terms = terms_of(text)
    assert search_text(terms).split() == terms
    assert all(0 < len(term) <= LONGEST_TERM for term in terms)
    assert "\0" not in search_text(terms)
    search_text(terms).encode()  # no lone surrogate
    assert terms_of(text) == terms


@settings(deadline=None)
@given(st.text("abcdefgh XYZ0123456789_-.'@/äß猫커", max_size=60))
def test_a_text_asked_word_for_word_finds_itself(text):
    asked, stored = set(terms_of(text)), set(terms_of(f"{text}\nand more"))
    assert not asked or asked & stored or not set(terms_of(text)) - set(terms_of("and more"))


def test_terms_are_the_same_in_another_process_and_in_threads():
    text = "Ada's paintings; Meine Schlüssel sind in der Küche; 我喜欢茶; ada@example.org"
    program = f"from langchain_tiered_memory.episodic.analysis import *; print(search_text(terms_of({text!r})))"
    command = [sys.executable, "-X", "utf8", "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")  # noqa: S603  # our own
    assert run.stdout.split() == terms_of(text)
    words = [f"painted{n}s running{n}ly" for n in range(400)]
    expected = [terms_of(word) for word in words]
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append([terms_of(word) for word in words] == expected)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


@pytest.mark.parametrize(
    "unit", ["word ", "a.", "x", "我", "a'", "aA", "\u0301", "@", "1,", "é_", "-", "커", "://a", "ﷺ"]
)
def test_the_work_is_linear_whatever_the_text(unit):
    # A square of that many characters would take hours.
    terms_of(unit * (200_000 // len(unit)))


def test_a_search_text_that_is_too_long_drops_repeated_terms_first():
    terms = ["tea", "green"] * 50 + ["rare"]
    assert search_text(terms).split() == terms
    assert search_text(terms, max_bytes=20) == "tea green rare"
    assert search_text(terms, max_bytes=10) == "tea green"
    assert search_text(["我喜"], max_bytes=5) == ""
    assert len(search_text(terms_of("我" * 50_000 + "茶" * 3), max_bytes=1_000).encode()) <= 1_000


def test_random_noise_makes_no_error():
    random_ = random.Random(3)
    for _ in range(200):
        terms_of("".join(chr(random_.randrange(0x11_0000)) for _ in range(100)))

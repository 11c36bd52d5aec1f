"""The catalogues: up to date, complete, with the same names in braces, and not too long for a place."""

from __future__ import annotations

import gettext
import re
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from conftest import ROOT, thorough

from attn_xl.languages import (
    CATALOGUES,
    ENGLISH,
    LANGUAGES,
    QUOTED,
    first_of,
    in_a_row,
    in_quotes,
    speaking,
    translate,
)

pytest.importorskip("babel", reason="catalogues are read with Babel")
sys.path.insert(0, str(ROOT / "docs"))

import make_catalogue
from babel.messages.pofile import read_po

OTHERS = [language for language in LANGUAGES if language != ENGLISH]
MADE_AGAIN = "Run python docs/make_catalogue.py"
LIMITS = {"Linked": 32, "How to": 32}
"""Characters of titles of prompts, at most; a sheet's name is never translated."""
MOST_PROMPT = 255
NAME = re.compile(r"{(\w*)[^{}]*}")


@cache
def entries(language: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The messages of a language with their plural forms, and their translations."""
    return list(_entries(language))


def _entries(language: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    with make_catalogue.path_of(language).open("rb") as file:
        for entry in read_po(file, locale=language):
            if entry.id:
                ids = entry.id if isinstance(entry.id, tuple) else (entry.id,)
                texts = entry.string if isinstance(entry.string, tuple) else (entry.string,)
                yield tuple(map(str, ids)), tuple(text or "" for text in texts)


def test_the_template_has_every_message() -> None:
    kept = (CATALOGUES / "attn_xl.pot").read_text(encoding="utf-8")
    assert {*make_catalogue.template_texts(kept)} == {*make_catalogue.messages()}, MADE_AGAIN


@pytest.mark.parametrize("language", OTHERS)
def test_each_language_has_the_messages_of_the_template(language: str) -> None:
    assert {ids[0] for ids, _ in entries(language)} == {*make_catalogue.messages()}, MADE_AGAIN


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_compiled_is_what_was_translated(language: str) -> None:
    compiled = gettext.translation("attn_xl", CATALOGUES, [language])
    for ids, texts in entries(language):
        if all(texts):
            assert compiled.gettext(ids[0]) == texts[0] if len(ids) == 1 else True, MADE_AGAIN
            if len(ids) == 2:
                assert compiled.ngettext(*ids, 1) in texts, MADE_AGAIN


@pytest.mark.parametrize("language", OTHERS)
def test_no_message_is_missing(language: str) -> None:
    missing = [ids[0] for ids, texts in entries(language) if not all(texts)]
    assert not missing, f"{len(missing)} messages, such as {missing[0]!r}"


@pytest.mark.parametrize("language", OTHERS)
def test_names_in_braces_are_the_same(language: str) -> None:
    """A translation has every name of the English text and no other, so that it can be filled in."""
    for ids, texts in entries(language):
        names = {*NAME.findall(" ".join(ids))} - {"number"}
        for text in filter(None, texts):
            own = {*NAME.findall(text)}
            assert own - {"number"} == names, f"{ids[0]!r}: {text!r}"
            assert "number" not in own or "{number" in " ".join(ids), f"{ids[0]!r}: {text!r}"


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_is_too_long_for_its_place(language: str) -> None:
    for ids, texts in entries(language):
        for text in texts:
            assert len(text) <= LIMITS.get(ids[0], 10_000), text
            if ids[0].startswith("This cell is a link"):
                assert len(text) + 31 <= MOST_PROMPT, text


@pytest.mark.parametrize("language", OTHERS)
def test_no_translation_begins_like_a_formula(language: str) -> None:
    """A text that begins with = may be taken for a formula where it is typed or pasted."""
    for ids, texts in entries(language):
        assert not any(text.startswith("=") for text in texts) or ids[0].startswith("="), ids[0]


@thorough
def test_making_the_catalogues_again_changes_nothing() -> None:
    for language in OTHERS:
        pot = make_catalogue.template()
        made = make_catalogue.as_po(make_catalogue.updated(language, pot))
        assert made == make_catalogue.path_of(language).read_bytes(), MADE_AGAIN


@pytest.mark.parametrize(
    ("language", "row", "first"),
    [
        ("en", "a, b", "a, b and 2 more"),
        ("de", "a, b", "a, b und 2 weitere"),
        ("ja", "a、b", "a、b、ほか 2 件"),
    ],
)
def test_lists_are_written_as_in_their_language(language: str, row: str, first: str) -> None:
    with speaking(language):
        assert in_a_row("ab") == row
        assert first_of("abcd", 2) == first
        assert first_of("ab", 2) == row
        assert first_of("ab", 2, "; ") == "a; b"


QUOTATIONS = {
    "en": "“[^“”]*”",
    "de": "„[^„“”]*“",
    "es": "«[^«» ][^«»]*»",
    "fr": "«\u00a0[^«»]*\u00a0»",
    "pt": "“[^“”]*”",
    "zh": "“[^“”]*”",
    "ja": "「[^「」]*」",
}
"""A quotation in each language."""
QUOTES = re.compile(r"""["“”„‟«»‹›「」『』]|(?<!\w)'\w|[{}]'""")
IN_FORMULA = re.compile(r"=\w+\((?:[^()]|\([^()]*\))*\)")


@pytest.mark.parametrize("language", LANGUAGES)
def test_quotation_marks_are_those_of_the_language(language: str) -> None:
    """Except the straight ones of texts in formulas."""
    for ids, texts in entries(OTHERS[0]) if language == ENGLISH else entries(language):
        for text in ids if language == ENGLISH else texts:
            rest = re.sub(QUOTATIONS[language], " ", IN_FORMULA.sub(" ", text))
            assert not QUOTES.search(rest), text


@pytest.mark.parametrize("language", OTHERS)
def test_words_are_quoted_once(language: str) -> None:
    """Only `in_quotes` puts a value in quotation marks, so that no word gets two pairs."""
    for ids, texts in entries(language):
        if ids[0] != QUOTED:
            assert not any(re.search("[„“«「]\\s*{\\w+}", text) for text in texts), texts


@pytest.mark.parametrize(
    ("language", "quoted"), [("en", "“Katze”"), ("de", "„Katze“"), ("fr", "«\u00a0Katze\u00a0»")]
)
def test_a_word_is_quoted_as_in_the_language(language: str, quoted: str) -> None:
    with speaking(language):
        assert translate(in_quotes("Katze")) == quoted
        assert translate("the text {text}", text=in_quotes("Katze")).endswith(quoted)

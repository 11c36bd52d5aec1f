"""The language of what a workbook, a lesson and a mark say: gettext catalogues over English.

The English text is the key. A text with values is a whole sentence with names in braces:
`translate("{word} looks at {other}.", word=word, other=other)`. A text that is declared where no
language is known yet is a `message`, or the plain text of a step; it stays English, for code that
reads it, until `translate` gets it where it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gettext import NullTranslations

CATALOGUES = Path(__file__).parent / "locale"
"""`de/LC_MESSAGES/attn_xl.po` and its compiled `.mo`, and so on; `attn_xl.pot` is the English."""
ENGLISH = "en"
LANGUAGES = {
    ENGLISH: "English",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "pt": "Português",
    "zh": "中文",
    "ja": "日本語",
}
"""The languages by their code, each in its own words."""

_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def current_language() -> str:
    """The code of the language that texts are translated to: `en` outside `speaking`."""
    return _language.get()


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Translate to a language within a `with` block."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


@cache
def _catalogue(language: str) -> NullTranslations:
    from gettext import NullTranslations, translation

    if language == ENGLISH:
        return NullTranslations()
    return translation("attn_xl", CATALOGUES, [language])


class Message(str):
    """A text that is English to all code and translated where it is shown.

    Attributes:
        template: the English text with names in braces.
        values: what takes the place of the names; a message among them is translated, too.
    """

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str, values: dict[str, Any]) -> Message:
        self = super().__new__(cls, template.format(**values) if values else template)
        self.template, self.values = template, values
        return self

    def __getnewargs__(self) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        return self.template, self.values


def message(text: str, /, **values: object) -> Message:
    """A text to be translated where it is shown, with the values that take the place of its names in
    braces."""
    return Message(text, values)


def joined(parts: Sequence[str], between: str = " ") -> Message:
    """Texts one after the other, each of which is translated by itself where they are shown."""
    names = [f"part{number}" for number in range(len(parts))]
    return Message(between.join(f"{{{name}}}" for name in names), dict(zip(names, parts)))


def translate(text: str, /, **values: object) -> str:
    """A text in the current language, with its values in place of the names in braces."""
    if text and (language := _language.get()) != ENGLISH:
        if isinstance(text, Message):
            own = {name: shown(value) for name, value in text.values.items()}
            text = _catalogue(language).gettext(text.template)
            text = text.format(**own) if own else text
        else:
            text = _catalogue(language).gettext(text)
        values = {name: shown(value) for name, value in values.items()}
    return text.format(**values) if values else text


def shown(value: Any) -> Any:
    """A message in the current language; any other value, such as a word of the input, unchanged."""
    return translate(value) if isinstance(value, Message) else value


def shown_all(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels as they are shown: messages in the current language, the input's own words unchanged."""
    return labels if _language.get() == ENGLISH else tuple(map(shown, labels))


COMMA = message(", ")
"""What stands between the items of a list in English."""
QUOTED = message("“{text}”")
"""A word of the input, or the name of a sheet, in English quotation marks."""


def in_quotes(text: str) -> Message:
    """A text in the quotation marks of the language that it is shown in."""
    return message(QUOTED, text=text)


def in_a_row(texts: Iterable[str]) -> str:
    """`a, b, c`, with the comma of the current language."""
    return translate(COMMA).join(texts)


def first_of(texts: Sequence[str], most: int, between: str = "") -> str:
    """The first `most` texts and the number of the rest: `a, b and 3 more`, in the current language.

    Args:
        between: what stands between them; "" for the language's comma.
    """
    shown, rest = texts[:most], len(texts) - most
    items = between.join(shown) if between else in_a_row(shown)
    return translate("{items} and {number} more", items=items, number=rest) if rest > 0 else items


def joined_by_and(texts: Sequence[str]) -> str:
    """`a and b`, in the current language."""
    first, *more = texts
    for text in more:
        first = translate("{first} and {second}", first=first, second=text)
    return first


def translate_count(one: str, many: str, number: int, /, **values: object) -> str:
    """The form of a text that goes with a number, which it calls `{number}`."""
    if (language := _language.get()) == ENGLISH:
        text = one if number == 1 else many
    else:
        text = _catalogue(language).ngettext(one, many, number)
        values = {name: shown(value) for name, value in values.items()}
    return text.format(number=number, **values)

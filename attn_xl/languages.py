"""The language of what a workbook, a lesson and a mark say: gettext catalogues over English.

The English text is the key. A text with values is a whole sentence with names in braces:
`translate("{word} looks at {other}.", word=word, other=other)`; a text that is declared where no
language is known yet (the words of a step) is passed through `translate` where it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

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
    from gettext import translation

    return translation("attn_xl", CATALOGUES, [language])


def translate(text: str, /, **values: object) -> str:
    """A text in the current language, with its values in place of the names in braces."""
    if text and (language := _language.get()) != ENGLISH:
        text = _catalogue(language).gettext(text)
    return text.format(**values) if values else text


def translate_count(one: str, many: str, number: int, /, **values: object) -> str:
    """The form of a text that goes with a number, which it calls `{number}`."""
    if (language := _language.get()) == ENGLISH:
        text = one if number == 1 else many
    else:
        text = _catalogue(language).ngettext(one, many, number)
    return text.format(number=number, **values)

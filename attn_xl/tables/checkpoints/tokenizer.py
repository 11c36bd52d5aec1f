"""Splits a text into the tokens of a model: word-level tokenizers here, all others with the library
`tokenizers`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from attn_xl.errors import InputError
from attn_xl.labelled import MissingLibraryError
from attn_xl.text import clean, count, listed

from .safetensors import read_json

FILE = "tokenizer.json"
_SPLIT = {"Whitespace": r"\w+|[^\w\s]+", "WhitespaceSplit": r"\S+"}
_SPACES = ("Ġ", "▁")
"""How tokens spell the space before a word: byte-level ones and those of SentencePiece."""

_PRINTED = [*range(33, 127), *range(161, 173), *range(174, 256)]
_BYTES = {chr(byte): byte for byte in _PRINTED} | {
    chr(256 + i): byte for i, byte in enumerate(sorted({*range(256)} - {*_PRINTED}))
}
"""The byte that each character of a byte-level token stands for (`bytes_to_unicode` of GPT-2)."""


@dataclass(frozen=True)
class Tokenizer:
    """The tokens of a model.

    Attributes:
        file: its file.
        encode: returns the numbers of a text's tokens.
        words: every token by its number, as people read it.
        unknown: the number of the token for unknown words; None if there is none.
    """

    file: Path
    encode: Callable[[str], list[int]]
    words: tuple[str, ...]
    unknown: int | None = None


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer of a model.

    Raises:
        InputError: if `tokenizer.json` is missing or not usable.
        MissingLibraryError: if it needs the library `tokenizers`, which is not installed.
    """
    file = folder / FILE
    content = read_json(file)
    for part in ("model", "pre_tokenizer", "normalizer"):
        if not isinstance(content.get(part), (dict, type(None))):
            raise InputError(f"{file}: {part} is not an object. Download it again.")
    return _word_level(file, content) or _of_library(file, content)


def _word_level(file: Path, content: dict[str, Any]) -> Tokenizer | None:
    """The tokenizer, if it only looks up whole words."""
    model, splits = content.get("model") or {}, content.get("pre_tokenizer") or {}
    lower = (content.get("normalizer") or {}).get("type")
    others = [content.get(name) for name in ("added_tokens", "post_processor", "truncation", "padding")]
    plain = model.get("type") == "WordLevel" and splits.get("type") in _SPLIT and not any(others)
    if not plain or lower not in (None, "Lowercase"):
        return None
    vocabulary = _vocabulary(file, model.get("vocab"))
    numbers = {word: number for number, word in enumerate(vocabulary)}
    unknown = numbers.get(str(model.get("unk_token")))
    split = _SPLIT[splits["type"]]
    special = [word for word in vocabulary if re.findall(split, word) != [word]]  # `<pad>`
    pattern = re.compile("|".join([*map(re.escape, special), split]))

    def encode(text: str) -> list[int]:
        words = pattern.findall(text.lower() if lower else text)
        strange = [word for word in words if word not in numbers]
        if strange and unknown is None:
            raise InputError(
                f"{file}: does not know the {count(len(strange), 'word')} {listed(strange)}."
            )
        return [numbers.get(word, unknown) for word in words]  # type: ignore[misc]

    return Tokenizer(file, encode, tuple(map(clean, vocabulary)), unknown)


def _of_library(file: Path, content: dict[str, Any]) -> Tokenizer:
    try:
        library = import_module("tokenizers")
    except ImportError:
        kind = (content.get("model") or {}).get("type", "its")
        raise MissingLibraryError(
            f"{file}: a {kind} tokenizer needs the library tokenizers, which is not installed: "
            'pip install "attn-xl[models]"'
        ) from None
    try:
        whole = library.Tokenizer.from_str(json.dumps(content))
    except Exception as error:  # the library raises Exception itself
        raise InputError(f"{file}: not a usable tokenizer ({error}).") from None
    whole.no_truncation()
    whole.no_padding()
    vocabulary = _vocabulary(file, whole.get_vocab())
    words = tuple(_readable(whole, number, token) for number, token in enumerate(vocabulary))
    unknown = whole.token_to_id(str((content.get("model") or {}).get("unk_token")))
    return Tokenizer(file, lambda text: list(whole.encode(text).ids), words, unknown)


def _vocabulary(file: Path, numbers: Any) -> list[str]:
    """The tokens in the order of their numbers; a number without a token is `[unused N]`."""
    known = isinstance(numbers, dict) and all(
        type(number) is int and 0 <= number < 10_000_000 for number in numbers.values()
    )
    if not known or not numbers:
        raise InputError(f"{file}: its vocabulary does not map tokens to numbers. Download it again.")
    tokens = {number: token for token, number in numbers.items()}
    return [tokens.get(number, f"[unused {number}]") for number in range(max(tokens) + 1)]


def _readable(tokenizer: Any, number: int, token: str) -> str:
    """A token without the sign for the space before it: `cat` for `Ġcat`; spaces alone are `␣`, other
    white space and bytes that are only a part of a character are escaped: `\\n`, `\\xf0\\x9f`."""
    bare = token.lstrip("".join(_SPACES))
    if not bare:
        return "␣" * len(token)
    text = bare
    if not bare.isascii():
        text = str(tokenizer.decode([number], skip_special_tokens=False))
    if "\ufffd" in text and all(character in _BYTES for character in token):
        text = bytes(_BYTES[character] for character in token).decode(errors="backslashreplace")
    if not text or "\ufffd" in text:
        return token
    shown = text.strip()
    if not shown or min(shown) < " ":
        return text.encode("unicode_escape").decode()
    return clean(shown)


def distinct(words: Sequence[str]) -> tuple[str, ...]:
    """The words, with a number behind those that occurred before: `the`, `the (2)`."""
    times: dict[str, int] = {}
    made = []
    for word in words:
        times[word] = times.get(word, 0) + 1
        made.append(word if times[word] == 1 else f"{word} ({times[word]})")
    return tuple(made)

"""Text: what is shortened, listed and measured."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_xl.text import listed, shortened, text_width


@given(st.text(), st.integers(1, 50))
def test_a_shortened_text_has_room_and_says_that_it_was_cut(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short) <= most
    assert short == text if len(text) <= most else short.endswith("…")
    assert text.startswith(short.removesuffix("…"))


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
    ],
)
def test_a_list_says_how_many_more_there_are(items: list[str], said: str) -> None:
    assert listed(items, 3) == said


def test_east_asian_letters_are_two_columns_wide() -> None:
    assert [text_width(text) for text in ("", "cat", "猫", "été", "ｗide")] == [0, 3, 2, 3, 5]

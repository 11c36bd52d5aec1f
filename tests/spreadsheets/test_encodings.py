"""Text files that are not UTF-8."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from attn_xl import CallError, InputError, read_tables
from attn_xl.tables.read import survey

RUSSIAN = "слово;живой;дом\nкот;1,0;0,5\nсидит;0,2;0,7\n"
CHINESE = "词,动物,科技\n猫,1.0,0.5\n坐,0.2,0.7\n"
FRENCH = "mot;être;bouger\nchat;1,0;0,5\ndéjà;0,2;0,7\n"


def saved(folder: Path, text: str, encoding: str) -> Path:
    path = folder / "words.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("text", "encoding", "words"),
    [
        (RUSSIAN, "windows-1251", ("кот", "сидит")),
        (CHINESE, "gbk", ("猫", "坐")),
        (FRENCH, "windows-1252", ("chat", "déjà")),
        (RUSSIAN, "koi8-r", ("кот", "сидит")),
        (CHINESE, "utf-8-sig", ("猫", "坐")),
    ],
)
def test_an_encoding_is_read_as_asked(
    text: str, encoding: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    path = saved(tmp_path, text, encoding)
    tables = read_tables(path, encoding=encoding)
    assert tables.sentences["words"].rows == words
    assert not tables.remarks
    if encoding == "utf-8-sig":
        assert read_tables(path, encoding="utf8").sentences["words"].rows == words


@pytest.mark.parametrize(
    ("text", "encoding", "reading"),
    [(RUSSIAN, "windows-1251", "'слово'"), (CHINESE, "gbk", "'词'"), (FRENCH, "cp1252", "'être'")],
)
def test_what_was_assumed_is_said_with_what_others_would_read(
    text: str, encoding: str, reading: str, tmp_path: Path
) -> None:
    (remark,) = read_tables(saved(tmp_path, text, encoding)).remarks
    assert "is not UTF-8; it is read as Windows-1252" in remark
    assert (f"{encoding} {reading}" in remark) == (encoding != "cp1252")
    assert reading in remark


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_what_is_certain_needs_no_remark(encoding: str, tmp_path: Path) -> None:
    tables = read_tables(saved(tmp_path, CHINESE, encoding))
    assert tables.sentences["words"].rows == ("猫", "坐")
    assert not tables.remarks


def test_an_encoding_that_cannot_be_is_refused(tmp_path: Path, make: object) -> None:
    path = saved(tmp_path, CHINESE, "gbk")
    for unknown in ("klingon", "hex"):
        with pytest.raises(CallError, match=f"there is no encoding '{unknown}'"):
            read_tables(path, encoding=unknown)
    with pytest.raises(InputError, match=r"words.csv, line 1: the text is not in the encoding utf-8"):
        read_tables(path, encoding="utf-8")
    book = make({"s": [[1, 2], [3, 4]]})  # type: ignore[operator]
    with pytest.raises(CallError, match="--encoding has no effect"):
        survey(book, encoding="gbk")


def test_every_example_is_an_encoding() -> None:
    from attn_xl.spreadsheets.text_files import USUAL

    assert all(codecs.lookup(name) for name in USUAL)

"""Damaged and hostile files: every command ends in success or in one message that names the file."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from conftest import SAMPLES, alike, thorough
from hypothesis import given
from hypothesis import strategies as st

from attn_xl.cli.main import main

SHEET = "xl/worksheets/sheet1.xml"
MOUSE = (SAMPLES / "mouse.xlsx").read_bytes()


def packed(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return out.getvalue()


def parts_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return {name: package.read(name) for name in package.namelist()}


def changed(part: str, old: bytes, new: bytes) -> bytes:
    """The sample with one text of a part replaced."""
    parts = parts_of(MOUSE)
    assert old in parts[part]
    return packed({**parts, part: parts[part].replace(old, new, 1)})


def lying(content: bytes, size: int) -> bytes:
    """A package that declares another size for its sheet."""
    directory = content.rindex(b"PK\1\2", 0, content.rindex(SHEET.encode()))
    return content[: directory + 24] + size.to_bytes(4, "little") + content[directory + 28 :]


def outcome(command: str, path: Path) -> tuple[int, str]:
    """The exit status and the messages of a call, checked for what all must keep."""
    out = io.StringIO()
    more = ["-o", str(path.with_name("out.xlsx")), "--force"] if command == "convert" else []
    with redirect_stdout(io.StringIO()), redirect_stderr(out), pytest.raises(SystemExit) as end:
        main([command, str(path), *more])
    said, status = out.getvalue(), int(end.value.code or 0)
    assert status in (0, 1), said
    assert "Traceback" not in said
    if status:
        lines = [line for line in said.splitlines() if line.startswith("attn-xl: ")]
        assert len(lines) == 1
        assert path.name in lines[0]
        assert len(said) < 2_000
    return status, said


FOUND: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a lying size": ("a.xlsx", lambda: lying(MOUSE, 99),
                     "is incomplete or corrupt"),
    "no zip": ("a.xlsx", lambda: MOUSE[:2000], "a.xlsx: "),
    "one row of millions": ("a.csv", lambda: b"1," * 5_000_000, "has 1 rows and 5,000,001 columns"),
    "brackets": ("a.csv", lambda: b",a,b\ncat,1,2\nsat,3,4\n" + b")" * 100_000 + b"\n", ""),
    "too many tables": ("a.csv", lambda: b"1,,1,,1,,1,,1\n\n" * 2_001,
                        "more than 10,000 separate tables"),
    "a far cell": ("a.xlsx", lambda: changed(SHEET, b'r="C4"', b'r="XFD1048576"'), "far away"),
}  # fmt: skip


@alike
@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_mended(name: str, tmp_path: Path) -> None:
    file, make, said = FOUND[name]
    (tmp_path / file).write_bytes(make())
    status, told = outcome("inspect", tmp_path / file)
    assert said in told
    assert status == bool(said)


PIECES = [b"", b"<", b"&", b"\0", b"9" * 400, b'"', b"-", b"\xff"]
SPLICES = st.tuples(st.floats(0, 1), st.integers(0, 40), st.sampled_from(PIECES))


def spliced(content: bytes, splices: list[tuple[float, int, bytes]]) -> bytes:
    """A text with pieces cut out and others put in, at places given as shares of its length."""
    for place, length, new in splices:
        at = int(place * len(content))
        content = content[:at] + new + content[at + length :]
    return content


@thorough
@given(
    command=st.sampled_from(["inspect", "show", "convert"]),
    part=st.sampled_from(
        ["", SHEET, "xl/workbook.xml", "xl/styles.xml", "[Content_Types].xml", "text"]
    ),
    splices=st.lists(SPLICES, min_size=1, max_size=3),
)
def test_damage_ends_in_one_message(
    command: str, part: str, splices: list[tuple[float, int, bytes]]
) -> None:
    """Of the whole package, of one of its parts, or of a text file."""
    parts = parts_of(MOUSE)
    if part == "text":
        content = spliced(b",a,b\ncat,1,2\nsat,3,4\nmat,5,6\n", splices)
    elif part in parts:
        content = packed({**parts, part: spliced(parts[part], splices)})
    else:
        content = spliced(MOUSE, splices)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("damaged.csv" if part == "text" else "damaged.xlsx")
        path.write_bytes(content)
        outcome(command, path)

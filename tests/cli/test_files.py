"""Outputs: whole or not at all, whatever happens; nothing is left behind; what stops it is said."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from calls import COMMANDS, start
from conftest import SAMPLES, alike, thorough

import attn_xl
from attn_xl.cli.main import main
from attn_xl.errors import OutputError
from attn_xl.outputs import writing_all

POSIX = pytest.mark.skipif(os.name == "nt", reason="this is how POSIX systems have it")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


# What does not take it


class _Full(io.FileIO):
    """A file on a disk with room for so many bytes."""

    room = 0

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@alike
@pytest.mark.parametrize("room", [0, 1, 100, 3_000, 10_000, 20_000])
def test_a_full_disk_is_said_and_the_old_file_stays(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, mode: str, **_: object) -> Any:
        file = _Full(path, mode)
        file.room = room
        return io.BufferedRandom(file)

    monkeypatch.setattr("attn_xl.workbook.xlsx.package.open", full, raising=False)
    (tmp_path / "o.xlsx").write_text("old")
    assert call("convert", SAMPLES / "mouse.xlsx", "-o", "o.xlsx", "--force") == 1
    assert capsys.readouterr().err == (
        "attn-xl: o.xlsx: cannot be written (No space left on device). "
        "An earlier file of that name was kept.\n"
    )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"o.xlsx": "old"}


def test_a_lesson_whose_answers_cannot_be_written_is_not_written_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "l.xlsx").write_text("old")
    synced = []

    def full(file: int) -> None:
        synced.append(file)
        if len(synced) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    command = ["teach", SAMPLES / "by-hand.xlsx", "-o", "l.xlsx", "--force", "--answers"]
    assert call(*command, "no/a.xlsx") == 1
    monkeypatch.setattr(os, "fsync", full)
    assert call(*command, "a.xlsx") == 1
    assert "An earlier file of that name was kept" in capsys.readouterr().err
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"l.xlsx": "old"}


def test_of_two_files_of_which_one_is_in_place_that_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "1.txt", tmp_path / "2.txt"
    rename = os.replace

    def once(old: Path, new: Path) -> None:
        if new == second:
            raise OSError(errno.EACCES, "Permission denied")
        rename(old, new)

    monkeypatch.setattr(os, "replace", once)
    with pytest.raises(OutputError) as refused, writing_all([first, second]):
        pass
    assert str(refused.value).startswith(f"{second}: cannot be written")
    assert str(refused.value).endswith(f"{first} has been written already.")
    assert [path.name for path in tmp_path.iterdir()] == ["1.txt"]


@thorough
@POSIX
@pytest.mark.parametrize("command", ["convert", "new", "lesson", "class", "show", "vectors", "pipe"])
def test_a_file_that_may_not_grow_is_said(command: str, tmp_path: Path) -> None:
    import resource

    (tmp_path / "out").mkdir()
    assert call("new", "--words", "the cat sat", "-o", tmp_path / "input.xlsx") == 0
    limited = subprocess.run(
        [sys.executable, "-m", "attn_xl", *COMMANDS[command]],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000)),
        env={**os.environ, "TMPDIR": str(tmp_path / "out"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert limited.returncode == 1
    assert (
        "cannot be written (File too large). An earlier file of that name was kept." in limited.stderr
    )
    assert limited.stderr.count("\n") == 1
    assert not list((tmp_path / "out").iterdir())


@thorough
@POSIX
def test_a_full_file_system_is_said(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        (disk / "o.xlsx").write_text("old")
        process = start(
            tmp_path, ["convert", str(SAMPLES / "mouse.xlsx"), "-o", "disk/o.xlsx", "--force"]
        )
        _, said = process.communicate()
        assert process.returncode == 1
        assert "disk/o.xlsx: cannot be written (No space left on device)" in said.decode()
        assert {path.name: path.read_text() for path in disk.iterdir()} == {"o.xlsx": "old"}
    finally:
        subprocess.run(["umount", disk], check=True)


@thorough
@POSIX
def test_a_folder_that_may_not_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "o.xlsx").write_text("old")
    (tmp_path / "other").mkdir()
    program = (
        "import os, sys\n"
        "from attn_xl.cli.main import main\n"
        "try:\n"
        "    main([*sys.argv[1:], 'other/n.xlsx'])\n"
        "except SystemExit as end:\n"
        "    assert not end.code\n"
        "if os.geteuid() == 0:  # who may write everywhere\n"
        "    os.setuid(65534)\n"
        "main([*sys.argv[1:], 'n.xlsx'])\n"
    )
    if any(not folder.stat().st_mode & 0o1 for folder in Path(attn_xl.__file__).parents):
        pytest.skip("the package is readable to its owner alone")
    source = tmp_path / "input.xlsx"
    source.write_bytes((SAMPLES / "mouse.xlsx").read_bytes())
    tmp_path.chmod(0o555)
    for above in tmp_path.parents:
        if above.stat().st_mode & 0o777 == 0o700:  # pytest's own folders, for one user alone
            above.chmod(0o755)
    arguments = ["-c", program, "convert", str(source), "-o"]
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    tmp_path.chmod(0o755)
    assert done.stderr == (
        "attn-xl: n.xlsx: cannot be written (writing there is not allowed, or the file is open in "
        "another program). An earlier file of that name was kept.\n"
    )
    assert done.returncode == 1
    assert {path.name for path in tmp_path.iterdir()} == {"input.xlsx", "o.xlsx", "other"}


def test_a_file_that_is_locked_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def locked(*_: object) -> None:  # as Windows does
        raise PermissionError(errno.EACCES, "Access is denied")

    monkeypatch.setattr(os, "replace", locked)
    (tmp_path / "o.xlsx").write_text("old")
    assert call("convert", SAMPLES / "mouse.xlsx", "-o", "o.xlsx", "--force") == 1
    said = capsys.readouterr().err
    assert said.endswith("is open in another program). An earlier file of that name was kept.\n")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"o.xlsx": "old"}


@pytest.mark.parametrize("lock", ["~$o.xlsx", ".~lock.o.xlsx#"])
def test_a_file_that_is_open_in_a_spreadsheet_program_is_not_replaced(
    lock: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / lock).write_text("me")
    assert (
        call("convert", SAMPLES / "mouse.xlsx", "-o", "o.xlsx") == 0
    )  # one that is not there cannot be
    (tmp_path / "o.xlsx").write_text("old")
    capsys.readouterr()
    assert call("convert", SAMPLES / "mouse.xlsx", "-o", "o.xlsx", "--force") == 1
    said = capsys.readouterr().err
    assert said.startswith("attn-xl: o.xlsx: is open in a spreadsheet program")
    assert lock in said
    assert (tmp_path / "o.xlsx").read_text() == "old"


# Names

NAMES = {
    "spaces": " a  b ",
    "quotes": 'it\'s "q" `x`',
    "emoji": "🐭🧀👩‍👩‍👧",
    "line break": "a\nb",
    "escape sequence": "a\x1b]8;;x\x07b\x9b31m",
    "turned": "a\u202eb",
    "percent": "%s{0}[bold]",
    "letters of 300": "x" * 300,
}
USES = {
    "input": "convert NAME.xlsx -o o.xlsx",
    "beside the input": "convert NAME.xlsx",
    "output": "convert SAMPLES/mouse.xlsx -o NAME-o.xlsx",
    "template": "convert SAMPLES/mouse.xlsx -o o.xlsx --template NAME.xlsx",
    "folder": "convert SAMPLES/mouse.xlsx SAMPLES/cross.xlsx -o NAME-d",
    "roster": "teach SAMPLES/by-hand.xlsx --roster NAME.csv -o class",
    "class": "teach SAMPLES/by-hand.xlsx --roster SAMPLES/class.csv -o NAME-d",
    "answers": "teach SAMPLES/by-hand.xlsx -o o.xlsx --answers NAME-o.xlsx",
    "picture": "show NAME.xlsx --svg NAME.svg",
    "shown": "show NAME.xlsx --step Output",
    "inspected": "inspect NAME.xlsx",
    "inspected as JSON": "inspect NAME.xlsx --json",
    "explained": "explain NAME.xlsx pets.Softmax[1,1]",
    "vectors": "vectors NAME.txt --words cat -o NAME-o.xlsx",
    "new": "new --words cat -o NAME-o.xlsx",
    "no lesson, graded": "grade NAME.xlsx -o NAME.csv --force --feedback NAME-d",
}


@alike
@POSIX
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", NAMES)
def test_any_name_works_or_is_refused_in_one_line(
    kind: str, use: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = NAMES[kind]
    for suffix, source in ((".xlsx", "mouse.xlsx"), (".csv", "class.csv"), (".txt", "vectors.txt")):
        if len(name) < 255:
            content = (SAMPLES / source).read_bytes()
            if use == "template":
                content = (SAMPLES.parent / "templates" / "article.xlsx").read_bytes()
            (tmp_path / f"{name}{suffix}").write_bytes(content)
    words = (word.replace("SAMPLES", str(SAMPLES)) for word in USES[use].split())
    status = call(*(word.replace("NAME", name) for word in words))
    said = capsys.readouterr()
    text = said.out + said.err
    assert not set(text) - {"\n"} & {*map(chr, (*range(32), *range(127, 160))), "\u202e"}
    assert "a\nb" not in text
    if len(name) < 255:
        nothing = 3 if use.startswith("checked") else 0  # the sample has no formulas
        assert status == (1 if use == "no lesson, graded" else nothing), said.err
    else:
        assert status in (1, 2)
        assert "File name too long" in said.err
        assert name in text
        assert said.err.count("\n") <= 1
    assert not list(tmp_path.rglob("*.part"))

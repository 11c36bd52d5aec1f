"""What the README says is so."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import openpyxl
import pytest
from conftest import ROOT, SAMPLES
from typer.main import get_command

import attn_xl
from attn_xl.cli import app, main

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_examples_output_is_real(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    found = re.findall(r"```\n\$ attn-xl ([^\n]*)\n(.*?)```", README, re.DOTALL)
    assert {command.split()[0] for command, _ in found} >= {"show", "explain"}
    for command, output in found:
        with pytest.raises(SystemExit):
            main(shlex.split(command))
        shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert shown == output.splitlines()


def test_the_python_examples_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(SAMPLES)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        out = io.StringIO()
        with redirect_stdout(out):
            exec(example, names)
        promised = re.findall(r"print\(.*\) +# (.*)$", example, re.MULTILINE)
        for said, printed in zip(promised, out.getvalue().splitlines()):
            assert printed.startswith(said.removesuffix(" ...]"))
        assert promised
    assert openpyxl.load_workbook("mouse-attention.xlsx").sheetnames


def test_every_option_is_in_the_readme_and_has_help() -> None:
    command = get_command(app)
    for name, sub in command.commands.items():  # type: ignore[attr-defined]
        assert f"## attn-xl {name}" in README
        assert sub.epilog.startswith("Example:")
        assert sub.help
        for parameter in sub.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"
            for option in parameter.opts + parameter.secondary_opts:
                if option not in ("file", "files", "cell", "--help") and option[2:] not in (
                    "scale",
                    "no-causal",
                ):
                    assert f"`{option}" in README or option == "-h", f"{name} {option}"


def test_the_formulas_in_the_readme_are_in_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "mouse.xlsx"
    tables = attn_xl.read_tables(SAMPLES / "mouse.xlsx")
    attn_xl.write_workbook(attn_xl.attend(tables, attn_xl.Settings(controls=True)), path)
    book = openpyxl.load_workbook(path)
    for sheet, formulas in re.findall(r"^\| `(\w+)` \| (.*) \|$", README, re.MULTILINE):
        written = {
            str(cell.value).replace("cat.", "")
            for row in book[f"cat.{sheet}"].iter_rows()
            for cell in row
        }
        for formula in re.findall(r"`(=[^`]*)`", formulas):
            assert formula in written


def test_pictures_and_samples_are_there() -> None:
    for path in re.findall(r"\]\(((?:docs|samples)/[^)]*)\)", README) + re.findall(
        r"samples/\w+\.xlsx", README
    ):
        assert (ROOT / path).exists() or path.endswith("-attention.xlsx")


def test_the_changelog_has_this_version() -> None:
    assert f"## {attn_xl.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

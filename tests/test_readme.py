"""What the README and the pages of docs/ say is so: their examples, options and formulas."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import openpyxl
import pytest
from conftest import ROOT, SAMPLES, thorough

import attn_xl
from attn_xl.cli.commands import COMMANDS, load
from attn_xl.cli.main import main

PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
TOGETHER = "\n".join(PAGES.values())
EXAMPLES = dict(re.findall(r"```\n\$ attn-xl ([^\n]*)\n(.*?)```", TOGETHER, re.DOTALL))


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_examples_output_is_real(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    with pytest.raises(SystemExit):
        main(shlex.split(command))
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown == EXAMPLES[command].splitlines()


def test_there_are_examples() -> None:
    assert {command.split()[0] for command in EXAMPLES} >= {"show"}
    assert len(EXAMPLES) == len(set(re.findall(r"^\$ attn-xl (.*)$", TOGETHER, re.MULTILINE)))


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_python_examples_run(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(SAMPLES)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    missing = [f".to_{library}(" for library in ("pandas", "polars") if not find_spec(library)]
    for block in re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL):
        lines = [line for line in block.splitlines() if not any(call in line for call in missing)]
        example = "\n".join(lines)
        out = io.StringIO()
        with redirect_stdout(out):
            exec(example, names)
        promised = re.findall(r"print\(.*\) +# (.*)$", example, re.MULTILINE)
        for said, printed in zip(promised, out.getvalue().splitlines()):
            assert printed.startswith(said.removesuffix(" ...]"))
        assert promised
    assert openpyxl.load_workbook("mouse-attention.xlsx").sheetnames
    if missing:
        pytest.skip(f"all but the lines with {' and '.join(missing)} ran")


def test_every_command_is_on_the_pages_and_every_option_has_help() -> None:
    for name in COMMANDS:
        sub = load(name)
        assert f"](docs/commands.md#attn-xl-{name})" in PAGES["README.md"]
        assert str(sub.epilog).startswith("Example:")
        assert sub.help
        for parameter in sub.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


@thorough
def test_the_formulas_in_the_documentation_are_in_the_sample(tmp_path: Path) -> None:
    tables = attn_xl.read_tables(SAMPLES / "mouse.xlsx")
    written: dict[str, set[str]] = {}
    for causal in (False, True):
        path = tmp_path / f"{causal}.xlsx"
        settings = attn_xl.Settings(controls=True, causal=causal)
        attn_xl.write_workbook(attn_xl.attend(tables, settings), path)
        for sheet in openpyxl.load_workbook(path):
            cells = {str(cell.value).replace("pets.", "") for row in sheet.iter_rows() for cell in row}
            written.setdefault(sheet.title.removeprefix("pets."), set()).update(cells)
    said = re.findall(r"^\| `(\w+)`[^|]* \| (.*) \|$", PAGES["docs/workbook.md"], re.MULTILINE)
    assert {"Scores", "Scaled", "Masked", "Softmax", "Output"} <= {sheet for sheet, _ in said}
    for sheet, formulas in said:
        for formula in re.findall(r"`(=[^`]*)`", formulas):
            assert formula in written[sheet]


def test_the_formulas_in_the_readme_are_in_the_workbook_that_it_links_to() -> None:
    book = openpyxl.load_workbook(ROOT / "docs" / "workbooks" / "mouse-controls.xlsx")
    said = re.findall(r"`(=[^`]+)`\s+in\s+`([\w.]+)`", PAGES["README.md"])
    assert len(said) >= 2
    for formula, sheet in said:
        assert formula in {cell.value for row in book[sheet].iter_rows() for cell in row}


@thorough
def test_what_the_readme_says_of_learning() -> None:
    (learned,) = attn_xl.learn(SAMPLES / "learning.xlsx").computation.graphs.values()
    deciding = {"pets": "cat", "desk": "keyboard", "kitchen": "cheese", "office": "screen"}
    for sentence, word in deciding.items():
        assert f"*{word}*" in PAGES["README.md"]
        weights = [learned[f"Step{step}.{sentence}.Softmax"] for step in (1, 20)]
        for other in weights[0].columns:
            before, after = (float(w["mouse", other]) for w in weights)
            assert (after > before + 0.02) == (other in ("mouse", word)), (sentence, other)
            assert abs(after - before) > 0.02


def test_the_readme_is_short() -> None:
    assert len(PAGES["README.md"].split()) <= 600


def test_samples_are_there() -> None:
    for path in re.findall(r"samples/[\w-]+\.\w+", TOGETHER):
        assert (ROOT / path).exists() or path.endswith("-attention.xlsx"), path


def test_modules_that_the_pages_name_are_there() -> None:
    for path in re.findall(r"[`\s]([\w/]+\.py)\b", TOGETHER):
        assert (ROOT / path).exists() or (ROOT / "attn_xl" / path).exists(), path


def test_the_changelog_has_this_version() -> None:
    assert f"## {attn_xl.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

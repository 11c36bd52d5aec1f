"""Every kept sample gives the values, formulas and names that are stored: see `tests/tools/net.py`."""

from __future__ import annotations

import json
from pathlib import Path

import net
import pytest
from conftest import alike, thorough

STORED = json.loads(net.STORED.read_text(encoding="utf-8"))


def test_every_call_is_stored() -> None:
    assert net.calls().keys() == STORED.keys()


@alike
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=thorough) if n.startswith("model") else n for n in STORED]
)
def test_a_sample_gives_what_is_stored(name: str, tmp_path: Path) -> None:
    assert net.differences(name, STORED[name], net.run(name, net.calls()[name], tmp_path)) == []

"""The blocks of today's language models against PyTorch, each alone and each two together; and what
each is to a reader.

tests/data/make_torch_blocks.py makes the numbers, and says how.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import alike
from test_torch import assert_close, check

sys.path.append(str(Path(__file__).parents[1] / "data"))
if TYPE_CHECKING:
    import make_torch_blocks as blocks
else:
    blocks = importlib.import_module("make_torch_blocks")


@alike
@pytest.mark.parametrize("name", blocks.BLOCKS)
def test_numbers_against_torch(name: str) -> None:
    check(blocks.load(name))


@alike
@pytest.mark.parametrize("name", blocks.BLOCKS)
def test_live(name: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    live, kept = blocks.run(name, *blocks.BLOCKS[name]), blocks.load(name)
    assert live.settings == kept.settings
    for part in ("sentences", "weights", "outputs"):
        assert getattr(live, part).keys() == getattr(kept, part).keys()
        for key, x in getattr(live, part).items():
            assert_close(x, getattr(kept, part)[key], f"{name}: {key}")


def test_every_two_values_of_two_options_come_together() -> None:
    for model, factors in blocks.FACTORS.items():
        cases = [choices for of, choices in blocks.BLOCKS.values() if of == model]
        for a, b in itertools.combinations(factors, 2):
            for i, j in itertools.product(factors[a], factors[b]):
                assert any((case[a], case[b]) == (i, j) for case in cases), (model, a, i, b, j)

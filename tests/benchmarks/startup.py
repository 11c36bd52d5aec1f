"""How long starting takes: python tests/benchmarks/startup.py

Converting the small sample against importing numpy and openpyxl, and `--help` against importing typer:
processor time, where the system tells it, of a process of its own each, by turns, after one that is not
counted and leaves compiled files behind. Fails where the medians are more than --at-most times as long.

To see what is imported: python -X importtime -m attn_xl convert samples/mouse.xlsx -o out.xlsx

Options: --runs 15 --at-most 2
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from statistics import median

from self_attention import SAMPLE, timed

COMPARED = {
    "convert": "import numpy, openpyxl",
    "convert --plain": "import numpy, openpyxl",
    "--help": "import typer",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--at-most", type=float, default=2.0)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        output = ["-o", str(Path(folder, "out.xlsx")), "--force"]
        commands = {}
        for name, imports in COMPARED.items():
            files = [str(SAMPLE), *output] if name != "--help" else []
            commands[name] = [sys.executable, "-m", "attn_xl", *name.split(), *files]
            commands[imports] = [sys.executable, "-c", imports]
        costs: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(options.runs + 1):
            for name, command in commands.items():
                cost = timed(command, 1)
                if turn:
                    costs[name].append(cost.processor)
    typical = {name: median(times) for name, times in costs.items()}
    ratios = {name: typical[name] / typical[imports] for name, imports in COMPARED.items()}
    for name, ratio in ratios.items():
        imports = COMPARED[name]
        print(
            f"{name:16} {typical[name]:.3f} s, {imports} {typical[imports]:.3f} s: "
            f"{ratio:.2f} times as long"
        )
    slow = [name for name, ratio in ratios.items() if ratio > options.at_most]
    assert not slow, f"more than {options.at_most} times as long: {', '.join(slow)}"


if __name__ == "__main__":
    main()

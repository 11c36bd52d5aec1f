"""IronCalc in a process of its own: a formula that never ends, or brings the engine down, stops that
process and not the program. Knows what `engines` knows."""

from __future__ import annotations

import math
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from time import process_time
from typing import Any

from .engines import IronCalc, Value
from .errors import InputError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SECONDS, SECONDS_PER_MB = 5.0, 30.0
"""So much processor time a request may take, and so much more for a megabyte of the file."""
HANGS = 6.0
"""By the clock it may take so many times as long, when others keep the processor busy; where the
system does not count processor time (Windows), this is all that stops it."""
MEMORY, MEMORY_PER_BYTE = 1 << 30, 100
"""So many bytes the engine may use, where the system sees to it (Linux), and so many more for each of
the file's."""
_START = "import sys; sys.path[:] = {!r}; from attn_xl.recalculating import serve; serve()"


class Recalculated:
    """A workbook that IronCalc recalculates in another process, which ends with this object.

    Attributes:
        sheets: their names.

    Raises:
        InputError: if IronCalc cannot read the file, or does not come to an end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            size = path.stat().st_size
            self._process = subprocess.Popen(
                # Isolated, so that no file in the current folder is taken for a module.
                [sys.executable, "-I", "-c", _START.format(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise InputError(f"{path}: IronCalc cannot be started ({error.strerror}).") from None
        self._seconds = SECONDS + SECONDS_PER_MB * size / 1e6
        self.sheets: list[str] = self._ask("open", os.fspath(path), MEMORY + MEMORY_PER_BYTE * size)

    def values(self, sheet: str, cells: Sequence[tuple[int, int]]) -> list[Value]:
        """The computed values of cells, by row and column; an error value (`#N/A`) is text."""
        found: list[Value] = self._ask("values", sheet, cells)
        return found

    def computed(self, sheet: str) -> list[tuple[int, int, Value, bool]]:
        """Every cell with a formula or an error value: row, column, value, whether by a formula."""
        found: list[tuple[int, int, Value, bool]] = self._ask("computed", sheet)
        return found

    def change(self, formulas: Sequence[tuple[str, int, int, str]]) -> None:
        """Put formulas into cells, by sheet, row and column, and recalculate."""
        self._ask("change", formulas)

    def close(self) -> None:
        """End the process."""
        process = self._process
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        process.wait()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()

    def _ask(self, what: str, *arguments: Any) -> Any:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        late: list[bool] = []

        def stop() -> None:
            late.append(True)
            process.kill()

        timer = Timer(HANGS * self._seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            pickle.dump((what, arguments, self._seconds), process.stdin)
            process.stdin.flush()
            well, said = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            well, said = False, ""
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
        if well:
            return said
        self.close()
        if not said:
            if process.returncode == -getattr(signal, "SIGXCPU", 0):
                late.append(True)
            late_said = f"it was not done after {self._seconds:.0f} s"
            why = late_said if late else "a formula is too deep or too large for it"
            said = f"{self._path}: IronCalc cannot recalculate this workbook ({why})."
        raise InputError(said)


# The other process


def serve() -> None:
    """Answer requests from the standard input until it ends."""
    ask, answer = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what the engine prints is no answer
    engine: list[IronCalc] = []
    while True:
        try:
            what, arguments, seconds = pickle.load(ask)
        except EOFError:
            return
        _limit_time(seconds)
        try:
            said = True, _done(engine, what, *arguments)
        except InputError as error:
            said = False, str(error)
        pickle.dump(said, answer)
        answer.flush()


def _done(engine: list[IronCalc], what: str, *arguments: Any) -> Any:
    if what == "open":
        path, most = arguments
        _limit_memory(most)
        engine.append(IronCalc(path))
        return engine[0].sheets
    if what == "values":
        sheet, cells = arguments
        return [engine[0].value(sheet, row, column) for row, column in cells]
    if what == "computed":
        return _computed(engine[0], *arguments)
    for cell in arguments[0]:
        engine[0].set_formula(*cell)
    engine[0].evaluate()
    return None


def _computed(engine: IronCalc, sheet: str) -> list[tuple[int, int, Value, bool]]:
    last_row, last_column = engine.size(sheet)
    found = []
    for row in range(1, last_row + 1):
        for column in range(1, last_column + 1):
            value = engine.value(sheet, row, column)
            formula = engine.has_formula(sheet, row, column)
            if formula or (isinstance(value, str) and value.startswith("#")):
                found.append((row, column, value, formula))
    return found


def _limit_time(seconds: float) -> None:
    if resource:
        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(process_time() + seconds), hard))


def _limit_memory(most: int) -> None:
    if resource:
        with suppress(ValueError, OSError):
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            lowest = min((n for n in (soft, hard, most) if n != resource.RLIM_INFINITY), default=most)
            resource.setrlimit(resource.RLIMIT_AS, (lowest, hard))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

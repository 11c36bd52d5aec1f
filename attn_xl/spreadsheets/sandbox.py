"""Work in a process of its own, under limits: what never ends there, or brings a library down, stops
that process and not the program. Knows nothing of the work."""

from __future__ import annotations

import importlib
import math
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Timer
from time import process_time
from typing import Any

from attn_xl.errors import InputError

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
"""So many bytes it may use, where the system sees to it (Linux), and so many more for each of the
file's."""
_START = (
    "import sys; sys.path[:] = {!r}; from attn_xl.spreadsheets.sandbox import serve; serve({!r}, {!r})"
)


class Stopped(Exception):
    """The process came to an end without an answer.

    Attributes:
        late: after how many seconds, if that was too long.
    """

    def __init__(self, late: float | None) -> None:
        super().__init__(late)
        self.late = late


class Apart:
    """A process that answers with the functions of a module's `ANSWERS`; it ends with this object."""

    def __init__(self, module: str, size: int) -> None:
        """Start it.

        Args:
            module: the one with `ANSWERS`; size: of the file, in bytes, which the limits go by.

        Raises:
            OSError: if the system does not let it start.
        """
        self._seconds = SECONDS + SECONDS_PER_MB * size / 1e6
        start = _START.format(sys.path, module, MEMORY + MEMORY_PER_BYTE * size)
        self._process = subprocess.Popen(
            # Isolated, so that no file in the current folder is taken for a module.
            [sys.executable, "-I", "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def ask(self, what: str, *arguments: Any) -> Any:
        """What one of its functions gives back; both ways, all is pickled.

        Raises:
            InputError: as that function raises it.
            Stopped: if there is no answer.
        """
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
            self.close()
            in_time = not late and process.returncode != -getattr(signal, "SIGXCPU", 0)
            raise Stopped(None if in_time else self._seconds) from None
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
        if not well:
            self.close()
            raise InputError(said)
        return said

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


# The other process


def serve(module: str, memory: int) -> None:
    """Answer requests from the standard input until it ends."""
    answers = importlib.import_module(module).ANSWERS
    ask, answer = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # what a library prints is no answer
    _limit_memory(memory)
    while True:
        try:
            what, arguments, seconds = pickle.load(ask)
        except EOFError:
            return
        _limit_time(seconds)
        try:
            said = True, answers[what](*arguments)
        except InputError as error:
            said = False, str(error)
        pickle.dump(said, answer)
        answer.flush()


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

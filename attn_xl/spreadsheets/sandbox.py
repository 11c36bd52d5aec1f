"""Runs functions in a separate process with limits on time and memory: work that never finishes, or
crashes a library, ends that process and not the program."""

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
"""Processor time limit of a request: seconds, plus seconds per megabyte of the file."""
HANGS = 6.0
"""Wall-clock limit as a multiple of the processor time limit, for busy machines. The only limit where
the system does not measure processor time (Windows)."""
MEMORY, MEMORY_PER_BYTE = 1 << 30, 100
"""Memory limit in bytes, plus bytes per byte of the file; enforced by the system (Linux)."""
_START = (
    "import sys; sys.path[:] = {!r}; from attn_xl.spreadsheets.sandbox import serve; serve({!r}, {!r})"
)


class SandboxStopped(Exception):
    """The process ended without an answer.

    Attributes:
        timed_out_after: the time limit in seconds if the process exceeded it, else None.
    """

    def __init__(self, timed_out_after: float | None) -> None:
        super().__init__(timed_out_after)
        self.timed_out_after = timed_out_after


class Sandbox:
    """A process that runs the functions in a module's `ANSWERS`; it ends with this object."""

    def __init__(self, module: str, size: int) -> None:
        """Start the process.

        Args:
            module: the name of the module with `ANSWERS`.
            size: the size of the file in bytes, which determines the limits.

        Raises:
            OSError: if the system cannot start another process.
        """
        self._seconds = SECONDS + SECONDS_PER_MB * size / 1e6
        start = _START.format(sys.path, module, MEMORY + MEMORY_PER_BYTE * size)
        self._process = subprocess.Popen(
            # Isolated mode: no file in the current folder is imported as a module.
            [sys.executable, "-I", "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def ask(self, what: str, *arguments: Any) -> Any:
        """Call the function `what` and return its result; arguments and result are pickled.

        Raises:
            InputError: if the function raises it.
            SandboxStopped: if there is no answer.
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
            succeeded, result = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.close()
            in_time = not late and process.returncode != -getattr(signal, "SIGXCPU", 0)
            raise SandboxStopped(None if in_time else self._seconds) from None
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
        if not succeeded:
            self.close()
            raise InputError(result)
        return result

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
    """Answer requests from standard input until it closes."""
    answers = importlib.import_module(module).ANSWERS
    ask, answer = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)  # output printed by a library is not an answer
    _limit_memory(memory)
    while True:
        try:
            what, arguments, seconds = pickle.load(ask)
        except EOFError:
            return
        _limit_time(seconds)
        try:
            result = True, answers[what](*arguments)
        except InputError as error:
            result = False, str(error)
        pickle.dump(result, answer)
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

"""Many things at once: in several processes, with a progress bar. Knows nothing of what is done."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import CallError, Interrupted, OutputError
from .text import ignore_warnings

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_parallel(
    do: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    jobs: int | None,
    said: str,
    file_of: Callable[[Task], object] = str,
) -> Iterator[tuple[int, Result]]:
    """What `do` makes of each task, with the task's number, in the order they get done.

    Args:
        do: a function of a module, which another process can import.
        jobs: so many processes; one for each core if None.
        said: what is being done, for the progress bar, which is shown on a terminal only.
        file_of: the file that a task is about, which an error names.

    Raises:
        CallError: if `jobs` is below 1.
        Interrupted: when the program is stopped.
        OutputError: when one of the processes is killed; it names the file.
        Exception: what `do` raises; what is not begun then is not done.
    """
    check_jobs(jobs)
    jobs = min(jobs or os.cpu_count() or 1, len(tasks)) or 1
    # Before there is a progress bar: a forked process inherits the locks of its thread.
    workers = [_Worker(do) for _ in range(jobs)] if jobs > 1 else []
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr)
    finished = 0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(said, total=len(tasks))
        try:
            for done in _spread(workers, tasks, file_of) if workers else _one_by_one(do, tasks):
                finished += 1
                progress.advance(bar)
                yield done
        except (KeyboardInterrupt, SystemExit):
            said = f"interrupted: {finished} of {len(tasks)} were finished; they are whole."
            raise Interrupted(said) from None
        finally:
            for worker in workers:
                worker.dismiss()
            for worker in workers:
                worker.join()


def check_jobs(jobs: int | None) -> None:
    """Refuse a number of jobs that there cannot be.

    Raises:
        CallError: if it is below 1.
    """
    if jobs is not None and jobs < 1:
        raise CallError(f"--jobs is {jobs}; it takes a whole number from 1.")


def _one_by_one(do: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
    for number, task in enumerate(tasks):
        yield number, do(task)


def _spread(
    workers: Sequence[_Worker], tasks: Sequence[Task], file_of: Callable[[Task], object]
) -> Iterator[tuple[int, Any]]:
    waiting = iter(enumerate(tasks))
    at_work: dict[Connection, tuple[_Worker, int]] = {}
    idle = list(workers)
    while True:
        for worker, (number, task) in zip(idle, waiting):
            at_work[worker.pipe] = worker, number
            worker.begin(task)
        if not at_work:
            return
        idle = []
        for pipe in wait(list(at_work)):
            worker, number = at_work.pop(pipe)  # type: ignore[call-overload]
            try:
                well, result = worker.result()
            except (EOFError, OSError, pickle.UnpicklingError):
                raise OutputError(
                    f"{file_of(tasks[number])}: not finished: the process that worked on it was "
                    "ended from outside, perhaps for want of memory. Use --jobs 1, which needs least."
                ) from None
            if not well:
                raise result
            idle.append(worker)
            yield number, result


class _Worker:
    """A process with a pipe of its own. Processes that share a queue share its lock, too: one that is
    killed while it holds the lock would stop all others for good."""

    def __init__(self, do: Callable[[Any], Any]) -> None:
        self.pipe, there = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_work, args=(do, there))
        self._process.start()
        there.close()

    def begin(self, task: Any) -> None:
        """Give it a task. If it is dead, its pipe says so when the result is asked for."""
        with suppress(OSError):
            self.pipe.send(task)

    def result(self) -> tuple[bool, Any]:
        """Whether the task was done, with the result or the error.

        Raises:
            EOFError, OSError, UnpicklingError: if the process was killed.
        """
        answer: tuple[bool, Any] = self.pipe.recv()
        return answer

    def dismiss(self) -> None:
        """Let it end when it has done its task."""
        with suppress(OSError):
            self.pipe.send(None)

    def join(self) -> None:
        """Wait until it has ended."""
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:  # it could not end while nobody takes its result
                self.pipe.recv()
        self._process.join()
        self.pipe.close()


def _work(do: Callable[[Any], Any], pipe: Connection) -> None:
    """Do one task after the other, until there is None."""
    _follow_the_first()
    ignore_warnings()
    while (task := pipe.recv()) is not None:
        try:
            answer = True, do(task)
        except Exception as error:
            answer = False, error
        pipe.send(answer)


def _follow_the_first() -> None:
    """What stops the program stops the process that waits; the others finish what they are writing.
    When that one is killed, they go, too: nobody is left to hand them work or to end them."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    Thread(target=_end_with, args=(parent_process(),), daemon=True).start()


def _end_with(first: BaseProcess | None) -> None:
    assert first is not None
    first.join()
    os._exit(1)

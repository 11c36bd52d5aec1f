"""Run tasks in several processes, with a progress bar."""

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
    label: str,
    file_of: Callable[[Task], object] = str,
) -> Iterator[tuple[int, Result]]:
    """Run `do` on every task in parallel; yields task number and result in order of completion.

    Args:
        do: a module-level function, which another process can import.
        jobs: number of processes; one per core if None.
        label: the label of the progress bar, which appears on a terminal only.
        file_of: returns the file of a task, which an error names.

    Raises:
        CallError: if `jobs` is below 1.
        Interrupted: if the program is interrupted.
        OutputError: if one of the processes is killed; it names the file.
        Exception: whatever `do` raises; no further task is started then.
    """
    check_jobs(jobs)
    jobs = min(jobs or os.cpu_count() or 1, len(tasks)) or 1
    # Start before the progress bar: a forked process inherits the locks of its thread.
    workers = [_Worker(do) for _ in range(jobs)] if jobs > 1 else []
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr)
    finished = 0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(label, total=len(tasks))
        try:
            for done in (
                _run_in_workers(workers, tasks, file_of) if workers else _run_one_by_one(do, tasks)
            ):
                finished += 1
                progress.advance(bar)
                yield done
        except (KeyboardInterrupt, SystemExit):
            text = f"interrupted: {finished} of {len(tasks)} were finished and are complete."
            raise Interrupted(text) from None
        finally:
            for worker in workers:
                worker.finish()
            for worker in workers:
                worker.join()


def check_jobs(jobs: int | None) -> None:
    """Validate a number of jobs.

    Raises:
        CallError: if it is below 1.
    """
    if jobs is not None and jobs < 1:
        raise CallError(f"--jobs is {jobs}; it takes a whole number of at least 1.")


def _run_one_by_one(
    do: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[tuple[int, Result]]:
    for number, task in enumerate(tasks):
        yield number, do(task)


def _run_in_workers(
    workers: Sequence[_Worker], tasks: Sequence[Task], file_of: Callable[[Task], object]
) -> Iterator[tuple[int, Any]]:
    waiting = iter(enumerate(tasks))
    busy: dict[Connection, tuple[_Worker, int]] = {}
    idle = list(workers)
    while True:
        for worker, (number, task) in zip(idle, waiting):
            busy[worker.pipe] = worker, number
            worker.begin(task)
        if not busy:
            return
        idle = []
        for pipe in wait(list(busy)):
            worker, number = busy.pop(pipe)  # type: ignore[call-overload]
            try:
                succeeded, result = worker.result()
            except (EOFError, OSError, pickle.UnpicklingError):
                raise OutputError(
                    f"{file_of(tasks[number])}: not finished, because the process working on it was "
                    "killed, possibly for lack of memory. Use --jobs 1, which needs the least memory."
                ) from None
            if not succeeded:
                raise result
            idle.append(worker)
            yield number, result


class _Worker:
    """A process with its own pipe. Processes that share a queue also share its lock, and one killed
    while holding the lock would block all others forever."""

    def __init__(self, do: Callable[[Any], Any]) -> None:
        self.pipe, there = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_work, args=(do, there))
        self._process.start()
        there.close()

    def begin(self, task: Any) -> None:
        """Send a task to the process. If the process is dead, `result` raises an error."""
        with suppress(OSError):
            self.pipe.send(task)

    def result(self) -> tuple[bool, Any]:
        """Whether the task succeeded, and its result or error.

        Raises:
            EOFError, OSError, UnpicklingError: if the process was killed.
        """
        answer: tuple[bool, Any] = self.pipe.recv()
        return answer

    def finish(self) -> None:
        """Tell the process to end after its current task."""
        with suppress(OSError):
            self.pipe.send(None)

    def join(self) -> None:
        """Wait for the process to end."""
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:  # a process cannot end before its result is received
                self.pipe.recv()
        self._process.join()
        self.pipe.close()


def _work(do: Callable[[Any], Any], pipe: Connection) -> None:
    """Run tasks received through the pipe until one is None."""
    _follow_parent()
    ignore_warnings()
    while (task := pipe.recv()) is not None:
        try:
            answer = True, do(task)
        except Exception as error:
            answer = False, error
        pipe.send(answer)


def _follow_parent() -> None:
    """Ignore signals, which the parent process handles while workers finish what they are writing. If
    the parent is killed, exit, since nobody is left to send tasks or to end this process."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    Thread(target=_exit_with, args=(parent_process(),), daemon=True).start()


def _exit_with(parent: BaseProcess | None) -> None:
    assert parent is not None
    parent.join()
    os._exit(1)

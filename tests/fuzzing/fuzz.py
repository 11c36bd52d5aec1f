"""Damaged, hostile and odd files for every command, judged: each has to end in success or in one clear
message, in time, within memory, and without touching any file but its output.

    python tests/fuzzing/fuzz.py --inputs 20000 --jobs 2
    python tests/fuzzing/fuzz.py --only 4711

Input N is made from the seed and N alone. Needs Linux for the memory limit; elsewhere the rest is judged.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_corpus import Corpus, Kind, corpus, kinds
from fuzz_mutations import ALL, CANARY, fitting

SECONDS = 10.0
"""So long, of the processor's time, an input may take."""
PATIENCE = 30
"""So many times as long it may take by the clock, since other programs run, too."""
MEMORY = 1 << 30
"""So much, in bytes, may be used beyond what the process has when it begins."""
LARGE = 100_000
"""From so many bytes on, a table may need more memory than there is."""
LONGEST = 3000
"""So many letters has a message at the most."""
RECYCLED, MUCH = 150, 1 << 27
"""A process does so many inputs, and no more after one that took so many bytes: what it leaves behind
would count as the next one's."""
ENDINGS = (".xlsx", ".xlsx", ".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".csv", ".tsv", ".txt", ".json", ".npy",
           ".npz", ".html", ".md", ".dat", "")  # fmt: skip
LIBRARY = re.compile(
    r"Traceback|Panic|Warning\b|\b(?:Key|Index|Type|Value|Attribute|Assertion|Recursion|Overflow|Unicode\w*|Zero\w+"
    r"|Memory|Runtime|Syntax|OS|NotImplemented|Parse|Calamine|Expat|Name|Lookup)Error\b"
    r"|\bException\b|<class '|object at 0x|unwrap\(\)|Errno|DTDForbidden|EntitiesForbidden|Ellipsis"
    r"|\.py\b|\bNoneType\b|zlib\.|IndexError|src/|\.rs:"
)
"""What only a programmer can make sense of."""
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0001-\U000e007f]"
)
FORBIDDEN = re.compile(
    r"vbaProject|externalLink|macrosheets|activeX|embeddings|oleObject", re.IGNORECASE
)


@dataclass(frozen=True)
class Case:
    """One input.

    Attributes:
        mutations: what was done to it.
        args: the call; files: what stands in the folder, by name; given: the file that was changed.
        outputs: what may be written.
    """

    number: int
    base: str
    mutations: tuple[str, ...]
    args: tuple[str, ...]
    files: dict[str, bytes] = field(repr=False)
    given: str
    outputs: tuple[str, ...]


@dataclass
class Verdict:
    """How an input ended."""

    number: int
    args: tuple[str, ...]
    base: str
    mutations: tuple[str, ...]
    status: int | None = None
    seconds: float = 0.0
    memory: int = 0
    faults: list[str] = field(default_factory=list)
    said: str = ""

    def __str__(self) -> str:
        what = f"{self.number}: {' '.join(self.args)[:200]} [{self.base}: {', '.join(self.mutations)}]"
        return f"{what}\n    {'; '.join(self.faults)}\n    {self.said[:700]!r}"


# Inputs


def case(number: int, seed: int, files: Corpus) -> Case:
    """Input `number`."""
    rng = Random(f"{seed}:{number}")
    sorts = kinds(files)
    names = [*ALL]
    mutation = names[number % len(names)]
    form = rng.choices([*COMMANDS], weights=[weight for weight, _ in COMMANDS.values()])[0]
    call = COMMANDS[form][1](rng, sorts)
    base = rng.choice(call.bases)
    for _ in range(20):  # a file that the mutation is meant for
        if mutation in fitting(files[base]):
            break
        base = rng.choice(call.bases)
    data, done = files[base], []
    fit = fitting(data)
    chosen = [mutation] if mutation in fit else [rng.choice([*fit])]
    while rng.random() < 0.3:
        chosen.append(rng.choice([name for name in fit if "bomb" not in name]))
    for name in chosen:
        if len(data) < 12_000_000:
            data = fitting(data).get(name, lambda same, *_: same)(data, rng, files)
            done.append(name)
    ending = Path(base).suffix if rng.random() < 0.85 else rng.choice(ENDINGS)
    given = rng.choice(("input", "input", "in put", "\u00e9ingabe")) + ending
    args = tuple(given if arg == "FILE" else arg for arg in call.args)
    there = {given: data}
    there.update((name, files[name]) for name in args if name in files)
    return Case(number, base, tuple(done), args, there, given, call.outputs)


@dataclass(frozen=True)
class Call:
    """What a command is asked; FILE is the input, which is one of `bases`."""

    args: tuple[str, ...]
    bases: tuple[str, ...]
    outputs: tuple[str, ...] = ()


def _inspect(rng: Random, sorts: Kind) -> Call:
    more = rng.choice(
        ((), ("--json",), ("--words-in", "columns"), ("--sheet", "Sentence"), ("--range", "A1:C4"))
    )
    return Call(("inspect", "FILE", *more), sorts.tables + sorts.written)


def _standard_input(rng: Random, sorts: Kind) -> Call:
    return Call(("inspect", "-"), sorts.tables + sorts.written)


def _show(rng: Random, sorts: Kind) -> Call:
    more = rng.choice(
        ((), ("--json",), ("--csv",), ("--heads", "2"), ("--step", "Softmax"), ("--causal",))
    )
    return Call(("show", "FILE", *more), sorts.tables + sorts.written)


def _convert(rng: Random, sorts: Kind) -> Call:
    more = rng.choice(
        ((), ("--layout", "canvas"), ("--formulas", "dynamic"), ("--plain",), ("--formulas", "none"))
    )
    return Call(
        ("convert", "FILE", "-o", "out.xlsx", *more), sorts.tables + sorts.written, ("out.xlsx",)
    )


def _template(rng: Random, sorts: Kind) -> Call:
    return Call(
        ("convert", "tiny.csv", "-o", "out.xlsx", "--template", "FILE"), sorts.templates, ("out.xlsx",)
    )


def _check(rng: Random, sorts: Kind) -> Call:
    more = rng.choice(((), ("--json",), ("--strict",)))
    return Call(("check", "FILE", *more), sorts.tables + sorts.written)


def _explain(rng: Random, sorts: Kind) -> Call:
    cell = rng.choice(("Softmax[1, 1]", "Output[cat, a]", "Softmax!B5", "Scores[2, 1]", "d_k"))
    more = rng.choice(((), ("--depth", "all"), ("--json",)))
    return Call(("explain", "FILE", cell, *more), sorts.tables + sorts.written)


def _vectors(rng: Random, sorts: Kind) -> Call:
    more = rng.choice(
        (("--words", "cat", "sat"), ("--words", "cat"), ("--words", "cat", "sat", "mat", "--pca", "2"))
    )
    return Call(("vectors", "FILE", *more, "-o", "out.xlsx"), sorts.vectors, ("out.xlsx",))


def _grade(rng: Random, sorts: Kind) -> Call:
    more = rng.choice(((), ("--answers", "key.xlsx"), ("--feedback", "feedback")))
    return Call(
        ("grade", "FILE", "-o", "out.xlsx", *more),
        sorts.lessons,
        ("out.xlsx", "feedback", "feedback/*"),
    )


def _key(rng: Random, sorts: Kind) -> Call:
    args = ("grade", "handed.xlsx", "-o", "out.csv", "--answers", "FILE")
    return Call(args, sorts.keys, ("out.csv",))


def _teach(rng: Random, sorts: Kind) -> Call:
    more = rng.choice(((), ("--exam",), ("--level", "1"), ("--answers", "answers.xlsx")))
    return Call(
        ("teach", "FILE", "-o", "out.xlsx", *more),
        sorts.tables + sorts.written,
        ("out.xlsx", "answers.xlsx"),
    )


def _roster(rng: Random, sorts: Kind) -> Call:
    args = ("teach", "tiny.csv", "--roster", "FILE", "-o", "class", "--jobs", "1", "--level", "1")
    return Call(args, sorts.rosters, ("class", "class/*", "class-answers.xlsx"))


def _similarity(rng: Random, sorts: Kind) -> Call:
    return Call(("similarity", "FILE", "-o", "out.xlsx"), sorts.tables, ("out.xlsx",))


COMMANDS: dict[str, tuple[int, Callable[[Random, Kind], Call]]] = {
    "inspect": (24, _inspect),
    "standard input": (4, _standard_input),
    "show": (12, _show),
    "convert": (9, _convert),
    "template": (8, _template),
    "check": (14, _check),
    "explain": (5, _explain),
    "vectors": (7, _vectors),
    "grade": (6, _grade),
    "key": (3, _key),
    "teach": (3, _teach),
    "roster": (4, _roster),
    "similarity": (2, _similarity),
}


# The judge


class Watched:
    """What Python itself says that the program does: it opens files, connects, starts programs."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.within: tuple[str, ...] = ()
        self.on = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event.startswith(
            ("socket.connect", "socket.getaddrinfo", "socket.bind", "urllib", "ftplib", "http")
        ):
            self.seen.append(f"the network: {event} {args[1:]!r}")
        elif event in (
            "os.system",
            "os.exec",
            "os.spawn",
            "os.startfile",
            "pty.spawn",
        ):
            self.seen.append(f"a program: {event} {args!r}")
        elif event in ("subprocess.Popen", "os.posix_spawn") and args[0] != sys.executable:
            self.seen.append(f"a program: {args[1]!r}")
        elif event == "open" and isinstance(args[0], (str, bytes)):
            path = os.path.abspath(os.fsdecode(args[0]))
            writes = isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            allowed = path == os.devnull or ".pyc" in path  # Python's own
            if writes and not allowed and not path.startswith(self.within):
                self.seen.append(f"writes {path}")
            if path.endswith(("canary.txt", "/etc/hostname", "/etc/passwd")):
                self.seen.append(f"reads {path}")


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder with a digest of what is in it; folders, too."""
    return {
        str(path.relative_to(folder)): hashlib.sha1(path.read_bytes()).hexdigest()
        if path.is_file()
        else ""
        for path in sorted(folder.rglob("*"))
    }


def judged(
    one: Case, run: Callable[[tuple[str, ...]], int], top: Path, watched: Watched | None = None
) -> Verdict:
    """Run one input in a folder below `top`, and say how it ended.

    Args:
        run: does a call in this process and returns its exit status; what it prints goes to the
            descriptors 1 and 2.
    """
    shutil.rmtree(top, ignore_errors=True)
    folder, scratch = top / "outer" / "work", top / "tmp"
    folder.mkdir(parents=True)
    scratch.mkdir()
    (folder.parent / "canary.txt").write_text(CANARY)
    (folder / "canary.txt").write_text(CANARY)
    for name, data in one.files.items():
        (folder / name).write_bytes(data)
    made = Verdict(one.number, one.args, one.base, one.mutations)
    before = contents(top / "outer")
    out, err = top / "stdout", top / "stderr"
    here, kept = os.getcwd(), [(number, os.dup(number)) for number in (0, 1, 2)]
    temporary, tempfile.tempdir = tempfile.tempdir, str(scratch)
    os.environ["TMPDIR"] = str(scratch)
    streams = sys.stdin, sys.stdout, sys.stderr
    os.chdir(folder)
    given = folder / one.given if "-" in one.args else Path(os.devnull)
    with open(given, "rb") as zero, open(out, "wb") as first, open(err, "wb") as second:
        for number, stream in enumerate((zero, first, second)):
            os.dup2(stream.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(os.dup(n), "w" if n else "r") for n in range(3))
    start, begun = memory(reset=True), processor_time()
    if watched is not None:
        watched.seen.clear()
        watched.within, watched.on = (str(folder), str(scratch), str(out), str(err)), True
    try:
        made.status = run(one.args)
    except BaseException as error:
        made.faults.append(f"{type(error).__name__}: {str(error)[:300]}")
        made.said = traceback.format_exc()[-900:]
    finally:
        if watched is not None:
            watched.on = False
        made.seconds = processor_time() - begun
        made.memory = max(0, memory() - start)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, copy in kept:
            os.dup2(copy, number)
            os.close(copy)
        os.chdir(here)
        tempfile.tempdir = temporary
    texts = [path.read_bytes().decode("utf-8", "replace") for path in (out, err)]
    made.said = made.said or texts[1] or (texts[0] if made.status else "")
    made.faults += _said_badly(one, made, *texts)
    made.faults += _touched(one, made, before, contents(top / "outer"))
    made.faults += [f"temporary files left: {path.name}" for path in scratch.iterdir()]
    made.faults += _outputs(folder, before)
    if watched is not None:
        made.faults += watched.seen
    if made.seconds > SECONDS:
        made.faults.append(f"took {made.seconds:.1f} s")
    if made.memory > MEMORY:
        made.faults.append(f"took {made.memory >> 20} MiB")
    return made


def _said_badly(one: Case, made: Verdict, out: str, err: str) -> Iterator[str]:
    """What is wrong with the messages."""
    if made.status is None:
        return
    if made.status not in (0, 1, 2, *[3] * (one.args[0] == "check")):
        yield f"exit status {made.status}"
    told = err + (out if made.status and one.args[0] in ("check", "grade") else "")
    if found := LIBRARY.search(told):
        yield f"a message for programmers: {found[0]!r}"
    large = len(one.files[one.given]) > LARGE
    if "not enough memory" in err:
        if not large:
            yield "ran out of memory"
        return
    if CANARY in out + err:
        yield "a file that was not asked for is shown"
    shown = err if "--csv" in one.args else out + err  # CSV in a pipe is data
    if found := CONTROL.search(shown):
        yield f"a control character: {found[0]!r}"
    if len(err) > LONGEST:
        yield f"a message of {len(err)} letters"
    if made.status and one.args[0] not in ("check", "grade"):
        lines = [line for line in err.splitlines() if line.startswith("attn-xl: ")]
        if len(lines) != 1:
            yield f"{len(lines)} messages"
        elif made.status == 1 and not any(
            name in lines[0] for name in (one.given, "standard input", *one.files)
        ):
            yield "the message does not name the file"
        elif not re.search(r"[.?)]$", lines[0]):
            yield "the message is no sentence"
    elif made.status and not (out + err).strip():
        yield "no message"


def _touched(one: Case, made: Verdict, before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    """Files that are not the output, and changed."""
    for name in before:
        if after.get(name) != before[name]:
            yield f"touched {name}"
    for name in after.keys() - before.keys():
        if not any(Path(name).match(f"work/{pattern}") for pattern in one.outputs):
            yield f"made {name}"
        elif made.status and one.args[0] not in ("grade", "teach"):
            yield f"made {name}, and failed"


def _outputs(folder: Path, before: dict[str, str]) -> Iterator[str]:
    """What no workbook that was written may have."""
    for path in folder.rglob("*.xlsx"):
        if f"work/{path.relative_to(folder)}" in before:
            continue
        yield from (f"{path.name}: {what}" for what in active(path))


def active(path: Path) -> Iterator[str]:
    """What a workbook has that runs, or leads out of it: macros, links to other files, formulas that
    call the network or programs."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if FORBIDDEN.search(name) or ".." in name or name.startswith("/"):
                yield f"the part {name}"
            if re.search(rb'TargetMode\s*=\s*"External"', data):
                yield f"{name} leads outside"
            if CANARY.encode() in data:
                yield f"{name} holds a file that was not asked for"
            if (
                b"macroEnabled" in data
                or b"<ddeLink" in data
                or b"<oleLink" in data
                or b"<connection" in data
            ):
                yield f"{name} is active"
            for formula in re.findall(rb"<(?:f|formula1|formula|definedName)\b[^>]*>([^<]+)<", data):
                if re.search(rb"WEBSERVICE|HYPERLINK|FILTERXML|IMPORT|RTD\(|CALL\(|EXEC|\|'|\[\d+\]|INDIRECT"
                             rb"|NOW\(|TODAY\(|RAND|OFFSET", _unquoted(formula)):  # fmt: skip
                    yield f"{name} has the formula {formula[:80]!r}"


def _unquoted(formula: bytes) -> bytes:
    return re.sub(rb"&quot;.*?&quot;|\"[^\"]*\"|'(?:[^']|'')*'", b"", formula)


def memory(reset: bool = False) -> int:
    """The most memory that this process had, in bytes; with `reset`, what it has now, from which the most
    is counted anew."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        return int(found[1]) * 1024 if found else 0
    except OSError:
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def processor_time() -> float:
    """Seconds of this process and of those that it started: other programs on the machine do not count."""
    return sum(os.times()[:4])


def the_program(args: tuple[str, ...]) -> int:
    """Call the program in this process."""
    from attn_xl.cli.main import main

    try:
        main(args)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    finally:
        gc.unfreeze()
    raise AssertionError("main always ends in SystemExit")


def limit_memory() -> None:
    """Let this process have `MEMORY` more than it has, and some for what is mapped and never used."""
    try:
        import resource

        found = re.search(r"VmSize:\s+(\d+) kB", Path("/proc/self/status").read_text())
        assert found
        most = int(found[1]) * 1024 + MEMORY + (256 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, AssertionError):
        pass


# Many inputs, in several processes


def _work(pipe: Any, seed: int, files: Corpus, top: Path) -> None:
    for name in ("SIGINT", "SIGTERM"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    watched = Watched()
    terminal = os.fdopen(os.dup(2), "w")  # commands close what is written to the standard error

    limit_memory()
    while (number := pipe.recv()) is not None:
        one = case(number, seed, files)
        pipe.send("begun")
        faulthandler.dump_traceback_later(0.8 * PATIENCE * SECONDS, file=terminal)
        made = judged(one, the_program, top, watched)
        faulthandler.cancel_dump_traceback_later()
        pipe.send(made)


class Worker:
    """A process that does one input after the other."""

    def __init__(self, seed: int, files: Corpus, top: Path) -> None:
        self.arguments = seed, files, top
        self.number: int | None = None
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other, *self.arguments), daemon=False)
        self.process.start()
        other.close()
        self.done = 0

    def begin(self, number: int) -> None:
        if self.done >= RECYCLED:
            self.stop()
            self.start()
        self.done += 1
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)

    def stop(self) -> None:
        with suppress(OSError):
            self.pipe.send(None)
        self.process.join(5)
        self.kill()

    def kill(self) -> None:
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.pipe.close()


def fuzz(
    numbers: list[int], seed: int, jobs: int, files: Corpus, top: Path, tell: Callable[[Verdict], None]
) -> None:
    """Do some inputs, and tell how each ended. One that twice kills its process, or does not end, is told
    as such, and the rest goes on."""
    left = iter(numbers)
    workers = [Worker(seed, files, top / str(i)) for i in range(jobs)]
    busy: dict[Any, Worker] = {}
    again: dict[Worker, int] = {}

    def next_of(worker: Worker) -> None:
        busy.pop(worker.pipe, None)
        number = next(left, None)
        if number is not None:
            worker.begin(number)
            busy[worker.pipe] = worker

    def lost(worker: Worker, why: str) -> None:
        busy.pop(worker.pipe, None)
        assert worker.number is not None
        worker.kill()
        worker.start()
        if worker.number != again.get(worker):  # perhaps it was what earlier inputs had left in memory
            again[worker] = worker.number
            worker.begin(worker.number)
            busy[worker.pipe] = worker
            return
        one = case(worker.number, seed, files)
        tell(Verdict(one.number, one.args, one.base, one.mutations, seconds=time.monotonic() - worker.since,
                     faults=[why]))  # fmt: skip
        next_of(worker)

    try:
        for worker in workers:
            next_of(worker)
        while busy:
            for pipe in wait(list(busy), timeout=1):
                worker = busy[pipe]
                try:
                    said = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.process.join(5)
                    lost(worker, f"the process died ({worker.process.exitcode})")
                    continue
                if said == "begun":
                    worker.since = time.monotonic()
                else:
                    if said.memory > MUCH:
                        worker.done = RECYCLED
                    tell(said)
                    next_of(worker)
            for worker in list(busy.values()):
                if time.monotonic() - worker.since > PATIENCE * SECONDS:
                    lost(worker, f"did not end within {PATIENCE * SECONDS:g} s")
    except (
        BaseException
    ):  # it is stopped, or nobody reads what it tells: the processes would wait for ever
        for worker in workers:
            worker.kill()
        raise
    for worker in workers:
        worker.stop()


@dataclass
class Tally:
    """What all inputs came to."""

    verdicts: Counter[str] = field(default_factory=Counter)
    failed: list[Verdict] = field(default_factory=list)
    slowest: Verdict | None = None
    largest: Verdict | None = None
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, made: Verdict) -> None:
        self.verdicts["failed" if made.faults else f"exit status {made.status}"] += 1
        self.seen.update(made.mutations)
        if made.faults:
            self.failed.append(made)
        if self.slowest is None or made.seconds > self.slowest.seconds:
            self.slowest = made
        if self.largest is None or made.memory > self.largest.memory:
            self.largest = made

    def __str__(self) -> str:
        lines = [", ".join(f"{what}: {count}" for what, count in sorted(self.verdicts.items()))]
        if self.slowest and self.largest:
            lines.append(
                f"slowest {self.slowest.seconds:.2f} s: {self.slowest.number} {self.slowest.args}"
            )
            lines.append(
                f"most memory {self.largest.memory >> 20} MiB: {self.largest.number} {self.largest.args}"
            )
        return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int, help="one input, whose files are kept in ./fuzz-N")
    parser.add_argument("--json", type=Path, help="write what failed to this file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        top = Path(folder)
        (top / "corpus").mkdir()
        files = corpus(top / "corpus")
        tally = Tally()
        if asked.only is not None:
            one = case(asked.only, asked.seed, files)
            kept = Path(f"fuzz-{asked.only}")
            kept.mkdir(exist_ok=True)
            for name, data in one.files.items():
                (kept / name).write_bytes(data)
            print(f"{kept}: attn-xl {' '.join(map(repr, one.args))}  [{one.base}: {one.mutations}]")
            fuzz(
                [asked.only], asked.seed, 1, files, top, lambda made: (tally.add(made), print(made))[0]
            )
            return bool(tally.failed)
        begun = time.monotonic()

        def tell(made: Verdict) -> None:
            tally.add(made)
            if made.faults:
                print(made, flush=True)
            done = tally.verdicts.total()
            if done % 1000 == 0:
                print(
                    f"{done} in {time.monotonic() - begun:.0f} s, {len(tally.failed)} failed",
                    flush=True,
                )

        fuzz(
            [*range(asked.first, asked.first + asked.inputs)], asked.seed, asked.jobs, files, top, tell
        )
        print(f"{asked.inputs} inputs, seed {asked.seed}, {time.monotonic() - begun:.0f} s")
        print(tally)
        print(f"{len(tally.seen)} of {len(ALL)} mutations were made")
        if asked.json:
            asked.json.write_text(json.dumps([made.__dict__ for made in tally.failed], default=str))
    return bool(tally.failed)


if __name__ == "__main__":
    sys.exit(main())

"""attn-xl vectors: every format, every option, every refusal; principal components against
scikit-learn's numbers; and every reading against a plain one."""

from __future__ import annotations

import gzip
import io
import os
import pty
import shlex
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import ROOT, SAMPLES, alike, thorough

import attn_xl
from attn_xl import CallError, InputError, read_vectors
from attn_xl.cli.commands import spread_words
from attn_xl.cli.main import main
from attn_xl.models.similarity import components
from attn_xl.tables import vectors
from attn_xl.tables.survey import Table
from attn_xl.workbook.layout.components_sheet import MOST_POINTS, components_layout
from attn_xl.workbook.write import write_layout

SAMPLE = SAMPLES / "vectors.txt"
PCA = np.load(ROOT / "tests" / "data" / "pca.npz")
CASES = sorted({name.partition(".")[0] for name in PCA})
GLOVE = b"the 0.1 -0.25 3\ncat 1e-3 .5 -7.125\nCat 1 2 3\nat the end 4 5 6\n"
WORDS = {"the": [0.1, -0.25, 3], "cat": [0.001, 0.5, -7.125], "Cat": [1, 2, 3]}


def binary(vectors: dict[str, list[float]], *, end: bytes = b"", count: int | None = None) -> bytes:
    dims = len(next(iter(vectors.values())))
    made = b"%d %d\n" % (len(vectors) if count is None else count, dims)
    for word, vector in vectors.items():
        made += word.encode() + b" " + struct.pack(f"<{dims}f", *vector) + end
    return made


def text(vectors: dict[str, list[float]], *, header: bool = False, end: str = "\n") -> bytes:
    dims = len(next(iter(vectors.values())))
    lines = [f"{len(vectors)} {dims}"] * header
    lines += [" ".join([word, *map(repr, vector)]) for word, vector in vectors.items()]
    return "".join(line + end for line in lines).encode()


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def make(content: bytes, name: str = "v.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return make


File = Callable[..., Path]


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str]]:
    """Run the command in an empty folder; its status and what it said."""
    monkeypatch.chdir(tmp_path)

    def call(*args: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            main(["vectors", *map(str, args)])
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err

    return call


Run = Callable[..., tuple[int, str]]

# Formats

FLOATS = {word: [float(np.float32(x)) for x in vector] for word, vector in WORDS.items()}
FORMATS = {
    "glove": (text(WORDS), WORDS),
    "no newline at the end": (text(WORDS).rstrip(b"\n"), WORDS),
    "crlf": (text(WORDS, end="\r\n"), WORDS),
    "space at the end": (text(WORDS, header=True, end=" \n"), WORDS),
    "byte order mark": (b"\xef\xbb\xbf" + text(WORDS), WORDS),
    "tabs": (text(WORDS).replace(b" ", b"\t"), WORDS),
    "word2vec text": (text(WORDS, header=True), WORDS),
    "header, crlf": (text(WORDS, header=True, end="\r\n"), WORDS),
    "one dimension": (b"the 5\ncat 6\nCat 7\n", {"the": [5], "cat": [6], "Cat": [7]}),
    "one dimension, of numbers": (b"12 5\ncat 6\n", {"12": [5], "cat": [6]}),
    "one dimension, header": (b"2 1\n12 5\ncat 6\n", {"12": [5], "cat": [6]}),
    "word2vec binary": (binary(FLOATS), FLOATS),
    "word2vec binary, lines": (binary(FLOATS, end=b"\n"), FLOATS),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_formats_are_told_by_their_content(name: str, packed: bool, file: File) -> None:
    content, vectors = FORMATS[name]
    path = file(gzip.compress(content, mtime=0) if packed else content, "any.name")
    for word, vector in vectors.items():
        assert read_vectors(path, [word]).values.tolist() == [vector]
    table = read_vectors(path, [*vectors, *vectors])
    assert table.values.tolist() == [*vectors.values()] * 2
    assert table.rows == (*vectors, *vectors)
    assert table.columns == tuple(f"d{i + 1}" for i in range(table.shape[1]))
    assert (table.name, table.labelled) == ("any", (True, True))


def test_words_with_spaces_and_other_letters(file: File) -> None:
    content = (
        GLOVE + "naïve 7 8 9\n日本 1 1 1\nNew_York 2 2 2\n. . . 3 3 3\nat 9 9 9\n. 0 0 0\n".encode()
    )
    path = file(content)
    words = ["at the end", "naïve", "日本", "New_York", ". . .", "at", "."]
    values = read_vectors(path, words).values[:, 0]
    assert values.tolist() == [4, 7, 1, 2, 3, 9, 0]


def test_a_word_with_a_space_is_one_if_the_file_has_it_so(run: Run, file: File) -> None:
    path = file(b"new 1 2\nyork 3 4\nnew york 5 6\nat the end 7 8\n")
    assert [*vectors.VectorFile(path).words()] == ["new", "york", "new york", "at the end"]
    assert run(path, "--words", "york", "new york", "new york.", "--force")[0] == 1
    assert run(path, "--words", "york new", "new york", "--force")[0] == 0
    assert attn_xl.read_tables("words.xlsx").sentences["Words"].rows == ("york", "new", "new york")
    with pytest.raises(InputError, match=r"'end' is not among its 4 words\.$"):
        read_vectors(path, ["end"])


def test_of_a_word_that_comes_twice_the_first_counts(file: File) -> None:
    assert read_vectors(file(b"a 1 2\nb 3 4\na 5 6\n"), ["b", "a"]).values.tolist() == [[3, 4], [1, 2]]


def test_text_keeps_full_precision_and_binary_is_exact(file: File) -> None:
    number = 0.1234567890123456
    assert read_vectors(file(text({"a": [number, 1.0]})), ["a"]).values[0, 0] == number
    stored = read_vectors(file(binary({"a": [number, 1.0]})), ["a"]).values[0, 0]
    assert stored == float(np.float32(number)) != number


@thorough
def test_what_comes_after_the_last_word_is_not_read(file: File) -> None:
    lines = [f"w{i} {i}.5 {i % 7} 1\n" for i in range(200_000)]
    path = file("".join(lines).encode())
    seen: list[tuple[int, int]] = []
    read_vectors(path, ["w3"], progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert 0 < seen[-1][0] <= 2 * vectors.HEAD < size == seen[-1][1]
    cut = gzip.compress(path.read_bytes(), 1, mtime=0)[:-100_000]
    assert read_vectors(file(cut), ["w3"]).values[0, 0] == 3.5
    with pytest.raises(InputError, match="ends too soon"):
        read_vectors(file(cut), ["w199999"])


# Refusals

X3 = "the others have 3"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "v.txt: the file is empty"),
        (gzip.compress(b"", mtime=0), "v.txt: the file is empty"),
        (b"word,x,y\ncat,1,2\n", "is not a file of word vectors: line 1 is 'word,x,y'"),
        (b"once upon a time\n", "line 1 is 'once upon a time'"),
        (b"\x00\x01\x02 binary", "is not a file of word vectors"),
        (b"\x80\x04\x95 pickled\n.", "is not a file of word vectors"),
        (vectors.FASTTEXT_MODEL + b"\x0c\0\0\0", "is a fastText model; give its .vec"),
        (b"a 1 2 3\nb 1 2 3\nthe 1 2\n", f"line 3, word 'the': 2 numbers where {X3}"),
        (b"a 1 2 3\nb 1 2 3\nthe 1 2 3 4\n", f"line 3, word 'the': 4 numbers where {X3}"),
        (b"a 1 2 3\nb 1 2 3\nthe\n", f"line 3, word 'the': 0 numbers where {X3}"),
        (b"a 1 2 3\r\nb 1 2 3\r\nthe", f"line 3, word 'the': 0 numbers where {X3}"),
        (b"a 1 2 3\nb 1 2 3\nthe 1\n", f"line 3, word 'the': 1 number where {X3}"),
        (b"2 3\na 1 2 3\nthe 1 2\n", "line 3, word 'the': 2 numbers where the header says 3"),
        (b"2 3\nthe 1 2\nb 1 2\n", "line 2, word 'the': 2 numbers where the header says 3"),
        (b"a 1 2 3\nthe 1 nan 3\n", "line 2, word 'the': 'nan' where a number"),
        (b"a 1 2 3\nthe 1 1e999 3\n", "line 2, word 'the': '1e999' where a number"),
        (b"a 1 2 3\nthe 1 x 3\n", "line 2, word 'the': 'x' where a number"),
        (b"a 1 2 3\nthe 1 1_0 3\n", "'1_0' where a number"),
        (b"2 3\n", "ends after its header, which promises 2 words of 3 numbers"),
        (b"2 0\nthe \x00\x01", "line 1 says that words have 0 numbers"),
        (b"2 0\nthe\n", "line 1 says that words have 0 numbers"),
        (b"9 2\na 1 2\nb 1 2\n", "has 2 words, but its header promises 9"),
        (gzip.compress(GLOVE, mtime=0)[:-12], "the compressed file ends too soon"),
        (gzip.compress(GLOVE, mtime=0)[:-8] + b"checksum", "the compressed file is damaged"),
        (gzip.compress(GLOVE, mtime=0)[:10] + b"\xff" * 40, "the compressed file is damaged"),
        (binary(FLOATS, count=9), "ends in the middle of word 4; its header promises 9"),
        (binary({"x": [0.1, 0.2], "the": [0.3, 0.4]})[:-1], "ends in the middle of word 2"),
        (binary({"x": [1.0, 2], "the": [float("nan"), 4]}), "word 2, 'the': nan where a number"),
        (binary({"x": [1.0, 2], "the": [1, float("inf")]}), "word 2, 'the': inf where a number"),
        (b"9 2\nx " + b"\xff" * 8 + b"\x81" * 30_000, "is damaged at word 2"),
    ],
)  # fmt: skip
def test_refusals(content: bytes, said: str, file: File) -> None:
    with pytest.raises(InputError) as refused:
        read_vectors(file(content), ["the", "nowhere"])
    assert said in str(refused.value)


def test_what_is_no_file(tmp_path: Path, file: File) -> None:
    for path, said in [(tmp_path, "is a folder"), (tmp_path / "none", "no such file")]:
        with pytest.raises(InputError, match=said):
            read_vectors(path, ["a"])
    import zipfile

    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        archive.writestr("glove.6B.100d.txt", GLOVE)
    with pytest.raises(InputError, match="is a zip archive; unpack it"):
        read_vectors(tmp_path / "g.zip", ["the"])
    with pytest.raises(InputError, match=r"mouse\.xlsx: is a spreadsheet, which convert reads"):
        read_vectors(SAMPLES / "mouse.xlsx", ["the"])
    with pytest.raises(CallError, match="no words"):
        read_vectors(file(GLOVE), [])


def test_a_line_number_counts_from_the_top_of_a_long_file(file: File) -> None:
    lines = [b"w%d 1 2 3\n" % i for i in range(70_000)]
    lines[65_432] = b"the 1 2\n"
    content = b"70000 3\n" + b"".join(lines)
    for packed in (content, gzip.compress(content, 1, mtime=0)):
        with pytest.raises(InputError, match="line 65434, word 'the': 2 numbers"):
            read_vectors(file(packed), ["the"])


def test_a_damaged_zip_archive_is_named_as_one(file: File) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("glove.txt", "the 1 2")
    with pytest.raises(InputError, match="is a zip archive"):
        read_vectors(file(stream.getvalue()[:-10] + b"\xff" * 3 + stream.getvalue()[-7:]), ["the"])


def test_blank_lines_are_no_words(file: File) -> None:
    with pytest.raises(InputError, match="'cat' is not among its 2 words"):
        read_vectors(file(b"the 1 2\n\n \t\nof 3 4\n\r\n\n"), ["cat"])


def test_missing_words_are_named_with_near_spellings(file: File) -> None:
    for path in (SAMPLE, file(binary({w: [1.0] for w in ("florida", "california", "truth", "cat")}))):
        with pytest.raises(InputError) as refused:
            read_vectors(path, ["Florida", "cat", "califronia", "rtuth", "xyz"])
        said = str(refused.value)
        assert "'Florida' (did you mean 'florida'?)" in said
        assert "'califronia' (did you mean 'california'?)" in said
        assert "'rtuth' (did you mean 'truth'?), 'xyz' are not among" in said
        assert "'cat'" not in said
    with pytest.raises(InputError, match=r"'xyz' is not among its 48 words\.$"):
        read_vectors(SAMPLE, ["xyz"])
    many = [f"zzz{i}" for i in range(30)]
    with pytest.raises(InputError, match="and 10 more are not among"):
        read_vectors(SAMPLE, many)
    with pytest.raises(InputError, match=r"'THE' .did you mean 'the' or 'The'"):
        read_vectors(file(b"the 1 2\nThe 3 4\nthey 5 6\n"), ["THE"])


# The command


def test_words_become_an_input_workbook(run: Run, tmp_path: Path, write: Callable[..., Path]) -> None:
    words = "florida california texas politics truth"
    assert run(SAMPLE, "--words", *words.split(), "-o", "w.xlsx") == (0, "w.xlsx: Words 5 × 8\n")
    table = attn_xl.read_tables("w.xlsx").sentences["Words"]
    assert table.rows == tuple(words.split())
    assert np.array_equal(table.values, read_vectors(SAMPLE, words.split()).values)
    write(tmp_path / "w.xlsx")


@pytest.mark.parametrize(
    "line",
    [
        "F --words cat dog mouse -o w.xlsx",
        "F --words 'cat dog mouse' -o w.xlsx",
        "F --words cat --words dog --words mouse -o w.xlsx",
        "F --words cat dog --words mouse cat -o w.xlsx",
        "F --words=cat dog mouse -o w.xlsx",
        "F -o w.xlsx --words cat dog mouse",
        "-o w.xlsx --words cat dog mouse F",
        "--words 'cat dog mouse' F -o w.xlsx",
        "--words cat dog mouse F -o w.xlsx",
        "--words cat dog mouse -o w.xlsx F",
        "--words cat dog mouse --output w.xlsx -- F",
    ],
)
def test_ways_of_giving_words(line: str, run: Run) -> None:
    assert run(*[SAMPLE if arg == "F" else arg for arg in shlex.split(line)])[0] == 0
    assert attn_xl.read_tables("w.xlsx").sentences["Words"].rows == ("cat", "dog", "mouse")


def test_a_dash_is_a_word(run: Run, file: File) -> None:
    path = file(b"a 1 2\n- 3 4\n-- 5 6\n")
    assert run(path, "--words", "a", "-")[0] == 0
    assert attn_xl.read_tables("words.xlsx").sentences["Words"].rows == ("a", "-")
    assert run(path, "--words", "-- a", "--force")[0] == 0
    assert spread_words(["F", "--words", "a", "-", "--", "x"], {"--words": True})[-2:] == ["--", "x"]


def test_a_sentence_keeps_order_and_repeats(run: Run) -> None:
    said = "the dog and the cat"
    assert run(SAMPLE, "--sentence", said) == (0, "words.xlsx: Sentence 5 × 8\n")
    table = attn_xl.read_tables("words.xlsx").sentences["Sentence"]
    assert " ".join(table.rows) == said
    assert np.array_equal(table.values[0], table.values[3])
    assert run(SAMPLE, "--sentence", said, "--sentence", "cat", "--force")[0] == 0
    sentences = attn_xl.read_tables("words.xlsx").sentences
    assert {name: table.rows for name, table in sentences.items()} == {
        "sentence 1": tuple(said.split()), "sentence 2": ("cat",),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        ("F", 2, "give either --words or --sentence"),
        ("F --words cat --sentence cat", 2, "give either"),
        ("F --words ' '", 2, "--words is empty"),
        ("F --sentence cat --sentence ''", 2, "--sentence is empty"),
        ("F --words", 2, "requires an argument"),
        ("--words cat", 2, "Missing argument 'FILE'"),
        ("F F --words cat", 2, "unexpected extra argument"),
        ("F --words cat --pca 0", 2, "--pca is 0"),
        ("F --words cat dog --pca 9", 2, "--pca is 9; it takes a whole number from 1 to 8"),
        ("F --words cat cat --pca 2", 2, "at least two different words"),
        ("F --words cat -o w.csv", 2, "ends in .xlsx"),
        ("F --words cat -o F", 2, ".xlsx"),
        ("F --words cat -o none/w.xlsx", 1, "there is no such folder"),
        ("none.txt --words cat", 1, "no such file"),
        ("F --words Cat", 1, "'Cat' (did you mean 'cat'?) is not among its 48 words"),
        ("F --sentence 'the kat'", 1, "'kat'"),
    ],
)
def test_refused_calls_write_nothing(
    args: str, status: int, said: str, run: Run, tmp_path: Path
) -> None:
    found, text = run(*[SAMPLE if arg == "F" else arg for arg in shlex.split(args)])
    assert found == status
    assert said in text
    assert not list(tmp_path.iterdir())


def test_an_output_that_exists_is_kept_without_force(run: Run, tmp_path: Path) -> None:
    (tmp_path / "words.xlsx").write_text("mine")
    status, said = run(SAMPLE, "--words", "cat")
    assert (status, (tmp_path / "words.xlsx").read_text()) == (2, "mine")
    assert "exists already" in said
    assert run(SAMPLE, "--words", "cat", "--force")[0] == 0


def test_the_same_bytes(run: Run, tmp_path: Path) -> None:
    for args in (["--words", "cat dog"], ["--sentence", "cat dog cat", "--pca", 2]):
        for name in ("a.xlsx", "b.xlsx"):
            run(SAMPLE, *args, "-o", name, "--force")
        assert (tmp_path / "a.xlsx").read_bytes() == (tmp_path / "b.xlsx").read_bytes()


PROGRAM = [sys.executable, "-m", "attn_xl", "vectors", str(SAMPLE), "--words", "cat", "dog"]


@thorough
def test_a_terminal_gets_no_workbook_but_a_progress_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main_end, end = pty.openpty()
    done = subprocess.run([*PROGRAM, "-o", "-"], stdout=end, stderr=subprocess.PIPE, cwd=ROOT)
    assert done.returncode == 2
    assert b"cannot be printed to a terminal" in done.stderr
    environment = {**os.environ, "TERM": "xterm"}
    command = [*PROGRAM, "-o", str(tmp_path / "w.xlsx")]
    subprocess.run(command, stderr=end, check=True, env=environment, cwd=ROOT)
    assert b"looking for the words" in os.read(main_end, 10_000)
    os.close(end)
    os.close(main_end)


# Principal components


def table_of(values: np.ndarray, words: tuple[str, ...] = ()) -> Table:
    n, d = values.shape
    rows = words or tuple(f"w{i}" for i in range(n))
    labels = tuple(f"d{i + 1}" for i in range(d))
    return Table("t", values, rows, labels, (True, True), "t.txt", "", 2, 2)


@alike
@pytest.mark.parametrize("case", CASES)
def test_like_scikit_learn(case: str, tmp_path: Path, keep: Callable[[Path], Path]) -> None:
    x, projected, directions, variance, share = (
        PCA[f"{case}.{name}"] for name in ("x", "projected", "components", "variance", "share")
    )
    made = components(table_of(x), len(directions))
    for mine, theirs in (
        (made.projected.values, projected),
        (made.graph["Components"].values.T, directions),
        (made.graph["Kept"].values[0], variance),
        (made.explained.values[0], share),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10)
    write_layout(components_layout(made, "Test"), tmp_path / "pca.xlsx")
    keep(tmp_path / "pca.xlsx")


def test_the_kept_numbers_are_still_scikit_learns() -> None:
    pytest.importorskip("sklearn")
    sys.path.insert(0, str(ROOT / "tests" / "data"))
    import make_pca_data

    for name, array in make_pca_data.make().items():
        np.testing.assert_allclose(array, PCA[name], rtol=0, atol=1e-10)


def test_the_sign_is_fixed() -> None:
    x = PCA["many.x"]
    for flipped in (x, -x):
        directions = components(table_of(flipped), 3).graph["Components"].values
        largest = np.abs(directions).argmax(axis=0)
        assert (directions[largest, range(3)] > 0).all()


def test_pca_writes_live_formulas_and_a_chart(
    run: Run, tmp_path: Path, keep: Callable[[Path], Path]
) -> None:
    words = "cat dog florida texas politics truth"
    status, said = run(SAMPLE, "--words", words, "--pca", 2, "-o", "p.xlsx")
    assert status == 0
    assert said.startswith("p.xlsx: Projected 6 × 2; PC1 ")
    assert "of the variance" in said
    book = openpyxl.load_workbook(keep(tmp_path / "p.xlsx"))
    assert book.sheetnames == [
        "Overview", "Words", "Mean", "Centred", "Components", "Projected", "Explained", "Settings",
    ]  # fmt: skip
    assert book["Mean"]["B5"].value == "=AVERAGE(Words!B$5:B$10)"
    assert book["Centred"]["C6"].value == "=Words!C6-Mean!C$5"
    assert book["Projected"]["B5"].value == "=SUM(MMULT(Centred!$B5:$I5,Components!B$5:B$12))"
    assert book["Components"]["B5"].data_type == "n"
    formulas = {str(c.value) for row in book["Explained"].iter_rows() for c in row}
    assert {"=VAR(Words!B$5:B$10)", "=VAR(Projected!B$5:B$10)", "=SUM($B5:$I5)"} <= formulas
    assert "=B11/$B8" in formulas
    (chart,) = book["Projected"]._charts
    assert [series.tx.v for series in chart.series] == words.split()
    assert chart.series[1].yVal.numRef.f == "Projected!$C$6"
    assert chart.series[1].xVal.numRef.f == "Projected!$B$6"


@thorough
def test_the_projected_words_are_the_sentence(run: Run, tmp_path: Path) -> None:
    run(SAMPLE, "--words", "cat dog florida", "--pca", 2)
    found = attn_xl.read_tables("words.xlsx")
    assert list(found.sentences) == ["Projected"]
    assert not found.weights
    assert not found.settings
    table = found.sentences["Projected"]
    expected = components(read_vectors(SAMPLE, ["cat", "dog", "florida"]), 2).projected
    assert (table.rows, table.columns) == (expected.rows, expected.columns)
    assert np.array_equal(table.values, expected.values)
    for command in ("convert", "similarity", "teach"):
        with pytest.raises(SystemExit) as end:
            main([command, "words.xlsx", "-o", f"{command}.xlsx"])
        assert not end.value.code
        assert (tmp_path / f"{command}.xlsx").exists()


@thorough
def test_sentences_share_their_components(
    run: Run, tmp_path: Path, keep: Callable[[Path], Path], write: Callable[..., Path]
) -> None:
    said = ["the dog and the cat", "cat in texas"]
    status, text = run(SAMPLE, "--sentence", said[0], "--sentence", said[1], "--pca", 2)
    assert (status, text.split(";")[0]) == (0, "words.xlsx: sentence 1 5 × 2, sentence 2 3 × 2")
    book = openpyxl.load_workbook(keep(tmp_path / "words.xlsx"))
    assert [book["sentence 1"][f"B{row}"].value for row in (5, 8)] == ["=Projected!B5"] * 2
    found = attn_xl.read_tables("words.xlsx").sentences
    assert [" ".join(table.rows) for table in found.values()] == said
    first, second = found.values()
    assert np.array_equal(first.values[4], second.values[0])
    assert np.array_equal(first.values[0], first.values[3])
    write(tmp_path / "words.xlsx")


@thorough
def test_any_number_of_components_and_words(tmp_path: Path, keep: Callable[[Path], Path]) -> None:
    names = [line.split()[0] for line in SAMPLE.read_text(encoding="utf-8").splitlines()[:10]]
    words = read_vectors(SAMPLE, names)
    for count in (1, 8):
        layout = components_layout(components(words, count), "Test")
        write_layout(layout, tmp_path / f"{count}.xlsx")
        assert len(openpyxl.load_workbook(keep(tmp_path / f"{count}.xlsx"))["Projected"]._charts) == 1
    many = components(table_of(np.random.default_rng(0).normal(size=(MOST_POINTS + 5, 3))), 2)
    layout = components_layout(many, "Test")
    (chart,) = next(sheet for sheet in layout.sheets if sheet.name == "Projected").extras.charts
    assert len(chart.series) == MOST_POINTS
    assert "first 200 words" in chart.title


def test_words_that_do_not_differ_have_no_components() -> None:
    with pytest.raises(InputError, match="all have the same"):
        components(table_of(np.ones((3, 4))), 1)


# The sample, and the speed


def test_the_sample_is_what_its_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SAMPLES)
    import make_vectors

    assert "".join(make_vectors.lines()) == SAMPLE.read_text(encoding="utf-8")
    assert len(make_vectors.lines()) == 48

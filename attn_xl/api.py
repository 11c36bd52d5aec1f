"""The Python API: `attend` computes a model from numbers in many forms, and `write_workbook` writes the
result as the workbook that `attn-xl convert` writes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attn_xl.graph.graph import Graph
from attn_xl.graph.matrix import Matrix, Numbers
from attn_xl.models import build as models
from attn_xl.models.computation import Computation, as_computation
from attn_xl.models.learning import losses, trained
from attn_xl.spreadsheets.objects import TAKEN
from attn_xl.tables.checkpoints.checkpoint import Checkpoint
from attn_xl.tables.read import book_of_objects, read_tables
from attn_xl.tables.survey import Table, Tables, survey_book
from attn_xl.workbook.templates import DEFAULT, find_template

from .errors import CallError, nearest, wrong_type
from .outputs import check_output, writing
from .settings import Formulas, Settings

if TYPE_CHECKING:
    from attn_xl.tables.roles import WordsIn
    from attn_xl.workbook.filling.author import FilledBook
    from attn_xl.workbook.layout.layout import Layout


def attend(
    tables: Any,
    settings: Settings | None = None,
    *,
    weights: Mapping[str, Any] | None = None,
    words: Sequence[str] | str | None = None,
    dims: Sequence[str] | str | None = None,
    **options: Any,
) -> Computation:
    """Compute attention, or another model, for every sentence of one or more tables.

    Args:
        tables: embeddings of shape (n, d), one word per row: a pandas or polars frame, an array, nested
            lists, a dictionary of vectors by word, a table or a matrix; a dictionary of several by
            name; a file; or the result of `read_tables`.
        settings: the model and its settings; those of the workbook if None.
        weights: learned weights by name, of shape (d, d_k) and so on: `{"W_Q": ..., "b_Q": ...}`, each
            a frame, an array or nested lists; PyTorch's names also work. They replace the weights of a
            workbook.
        words, dims: the labels of an array or of nested lists; a string is split at spaces.
        options: the fields of `Settings` as keywords: `causal=True, heads=2`. They override
            `settings`.

    Returns:
        The graph of each sentence by name; a single sentence that comes from no file is called
        `Sentence`.

    Raises:
        InputError: if numbers are missing or not finite, or a weight is missing or has the wrong shape.
        CallError: for an unknown option, an invalid combination of options, or labels that do not
            match the numbers.
        WrongTypeError: for an argument of the wrong type; also a CallError and a TypeError.

    Example:
        >>> import attn_xl
        >>> computation = attn_xl.attend([[1, 0], [0, 2]], words="cat sat", causal=True)
        >>> print(computation["Softmax"]["sat", "cat"].round(3))
        0.056
        >>> computation["Masked"]
        Masked = Scaled + Mask, 2 x 2
               cat     sat
        cat  0.707  -1e+09
        sat  0.000   2.828

    Source: Vaswani et al., "Attention Is All You Need" (2017).
    """
    if settings is not None and not isinstance(settings, Settings):
        raise wrong_type("settings", settings, "Settings, or options as keywords: attend(x, heads=2)")
    read = _tables(tables, words, dims)
    if weights is not None:
        read = _with_weights(read, weights)
    resolved = _settings(options, read, settings)
    return models.attend(read, resolved)


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """The result of learning.

    Attributes:
        losses: the loss after each number of steps, (steps + 1,).
        weights: the weights after the last step, by name.
        computation: every step; `write_workbook` writes it.
    """

    losses: Numbers
    weights: dict[str, Table]
    computation: Computation

    def __repr__(self) -> str:
        first, last = self.losses[0], self.losses[-1]
        return f"{self.computation.title}: loss {first:.4g}, after learning {last:.4g}"


def learn(
    tables: Any,
    settings: Settings | None = None,
    *,
    labels: Mapping[str, str | Sequence[str]] | None = None,
    weights: Mapping[str, Any] | None = None,
    words: Sequence[str] | str | None = None,
    dims: Sequence[str] | str | None = None,
    **options: Any,
) -> Learned:
    """Learn the weights of a model from one or more sentences.

    Args:
        labels: the right answers by the name of the sentence: its class, the word that follows it, or
            one word for each of its words. They replace those of a workbook.
        tables, settings, weights, words, dims, options: as for `attend`; 20 `steps` unless given.
            Weights that are not given are drawn from `seed`.

    Raises:
        InputError: if a target is missing or does not fit the model, if there is nothing to learn, or
            if the loss becomes infinite; also as for `attend`.
        CallError, WrongTypeError: as for `attend`.

    Example:
        >>> import attn_xl
        >>> attn_xl.learn("samples/learning.xlsx", steps=20)
        Learning, 20 steps: Classifier: pets, desk, kitchen, office: loss 0.7318, after learning 0.01509

    Source: Goodfellow, Bengio, Courville, "Deep Learning" (2016), chapter 8.
    """
    read = _tables(tables, words, dims)
    if labels is not None:
        given = {
            name: (text,) if isinstance(text, str) else tuple(text) for name, text in labels.items()
        }
        read = replace(read, labels=given)
    if settings is None:
        options.setdefault("steps", 20)
    computation = attend(read, settings, weights=weights, **options)
    return Learned(losses(computation), trained(computation), computation)


class TrainedModel:
    """A trained model: `model("the cat sat")` computes it for a text.

    Attributes:
        folder: its folder.
        settings: the settings in its config, by the names of `Settings`.
        weights: its weights by name, each read from its file when it is asked for.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self.folder, self.settings = checkpoint.folder, checkpoint.settings
        self.weights: Mapping[str, Table] = checkpoint.weights

    def __call__(self, *texts: str, **options: Any) -> Computation:
        """Compute the model for texts, each of which becomes a sentence.

        Args:
            texts: one or more texts.
            options: the fields of `Settings` as keywords: `live_layers="0 3-5"`, `live_heads="2"`.

        Raises:
            CallError: if a text is empty or too long, or for invalid options.
        """
        return attend(self.tables(*texts), **options)

    def tables(self, *texts: str) -> Tables:
        """The model and texts as `read_tables` returns them."""
        return self._checkpoint.tables(texts)

    def __repr__(self) -> str:
        return f"<trained model {str(self.folder)!r}: {len(self.weights)} weights>"


def load_model(folder: str | os.PathLike[str]) -> TrainedModel:
    """Load a trained model as the ecosystem ships it. Weights stay in their files until they are used.

    Args:
        folder: a folder with `config.json`, `tokenizer.json`, and `model.safetensors` or shards.

    Raises:
        InputError: if a file is missing or damaged, the family is unknown, or tensors are missing, have
            other shapes or are left over.
        MissingLibraryError: if the tokenizer needs the library `tokenizers`, which is not installed.

    Example:
        >>> import attn_xl
        >>> model = attn_xl.load_model("samples/tiny-model")
        >>> computation = model("the small cat chased the old mouse and the small")
        >>> print(computation["Probabilities"][-1, "cat"].round(2))
        1.0
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise wrong_type("folder", folder, "the path of a folder")
    return TrainedModel(Checkpoint(Path(folder)))


def _tables(what: Any, words: Any, dims: Any) -> Tables:
    if words is None and dims is None:
        if isinstance(what, Tables):
            return what
        if isinstance(what, Table):  # it has the path of its file
            return Tables(Path(what.file), {what.name: what}, {})
        if isinstance(what, (Computation, Graph)):
            raise wrong_type("the table", what, TAKEN)
        return read_tables(what)
    if isinstance(what, (str, os.PathLike, Tables)):
        raise CallError(
            "words and dims label an array or nested lists; a file has its own labels. Leave them out."
        )
    return _assembled(survey_book(book_of_objects(what, words, dims)))


def _assembled(survey: Any) -> Tables:
    if survey.trouble is not None:
        raise survey.trouble
    tables: Tables = survey.tables
    return tables


def _with_weights(tables: Tables, weights: Any) -> Tables:
    """Add weights to tables, recognized by name as in a dictionary of tables."""
    if not isinstance(weights, Mapping):
        raise wrong_type("weights", weights, 'a dictionary by name: {"W_Q": ...}')
    if not weights:
        return tables
    sentence = next(iter(tables.sentences.values()))
    alone = "Sentence"
    while alone in weights:
        alone += "_"
    found = read_tables({alone: sentence, **weights})
    unknown = [name for name in found.sentences if name != alone]
    if unknown:
        raise CallError(
            f"weights: {unknown[0]!r} is not the name of a weight. Names are W_Q, W_K, W_V, W_O, b_Q, "
            "W_Q_1 (of head 1), Enc1.W_1, Vocabulary, Mask, ..., or PyTorch's names."
        )
    return replace(
        tables,
        weights={**tables.weights, **found.weights},
        remarks=(*tables.remarks, *found.remarks),
    )


def _settings(options: Mapping[str, Any], tables: Tables, settings: Settings | None) -> Settings:
    known = [field.name for field in fields(Settings)]
    for name in options:
        if name not in known:
            raise CallError(f"attend has no option {name!r}. {nearest(name, known)}")
    if settings is None:
        return Settings.resolve(options, tables.settings, f"{tables.path}, sheet 'Settings'")
    return replace(settings, **options)


def fill(
    sheet: str | os.PathLike[str],
    path: str | os.PathLike[str],
    tables: Any = None,
    *,
    call: Mapping[str, str] | None = None,
    words_in: WordsIn | None = None,
    overwrite: bool = False,
    **options: Any,
) -> FilledBook:
    """Complete an author's own sheet: the blank cells of its frames get formulas.

    Args:
        sheet: the author's workbook, .xlsx or .xlsm; all else in it keeps its bytes, but for the stored
            values of formulas that read filled cells.
        path: the workbook to write; it appears only when it is complete.
        tables: sentences to put into the frames instead, which grow or shrink; as for `attend`.
        call: the author's own names and the steps they stand for: `{"Blend": "Output"}`.
        words_in: whether the words of the sheet are in "rows" or "columns"; detected if None.
        overwrite: replace an existing file.
        options: the fields of `Settings` as keywords: `causal=True`.

    Returns:
        What was filled in and found; `attention` lists what a person has to look at.

    Raises:
        InputError: if the workbook cannot be read or has no input, or a frame cannot grow.
        CallError: if the file exists or is the input, or for an invalid option.
        OutputError: if the file cannot be written.

    Example:
        >>> import attn_xl
        >>> attn_xl.fill("samples/authors/two-contexts.xlsx", "filled.xlsx", overwrite=True)
        <180 cells filled in 8 of 8 frames>
    """
    from attn_xl.workbook.filling.author import fill_file

    source, target = Path(sheet), Path(path)
    check_output(
        target,
        ".xlsm" if source.suffix.lower() == ".xlsm" else ".xlsx",
        force=overwrite,
        sources=(source,),
        instead="Pass overwrite=True to replace it, or name another file.",
    )
    Settings.check_call(options)
    names = {name.strip().casefold(): step for name, step in (call or {}).items()}
    read = None if tables is None else _tables(tables, None, None)
    filled = fill_file(source, options, names, words_in, read)
    with writing(target) as temporary:
        temporary.write_bytes(filled.content)
    return filled


def write_workbook(
    computation: Computation | Graph | Matrix,
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    plain: bool = False,
    template: str | os.PathLike[str] = DEFAULT,
    settings: Settings | None = None,
    source: str | None = None,
) -> Layout:
    """Write every matrix of a computation as a sheet of live formulas with cached values.

     For a file, the result is byte for byte the workbook that `attn-xl convert` writes: with an
    Overview, charts, and the record from which `read_tables` reads it back.

    Args:
        computation: the result of `attend`, a graph, or the matrix that a model returned.
        path: the .xlsx file to write; it appears only when it is complete.
        overwrite: replace an existing file.
        plain: omit switches and charts.
        template: the look: the path of a template, or the name of a built-in one: "article", "print".
        settings: how to show the matrices (formulas, decimals, layout); those of the computation if
            None.
        source: the origin of the numbers, for the file's properties; the name of the input if None.

    Returns:
        The layout: where each matrix is in the workbook.

    Raises:
        CallError: if the file exists, is the input, or does not end in .xlsx, or if there is no such
            template.
        WrongTypeError: for an argument of the wrong type; also a CallError and a TypeError.
        InputError: if the template is unusable or a matrix is too large for a sheet.
        OutputError: if the file cannot be written; nothing is changed then.

    Example:
        >>> import attn_xl
        >>> computation = attn_xl.attend({"cat": [1, 0], "sat": [0, 2]})
        >>> attn_xl.write_workbook(computation, "cat.xlsx", overwrite=True)
        <workbook of ... sheets>
    """
    computation = as_computation(computation)
    if not isinstance(path, (str, os.PathLike)):
        raise wrong_type("path", path, "the name of the .xlsx to write")
    if settings is not None and not isinstance(settings, Settings):
        raise wrong_type("settings", settings, "Settings")
    target, template_path = Path(path), find_template(template)
    tables = computation.tables
    check_output(
        target,
        ".xlsx",
        force=overwrite,
        sources=(template_path, *([tables.path] if tables else [])),
        instead="Pass overwrite=True to replace it, or name another file.",
    )
    display = settings or computation.settings or Settings()
    if tables is not None and computation.settings is not None:
        computed_with = computation.settings
        controls = display.formulas is not Formulas.none and not plain
        if computed_with.controls is not controls:
            computation = models.attend(tables, replace(computed_with, controls=controls))
        display = replace(display, controls=controls)
    if source is None:
        source = tables.path.name if tables is not None and tables.path.is_file() else ""
    from attn_xl.workbook.write import (
        write_workbook as write_computation,  # importing openpyxl takes longer than computing
    )

    return write_computation(
        computation, target, template=template_path, settings=display, source=source, record=True
    )

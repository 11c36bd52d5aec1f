"""The names that people give to matrices, read as ours: of weights, of the input, of the steps of
attention."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from attn_xl.text import pattern

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_WEIGHT_SHEET = pattern(
    r"\s*((?:enc|dec|layer)\d*\.)?((?:self|cross|forward|backward|pooler|transform)\.)?"
    r"(?:([wb])(?:[ _-]?([qkvo12])|[ _-](u|c|g|p|r|dkv|uk|uv|kr|qr|dq))"
    r"|(gamma|beta)(_(?:q|k|kv|dq))?|(vocabulary|mask|segment)"
    r"|(w_[ifgcrznh]|u_[ifgcorznh]|b_u?[ifgcorznh]|b_uo|w_(?:before|here|after|conv)|b_conv|[hc]_0|v_a))"
    r"((?:_\d+)?)\s*",
    re.IGNORECASE,
)
_OWN_TARGET = pattern(r"(.+)\.target", re.IGNORECASE)
"""The target of one of several sentences."""
_SMALL = ("r", "g")
"""Weights of a gate of a recurrent network, W_r; W_R is that of a router."""
_COMPACT = pattern(r"([wb])([qkvo12])(?:head|h)?((?:[1-9]\d*)?)|([wb])([1-9]\d*)([qkvo])")
_OF_NORM = pattern(
    r"(?:scale|shift|gain)?(?:(?:layer)?norm(?:alization)?)?([1-9]?)(?:scale|shift|gain)?"
    r"(?:(gamma|γ)|beta|β)(?:(?:of)?(?:the)?(?:layer)?norm)?([1-9]?)"
)
_OF_GATED = pattern(
    r"w(gate|up|down)(?:proj(?:ection)?)?|(gate|up|down)(?:proj(?:ection)?|weights?|matrix)+"
)
_GATED = {"gate": "W_G", "up": "W_1", "down": "W_2"}
"""The weights of a network with a gate, as in LLaMA."""
_OF_LAST = {
    "W_U": r"(?:lm|language ?model|prediction) ?head(?: weights?| matrix)*"
    r"|logits?(?: weights?| matrix)+|w[_ ]?(?:u|vocab|lm)|w_ ?(?:y|h_?[yq]|[yq]_?h)",
    "W_C": r"class(?:ifier|ification)?(?: head)?(?: weights?| matrix)+|classification head"
    r"|w[_ ]?(?:c|class|cls|clf)",
    "b_C": r"class(?:ifier|ification)?(?: head)? bias(?:es)?|bias(?:es)? of (?:the )?class(?:es|ifier)"
    r"|b_?(?:c|class|cls|clf)",
    "b_U": r"(?:(?:lm|language ?model|prediction) ?head|logits?|vocabulary) bias(?:es)?"
    r"|b_?(?:u|vocab|lm)|b_y",
    "W_O": r"w_?out(?:put)?",
}
"""What people call the weights of logits, and those of an output."""
_OF_MASK = pattern(
    r"(?:attention|causal|casual|look|ahead|pad(?:ding)?|sliding|window|local|band|triangular|lower|upper|future"
    r"|subsequent|visibility|encoder|decoder|self|combined|binary|additive|prefix|key|sparse|token)*mask"
    r"(?:matrix|m)?"
)
_OF_VOCABULARY = pattern(
    r"vocab(?:ulary)?(?:embeddings?|vectors|weights|matrix)*|unembeddings?(?:weights|matrix)?"
    r"|embeddings?ofthevocabulary"
)
_SPOKEN = pattern(
    r"(?:the )?(?:(?P<what>query|queries|key|keys|value|values|output|[qkvo])s? ?"
    r"(?P<kind>weights?|weight matrix|projection|projection matrix|projection weights|bias|biases)"
    r"|(?P<kind2>weights?|weight matrix|projection|linear(?: layer)?|bias|biases|w|b"
    r"|w(?=query|key|value)) ?"
    r"(?:of |for )?(?:the )?(?P<what2>query|queries|keys?|values?|output|[qkvo]))"
    r"(?: ?(?:of |for )?head)? ?(?P<head>\d*)"
)
_BRACKETS = pattern(r"\([^()]*\)|\[[^\[\]]*\]")
_SAYS_MORE = pattern(r"(?::|=|\s[–—-])\s.*")
_SAYS_WEIGHTS = pattern(
    r"\b(?:learned|random|trained|(?:query|key|value|output)?\s*(?:matrix|weights?|projection)"
    r"|ffn|mlp|feed[\s-]*forward(?:\s+network)?|(?:first|second)\s+layer|bias|unembedding|classifier"
    r"|(?:lm|class\w*|prediction)\s+head|(?:(?:final|last|output)\s+)?(?:linear\s+)?layer|linear"
    r"|(?:to\s+)?(?:the\s+)?(?:vocabulary|logits|classes))\b",
    re.IGNORECASE,
)
"""What stands beside the name of weights: `W_Q: learned`, `Matrix W_Q`, `Query projection W_Q`."""
_KINDS = (
    r"(?:(?:the|our|original|initial|starting|static|pretrained|input|word|token|sentence|embedded"
    r"|encoded) )*"
)
_INPUT = pattern(
    rf"x|e|(?:the )?inputs?|{_KINDS}(?:embeddings?(?: matrix| table| vectors)?|encodings|features"
    r"|sentence|sequence|inputs?|tokens|words|vectors)|(?:encoded|embedd(?:ed|ing)) (?:values|numbers)"
    r"|(?:(?:the|our) )?(?:words|sentence|tokens) as vectors"
    r"|(?:input|word|token) (?:matrix|data|vector|representations?)|(?:encoder|decoder|source|target) "
    r"(?:(?:hidden )?(?:(?:in|out)puts?|states?)|embeddings?|words|vectors|sentence|tokens)"
)
_MATRIX = pattern(r"[A-Z](?:['′]|[_^]?[A-Za-z0-9]|\^T|ᵀ)?\s*[:=]?")


def weight_name(sheet: str) -> str | None:
    """The weights on a sheet with this name: `W_Q` for `wq`, `Enc1.gamma_2`; None for a sentence."""
    match = _WEIGHT_SHEET.fullmatch(sheet)
    if match is None:
        own = _OWN_TARGET.fullmatch(sheet.strip())
        return f"{own[1]}.Target" if own else None
    stack, part, letter, index, last, norm, normed, other, gate, number = (
        group or "" for group in match.groups()
    )
    index += last
    if index not in _SMALL:
        index = index.upper()
    base = f"{letter.upper() if letter in 'wW' else 'b'}_{index}" if letter else ""
    gate = gate.lower()
    gate = gate[:1].upper() + gate[1:] if gate[:1] in ("w", "u") else gate.replace("b_u", "b_U")
    norm = norm.lower() + normed.upper()
    return f"{stack.title()}{part.title()}{base}{norm}{other.title()}{gate}{number}"


@lru_cache(maxsize=20_000)
def of_table(sheet: str) -> str:
    """The name of a table whose sheet Numbers calls `Sheet 1 - Scores`; that of any other sheet."""
    return re.sub(r"^\w+ \d+ - ", "", sheet)


def of_head(name: str, sheet: str) -> str:
    """The name of a step or of weights on a sheet: Q_2 for Q on one that is called `Head 2`."""
    head = re.fullmatch(r"head[\s_#-]*(\d+)", sheet.strip(), re.IGNORECASE)
    whole = name in ("", "Input", "W_O", "Concat") or name[-1:].isdigit()
    return name if whole or not head else f"{name}_{head[1]}"


@lru_cache(maxsize=20_000)
def weight_label(text: str) -> str | None:
    """The weights that a label names: `W_Q` for `Wq`, `W^Q`, `W_{Q}:` and `Query weights`; `W_Q_2` for
    `Query weights, head 2` and `Head 2: Wq`; None if it names none."""
    text = of_table(_HEAD_FIRST.sub(r"\2 head \1", undecorated(text)).rstrip(":= "))
    named = _SAYS_MORE.sub("", text)
    for form in (text, _BRACKETS.sub(" ", text), named, _SAYS_WEIGHTS.sub(" ", named)):
        if found := weight_name(form.strip()) or _of_gate(form) or _weight_label(form):
            # A note in brackets may stand before it: `WQ (query weights) (head 1)`.
            head = re.search(r"\bhead\s*#?(\d+)\W*$", text, re.IGNORECASE)
            return f"{found}_{head[1]}" if head and found[-1].isalpha() else found
    return None


def _of_gate(text: str) -> str | None:
    """The weights of a recurrent network that are named after what they multiply and make: `W_h` for
    `Wxh` and PyTorch's `W_ih`, `U_h` for `Whh`."""
    gate = re.fullmatch(
        r"w_?(?:(x|h)_?([ifgcorznh])|(i)_?h)", re.sub(r"[\s{}^:]+", "", text.casefold())
    )
    if gate is None:
        return None
    return f"{'U' if gate[1] == 'h' else 'W'}_{gate[2] or 'h'}"


_SAYS_RECURRENT = pattern(r"tanh|hidden|\brnn\b|recurrent")
_GATE = "o", "o_t", "ot"
"""Names of an output, or of the gate of it."""


def of_recurrence(texts: Iterable[Any]) -> dict[str, str]:
    """What only the sheet of a recurrent network, h = tanh(W_x x + W_h h + b), calls so, in lower case:
    its weights, those of gates (`Wf`, `Uf`), and its steps; {} if it is none."""
    plain = {undecorated(text).casefold() for text in texts if isinstance(text, str) and len(text) < 60}
    names = {text.partition("=")[0].strip() for text in plain}
    found = {name: step for name, step in _RECURRENCE.items() if name in names}
    short = (one for one in names if one[:1] in ("w", "u") and len(one) < 8 and not one[-1].isdigit())
    labels = {name: weight_label(name) or "" for name in short}
    if "U_h" in {step for name, step in labels.items() if name not in found}:  # W_h is what it says
        found = {name: step for name, step in found.items() if step != "U_h"}
    if {"u", "w"} <= names and _SAYS_RECURRENT.search(" ".join(plain)):  # tanh(U x + W h + b), V h + c
        found |= {"u": "W_h", "w": "U_h", "v": "W_U", "c": "b_U"}
    gates = {
        name: f"{name[0].replace('w', 'W').replace('u', 'U')}_{name[1]}"
        for name in names
        if re.fullmatch("[wub][ifgcorzhn]", name)
    }
    has = {*{**labels, **found}.values()}
    if {"wf", "uf"} <= gates.keys() or {"wz", "uz"} <= gates.keys() or has & {"U_f", "U_z"}:
        found = {name: step for name, step in found.items() if step[-2:] != "_h" and name not in _GATE}
        found |= gates
    elif not {"W_h", "U_h"} <= has:
        return {}
    if "W_U" not in has:  # what follows the hidden states may be anything
        return {name: step for name, step in found.items() if step == "Hidden" or weight_name(step)}
    if softmax := {text.partition("=")[0].strip() for text in plain if "= softmax" in text}:
        found |= dict.fromkeys(softmax & found.keys(), "Probabilities")
    return found


_ABOVE = r"h\(?(?:t-1|prev|old|before)"
_OF_GRU = {
    "update": (rf"\(1-zt?\)\(?{_ABOVE}", "new"),
    "reset": (rf"[(\[]rt?{_ABOVE}|[(\[]{_ABOVE}\w*\)?rt?[)\]]", "before"),
}
"""What the equations of a GRU say, h = (1 - z) h_(t-1) + z n and n = tanh(x W + (r h_(t-1)) U), where
they are not PyTorch's."""


def told_of_gates(texts: Iterable[Any]) -> dict[str, str]:
    """The settings of a GRU that equations among some texts tell."""
    equations = (text for text in texts if isinstance(text, str) and "=" in text and len(text) < 100)
    plain = unicodedata.normalize("NFKC", "\n".join(equations)).casefold()
    plain = re.sub(r"[ {}_⊙∘*·×⋅]", "", re.sub("[−–]", "-", plain))
    return {name: value for name, (told, value) in _OF_GRU.items() if re.search(told, plain)}


_OF_TANH = pattern(
    r"(?:(\w+)(?:\s*\^t)?\s*)?tanh\s*[(\[]\s*(\w+)(?:\s+(\w+))?\s*\+\s*(\w+)(?:\s+(\w+))?\s*[)\]]"
    r"(?:\s*(\w+))?"
)
"""Additive scores, v tanh(W s + U h): v, W, s, U, h, or v behind it."""
_OF_GENERAL = pattern(r"=\s*(\w+)(?:\s*\^t)?\s+(w(?!_?[qkvo]\b)\w*)\s+(\w+)(?:\s*\^t)?")
"""The scores of s^T W h."""
_OF_KEYS = "h", "k", "e"
ENERGIES = "Energies"
"""tanh(W s + U h) of a single query, which authors may show."""


def _unsigned(text: str) -> str:
    """An equation in lower case without signs of products."""
    return re.sub(r"[{}]|-1", "", re.sub(r"\s*[·*×⋅]\s*", " ", _marked(text).casefold()))


def _between(text: str) -> re.Match[str] | None:
    return _OF_GENERAL.search(_unsigned(text)) if step_told(text) == "Scores" else None


def names_weights_between(text: str) -> bool:
    """Whether the title of scores has weights between queries and keys, and no root: s^T W h."""
    return bool(_between(text)) and not re.search("√|sqrt", text, re.IGNORECASE)


def of_compared(texts: Iterable[Any]) -> dict[str, str]:
    """What the weights are called, in lower case, with which a sheet compares queries and keys: those
    of additive scores, v tanh(W s + U h), and of s^T W h; {} if it takes dot products.

    Source: Bahdanau et al. (2015), A.1.2; Luong et al., "Effective Approaches to Attention-based Neural
    Machine Translation" (2015), 3.1.
    """
    titles = [*dict.fromkeys(text for text in texts if isinstance(text, str) and len(text) < 100)]
    forms: list[tuple[dict[str, str], dict[str, str]]] = []
    for text in (text for text in titles if "=" in text or "tanh" in text):
        added = _OF_TANH.search(_unsigned(text))
        v, w, s, u, h, behind = added.groups(default="") if added else [""] * 6
        if added and (v or behind) and "x" not in (s[:1], h[:1]):  # x: of a recurrent network
            keys_first = (s or w)[0] in _OF_KEYS and (h or u)[0] not in _OF_KEYS
            own = {w: "W_K", u: "W_Q"} if keys_first else {w: "W_Q", u: "W_K"}
            own = own if s or len(w) > 1 else {}  # Q and K are themselves
            made = {f"{name} {of}": step[-1:] for (name, step), of in zip(own.items(), (s, h))}
            made[f"tanh{added[0].partition('tanh')[2].partition(')')[0]})"] = ENERGIES
            forms.append(({**own, v or behind: "v_a"}, made))
        elif between := _between(text):
            forms.append(({between[2]: "W_K" if between[1][0] in _OF_KEYS else "W_Q"}, {}))
    if forms or any(text[:2].casefold() in ("va", "v_") for text in titles):
        forms.append(({"w_a": "W_Q", "u_a": "W_K", "v_a": "v_a"}, {}))
    spelled = {text: _unsigned(undecorated(text)) for text in titles if forms}
    names = {
        form.partition("=")[0].strip(" :").replace("_", ""): undecorated(text).partition("=")[0]
        for text, form in spelled.items()
    }
    for form, made in forms:
        known = {name.replace("_", ""): step for name, step in form.items()}
        if known.keys() <= names.keys():
            known |= {name.replace("_", ""): step for name, step in made.items()}
            return {
                names[one].strip(" :").casefold(): known[one] for one in known.keys() & names.keys()
            }
    return {}


def _weight_label(text: str) -> str | None:
    # Unicode has no subscript q; authors use a subscript phi.
    plain = unicodedata.normalize("NFKC", text).casefold().replace("φ", "q").replace("ϕ", "q")
    letters = re.sub(r"[\s_^{}()\[\]\\:=.,-]+", "", plain)
    if _OF_VOCABULARY.fullmatch(letters):
        return "Vocabulary"
    if BY_SPELLING.get(letters) == "Mask" or _OF_MASK.fullmatch(letters):
        return "Mask"
    spaced = re.sub(r"[{}^: ]+", " ", plain).strip()
    if last := next((name for name, spelled in _OF_LAST.items() if re.fullmatch(spelled, spaced)), ""):
        return last
    if of_gate := _OF_GATED.fullmatch(letters):
        return _GATED[of_gate[1] or of_gate[2]]
    if norm := _OF_NORM.fullmatch(letters):
        number = norm[1] or norm[3]
        return ("gamma" if norm[2] else "beta") + (f"_{number}" if number else "")
    if compact := _COMPACT.fullmatch(letters):
        kind, what, head = compact[1] or compact[4], compact[2] or compact[6], compact[3] or compact[5]
    else:
        spoken = _SPOKEN.fullmatch(re.sub(r"[\s_,:()-]+", " ", plain).strip())
        if spoken is None:
            return None
        kind = "b" if (spoken["kind"] or spoken["kind2"]).startswith("b") else "w"
        what, head = (spoken["what"] or spoken["what2"])[0], spoken["head"]
    return f"{kind.upper() if kind == 'w' else 'b'}_{what.upper()}{f'_{head}' if head else ''}"


def is_matrix_name(text: str) -> bool:
    """Whether a text beside numbers is the name of a matrix rather than the label of a row."""
    return bool(weight_label(text) or _MATRIX.fullmatch(text.strip()) or names_input(text))


def names_input(text: str) -> bool:
    """Whether a title names the input of attention."""
    bare = re.sub(rf"(?<=\w\w)\s{_LETTER}$", "", _bare(undecorated(spaced(unnumbered(text)))))
    return bool(_INPUT.fullmatch(bare)) or BY_SPELLING.get(re.sub(r"[\s'’]", "", bare)) == "Input"


def _bare(text: str) -> str:
    return _BRACKETS.sub("", text).strip().rstrip(":=").strip().casefold()


_TITLES = tomllib.loads(Path(__file__).with_name("titles.toml").read_text(encoding="utf-8"))
SPELLINGS: dict[str, str] = _TITLES["attention"]
"""What people call each step of attention."""
_STEPS = {**SPELLINGS, **_TITLES["layers"]}
"""The same, and those of a layer, of a recurrent network and of similarity."""


def _spelled(names: Mapping[str, str], space: str = "") -> dict[str, str]:
    """The names of steps by their spellings, with `space` for each space."""
    return {
        unicodedata.normalize("NFKC", space.join(form.replace("'", "").split())).lower(): step
        for step, spellings in names.items()
        for spelling in map(str.strip, spellings.split(";"))
        for form in (
            (spelling[:-3], f"{spelling[:-3]}{spelling[-2]}")
            if spelling.endswith(("(s)", "(n)"))
            else (spelling,)
        )
    }


BY_SPELLING = _spelled(_TITLES["translations"]) | _spelled(_STEPS)
_RECURRENCE = _spelled(_TITLES["recurrence"], " ")
ACROSS = "Scores", "Scaled", "Masked", "Softmax"
"""Steps with a row for each word that looks and a column for each that is looked at."""
NO_STEPS = ("a", "s", "ss", "weights", "weight")
"""Titles of tables that may be something else."""
_APPLIED = pattern(r"\b(?:relu|[gs]elu|silu|swish)\b", re.IGNORECASE)
_TIMES = pattern(r"(?<=\S)\s+(?:[x×·*@⋅∙⊙∘]|dot|times)\s+(?=\S)|\s*[×·*@⋅∙⊙∘]\s*", re.IGNORECASE)
_TRANSPOSED = pattern(
    r"\^\{?[⊤T]\}?|(?<=[A-Z])\.T\b|(?<=\b[KX])T(?=\b|[QX]\b)|(?<=\b[QX][KX])T\b"
    r"|(?<=\b[KXkx])\s+[Tt]ransposed?\b|(?<=\b[Kk]eys)\s+[Tt]ransposed?\b"
)
"""Also without its mark, as a superscript reads: `QKT`, `KTQ`."""
_GOES_ON = pattern(r"[x×·*÷/+@⋅∙]\s.*=\s*([\w\s'′-]+)")
"""The result of a product whose first factor stands beside it: `· V = Output`."""
_MORE = (
    ("Scores", "Scaled"), ("Softmax", "Output"), ("Input", "Embedded"), ("Softmax.Sum", "Output"),
    ("Input", "Sum"), ("Output", "Sum"), ("Output", "Concat"), ("Output", "Embedded"),
    ("Input", "Pooled"),
)  # fmt: skip
"""What a name means, and what its formula may say: `Scores = QKᵀ/√d_k`, `Attention = softmax(S) V`,
`Input = Token + Position`, `E' = E + ΔE`."""
_UNSIGNED = pattern(r"(?<=\b[QX])\.(?=[KX])|(?<=\bA)\s?(?=[VX]\b)|(?<=\b[VX])\s?(?=A\b)")
"""Where a product has a dot or no sign: `Q.K`, `A V`."""
_QUERY, _KEY = r"(?:q|x|input|embeddings?)", r"(?:k|x|input|embeddings?)"
_PLAIN = r"(?:q|query|queries)\*?(?:k|keys?)(?:transposed?)?"
_PRODUCT = rf"(?:{_QUERY}\*?{_KEY}\^t|{_KEY}\^t\*?{_QUERY}|{_PLAIN}|matmul1)"
_ROOT = r"[/÷](?:sqrt|√)\(?\w*\)?"
_WEIGHTS = r"(?:(?:attention)?weights?|attention|softmax(?:\(.*\))?|a|α)"
_VALUES = r"(?:v|x|input|values?(?:vectors?)?)"
_OF_HEADS = r"(?:z|outputs?|contexts?|heads|attention|concat\w*(?:\(.*\))?)"
_PRODUCT_OF = r"(?:matmul|matrix(?:product|multiplication)|dotproducts?|multiply)(?:of)?"
_NEW = (
    "new|updated|blended|combined|context(?:ual(?:ized)?|aware)?|enriched|refined|transformed|final|mixed"
    "|attended|output"
)
_BEFORE = rf"(?:(?:scaled?)?scores|scaled|s|\(?(?:{_PRODUCT}|scores?|s)\)?(?:{_ROOT})?)"
_FORMULAS = (
    (rf"{_BEFORE}(?:\+|with)(?:m|(?:the|causal|padding|lookahead)*mask)", "Masked"),
    (rf"{_BEFORE}(?:\+|with)(?:b|(?:the|relative|position(?:al)?|alibi)*bias|alibi)", "Biased"),
    (rf"\(?{_PRODUCT}\)?{_ROOT}|\[\]{_ROOT}", "Scaled"),
    (
        r"(?:(?:scaled?|divided?|normalized)by(?:1/)?|[÷/])(?:√|sqrt|(?:the)?(?:square)?root|[\d.]+$)(?!.*softmax).*",
        "Scaled",
    ),
    (r"(?:the|raw|attention)*scoresdividedby.*", "Scaled"),
    (_PRODUCT, "Scores"),
    (r"softmax\(.*\)|softmaxof.*", "Softmax"),
    (r"concat(?:enate)?\(.*\)|\[z\d?[,;|]*z\d?.*\]", "Concat"),
    (
        r"(?:concat\w*?|combined?|merged?|stack(?:ed)?|joined?)(?:of)?(?:the|all)*heads?(?:outputs?)?",
        "Concat",
    ),
    (rf"softmax\(.*\)\*?{_VALUES}|{_VALUES}\*?softmax\(.*\)", "Output"),
    (rf"{_WEIGHTS}\*{_VALUES}|{_VALUES}\*{_WEIGHTS}", "Output"),
    (r".*attention\(q,k,v\)|(?:softmax|attention|weights|p)v", "Output"),
    (rf"{_OF_HEADS}\*?w\^?o|w\^?o\*?{_OF_HEADS}", "Attention"),
    (
        r"(?:multipl(?:y|ied)|matmul)(?:by|with)(?:the)?(?:v|values)|outputs?of(?:the)?\w*attention",
        "Output",
    ),
    (r"weighted(?:(?:sum|average)s?(?:of(?:the)?(?:v|values))?|values|vectors)", "Output"),
    (
        rf"(?:{_NEW})(?:word|token)?(?:embedding|vector|representation|value|word|token|feature|x)s?",
        "Output",
    ),
    (rf"{_PRODUCT_OF}\(?{_QUERY}(?:and|with|by|,){_KEY}(?:\^t)?\)?", "Scores"),
    (rf"{_PRODUCT_OF}\(?{_WEIGHTS}(?:and|with|by|,){_VALUES}\)?", "Output"),
    (
        r"(?:sumof(?:the)?)?(?:x|e|words?|inputs?|tokens?|(?:(?:word|token|input)s?)?embeddings?)"
        r"(?:\+|plus|with|and)(?:position(?:al|s)?(?:information|encodings?|embeddings?)?|pe?)"
        r"|position(?:al|ally)?awareembeddings?",
        "Embedded",
    ),
    (
        r"(?:sinusoidal|(?:sine?|cos(?:ine)?|/|and|&)+)(?:position(?:al)?(?:encodings?|embeddings?)|pe)",
        "Positions",
    ),
    (
        r"(?:x|inputs?|embeddings?)\+(?:z|outputs?|multihead|sublayer\(x\)|(?:self|multihead)?attention(?:outputs?)?)",
        "Sum",
    ),
    (r"(?:[xhyz]|sum|inputs?|subtract|minus)(?:the|its|row|−)*(?:mean|μ)", "Norm.Centred"),
    (
        r"(?:minus|subtract(?:ing)?)(?:the|row|its)*max(?:imum)?(?:of.*)?|shiftedscores",
        "Softmax.Shifted",
    ),
    (r"(?:ln|(?:layer)?norm(?:alization)?)\(.*\)", "Norm"),
    (r"\+(?:the|causal|padding|lookahead)*mask", "Masked"),
    (r"\+(?:the)?(?:position(?:al|s)?(?:encodings?|embeddings?)?|pe)", "Embedded"),
    (r"\+(?:the)?(?:x|inputs?|residual)", "Sum"),
    *((rf"(?:x|e|inputs?|embeddings?)\*?w\^?{kind.lower()}", kind) for kind in "QKV"),
    (r"(?:[a-z]|inputs?)\*?w1(?:\+b1)?|w1\*?(?:[a-z]|inputs?)(?:\+b1)?", "Hidden"),
    (
        r"(?:[a-z]|hidden|relu)\*?w2(?:\+b2)?|outputs?of(?:the)?(?:ffn|mlp|feedforward\w*)",
        "FeedForward",
    ),
    (r"max\(0,.*\)", "Activated"),
    (r"\[?(?:z|o|heads?|outputs?)_?1[|,;⊕‖]+(?:z|o|heads?|outputs?)_?2.*", "Concat"),
    (r"(?:relu|gelu)\(.*\)\*?w2(?:\+b2)?", "FeedForward"),
    (r"(?:relu|gelu)\(.*\)", "Activated"),
    (r"(?:e\^|exp).*[/÷](?:(?:its|the|row)*sum|[σ∑]|total).*", "Softmax"),
    (r"e\^\(?(?:\[\]|□|\w+)?\)?|exp\(.*\)|exp(?:onentials?)?of(?!.*sum).*", "Softmax.Exponentials"),
    (r"sumof(?:the|all)*exp\w*", "Softmax.Sum"),
    (r"[÷/](?:by)?(?:the)?(?:(?:row|column)?sums?|[σ∑])", "Softmax"),
    (r"[σ∑]e\^\w", "Softmax.Sum"),
    (r"(?:[σ∑]|sum)[ij]?\(?(?:a|α|w)[ij]{0,2}\*?[xvh][ij]?\)?", "Output"),
)


@cache
def _formulas() -> re.Pattern[str]:
    """All formulas, a group each, of which the first that fits counts."""
    return re.compile("|".join(f"({pattern})" for pattern, _ in _FORMULAS))


_WIDTH = pattern(
    r"((?:scal(?:e|ing)factor)?(?:√|sqrt|rootof)\(?dk?\)?|scal(?:e|ing)factor)[=:]?|d[=:]"
    r"|(?:(?:\w*\()?dk\)?(?:\(.*\))?|d(?:model|head)|(?:key|head)(?:size|width)"
    r"|(?:key|head|model)?dim(?:ension)?s?(?:\(d\)|d|of(?:the)?keys)?)[=:]?"
)
_ENCODED = pattern(r"encoder\s+(?:outputs?|(?:hidden\s+)?states?|vectors?)", re.IGNORECASE)
_MEMORY = pattern(r"(?:memory|source)(?:\s*\(.*\))?:?", re.IGNORECASE)
_FROM_THE_LEFT = pattern(
    rf"(?:k|x|input)\^t\*?(?:q|x|input)|(?:v|values)\*{_WEIGHTS}$|w[_^]?[qkv]\*?(?:x|input)(?!\w)",
    re.IGNORECASE,
)
_HEAD = pattern(
    r"[\s,(_|]*(?:head|word|token)\s*[_#]?(\d+)\)?$|\^\((\d+)\)$|(?<!\b[bBwW])_(\d+)$|(?<!^[a-z])"
    r"\s?#?(?<!\b[bBwW])(?<![\d.√])(?<!\b(?:of|by)\s)(\d{1,2})$"
)
_SPOKEN_HEAD = pattern(r"head", re.IGNORECASE)
_DECORATED = pattern(
    r"[\ufe0f\u20e3]"  # what makes an emoji of a digit
    r"|^(?:[\u2460-\u24ff\u2776-\u2793]\s*|[^\w\s(√÷+Σ∑/\[{]+\s+)(?=\S)|(?<=\S)\s+[^\w\s)\]}=:%Σ∑□]+$"
    r"|(?<=[a-z])\s*[/|(]?\s*[\u3040-\u9fff\uac00-\ud7af]+\)?$"
)
"""A bullet, a number in a circle or an arrow beside a title, and its Chinese, Japanese or Korean."""
_QUOTED = pattern(r"(?:[\"“«<]|\[(?!\])|\*+)\s*([^\"“”«»<>*\[\]]+?)\s*[\"”»>\]*]+")
_LENGTH = r"(?:\d+|[nmdTL](?:_\w+)?|seq\w*|words|tokens|dim\w*)"
_SIZE = pattern(
    rf"[\s,|]*[\[(]\s*{_LENGTH}\s*[x×,]\s*{_LENGTH}\s*[\])]$|"
    r"[\s,|]*[\[(]?(?<!\w)\d+\s*[x×]\s*\d+[\])]?$|\s*∈.*$|^\d+\s*[x×]\s*\d+\s+",
    re.IGNORECASE,
)
_REMARK = pattern(
    r"\s*[\[(](?:(?:rounded|(?:to )?\d+ (?:decimal|digit)|fill|to (?:be )?(?:fill|complet|comput)"
    r"|exercise|your turn|random|try|change|see\b)[^()]*|given|typed|learn(?:ed|able)|trained"
    r"|fixed|example|optional|solution)[\])]$",
    re.IGNORECASE,
)
"""What a title says of its numbers: `W_h (random)`, `Scores (to fill in)`."""
_PART = (
    r"(?:step|part|task|stage|phase|exercise|section|block|table|figure|fig\.?|sheet"
    r"|schritt|étape|paso|passo|шаг)"
)
_COUNT = pattern(
    rf"^(?:given:?|(?:{_PART}\s*)?[#(]?\d{{1,2}}(?:\.\d{{1,2}})*[a-h]?\s*[.):–—→-]*|{_PART}\s+(?:[a-h]|[ivx]{{1,4}}|one|two"
    r"|three|four|five|six)\s*[.):–—→-]+|(?:[ivx]{1,4}|[a-h])[.)])\s+(?=\S)",
    re.IGNORECASE,
)
"""The number of a step before its name: `2. Scores`, `Step 2: Scores`, `(2) Scores`, `b) Scores`."""
_SENTENCE = r"(?:sentence|context|text|example|phrase)\s*[#(]?(\d{1,2}|(?-i:[A-Z]))\b\)?"
_OF_SENTENCE = pattern(
    rf"^{_SENTENCE}\s*[:.,–—|-]*\s+(?=\S)"
    rf"|(?<=\S)(?:\s*[,:;|(–—-]\s*|\s+(?:of|for|in)\s+(?:the\s+)?|\s+(?=sentence)){_SENTENCE}\)*$",
    re.IGNORECASE,
)
"""What tells the sentence of a step: `Scores, sentence 2`, `Scores (context B)`, `Text 2: Scores`."""
_HEAD_FIRST = pattern(r"^(?:attention\s+)?head\s*(\d+)\s*[.:,–-]?\s+(?=\S)(.*)", re.IGNORECASE)
_FACTOR = pattern(r"(?<![A-Za-z])([QKVASXZ])_?(\d{1,2})(?!\d)(?=[QKVASXZ]_?\d|\b|[_^ᵀ])")
"""A matrix of a head in a formula: `Q1K1^T`."""
_JOINED = pattern(r"concat\w*\s*\(|\[?(?:z|o|heads?|outputs?)[_ ]?1\s*[|,;⊕‖]", re.IGNORECASE)
_ORDINAL = pattern(r"(?:(?:first|1st)|(second|2nd))\s+(.*)|(.+)\s+\(([12])\)", re.IGNORECASE)
"""One of the two norms or sums of a layer."""
_RESULT = pattern(
    r".*\s(?:to\s+(?:get|obtain|produce|form|compute|find|give)|gives|yields|=>|→)\s+(.*)",
    re.IGNORECASE,
)
"""What a step is for: `Multiply by V to get the output`."""
_MINUS = pattern(r"\s[–—−-]\s")
_TARGET = pattern(r"(?:the )?(?:targets?|one-hot(?: target)?|labels?|y_?true)", re.IGNORECASE)
_EXPLAINED = pattern(r":\s|\n|\s[–—-]\s")
"""What parts a name from its explanation: `Output: the new vectors`."""
_ASIDE = pattern(
    r"\([^()]*\)$|^(?:(?:raw|self|cross|(?:en|de)coder)[\s–-]+)+|(?<!weight)\s+(?:matrix|matrices)$",
    re.IGNORECASE,
)
_FURTHER = pattern(
    r"\s+before\s+(?:the\s+)?\w+$|\s+(?:by|over|per|of|along|for)\s+(?:each\s+|the\s+)?(?:row|column|word|key|vector)s?$"
    r"|^(?:(?:comput|calculat|apply)(?:e|ing)?\s+)?(?:the|our|row[\s-]?wise|matrix(?:\s+of)?)\s+|\s+(?:of|for|in|step)$"
    r"|\s+(?:of|for)\s+the\s+(?:new|current|last|next)\s+(?:word|token)$"
    r"|^(?:comput|calculat|apply)(?:e|ing)?\s+|(?<=score)s?\s+(?:with|against)\s+[\"“‘'«]?[\w-]+[\"”’'»]?$",
    re.IGNORECASE,
)
_LETTER = (
    r"(?:(?:(?<!entence\s)(?<!ontext\s)[ce-z]|x)[\u0300-\u036f]?(?:_[tij]|_\{[^{}]*\})?"
    r"|[cfhnorsxyz][\u0300-\u036f]?t)"
)
"""A symbol behind a name: `Decoder state s_{t-1}`, `Queries q`; `Input a` is one of several."""
_SYMBOL = pattern(  # `Context A` heads a sentence
    rf"(?<=\w\w)\s+(?:(?<!ontext\s)[A-Zαω]['′]?|[αω]_?ij|{_LETTER})$|(?<=\w\w)\s+(?:outputs?|vectors?)$"
)
_MULTIPLIED = pattern(
    r"^(?:matmul|matrix\s+(?:product|multiplication)|dot\s+products?|multiply)[:\s]\s*(?=\S)", re.I
)
_AFTER = pattern(
    r"((?:[\w&-]+\s+){0,3}?)after\s+(?:(?:the|causal|look-ahead)\s+)*(\S+(?:\s+\S+)?)", re.IGNORECASE
)
_OF_WORD = pattern(r"(.+?)\s+(?:of|for)\s+(?:the\s+)?(?:(?:word|token)\s+)?[\"“‘'«]?[\w-]+[\"”’'»]?")
"""What a title says besides: `Scores (raw)`, `Softmax by row`, `Queries Q`, `Weights after softmax`."""
_SCALED = pattern(
    r"scaled\s+(.+)|\(?(.+?)\)?\s*[/÷]\s*(?:(?:sqrt|√)\s*[\w()]*|\d[\d.]*)", re.IGNORECASE
)


_TEMPERED = pattern(
    r"(?<=\w)[\s,;(]+(?:with\s+|at\s+)?(?:(?i:temp(?:erature|\.)?)\s*[=:]?|[Tτ]\s*[=:])\s*\d+(?:\.\d+)?\)?"
    r"(?=(?:\s*\([^()]*\))?$)"
)
"""What tells the temperature of a softmax: `Softmax (T = 2)`."""


_PARTED = pattern(
    r"(?:(?<=[a-z])|(?<=[A-Z]{2}))(?=[A-Z][a-z]{2})(?!M(?:ul|ax)\b|Norm\b|Head\b)"
    r"|(?<=[A-Za-z]{2})_(?=[A-Za-z]{2})"
)

_ARTICLE = pattern(r"^(?:the|our)\s+(?=\w)", re.IGNORECASE)
_HYPHENED = pattern(r"\b(multi|self|cross|feed)\s+(?=head|attention|forward)", re.IGNORECASE)


def spaced(text: str) -> str:
    """A title with one space between words, `Scaled Scores` for `ScaledScores` and `Scaled_Scores`, and
    a hyphen in `Multi-head` and `Self-attention`."""
    return _HYPHENED.sub(r"\1-", _PARTED.sub(" ", " ".join(text.split())))


@lru_cache(maxsize=20_000)
def undecorated(text: str) -> str:
    """A title without bullets, arrows, quotation marks, the number of its step, an article, a remark on
    its numbers, its size, its temperature and a colon behind it."""
    text = _DECORATED.sub("", text.strip())
    if quoted := _QUOTED.fullmatch(text):
        text = quoted[1]
    text = "\n".join(map(spaced, text.strip().split("\n")))
    text = _SIZE.sub("", _REMARK.sub("", text.rstrip(":：= "))).rstrip(": ")
    text = _ARTICLE.sub("", _COUNT.sub("", _TEMPERED.sub("", text)).strip())
    return _DECORATED.sub("", text)


def _marked(text: str) -> str:
    """A title with the signs of transposes and products that it leaves out."""
    plain = unicodedata.normalize("NFKC", text.replace("ᵀ", "^T"))
    plain = re.sub(r"^transposed?(?: of)?(?: the)? (\w+)$", r"\1^T", plain, flags=re.IGNORECASE)
    return _UNSIGNED.sub("*", _TRANSPOSED.sub("^t", plain))


def sentence_of(text: str) -> str:
    """The number or the letter of the sentence whose step a title names, or ""."""
    found = _OF_SENTENCE.search(_REMARK.sub("", text))
    return (found[1] or found[2]).upper() if found else ""


def unnumbered(text: str) -> str:
    """A title without what tells its sentence: `Embeddings` for `Embeddings 2`."""
    return (
        re.sub(r"(?<=\w\w)\s+#?\d{1,2}$", "", _OF_SENTENCE.sub("", _REMARK.sub("", text.strip())))
        or text
    )


@lru_cache(maxsize=20_000)
def step_named(text: str) -> tuple[str, bool] | None:
    """The step that a title names, and whether it names its transpose; None if it names none.

    `Scores = Input x Input^T`, `K^T * Q` and `Raw scores:` name Scores, `K^T` names K transposed, `Wq`
    the weights W_Q, `Scores, head 2` and `Scores 2` Scores_2; `k2` is a dimension. What stands before
    the `=` counts first.
    """
    if not 0 < len(text) <= 200:
        return None
    text = _OF_SENTENCE.sub("", _REMARK.sub("", text.strip())) or text
    numbers = [] if "=" in text else [number for _, number in _FACTOR.findall(text)]
    if len(numbers) > 1 == len({*numbers}):
        found = step_named(_FACTOR.sub(r"\1", text))
        return (f"{found[0]}_{numbers[0]}", found[1]) if found else None
    if product := _GOES_ON.fullmatch(_COUNT.sub("", text.strip(": "))):
        found = step_named(product[1])
        if found and found[0] != "Input":
            return found
    plain = _HEAD_FIRST.sub(r"\2 head \1", _marked(undecorated(text)).strip(":;. "))
    plain = re.sub(r"(?<=\w\w)\s+\(?(?:μ|σ2)\)?$", "", plain)  # `Variance σ²`
    if re.search(r"\([^()]*=[^()]*\)$", plain):  # `Queries (Q = X W_Q)`
        plain = _ASIDE.sub("", plain)
    if ordinal := _ORDINAL.fullmatch(plain):
        found = step_named(ordinal[2] or ordinal[3])
        if found and found[0] in ("Norm", "Sum"):
            return f"{found[0]}_{ordinal[4] or (2 if ordinal[1] else 1)}", False
    before, equals, after = plain.partition("=")
    if re.search(r":\s*[\d_][\d_\s./]*(?:points?|pts|marks?)?$", plain):  # `Score: 10/10`
        return None
    if re.fullmatch(r"V\s*['′’`](?:\s*\([^()]*\))?", before.strip()):  # the values, mixed
        return "Output", False
    first = _EXPLAINED.split(before, maxsplit=1)[0]
    for part in dict.fromkeys((before, after, first) if equals else (plain, first)):
        part = part.strip().rstrip(":'′’`´ ")
        two = _MINUS.split(part, maxsplit=1)
        targets = [bool(_TARGET.fullmatch(side.strip())) for side in two]
        if len(two) == 2 and any(targets):
            return ("Errors", False) if targets == [False, True] else None
        sides = [_step(side.strip()) for side in two]
        if len({side[0] for side in sides if side}) > 1:  # `Output - Input`
            if (
                sides[0]
                and sides[0][0] in (*ACROSS, "Input")
                and sides[1] == ("Softmax.Maximum", False)
            ):
                return "Softmax.Shifted", False
            found = _step(part)
            return found if found and found[0] == "Norm.Centred" else None
        if (weights := weight_label(part)) and weights != "Mask":
            return weights, False
        joined = _JOINED.match(part)  # Concat(head_1, head_2) is of all
        whole = joined or re.sub(r"[\s-]", "", part.lower()) in BY_SPELLING  # σ², MatMul 1
        head = None if whole else _HEAD.search(_SPOKEN_HEAD.sub("head", part))
        base = part[: head.start()] if head else part
        aside = "" if equals else (re.findall(r"(?<!(?i:softmax))\((.*)\)$", base) or [""])[0]
        found = _step(base) or (_step(aside) if aside and not names_width(aside) else None)
        if found == ("Hidden", False) and _APPLIED.search(plain):
            return "Activated", False
        formula = _step(re.sub(r"(?<=[A-Za-z])_?\d+", "", after.strip() or aside)) if found else None
        if found and formula and (found[0], formula[0]) in _MORE:
            found = formula
        if found is not None:
            number = f"_{next(filter(None, head.groups()))}" if head and found[0] != "Input" else ""
            return f"{found[0]}{number}", found[1]
    for space in re.finditer(r"\s+(?=.*[*·×⋅√^/(])", plain) if len(plain) < 60 else ():  # `Output V A`
        named, formula = _step(plain[: space.start()]), _step(plain[space.end() :])
        if named and formula and (named[0] == formula[0] or (named[0], formula[0]) in _MORE):
            return formula
    if (result := _RESULT.fullmatch(plain)) and (found := step_named(result[1])):
        return found
    plain = spaced(text).lower()  # `Feed-Forward Output`, on two lines; A and a differ
    return step_named(plain) if len(text) > 4 and plain != text else None


def _step(text: str) -> tuple[str, bool] | None:
    scaled = _SCALED.fullmatch(text)
    scores = _step(scaled[1] or scaled[2]) if scaled else None
    if scores and scores[0] == "Scores":
        return "Scaled", scores[1]
    if after := _AFTER.fullmatch(text):
        special = {
            "w_o": "Attention",
            "wo": "Attention",
            "attention": "Output",
            "mask": "Masked",
            "masking": "Masked",
        }
        what, of = _step(after[1].strip()), after[2].casefold()
        if what and what[0] in ("Norm", "Sum"):
            return f"{what[0]}_{1 if 'attention' in of else 2}", False
        if what and what[0] in ("Q", "K") and of.startswith(("rope", "rotat", "rotary")):
            return f"Rotated{what[0]}", what[1]
        if what and what[0] in ("Softmax", "Output") and of.startswith("mask"):
            return what
        return (special[of], False) if of in special else _step(of)
    hidden = re.match(r"(?:masked|causal)\s+(.*(?<!attention))$", text, re.IGNORECASE)
    if hidden and (inner := _step(hidden[1])) and inner[0] in ("Scores", "Scaled", "Softmax", "Output"):
        return ("Masked" if inner[0] in ("Scores", "Scaled") else inner[0]), inner[1]
    of_word = _OF_WORD.fullmatch(text)
    if of_word and _step(of_word[1]) == ("Output", False):
        return "Output", False
    forms = [text]
    for less in (_MULTIPLIED, _ASIDE, _FURTHER, _SYMBOL, _ASIDE):
        forms.append(less.sub("", forms[-1]).strip())
    for form in dict.fromkeys(forms):
        lowered = re.sub(r"attn\.?", "attention", form.lower()).replace(
            "alised", "alized"
        )  # ß is no SS
        compact = re.sub(r"[\s_\-–'’]+", "", _TIMES.sub("*", lowered))
        if not compact:
            continue
        if found := BY_SPELLING.get(compact) or BY_SPELLING.get(lowered):
            return found, False
        if (
            compact.endswith("^t")
            and (found := BY_SPELLING.get(compact[:-2]))
            and "q" not in compact[:-3]
        ):
            return found, True
        if _OF_MASK.fullmatch(compact):
            return "Mask", False
        if names_input(form):
            return "Input", False
        if (formula := _formulas().fullmatch(compact)) and formula.lastindex:
            return _FORMULAS[formula.lastindex - 1][1], False
        if compact.endswith("^t") and names_input(form[:-2]):
            return "Input", True
    return None


_TOLD = (
    (r"\b(?:subtract|minus)\b.*\bmax|\w\s[−–-]\s(?:the )?(?:row )?max", "Softmax.Shifted"),
    (
        r"weigh(?:t|ted|ting)?\b.*\b(?:sum|average|mean|values|vectors|embeddings)"
        r"|(?:multipl|\bsum\b).*\b(?:values?|vectors?|v)\b|\b(?:mix|blend|combine).*\b(?:embedding|vector|word|value)s"
        r"|(?:new|updated|context\w*|final) (?:\w+ ){0,2}(?:vector|embedding|representation)s?",
        "Output",
    ),
    (r"\bwho\b.*\b(?:attends|looks|listens)\b.*\bwho", "Softmax"),
    (
        r"\bmask(?:ed|ing)?\b|\bhid(?:e|den|ing)\b.*\b(?:later|future|next)\b|\bfuture\b.*infinity",
        "Masked",
    ),
    (
        r"\bexp\b|\bexponent(?:ial|iat)|\bpowers? of e\b|\be\^|\be to (?:the|each|every)\b",
        "Softmax.Exponentials",
    ),
    (
        r"softmax|normali[sz]|probabilit|percentages|attention weights|sum to (?:1|one)"
        r"|how much attention"
        r"|divid.*\b(?:sums?|totals?)\b",
        "Softmax",
    ),
    (r"\bscal(?:e|ed|ing)\b|divid|square root|√|sqrt|^[÷/]\s*[\d.]+$", "Scaled"),
    (
        r"dot products?|inner products?|similar|scores?\b|compar|\b(?:like|relate)\b.*\bother"
        r"|belong together|\bq\b.*\bk\b|quer(?:y|ies)\b.*\bkeys?\b|\bby its transpose",
        "Scores",
    ),
    (r"quer(?:y|ies)\b|\bw_?q\b", "Q"),
    (r"\bkeys?\b(?! (?:takeaway|idea|point|question))|\bw_?k\b", "K"),
    (r"\bvalues?\b(?! (?:is|are)\b)|\bw_?v\b", "V"),
)
"""What a sentence says of a step; what stands first counts."""


@lru_cache(maxsize=20_000)
def step_told(text: str) -> str:
    """The step that a sentence over a frame tells of, or "": Scores for `Dot product of every pair of
    words`, Scaled for `Divide by the root of the width`."""
    plain = unicodedata.normalize("NFKC", undecorated(text)).casefold()
    if re.match(r"(?:check|note|hint)\b|.*:\s*\d[\d\s./]*$", plain):
        return ""
    plain = re.sub(r"\b(?:before|for|from|so that)\b.*|.*\binto\b|\bto get\b.*", "", plain)
    return next((step for pattern, step in _TOLD if re.search(pattern, plain)), "")


LEARNED = "Learned."
"""What stands before the name of weights after a step of learning."""
_GRADIENT = pattern(
    r"(?:[∂dδ]\s?(?i:L|loss)\s?/\s?[∂dδ]\s?|[∂∇]\s?_?(?:L\s*/)?|d\s?(?=[A-Z]|b_?\w\b)"
    r"|(?:the )?(?i:grad(?:ient)?s?)\b\s?(?:of|for|by|wrt|w\.r\.t\.|with respect to)?\s?(?:the )?)"
    r"[{(]?(?P<of>[^\s=(){}](?:[^=]*[^=\s(){}])?)[)}]?(?:\s+L)?|(?P<before>[^=]+?)\s(?i:grad(?:ient)?s?)"
)
_NOTE = pattern(r"\s*\([^()]*\)$")
_RENEWED = pattern(
    r"(?i:(?:new|updated)\s+(?P<of>.+)|(?P<before>.+?)(?:\s*[_^({]\s*|\s+)"
    r"(?:new|updated|after (?:(?:one|1|a|the) )?(?:step|update)(?: of learning)?)[)}]?"
    r"|(?P<less>[^\s=]+)\s*[-−–]\s*(?:η|lr|α|(?:learning )?rate|0?\.\d+)\s*[·*×⋅]?\s*\S.*)"
)


def of_learning(text: str, called: Callable[[str], tuple[str, bool] | None]) -> str:
    """The matrix of a step of learning that a title names, or "": dW_Q for `∂L/∂W_Q` and `Gradient of
    W_Q`, Learned.W_Q for `New W_Q`; `called` names a step."""
    plain = undecorated(text).partition("=")[0].strip(": ")[:60]
    for form in dict.fromkeys((plain, _NOTE.sub("", plain))):
        if found := _RENEWED.fullmatch(form):
            weights = weight_label(found["of"] or found["before"] or found["less"])
            return f"{LEARNED}{weights}" if weights else ""
        found = _GRADIENT.fullmatch(form)
        of = called(found["of"] or found["before"]) if found else None
        if of:
            return re.sub(r"([^.]+)$", r"d\1", of[0]) if "Input" not in of[0] else ""
    return ""


_SPOKEN_OF = pattern(
    r"[\"“‘'«](?P<quoted>[^\"“”‘’«»]+)[\"”’'»]|\b(?:for|of|query|word|token)\b\W*"
    r"(?:(?:the|word|token|query)\b\W*)*(?P<plain>[\w'-]*\w)",
    re.IGNORECASE,
)


def spoken_of(text: str) -> str:
    """The word that a text may name as the one that attends, in lower case: `for cat`, `Query: cat`,
    `"cat"`; "" for none."""
    found = _SPOKEN_OF.search(text)
    return (found["quoted"] or found["plain"]).casefold() if found else ""


def names_step(text: str) -> bool:
    """Whether the title of a table names a step of attention or of a layer; a letter may name a
    sentence."""
    named = step_named(text) if _bare(text) not in NO_STEPS else None
    return named is not None and named[0].partition("_")[0] in _STEPS


def of_encoder(text: str) -> bool:
    """Whether a title names what an encoder gives, which other words look at."""
    return bool(_ENCODED.search(text))


def names_memory(text: str) -> bool:
    """Whether a title names what other words look at: `Encoder output`, `Memory`, `Source (text)`."""
    return of_encoder(text) or bool(_MEMORY.fullmatch(text.strip()))


def says_across(text: str) -> bool:
    """Whether the formula in a title is that of words in columns: `K^T * Q`, `V * A`, `Wq * X`."""
    plain = _marked(text).partition("=")
    return bool(_FROM_THE_LEFT.search(re.sub(r"\s+", "", _TIMES.sub("*", plain[2] or plain[0]))))


def names_width(text: str) -> str:
    """ "width" for a defined name or a label of d_k (`dk`, `_dk`, `Key dims (dk) =`, `d =`), "root" for
    one of its root, else ""."""
    plain = re.sub(r"[\s_]", "", unicodedata.normalize("NFKC", text)).casefold()
    found = _WIDTH.fullmatch(plain)
    return ("root" if found[1] else "width") if found else ""

"""What the fuzzer does to a file: each mutation small, with a name, and told by a seed. Those of packages
take the members apart and put them together again, so that what is inside is reached."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import lru_cache
from random import Random

from fuzz_corpus import Corpus, compound

Members = list[tuple[str, bytes]]
Mutation = Callable[[bytes, Random, Corpus], bytes]

RAW: dict[str, Mutation] = {}
"""Of any file's bytes."""
PACKAGES: dict[str, Mutation] = {}
"""Of zip packages."""
TEXTS: dict[str, Mutation] = {}
"""Of text."""
CANARY = "the-canary-that-no-output-may-hold"
NUMBERS = ("NaN", "nan", "INF", "-INF", "Infinity", "1e999", "-1e999", "1E+308", "-0", "1e-400", "9" * 5000,
           "0." + "3" * 3000, "1" + "0" * 400, "", " ", "0x10", "1_000", "1,5", "\u0661\u0662", "--1",
           "1e", "+", "2147483648", "-1", "99999999999999999999", "18446744073709551616")  # fmt: skip
EXTREMES = ("1.7e308", "-1.7e308", "1.7976931348623157e308", "1e300", "-1e300", "1e154", "1.4e154", "1e-160",
            "1e-300", "-1e-300", "5e-324", "-5e-324", "2.2250738585072014e-308", "1e16", "1e22", "0", "1")  # fmt: skip
"""Numbers that a table may hold, and with which hardly anything can be computed."""
HIDDEN = ("\u202e", "\u202a", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c", "\u200b", "\u2060", "\ufeff",
          "\xad", "\U000e0041", "\x9b", "\u2028")  # fmt: skip
TEXTS_ODD = ("../../x", "/etc/passwd", "C:\\x", "\x1b[31mred\x1b]0;t\x07", "\u202eevil", "\ufffe",
             "x" * 400, "a" * 40_000, "'", '"', "=cmd|'/c calc'!A0", "=1+1", "@SUM(1)", "_x001B_",
             "[x]", "{0}", "%s%n", "A1:XFD1048576", "true", "\U0001f600", "a\u0300" * 200, "W_Q", "Settings",
             "#REF!", "{steps}", "<b>", "&amp;", "$" * 300, "999999999:1", "-2147483649")  # fmt: skip
FORMULAS = ("SUM(A1:XFD1048576)", "SUMPRODUCT(D1:XFD1048576)", "A1", "B2:C3", "(" * 5000 + "1" + ")" * 5000,
            "1^" * 4000 + "1", "-" * 8000 + "1", "1+" * 4000 + "1", "ABS(" * 2000 + "1" + ")" * 2000,
            "IF(" * 300, "HYPERLINK(\"http://127.0.0.1:9/\",1)", "WEBSERVICE(\"http://127.0.0.1:9/\")",
            "cmd|'/c calc'!A0", "[1]Sheet1!A1", "INDIRECT(\"A1\")", "OFFSET(A1,1e9,1e9)", "RAND()",
            "REPT(\"x\",1000000000)", "MMULT(A1:ZZ700,A1:ZZ700)", "\"" + "x" * 40_000 + "\"", "{1,2;3}",
            "{" + "1," * 5000 + "1}", "#REF!", "Sheet9!A1", "SUM(" + "A1," * 3000 + "A1)", "A0", "1/0",
            "SUM(1:1048576)", "'[../../x]S'!A1", "LET(x,1,x)", "LAMBDA(x,x)(1)", "'", "\"", "&", "x" * 9000,
            "SUMPRODUCT((A1:A1048576=1)*(B1:B1048576=1))", "FACT(1e9)", "COMBIN(1e9,5e8)",
            "BASE(1e300,2,255)", "TEXT(1e300,\"0\")", "A1:A2:A3:A4", "SEQUENCE(1048576,16384)")  # fmt: skip
ADDRESSES = ("A1:XFD1048576", "A1:J10000000", "A1", "XFD1048576", "A99999999", "ZZZZ1", "A0", "", "B2:A1",
             "1:1", "A:A", "A1:A1:A1", "$A$1:$B$2", "A-1", "AAAAAAAAAA1", "A18446744073709551617",
             "A1:XFD99999999")  # fmt: skip
FAR = (
    "99999999",
    "1048577",
    "1048576",
    "4294967296",
    "0",
    "-1",
    "x",
    "18446744073709551616",
    "10000000",
)
_ENTITIES = '<!DOCTYPE x [<!ENTITY a "lol">{}]>'.format(
    "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi"))
)


def _into(group: dict[str, Mutation]) -> Callable[[Mutation], Mutation]:
    def keep(mutation: Mutation) -> Mutation:
        group[mutation.__name__] = mutation
        return mutation

    return keep


raw, package, text = _into(RAW), _into(PACKAGES), _into(TEXTS)


# Any bytes


@raw
def truncated(data: bytes, rng: Random, _: Corpus) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


@raw
def truncated_at_the_end(data: bytes, rng: Random, _: Corpus) -> bytes:
    return data[: max(0, len(data) - rng.randint(1, 60))]


@raw
def flipped_bits(data: bytes, rng: Random, _: Corpus) -> bytes:
    made = bytearray(data)
    for _i in range(rng.choice((1, 3, 10, 100))):
        if made:
            made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


@raw
def random_bytes(data: bytes, rng: Random, _: Corpus) -> bytes:
    at, size = rng.randrange(len(data) + 1), rng.randint(1, 300)
    return data[:at] + rng.randbytes(size) + data[at + rng.choice((0, size)) :]


@raw
def cut_out(data: bytes, rng: Random, _: Corpus) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.randint(1, 500) :]


@raw
def twice(data: bytes, rng: Random, _: Corpus) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[max(0, at - rng.randint(1, 3000)) :]


@raw
def zeros(data: bytes, rng: Random, _: Corpus) -> bytes:
    at, size = rng.randrange(len(data) + 1), rng.randint(1, 600)
    return data[:at] + rng.choice((b"\0", b"\xff")) * size + data[at + size :]


@raw
def spliced(data: bytes, rng: Random, files: Corpus) -> bytes:
    other = files[rng.choice(list(files))]
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


@raw
def prefixed(data: bytes, rng: Random, _: Corpus) -> bytes:
    return rng.choice((b"PK\3\4", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\x93NUMPY", b"\x1f\x8b", b"\xef\xbb\xbf",
                       b"\n", b"{", b"[", b"<", b"%PDF-1.4\n", b"MZ", b"PK", b"\0")) + data  # fmt: skip


@raw
def only_a_beginning(data: bytes, rng: Random, _: Corpus) -> bytes:
    return data[: rng.choice((0, 1, 2, 4, 8, 30, 100, 512))]


@raw
def encrypted_for_excel(data: bytes, rng: Random, _: Corpus) -> bytes:
    names = rng.choice((("EncryptionInfo", "EncryptedPackage"), ("EncryptedPackage",), ("Workbook",)))
    return compound(*names) + data[: rng.choice((0, 5000))]


# The fields of a zip: local headers, the central directory, its end


def _field(sign: bytes, at: int, form: str, values: tuple[int, ...]) -> Mutation:
    def change(data: bytes, rng: Random, _: Corpus) -> bytes:
        places = [found.start() for found in re.finditer(re.escape(sign), data)]
        if not places:
            return data
        made = bytearray(data)
        for place in rng.sample(places, rng.choice((1, len(places)))):
            if place + at + struct.calcsize(form) <= len(made):
                struct.pack_into(form, made, place + at, rng.choice(values))
        return bytes(made)

    return change


_LOCAL, _CENTRAL, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_SIZES = (0, 1, 100, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF, 70_000_000)
for _name, _at, _form, _values in (
    ("flags", 6, "<H", (1, 8, 9, 0x41, 0x2000, 0xFFFF)),
    ("method", 8, "<H", (0, 1, 9, 12, 14, 93, 99, 0xFFFF)),
    ("crc", 14, "<I", (0, 1, 0xFFFFFFFF)),
    ("packed_size", 18, "<I", _SIZES),
    ("size", 22, "<I", _SIZES),
    ("name_length", 26, "<H", (0, 1, 300, 0xFFFF)),
    ("extra_length", 28, "<H", (1, 4, 300, 0xFFFF)),
):
    PACKAGES[f"wrong_local_{_name}"] = _field(_LOCAL, _at, _form, _values)
    PACKAGES[f"wrong_central_{_name}"] = _field(_CENTRAL, _at + 2, _form, _values)
PACKAGES["wrong_central_offset"] = _field(_CENTRAL, 42, "<I", (0, 1, 30, 0x7FFFFFFF, 0xFFFFFFFF))
PACKAGES["wrong_end_count"] = _field(_END, 10, "<H", (0, 1, 3, 0xFFFF))
PACKAGES["wrong_end_size"] = _field(_END, 12, "<I", (0, 1, 0xFFFFFFFF))
PACKAGES["wrong_end_offset"] = _field(_END, 16, "<I", (0, 1, 0x7FFFFFFF, 0xFFFFFFFF))
PACKAGES["wrong_end_comment"] = _field(_END, 20, "<H", (1, 100, 0xFFFF))


@package
def encrypted_in_the_zip(data: bytes, rng: Random, files: Corpus) -> bytes:
    return _field(_CENTRAL, 8, "<H", (1,))(_field(_LOCAL, 6, "<H", (1,))(data, rng, files), rng, files)


# Members


@lru_cache(maxsize=400)
def _opened(data: bytes) -> tuple[tuple[str, bytes], ...]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return tuple((entry.filename, archive.read(entry)) for entry in archive.infolist())
    except Exception:
        return ()


def packed(members: Members) -> bytes:
    """A package of these members, the same bytes always."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.NameToInfo.pop(name, None)  # two of one name are wanted without a warning
            archive.writestr(entry, data)
    return stream.getvalue()


def _members(change: Callable[[Members, Random, Corpus], Members]) -> Mutation:
    def mutation(data: bytes, rng: Random, files: Corpus) -> bytes:
        there = list(_opened(data))
        return packed(change(there, rng, files)) if there else data

    PACKAGES[change.__name__] = mutation
    return mutation


@_members
def without_a_member(members: Members, rng: Random, _: Corpus) -> Members:
    del members[rng.randrange(len(members))]
    return members


@_members
def without_strings_or_links(members: Members, rng: Random, _: Corpus) -> Members:
    gone = rng.choice(("sharedStrings", ".rels", "styles", "Content_Types", "workbook.xml", "theme"))
    return [(name, data) for name, data in members if gone not in name]


@_members
def a_member_twice(members: Members, rng: Random, _: Corpus) -> Members:
    name, _data = rng.choice(members)
    return [*members, (name, rng.choice(members)[1])]


@_members
def members_swapped(members: Members, rng: Random, _: Corpus) -> Members:
    i, j = rng.randrange(len(members)), rng.randrange(len(members))
    (a, x), (b, y) = members[i], members[j]
    members[i], members[j] = (a, y), (b, x)
    return members


@_members
def a_member_of_another(members: Members, rng: Random, files: Corpus) -> Members:
    other = _opened(files[rng.choice([n for n in files if n.endswith((".xlsx", ".ods"))])])
    name, data = rng.choice(other or [("empty.xml", b"")])  # what is encrypted has no members
    i = rng.randrange(len(members))
    members[i] = (members[i][0], data)
    return [(n, d) for n, d in members if n != name] + [(name, data)]


@_members
def odd_member_names(members: Members, rng: Random, _: Corpus) -> Members:
    odd = rng.choice(("../../x", "/tmp/x", "..\\..\\x", "C:/x", "xl/../../../x", "", "x/", "\u202ex", "xl//a",
                      "a" * 5000, "./xl/workbook.xml", "XL/WORKBOOK.XML", "xl/worksheets/../../x.xml"))  # fmt: skip
    i = rng.randrange(len(members))
    if rng.random() < 0.5:
        members[i] = (odd, members[i][1])
    return [*members, (odd, b"<x/>")]


@_members
def links_to_odd_places(members: Members, rng: Random, _: Corpus) -> Members:
    odd = rng.choice(("../../../x", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:9/x", "workbook.xml",
                      "../workbook.xml", "worksheets/sheet1.xml", "", "x" * 400, "%2e%2e/x", "\\\\host\\x"))  # fmt: skip
    return _changed(members, rng, rb'Target="[^"]*"', lambda _: f'Target="{odd}"'.encode(), ".rels")


@_members
def external_links(members: Members, rng: Random, _: Corpus) -> Members:
    here = "http://schemas.openxmlformats.org"
    kind = f"{here}/officeDocument/2006/relationships/externalLink"
    link = f'<Relationship Id="rIdX" Type="{kind}{{}}" Target="{{}}"{{}}/></Relationships>'
    into = link.format("", "externalLinks/externalLink1.xml", "").encode()
    out = rng.choice(("file:///c:/x.xlsx", "http://127.0.0.1:9/x.xlsx", "\\\\host\\share\\x.xlsx"))
    made = [
        (n, d.replace(b"</Relationships>", into) if n.endswith("workbook.xml.rels") else d)
        for n, d in members
    ]
    made = [
        (n, d.replace(b"</workbook>", b'<externalReferences><externalReference xmlns:r="' +
         f"{here}/officeDocument/2006/relationships".encode() +
         b'" r:id="rIdX"/></externalReferences></workbook>') if n.endswith("xl/workbook.xml") else d)
        for n, d in made
    ]  # fmt: skip
    main = f"{here}/spreadsheetml/2006/main"
    rels = f'<Relationships xmlns="{here}/package/2006/relationships">'
    rels += link.format("Path", out, ' TargetMode="External"')
    part = f'<externalLink xmlns="{main}"><externalBook xmlns:r="{here}/officeDocument/2006/relationships" '
    part += 'r:id="rIdX"><sheetNames><sheetName val="S"/></sheetNames></externalBook></externalLink>'
    return [*made, ("xl/externalLinks/externalLink1.xml", part.encode()),
            ("xl/externalLinks/_rels/externalLink1.xml.rels", rels.encode())]  # fmt: skip


@_members
def macros(members: Members, rng: Random, _: Corpus) -> Members:
    plain = b"spreadsheetml.sheet.main+xml"
    made = [(n, d.replace(b"openxmlformats-officedocument." + plain, b"ms-excel.sheet.macroEnabled.main+xml"))
            for n, d in members]  # fmt: skip
    return [
        *made,
        ("xl/vbaProject.bin", compound("VBA", "dir")),
        ("xl/macrosheets/sheet1.xml", b"<x/>"),
    ]


@_members
def flipped_inside(members: Members, rng: Random, files: Corpus) -> Members:
    return _one(members, rng, lambda data: flipped_bits(data, rng, files))


@_members
def cut_inside(members: Members, rng: Random, files: Corpus) -> Members:
    change = rng.choice((truncated, cut_out, twice, zeros, random_bytes))
    return _one(members, rng, lambda data: change(data, rng, files))


def _one(members: Members, rng: Random, change: Callable[[bytes], bytes], only: str = "") -> Members:
    """One member changed; those that matter more often than the others."""
    heavy = [i for i, (name, _) in enumerate(members)
             if re.search(r"sheet\d*\.(xml|bin)|workbook|sharedStrings|styles|content\.xml|rels", name)]  # fmt: skip
    places = heavy if heavy and rng.random() < 0.8 else range(len(members))
    places = [i for i in places if only in members[i][0]] or list(places)
    i = rng.choice(places)
    members[i] = (members[i][0], change(members[i][1]))
    return members


def _changed(
    members: Members,
    rng: Random,
    pattern: bytes,
    new: Callable[[re.Match[bytes]], bytes],
    only: str = "",
) -> Members:
    """Some of what a pattern finds in one member, replaced."""

    def change(data: bytes) -> bytes:
        found = list(re.finditer(pattern, data))
        if not found:
            return data
        chosen = rng.sample(found, min(len(found), rng.choice((1, 1, 2, len(found)))))
        made, last = [], 0
        for match in sorted(chosen, key=lambda m: m.start()):
            piece = new(match)
            if len(piece) > 10_000 and made:
                break
            made += [data[last : match.start()], piece]
            last = match.end()
        return b"".join([*made, data[last:]])

    return _one(members, rng, change, only)


# Bombs


def bomb(size: int, name: str = "xl/media/x.bin", unit: bytes = b"\0") -> bytes:
    return packed([(name, unit * (size // len(unit)))])


@lru_cache(maxsize=4)
def _filler(unit: bytes, size: int) -> bytes:
    return unit * (size // len(unit))


@_members
def zip_bomb(members: Members, rng: Random, _: Corpus) -> Members:
    """A part that is a thousand times as large unpacked."""
    unit = rng.choice((b" ", b"<!---->", b"<c><v>1</v></c>", b"<si><t>a</t></si>"))
    filler = _filler(unit, 60_000_000)
    at = rng.choice((b"</sheetData>", b"</sst>", b"</worksheet>", b"</workbook>", b"</styleSheet>"))
    places = [i for i, (_, d) in enumerate(members) if at in d] or [0]
    i = rng.choice(places)
    members[i] = (
        members[i][0],
        members[i][1].replace(at, filler + at, 1) if at in members[i][1] else filler,
    )
    return members


@_members
def zip_bomb_nested(members: Members, rng: Random, _: Corpus) -> Members:
    inner = bomb(5_000_000)
    for _i in range(rng.randint(1, 4)):
        inner = packed([(f"{i}.zip", inner) for i in range(4)])
    return [*members, (rng.choice(("xl/embeddings/x.zip", "xl/worksheets/sheet9.xml")), inner)]


def zip_bomb_that_lies(data: bytes, rng: Random, files: Corpus) -> bytes:
    """As above, with small sizes in the headers."""
    made = bytearray(PACKAGES["zip_bomb"](data, rng, files))
    for sign, at in ((_LOCAL, 22), (_CENTRAL, 24)):
        for found in re.finditer(re.escape(sign), bytes(made)):
            if struct.unpack_from("<I", made, found.start() + at)[0] > 10_000_000:
                struct.pack_into("<I", made, found.start() + at, rng.choice((10, 1000)))
    return bytes(made)


PACKAGES["zip_bomb_that_lies"] = zip_bomb_that_lies


@_members
def many_members(members: Members, rng: Random, _: Corpus) -> Members:
    return [*members, *((f"xl/worksheets/x{i}.xml", b"") for i in range(rng.choice((300, 20_000))))]


# XML


@_members
def bad_xml(members: Members, rng: Random, _: Corpus) -> Members:
    odd = rng.choice((b"<", b"&", b"&x;", b"]]>", b"<a", b"</a>", b"\0", b"\xff", b"&#0;", b"&#xD800;", b"<![CDATA[",
                      b"<?x ?>", b"<!-- -- -->", b"<!--", b"<a b='1' b='2'/>", b"\x0b", b"&#x1b;[31m"))  # fmt: skip

    def change(data: bytes) -> bytes:
        at = rng.choice([0, len(data), *(m.end() for m in re.finditer(b">", data))])
        return data[:at] + odd + data[at:]

    return _one(members, rng, change)


@_members
def mismatched_tags(members: Members, rng: Random, _: Corpus) -> Members:
    return _changed(
        members, rng, rb"</?[\w:]+", lambda m: rng.choice((b"<x", b"</x", m[0] + b"x", b"<"))
    )


@_members
def elements_gone(members: Members, rng: Random, _: Corpus) -> Members:
    return _changed(members, rng, rb"<([\w:]+)[^>]*(?:/>|>[^<]*</\1>)", lambda _: b"")


@_members
def elements_twice(members: Members, rng: Random, _: Corpus) -> Members:
    times = rng.choice((2, 2, 3, 1000))
    return _changed(members, rng, rb"<([\w:]+)[^>]*(?:/>|>[^<]*</\1>)", lambda m: m[0] * times)


@_members
def deep_xml(members: Members, rng: Random, _: Corpus) -> Members:
    deep = rng.choice((1000, 100_000))
    middle = b"<a>" * deep + (b"</a>" * deep if rng.random() < 0.7 else b"")
    return _changed(members, rng, rb"<[\w:]+[^>]*>", lambda m: m[0] + middle)


def _with_doctype(doctype: str, use: str) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        head, mark, rest = data.partition(b"?>") if data.startswith(b"<?xml") else (b"", b"", data)
        rest = re.sub(rb">[^<>]+</", b">" + use.encode() + b"</", rest, count=1)
        return head + mark + doctype.encode() + rest

    return change


@_members
def entity_expansion(members: Members, rng: Random, _: Corpus) -> Members:
    return _one(members, rng, _with_doctype(_ENTITIES, "&i;"))


@_members
def external_entities(members: Members, rng: Random, _: Corpus) -> Members:
    where = rng.choice(("file:///etc/hostname", "../canary.txt", "http://127.0.0.1:9/x", "canary.txt"))
    doctype = rng.choice((
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "{where}">]>',
        f'<!DOCTYPE x [<!ENTITY % p SYSTEM "{where}">%p;<!ENTITY e "x">]>',
        f'<!DOCTYPE x SYSTEM "{where}" [<!ENTITY e "x">]>',
        '<!DOCTYPE x [<!ENTITY e "x">]>',
    ))  # fmt: skip
    return _one(members, rng, _with_doctype(doctype, "&e;"))


@_members
def other_encodings(members: Members, rng: Random, _: Corpus) -> Members:
    name = rng.choice(("utf-16", "utf-16-le", "latin-1", "utf-32", "utf-7", "cp037", "shift_jis"))
    honest = rng.random() < 0.5

    def change(data: bytes) -> bytes:
        said = re.sub(rb'encoding="[^"]*"', f'encoding="{name}"'.encode(), data)
        return said.decode("utf-8", "replace").encode(name, "replace") if honest else said

    return _one(members, rng, change)


@_members
def other_prefixes(members: Members, rng: Random, _: Corpus) -> Members:
    swap = rng.choice(((b'xmlns="', b'xmlns:q="'), (b"schemas.openxmlformats.org", b"purl.oclc.org/ooxml"),
                       (b"2006/main", b"2006/mein"), (b"<c ", b"<x:c "), (b'xmlns="', b'XMLNS="')))  # fmt: skip
    return _one(members, rng, lambda data: data.replace(*swap))


@_members
def odd_attributes(members: Members, rng: Random, _: Corpus) -> Members:
    def odd(match: re.Match[bytes]) -> bytes:
        value = rng.choice(
            (rng.choice(NUMBERS), rng.choice(TEXTS_ODD), rng.choice(FAR), rng.choice(ADDRESSES))
        )
        return match[1] + b'="' + _escaped(value) + b'"'

    return _changed(members, rng, rb'(?<= )([\w:]+)="[^"]*"', odd)


@_members
def attributes_gone(members: Members, rng: Random, _: Corpus) -> Members:
    return _changed(members, rng, rb' [\w:]+="[^"]*"', lambda _: b"")


@_members
def odd_text(members: Members, rng: Random, _: Corpus) -> Members:
    def odd(_: re.Match[bytes]) -> bytes:
        return b">" + _escaped(rng.choice((rng.choice(NUMBERS), rng.choice(TEXTS_ODD)))) + b"</"

    return _changed(members, rng, rb">[^<>]+</", odd)


@_members
def huge_attribute(members: Members, rng: Random, _: Corpus) -> Members:
    return _changed(members, rng, rb'="[^"]*"', lambda _: b'="' + b"x" * 1_000_000 + b'"')


def _escaped(text: str) -> bytes:
    plain = "".join(c if c >= " " or rng_free(c) else f"&#x{ord(c):x};" for c in text)
    return (
        plain.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace('"', "&quot;")
        .encode("utf-8", "replace")
    )


def rng_free(letter: str) -> bool:
    """Whether a control character may stand in XML."""
    return letter in "\t\n\r"


# Spreadsheets


def _sheet(
    name: str, pattern: bytes, new: Callable[[re.Match[bytes], Random], bytes], only: str = "sheet"
) -> None:
    def change(members: Members, rng: Random, _: Corpus) -> Members:
        return _changed(members, rng, pattern, lambda match: new(match, rng), only)

    change.__name__ = name
    _members(change)


def _pick(values: tuple[str, ...], form: str) -> Callable[[re.Match[bytes], Random], bytes]:
    return lambda _, rng: form.replace("@", _escaped(rng.choice(values)).decode()).encode()


_sheet("odd_dimension", rb"<dimension[^>]*>", _pick(ADDRESSES, '<dimension ref="@"/>'))
_sheet(
    "far_cells", rb'<c r="[^"]*"', _pick((*ADDRESSES, "XFD1048576", "A1048576", "ALL20000"), '<c r="@"')
)
_sheet("far_rows", rb'<row r="[^"]*"', _pick(FAR, '<row r="@"'))
_sheet("ten_million_rows", rb'</sheetData>', lambda _, rng: b"".join(
    b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (i, i) for i in rng.sample(range(100, 10_000_000), 5)
) + b"</sheetData>")  # fmt: skip
_sheet("odd_numbers", rb"<v>[^<]*</v>", _pick(NUMBERS, "<v>@</v>"))
_sheet("extreme_numbers", rb"<v>-?[0-9][^<]*</v>", _pick(EXTREMES, "<v>@</v>"))
_sheet("extreme_ods_numbers", rb'office:value="[^"]*"', _pick(EXTREMES, 'office:value="@"'), "content")
_sheet("hidden_in_names", rb'(<sheet [^>]*name="|table:name=")([^"]*)', lambda m, rng: b"".join(
    (m[1], m[2][:2], rng.choice(HIDDEN).encode(), m[2][2:])), "")  # fmt: skip
_sheet("hidden_in_words", rb"(<t[^>]*>|<text:p>)([^<]*)", lambda m, rng: b"".join(
    (m[1], m[2][:1], rng.choice(HIDDEN).encode(), m[2][1:])), "")  # fmt: skip
_sheet("odd_string_numbers", rb'<c r="(\w*)"[^>]*><v>[^<]*</v>', lambda m, rng: b'<c r="%s" t="s"><v>%s</v>' % (
    m[1], rng.choice((b"999999999", b"-1", b"1e3", b"4294967296", b"x", b""))))  # fmt: skip
_sheet("odd_kinds", rb'<c r="(\w*)"[^>]*>', lambda m, rng: b'<c r="%s" t="%s">' % (
    m[1], rng.choice((b"s", b"str", b"b", b"e", b"d", b"inlineStr", b"n", b"x", b""))))  # fmt: skip
_sheet(
    "odd_styles",
    rb' s="\d+"',
    lambda _, rng: rng.choice((b' s="99999"', b' s="-1"', b' s="4294967296"', b' s="x"')),
)
_sheet("formulas", rb'(<c r="\w*")[^>]*>.*?</c>', lambda m, rng: m[1] + b"><f>" + _escaped(
    rng.choice(FORMULAS)) + b"</f>" + rng.choice((b"", b"<v>1</v>")) + b"</c>")  # fmt: skip
_sheet("array_formulas", rb'(<c r="\w*")[^>]*>.*?</c>', lambda m, rng: m[1] + b'><f t="%s" ref="%s">%s</f><v>1</v></c>' % (
    rng.choice((b"array", b"shared", b"dataTable")), _escaped(rng.choice(ADDRESSES)),
    _escaped(rng.choice(FORMULAS))))  # fmt: skip
_sheet("shared_formulas", rb'(<c r="\w*")[^>]*>.*?</c>', lambda m, rng: m[1] + b'><f t="shared" si="%d"/></c>' % (
    rng.choice((0, 1, 99999, 4294967296))))  # fmt: skip
_sheet(
    "merged_cells",
    rb"</sheetData>",
    _pick(ADDRESSES, '</sheetData><mergeCells><mergeCell ref="@"/></mergeCells>'),
)
_sheet(
    "hidden_columns",
    rb"<sheetData>",
    _pick(FAR, '<cols><col min="1" max="@" hidden="1"/></cols><sheetData>'),
)
_sheet("sheet_names", rb'<sheet ([^>]*)name="[^"]*"', lambda m, rng: b"<sheet " + m[1] + b'name="' + _escaped(
    rng.choice((*TEXTS_ODD, "", "Sentence", "W_Q", "W_K", "Overview", "a/b", "x" * 400, "&#x1b;[31m"))) + b'"', "workbook")  # fmt: skip
_sheet("defined_names", rb"<definedName [^>]*>[^<]*", lambda _, rng: b'<definedName name="' + _escaped(
    rng.choice((*TEXTS_ODD, "Words", "W_Q", "_xlnm.Print_Area", "A1", "R1C1"))) + b'">' + _escaped(
    rng.choice((*TEXTS_ODD, *ADDRESSES, *FORMULAS[:12]))), "workbook")  # fmt: skip
_sheet(
    "recalculate", rb"</workbook>", lambda *_: b'<calcPr fullCalcOnLoad="1"/></workbook>', "workbook"
)
_sheet(
    "string_counts",
    rb'(count|uniqueCount)="\d+"',
    lambda m, rng: m[1] + b'="' + rng.choice(FAR).encode() + b'"',
    "sharedStrings",
)
_sheet("repeated_cells", rb"<table:table-(cell|row)", lambda m, rng: b'<table:table-%s table:number-%s-repeated="%s"' % (
    m[1], rng.choice((b"rows", b"columns")), rng.choice(FAR).encode()), "content")  # fmt: skip
_sheet("odd_record", rb"<t[^>]*>[^<]*</t>", _pick((*TEXTS_ODD, *NUMBERS, "heads", "layers", "model", "100000",
    "lesson kind", "weights W_Q", "blank Scores", "1,1; 99999,1", '{"rows": []}', "Sentence!$A$1:$XFD$1048576"),
    "<t>@</t>"))  # fmt: skip


# Text


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@text
def odd_fields(data: bytes, rng: Random, _: Corpus) -> bytes:
    parts = re.split(r"([,;\t|\n \"\[\]{}]+)", _decoded(data))
    for _i in range(rng.choice((1, 1, 3, 20))):
        parts[rng.randrange(len(parts))] = rng.choice((rng.choice(NUMBERS), rng.choice(TEXTS_ODD)))
    return "".join(parts).encode("utf-8", "replace")


_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")


@text
def extreme_fields(data: bytes, rng: Random, _: Corpus) -> bytes:
    """All numbers, or some, at the ends of what a number can be; of a few kinds at a time."""
    few = rng.sample(EXTREMES, rng.choice((1, 2, 3, len(EXTREMES))))
    share = rng.choice((0.1, 0.5, 1.0))
    return _NUMBER.sub(lambda m: rng.choice(few).encode() if rng.random() < share else m[0], data)


@text
def hidden_in_texts(data: bytes, rng: Random, _: Corpus) -> bytes:
    found = [*re.finditer(rb"[A-Za-z]{2,}", data)]
    for match in sorted(rng.sample(found, min(len(found), 4)), key=lambda m: -m.start()):
        at = match.start() + 1
        data = data[:at] + rng.choice(HIDDEN).encode() + data[at:]
    return data


@text
def labelled_nothing(data: bytes, rng: Random, _: Corpus) -> bytes:
    """Labels in JSON for numbers that are not there."""
    labels: tuple[object, ...] = ([], ["cat"], ["cat", "sat"], None, [[]], "cat")
    values: tuple[object, ...] = ([], [[]], [[], []], [[1], []], [[None]], [["x"]], None, {})
    made: object = {
        rng.choice(("words", "rows", "index", "labels")): rng.choice(labels),
        rng.choice(("values", "data", "vectors")): rng.choice(values),
    }
    if rng.random() < 0.4:
        made = {**made, rng.choice(("dims", "columns")): rng.choice(labels)}  # type: ignore[dict-item]
    if rng.random() < 0.3:
        made = {"sentence": {"cat": [1, 2], "sat": [3, 4]}, rng.choice(("W_Q", "x")): made}
    return json.dumps(made).encode()


@text
def one_long_line(data: bytes, rng: Random, _: Corpus) -> bytes:
    unit = rng.choice(("1,", "x", '"', "a;b\t", "1 ", "[", "1e9,", " ", "\u00e9"))
    return data + (unit * (10_000_000 // len(unit))).encode()[:10_000_000]


@text
def many_lines(data: bytes, rng: Random, _: Corpus) -> bytes:
    return data + rng.choice((b"\n", b"x,1\n", b"1\n", b'"\n', b",\n", b"x,y\n\n")) * rng.choice(
        (40, 100_000)
    )


@text
def text_encodings(data: bytes, rng: Random, _: Corpus) -> bytes:
    name = rng.choice(
        ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "utf-8-sig", "cp037", "utf-7")
    )
    return _decoded(data).encode(name, "replace")


@text
def odd_letters(data: bytes, rng: Random, _: Corpus) -> bytes:
    odd = rng.choice((b"\0", b"\xed\xa0\x80", b"\xff\xfe", b"\x1b[2J", b"\x9b31m", b"\xc2\x9b31m", b"\r", b"\x0c", b"\x85",
                      b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xf4\x90\x80\x80", b"\x07", b"\x7f", b"\xef\xbf\xbe"))  # fmt: skip
    at = rng.randrange(len(data) + 1)
    return data[:at] + odd * rng.choice((1, 1, 50)) + data[at:]


@text
def quotes(data: bytes, rng: Random, _: Corpus) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice((b'"', b"'", b'""', b'"\n', b"sep=;\n", b"\\")) + data[at:]


@text
def lines_mixed(data: bytes, rng: Random, _: Corpus) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines[: rng.randint(1, len(lines))] * rng.choice((1, 2)))


@text
def other_delimiter(data: bytes, rng: Random, _: Corpus) -> bytes:
    return data.replace(
        rng.choice((b",", b";", b"\t", b" ")), rng.choice((b",", b";", b"\t", b"|", b" ", b""))
    )


@text
def deep_json(data: bytes, rng: Random, _: Corpus) -> bytes:
    deep = rng.choice((500, 100_000))
    before, after = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"> ", b"")))
    return before * deep + data + after * deep


@text
def odd_json(data: bytes, rng: Random, _: Corpus) -> bytes:
    odd: object = rng.choice((None, True, [], {}, [[]], [[[1]]], {"": [1]}, {"a": []}, [1, [2]], [{"a": {}}], "x",
                              {"words": 1, "values": [[1]]}, {"words": [None], "values": [[None]]},
                              {"values": [["x"]]}, {"x": [1], "y": [1, 2]}, [[True, None], ["a"]],
                              {"Settings": {"heads": [1]}, "a": [[1]]}, {"a" * 500: [[1]]},
                              {"\u0000": [1, 2]}, {"\ud800": [1, 2], "b": [1, 2]}))  # fmt: skip
    made = json.dumps(odd)
    if rng.random() < 0.5:
        number = rng.choice(("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "-0", "1" * 400))
        made = rng.choice(('[["a",%s],["b",2]]', '{"cat":[%s,1],"sat":[1,2]}', "[%s]", "%s")) % number
    return made.encode()


@text
def packed_twice(data: bytes, rng: Random, _: Corpus) -> bytes:
    import gzip

    if rng.random() < 0.3:
        data = _filler(rng.choice((b"\0", b"cat 1 2\n", b"x")), 30_000_000)
    made = gzip.compress(data, 1, mtime=0)
    return made if rng.random() < 0.6 else truncated(made, rng, {})


ALL: dict[str, Mutation] = {**RAW, **PACKAGES, **TEXTS}


def fitting(data: bytes) -> dict[str, Mutation]:
    """The mutations that are meant for a file's kind."""
    if data.startswith(b"PK"):
        return {**RAW, **PACKAGES}
    if b"\0" in data[:1000]:
        return RAW
    return {**RAW, **TEXTS}


def crc(data: bytes) -> int:
    """What tells two inputs apart, in a report."""
    return zlib.crc32(data)

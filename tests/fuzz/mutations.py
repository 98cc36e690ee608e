"""Files that are nearly right: sound ones with tokens swapped, lines gone or doubled, and odd values in between."""

import re

ODD = [
    *("", "0", "-1", "1e999", "-1e999", "1e-999", "nan", "NaN", "inf", "-Infinity", "1_000", "0x10", "٣", "½", "１"),
    *("9" * 20, "9" * 5000, "1" + "0" * 400, "0.1" + "0" * 400 + "1", "1e" + "9" * 30, "+1", "--1", "1.", ".", "e"),
    *("null", "true", "no", "~", "[]", "{}", "[[]]", "{a: b}", "*a", "&a", "!!python/object:os.system", "!x", "<<"),
    *("\0", "\x1b[31m", "\x7f", "\u202e", "\u2066", "\ufeff", "\u2028", "\u0085", "\u00a0", "\ufffd", "\U0010ffff"),
    *(
        "'",
        '"',
        '"""',
        "\\",
        "\\u0000",
        "\\ud800",
        "\\udfff",
        "${NAME}",
        "${",
        "$",
        "{x}",
        "{",
        "}",
        "[",
        "]",
        ":",
        "#",
    ),
    *("- ", "? ", "| ", "> ", "|9", "%", "@", "`", "---", "...", "\t", "\n", "\r", "\r\n", "\n\n", " ", "  ", ",", ";"),
    *("a" * 70_000, "[" * 2000, "{" * 500, "- " * 500, "q1", "d1", "nDCG@10", "nDCG(", "AP@99999999999999999999"),
    *("2026-02-30", "../../../etc/passwd", "/dev/null", ".", "..", "CON", "é", "e\u0301", "İ", "ı", "ß"),
]
"""What is put in the place of a token, or between two."""
RAW = [
    b"\xff",
    b"\xfe\xff",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\x1f\x8b",
    b"(\xb5/\xfd",
    b"PAR1",
]
"""The same, as bytes that are no text: cut-off UTF-8, and how packed files begin."""
LARGEST = 1 << 17
"""Lines repeated, and repeated again, would fill the memory of who changes them."""
TOKEN = re.compile(rb"[\w.@%-]+|\s+|[^\w\s]", re.ASCII)


def mutate(data, choose, others=()):
    """``data`` after a few changes; ``choose(n)`` is a number below n, from whoever decides."""
    for _ in range(1 + choose(4)):
        data = CHANGES[choose(len(CHANGES))](data, choose, others)[:LARGEST]
    return data


def _lines(change):
    def changed(data, choose, others):
        lines = data.splitlines(keepends=True)
        return b"".join(change(lines, choose(len(lines)), choose)) if lines else data

    return changed


def _tokens(change):
    def changed(data, choose, others):
        tokens = TOKEN.findall(data)
        return b"".join(change(tokens, choose(len(tokens)), choose)) if tokens else data

    return changed


def _swap(parts, at, choose):
    other = choose(len(parts))
    parts[at], parts[other] = parts[other], parts[at]
    return parts


def _odd(choose):
    number = choose(len(ODD) + len(RAW))
    return ODD[number].encode("utf-8", "surrogatepass") if number < len(ODD) else RAW[number - len(ODD)]


def _splice(data, choose, others):
    if not others:
        return data
    other = others[choose(len(others))]
    return data[: choose(len(data) + 1)] + other[choose(len(other) + 1) :]


def _flip(data, choose, others):
    at = choose(len(data)) if data else 0
    return data[:at] + bytes([choose(256)]) + data[at + 1 :]


def _cut(data, choose, others):
    return data[: choose(len(data) + 1)]


def _windows(data, choose, others):
    return data.replace(b"\n", (b"\r\n", b"\r", b"\n\r", b"\x0b")[choose(4)])


def _wide(data, choose, others):
    name = ("utf-16", "utf-32", "utf-8-sig", "latin-1")[choose(4)]
    return data.decode("utf-8", "replace").encode(name, "replace")


CHANGES = [
    _lines(lambda lines, at, choose: lines[:at] + lines[at + 1 :]),
    _lines(lambda lines, at, choose: lines[: at + 1] + lines[at:]),
    _lines(lambda lines, at, choose: lines[:at] + lines[at : at + 1] * (2 + choose(300)) + lines[at + 1 :]),
    _lines(_swap),
    _lines(lambda lines, at, choose: [*lines[:at], b" " * choose(9) + lines[at], *lines[at + 1 :]]),
    _tokens(_swap),
    _tokens(_swap),
    _tokens(lambda tokens, at, choose: tokens[:at] + tokens[at + 1 :]),
    _tokens(lambda tokens, at, choose: [*tokens[:at], _odd(choose), *tokens[at + 1 :]]),
    _tokens(lambda tokens, at, choose: [*tokens[:at], _odd(choose), *tokens[at + 1 :]]),
    _tokens(lambda tokens, at, choose: [*tokens[:at], _odd(choose), *tokens[at:]]),
    _splice,
    _flip,
    _cut,
    _windows,
    _wide,
]

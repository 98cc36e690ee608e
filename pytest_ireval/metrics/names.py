"""Reads the name of a metric: ``Name(param=value, …)@cutoff``, in any letter case, or a name of another package."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from pytest_ireval.entry_points import plain_distribution
from pytest_ireval.errors import (
    IrevalError,
    MetricError,
    MetricNameError,
    Problem,
    closest,
    did_you_mean,
    one_line,
    shown,
)
from pytest_ireval.metrics.metric import PACKAGES, Elsewhere, Metric, altered
from pytest_ireval.metrics.parameters import HOLE, SPELLED, arguments_of, holes_of, spelt_number, stem, stem_of

LONGEST_NAME = 1000
_MOST_LISTED = 30
TOKEN = re.compile(
    r"""(?P<blank>\s+)
      | (?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[^\W\d]\w*)
      | (?P<text>'[^'\\]*'|"[^"\\]*")
      | (?P<mark>[()\[\]{},:=@])""",
    re.VERBOSE,
)
OWNED = re.compile(r"(?P<owner>[A-Za-z0-9][A-Za-z0-9._-]*):(?=[^\W\d])")
"""The distribution before the name of one of its metrics, or the prefix of a resolver."""
WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


class Token(NamedTuple):
    """A word of a metric's name, and where it begins."""

    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class MetricResolver:
    """Metrics that a plugin does not list, all with one prefix: it is asked for ``Judged@10`` of ``irm:Judged@10``."""

    prefix: str
    """The word before the colon: lower-case letters, digits and _."""
    summary: str
    """A description of these metrics, in a line."""
    resolve: Callable[[str], Metric | None]
    """Takes the text after the prefix; returns the metric, or None if there is none of this name.

    An exception means the same, and its text is the reason. Asked for ``str(metric)`` it returns the same metric.
    """
    known: Sequence[str] = ()
    """Names without arguments, for suggestions and for shells that complete names."""
    origin: str = ""
    """The distribution, or the conftest.py, that registers it."""
    _made: dict[str, Metric] = field(default_factory=dict, init=False, repr=False, compare=False)

    def parse(self, text: str) -> list[Metric]:
        """The metric of that name, one value for all that is called so; raises MetricNameError with the reason."""
        text = text.strip()
        if text not in self._made:
            found = self._asked(text)
            name = str(found)
            if name not in self._made:
                if (again := str(self._asked(name))) != name:
                    complaint = f"{self.origin} calls it {name!r}, but resolves that name to {again!r}"
                    raise self._error(text, complaint)
                self._made[name] = altered(found, name=f"{self.prefix}:{found.name}", origin=self.origin)
            self._made[text] = self._made[name]
        return [self._made[text]]

    def family(self, text: str) -> Metric:
        """The same metric alone."""
        return self.parse(text)[0]

    def _asked(self, text: str) -> Metric:
        unknown = f"{self.prefix} of {self.origin} has no such metric"
        try:
            found = self.resolve(text)
        except IrevalError as error:
            raise self._error(text, f"{unknown}: {one_line(error)}") from error
        except Exception as error:  # a plugin may raise anything
            raise self._error(text, f"{unknown}: {type(error).__name__}: {error}") from error
        if found is None:
            raise self._error(text, unknown)
        if not isinstance(found, Metric):
            raise self._error(text, f"{self.prefix} of {self.origin} returned {found!r}, which is not a metric")
        if found.missing:
            raise self._error(text, f"{self.prefix} of {self.origin} returned {found}, which lacks {found.missing[0]}")
        return found

    def _error(self, text: str, complaint: str) -> MetricNameError:
        head = re.split(r"[(@]", text)[0]
        meant = closest(head, self.known)
        hint = f"did you mean {f'{self.prefix}:{meant}{text[len(head) :]}'!r}?" if meant not in ("", head) else ""
        allowed = f"{self.prefix}:… {self.summary}"
        return MetricNameError(Problem(complaint, shown(f"{self.prefix}:{text}"), suggestion=hint, allowed=allowed))


@dataclass(frozen=True)
class Vocabulary:
    """Metrics by all their names."""

    metrics: Mapping[str, Metric]
    of_distributions: Mapping[str, Vocabulary] = field(default_factory=dict)
    """The metrics that ``acme:Fresh`` is looked up in, by the plain name of the distribution."""
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names that several distributions bring, as :func:`key_of` has them, with the names that tell them apart."""
    resolvers: Mapping[str, tuple[MetricResolver, ...]] = field(default_factory=dict)
    """By plain prefix; more than one if several distributions bring it."""
    dialect: str = ""
    """The package whose defaults the names have."""

    def _of(self, text: str) -> tuple[Vocabulary | MetricResolver, str]:
        """Where a name is looked up, and what of it: ``acme:Fresh@10`` is ``Fresh@10`` of the distribution acme."""
        match = OWNED.match(text.strip())
        if match is None:
            return self, text
        owner, rest = plain_distribution(match["owner"]), text.strip()[match.end() :]
        resolvers, listed = self.resolvers.get(owner, ()), self.of_distributions.get(owner)
        named = [rest] if listed is not None and listed.metrics else []
        if len(resolvers) + len(named) > 1:
            ways = [*(f"{each.prefix}:{rest}" for each in resolvers), *named]
            complaint = f"several plugins have names that begin with {match['owner']}:"
            raise MetricNameError(Problem(complaint, shown(text), suggestion=f"write one of {', '.join(ways)}"))
        if resolvers:
            return resolvers[0], rest
        if listed is not None:
            return replace(listed, dialect=self.dialect), rest
        known = sorted({*self.of_distributions, *self.resolvers})
        complaint = f"no installed plugin with metrics is called {match['owner']!r}"
        hint, allowed = did_you_mean(owner, known), f"installed: {', '.join(known)}"
        raise MetricNameError(Problem(complaint, shown(text), suggestion=hint, allowed=allowed))

    @property
    def prefixes(self) -> list[MetricResolver]:
        """Every resolver, under the prefix that tells it from others."""
        return [each for several in self.resolvers.values() for each in several]

    def refuse_shared(self, text: str, whole: str = "", at: int = 0) -> None:
        """Refuse a name that several distributions bring; ``at`` is its place in the ``whole`` text."""
        match = SPELLED.fullmatch(text)
        several = self.shared.get(text.lower()) or self.shared.get(f"{stem(match['stem'])}{{}}" if match else "")
        if several:
            ways = ", ".join(each + text if each.endswith(":") else each for each in several)
            complaint, place = f"several plugins have a metric {text!r}", f"{shown(whole or text)}, column {at + 1}"
            raise MetricNameError(Problem(complaint, place, suggestion=f"write one of {ways}"))

    @cached_property
    def heads(self) -> dict[str, tuple[Metric, Mapping[str, Any]]]:
        """Names in lower case, with the metric and the arguments each stands for."""
        heads: dict[str, tuple[Metric, Mapping[str, Any]]] = {}
        for metric in self.metrics.values():
            for name, arguments in {**metric.spellings, metric.name.rpartition(":")[2]: {}}.items():
                if not HOLE.search(name):
                    heads[name.lower()] = (metric, arguments)
        return heads

    @cached_property
    def stems(self) -> dict[str, tuple[Metric, str]]:
        """Names that end in numbers, such as ``ndcg_cut_10``, without them; and the spelling that has them as holes."""
        names = ((metric, name) for metric in self.metrics.values() for name in metric.spellings)
        return {head: (metric, name) for metric, name in names if (head := stem_of(name))}

    def parse(self, text: str) -> list[Metric]:
        """The metrics that ``text`` names; more than one if it has a list, as in ``P@[5, 10]``."""
        if len(text) > LONGEST_NAME:
            raise MetricNameError(Problem("this name is longer than any metric's name", place=shown(text)))
        vocabulary, text = self._of(text)
        if vocabulary is not self:
            return vocabulary.parse(text)
        text = text.strip()
        self.refuse_shared(text)
        if text[:1].isdigit() and text.lower() in self.heads:  # 11pt_avg, which the grammar would split
            metric, arguments = self.heads[text.lower()]
            return [metric(**arguments)]
        found = self._spelled(text) or _Reader(self, text).metrics()
        self._refuse_other_meaning(text, found)
        return found

    @cached_property
    def _names_elsewhere(self) -> dict[str, Elsewhere]:
        """Names of other packages that none of our metrics has, without those that hold numbers."""
        rows = (row for metric in self.metrics.values() for row in metric.elsewhere)
        return {row.name: row for row in rows if "{" not in row.name + row.ours and row.name not in self.metrics}

    def _refuse_other_meaning(self, text: str, found: Sequence[Metric]) -> None:
        """Raise an error for a name of another package that would mean something else here, such as ``rbp``."""
        row = self._names_elsewhere.get(text) if text not in self.metrics else None
        if row is not None and [str(metric) for metric in found] != [row.ours]:
            complaint = f"this name means {row.ours} in {PACKAGES[row.package]}, and {found[0]} here"
            raise MetricNameError(
                Problem(complaint, shown(text), suggestion=f"write {row.ours!r} or {str(found[0])!r}")
            )

    def family(self, name: str) -> Metric:
        """The metric of that name without arguments; raises MetricNameError if there is none."""
        vocabulary, name = self._of(name)
        if vocabulary is not self:
            return vocabulary.family(name)
        name = name.strip()
        self.refuse_shared(name)
        if name[:1].isdigit() and name.lower() in self.heads:
            return self.heads[name.lower()][0]
        match = SPELLED.fullmatch(name)
        if match and stem(match["stem"]) in self.stems:
            return self.stems[stem(match["stem"])][0]
        return _Reader(self, name).family()

    def _spelled(self, text: str) -> list[Metric]:
        match = SPELLED.fullmatch(text)
        if not match or stem(match["stem"]) not in self.stems:
            return []
        metric, spelling = self.stems[stem(match["stem"])]
        parameter = metric.parameter(holes_of(spelling)[0]["parameter"])
        found = arguments_of(spelling, match["entries"], maps=parameter is not None and parameter.kind == "map")
        try:
            return [metric(**metric.spellings[spelling], **arguments) for arguments in found]
        except MetricError as error:
            raise MetricNameError(Problem(str(error), place=shown(text))) from None

    def suggestion(self, name: str, rest: str) -> str:
        """A line that proposes a correction of an unknown name."""
        if rest[:1] in ("(", "@") and (instead := self._in_our_grammar(name, rest)):
            return f"write it {instead!r}"
        for row in (row for metric in self.metrics.values() for row in metric.elsewhere):
            if re.split(r"[({@]", row.name)[0] == name:
                whose = f"a name of {PACKAGES[row.package]}"
                return f"{whose}: ireval metrics --for {row.package} {shown(name + rest)} shows ours"
        known = [n for n in self.heads if not self.heads[n][1]]
        joined = None if rest else re.fullmatch(r"(?P<head>[^\W\d_]+)(?P<cutoff>\d+)", name)
        if joined and (own := closest(joined["head"], known, 0.8)) and self.heads[own][0].at == "cutoff":
            return f"did you mean '{self.heads[own][0].name}@{joined['cutoff']}'?"
        meant = closest(name, known, closeness=0.7)
        if not meant or rest[:1] in ("_", "."):
            return ""
        return f"did you mean {self.heads[meant][0].name + rest!r}?"

    def _in_our_grammar(self, name: str, rest: str) -> str:
        """``P(rel=2)@5`` for ``P_5(rel=2)``: a spelling takes no arguments."""
        match = SPELLED.fullmatch(name)
        if not match or stem(match["stem"]) not in self.stems or not rest.endswith(")"):
            return ""
        metric, spelling = self.stems[stem(match["stem"])]
        hole = holes_of(spelling)[0]["parameter"]
        return f"{metric.name}{rest}@{match['entries']}" if hole == metric.at and "," not in match["entries"] else ""

    @property
    def known(self) -> str:
        """The line that lists all metrics, or says what lists them."""
        every = [*self.metrics, *(f"{each.prefix}:…" for each in self.prefixes)]
        if len(every) > _MOST_LISTED:
            return f"ireval metrics lists all {len(every)} metrics"
        return "available: " + ", ".join(sorted(every, key=str.lower))


def key_of(name: str) -> str:
    """Names of one key are read as one: letter case does not count, nor the words in holes."""
    return f"{head}{{}}" if (head := stem_of(name)) else name.lower()


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, vocabulary: Vocabulary, text: str) -> None:
        self.vocabulary = vocabulary
        self.text = text
        self.tokens = self._tokens()
        self.next = 0

    def _tokens(self) -> list[Token]:
        tokens, at = [], 0
        while at < len(self.text):
            match = TOKEN.match(self.text, at)
            if match is None:
                raise self.error(at, f"unexpected {self.text[at]!r}")
            if match.lastgroup != "blank":
                tokens.append(Token(str(match.lastgroup), match.group(), at))
            at = match.end()
        return [*tokens, Token("end", "", len(self.text))]

    def error(self, at: int, complaint: str, suggestion: str = "", allowed: str = "") -> MetricNameError:
        return MetricNameError(
            Problem(complaint, f"{shown(self.text)}, column {at + 1}", suggestion=suggestion, allowed=allowed)
        )

    def peek(self) -> Token:
        return self.tokens[self.next]

    def take(self, mark: str = "") -> Token:
        token = self.tokens[self.next]
        if mark and token.text != mark:
            got = repr(token.text) if token.text else "the end"
            raise self.error(token.at, f"expected {mark!r}, got {got}")
        self.next += 1
        return token

    def took(self, mark: str) -> bool:
        if self.peek().text != mark or self.peek().kind != "mark":
            return False
        self.next += 1
        return True

    def metrics(self) -> list[Metric]:
        head = self.take()
        if head.kind != "name":
            what = f"{head.text!r} is not a name" if head.text else "the name is missing"
            raise self.error(
                head.at, what, allowed="write a metric as Name(parameter=value)@cutoff, for example nDCG@10"
            )
        metric, arguments = self._known(head)
        given = {**arguments}
        if self.took("("):
            self._arguments(metric, given, set(arguments))
        cutoffs = self._behind_at(metric, given)
        if self.peek().kind != "end":
            several = "for several metrics write P@[5, 10], or name each separately" if self.peek().text == "," else ""
            raise self.error(self.peek().at, f"unexpected {self.peek().text!r} after the metric", several)
        return [self._made(metric, {**given, **cutoff}, head) for cutoff in cutoffs]

    def family(self) -> Metric:
        """The metric that the text's first word names; arguments may follow and are not looked at."""
        metric, _ = self._known(self.take())
        if self.peek().text not in ("", "(", "@"):
            raise self.error(self.peek().at, f"unexpected {self.peek().text!r} after the name")
        return metric

    def _known(self, head: Token) -> tuple[Metric, Mapping[str, Any]]:
        found = self.vocabulary.heads.get(head.text.lower())
        self.vocabulary.refuse_shared(head.text, self.text, head.at)
        if found is None:
            rest = self.text[head.at + len(head.text) :].rstrip()
            raise self.error(
                head.at,
                f"unknown metric {head.text!r}",
                self.vocabulary.suggestion(head.text, rest),
                self.vocabulary.known,
            )
        return found

    def _arguments(self, metric: Metric, given: dict[str, Any], names: set[str]) -> None:
        while not self.took(")"):
            name = self.take()
            if name.kind != "name":
                raise self.error(name.at, "expected a parameter, as in rel=2")
            self.take("=")
            value = self._value()
            own, checked = name.text, value
            if self.vocabulary.dialect not in metric.dialects:
                try:
                    ((own, checked),) = metric(**{name.text: value}).arguments.items()
                except MetricError as error:
                    raise self.error(name.at, str(error)) from None
            if own in names:
                raise self.error(name.at, f"{own} is given twice")
            names.add(own)
            given[own] = checked
            if not self.took(","):
                self.take(")")
                return

    def _behind_at(self, metric: Metric, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        at = self.peek().at
        if not self.took("@"):
            return [{}]
        if metric.at is None:
            raise self.error(at, f"{metric.name} has no parameter after @")
        if metric.at in given:
            raise self.error(at, f"{metric.at} is given twice")
        if not self.took("["):
            return [{metric.at: self._value()}]
        values = [self._value()]
        while self.took(","):
            values.append(self._value())
        self.take("]")
        return [{metric.at: value} for value in values]

    def _value(self) -> Any:
        token = self.take()
        if token.kind == "number":
            return spelt_number(token.text)
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "name" and token.text.lower() in WORDS:
            return WORDS[token.text.lower()]
        if token.text == "{":
            return self._map()
        if token.kind == "name":
            raise self.error(token.at, f"{token.text!r} is not a number; text needs quotes")
        raise self.error(token.at, "expected a value")

    def _map(self) -> dict[float, float]:
        entries: dict[float, float] = {}
        while not self.took("}"):
            at, key = self.peek().at, self._number()
            self.take(":")
            if key in entries:
                raise self.error(at, f"{key} is given twice")
            entries[key] = self._number()
            if not self.took(","):
                self.take("}")
                break
        return entries

    def _number(self) -> float:
        token = self.take()
        if token.kind != "number":
            raise self.error(token.at, "expected a number")
        return spelt_number(token.text)

    def _made(self, metric: Metric, given: Mapping[str, Any], head: Token) -> Metric:
        translate = metric.dialects.get(self.vocabulary.dialect)
        try:
            made = metric(**(translate(given) if translate else given))
        except MetricError as error:
            raise self.error(head.at, str(error)) from None
        if made.missing:
            name = made.missing[0]
            example = f", for example {metric.name}@10" if name == "cutoff" else ""
            raise self.error(head.at, f"{metric.name} needs a {name}{example}")
        return made

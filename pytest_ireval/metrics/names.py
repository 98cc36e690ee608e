"""Reads the name of a metric: ``Name(param=value, …)@cutoff``, in any letter case, or a name of another package."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from pytest_ireval.entry_points import normalize_distribution
from pytest_ireval.errors import MetricError, MetricNameError, Problem, did_you_mean, find_closest, quote
from pytest_ireval.metrics.catalog import MetricCatalog, MetricResolver
from pytest_ireval.metrics.elsewhere import OTHER_MEANINGS, PACKAGES, Elsewhere
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.parameters import (
    HOLE,
    SPELLED,
    find_holes,
    find_stem,
    normalize_stem,
    parse_number,
    read_arguments,
)

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


@dataclass
class Vocabulary:
    """Metrics by all their names."""

    metrics: MetricCatalog
    of_distributions: Mapping[str, Vocabulary] = field(default_factory=dict)
    """The metrics that ``acme:Fresh`` is looked up in, by the plain name of the distribution."""
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names that several distributions bring, by :func:`normalize_name`, and the names that tell them apart."""
    resolvers: Mapping[str, tuple[MetricResolver, ...]] = field(default_factory=dict)
    """By plain prefix; more than one if several distributions bring it."""
    dialect: str = ""
    """The package whose defaults the names have."""
    read_elsewhere: Callable[[], tuple[Elsewhere, ...]] = tuple
    """Reads the names of other packages that plugins bring; a run that names no metric wrongly needs none."""
    missing: tuple[str, ...] = ()
    """Packages of this distribution that are not installed, and may have the metric that is not known."""

    def _find_owner(self, text: str) -> tuple[Vocabulary | MetricResolver, str]:
        """Where a name is looked up, and what of it: ``acme:Fresh@10`` is ``Fresh@10`` of the distribution acme."""
        match = OWNED.match(text.strip())
        if match is None:
            return self, text
        owner, rest = normalize_distribution(match["owner"]), text.strip()[match.end() :]
        resolvers, listed = self.resolvers.get(owner, ()), self.of_distributions.get(owner)
        named = [rest] if listed is not None and listed.metrics else []
        if len(resolvers) + len(named) > 1:
            ways = [*(f"{each.prefix}:{rest}" for each in resolvers), *named]
            complaint = f"several plugins have names that begin with {match['owner']}:"
            raise MetricNameError(Problem(complaint, quote(text), suggestion=f"write one of {', '.join(ways)}"))
        if resolvers:
            return resolvers[0], rest
        if listed is not None:
            return replace(listed, dialect=self.dialect), rest
        known = sorted({*self.of_distributions, *self.resolvers})
        complaint = f"no installed plugin with metrics is called {match['owner']!r}"
        hint, allowed = did_you_mean(owner, known), f"installed: {', '.join(known)}"
        raise MetricNameError(Problem(complaint, quote(text), suggestion=hint, allowed=allowed))

    @property
    def prefixes(self) -> list[MetricResolver]:
        """Every resolver, under the prefix that tells it from others."""
        return [each for several in self.resolvers.values() for each in several]

    def refuse_shared(self, text: str, whole: str = "", at: int = 0) -> None:
        """Refuse a name that several distributions bring; ``at`` is its place in the ``whole`` text."""
        match = SPELLED.fullmatch(text)
        several = self.shared.get(text.lower()) or self.shared.get(
            f"{normalize_stem(match['stem'])}{{}}" if match else ""
        )
        if several:
            ways = ", ".join(each + text if each.endswith(":") else each for each in several)
            complaint, place = f"several plugins have a metric {text!r}", f"{quote(whole or text)}, column {at + 1}"
            raise MetricNameError(Problem(complaint, place, suggestion=f"write one of {ways}"))

    @cached_property
    def heads(self) -> dict[str, tuple[str, str]]:
        """Names in lower case, with the name of the metric and the spelling; the spelling of its own name is empty."""
        heads: dict[str, tuple[str, str]] = {}
        for entry in self.metrics.entries.values():
            heads |= {name.lower(): (entry.name, name) for name in entry.spellings if not HOLE.search(name)}
            heads[entry.name.rpartition(":")[2].lower()] = (entry.name, "")
        return heads

    @cached_property
    def stems(self) -> dict[str, tuple[str, str]]:
        """Names that end in numbers, such as ``ndcg_cut_10``, without them.

        Each with the name of the metric, and the spelling that has the numbers as holes.
        """
        names = ((entry.name, name) for entry in self.metrics.entries.values() for name in entry.spellings)
        return {head: (metric, name) for metric, name in names if (head := find_stem(name))}

    def meaning(self, name: str) -> tuple[Metric, Mapping[str, Any]] | None:
        """The metric of a name, and the arguments that the name stands for; None if no metric is called so."""
        if name.lower() not in self.heads:
            return None
        own, spelling = self.heads[name.lower()]
        metric = self.metrics[own]
        return metric, metric.info.spellings[spelling] if spelling else {}

    def parse(self, text: str) -> list[Metric]:
        """The metrics that ``text`` names; more than one if it has a list, as in ``P@[5, 10]``."""
        if len(text) > LONGEST_NAME:
            raise MetricNameError(Problem("this name is longer than any metric's name", place=quote(text)))
        vocabulary, text = self._find_owner(text)
        if vocabulary is not self:
            return vocabulary.parse(text)
        text = text.strip()
        self.refuse_shared(text)
        if text[:1].isdigit() and (found := self.meaning(text)):  # 11pt_avg, which the grammar would split
            metric, arguments = found
            return [metric(**arguments)]
        metrics = self._read_spelling(text) or _Reader(self, text).metrics()
        self._refuse_other_meaning(text, metrics)
        return metrics

    @cached_property
    def elsewhere(self) -> tuple[Elsewhere, ...]:
        """Names of other packages."""
        return self.read_elsewhere()

    def _refuse_other_meaning(self, text: str, found: Sequence[Metric]) -> None:
        """Raise an error for a name of another package that would mean something else here, such as ``rbp``."""
        package, meant = OTHER_MEANINGS.get(text, ("", ""))
        if meant and [str(metric) for metric in found] != [meant]:
            complaint = f"this name means {meant} in {PACKAGES[package]}, and {found[0]} here"
            raise MetricNameError(Problem(complaint, quote(text), suggestion=f"write {meant!r} or {str(found[0])!r}"))

    def family(self, name: str) -> Metric:
        """The metric of that name without arguments; raises MetricNameError if there is none."""
        vocabulary, name = self._find_owner(name)
        if vocabulary is not self:
            return vocabulary.family(name)
        name = name.strip()
        self.refuse_shared(name)
        if name[:1].isdigit() and (found := self.meaning(name)):
            return found[0]
        match = SPELLED.fullmatch(name)
        if match and normalize_stem(match["stem"]) in self.stems:
            return self.metrics[self.stems[normalize_stem(match["stem"])][0]]
        return _Reader(self, name).family()

    def _read_spelling(self, text: str) -> list[Metric]:
        match = SPELLED.fullmatch(text)
        if not match or normalize_stem(match["stem"]) not in self.stems:
            return []
        name, spelling = self.stems[normalize_stem(match["stem"])]
        metric = self.metrics[name]
        parameter = metric.parameter(find_holes(spelling)[0]["parameter"])
        found = read_arguments(spelling, match["entries"], maps=parameter is not None and parameter.kind == "map")
        try:
            return [metric(**metric.info.spellings[spelling], **arguments) for arguments in found]
        except MetricError as error:
            raise MetricNameError(Problem(str(error), place=quote(text))) from None

    def suggestion(self, name: str, rest: str) -> str:
        """A line that proposes a correction of an unknown name."""
        if rest[:1] in ("(", "@") and (instead := self._rewrite(name, rest)):
            return f"write it {instead!r}"
        for row in self.elsewhere:
            if row.ours and re.split(r"[({@]", row.name)[0] == name:
                whose = f"a name of {PACKAGES[row.package]}"
                return f"{whose}: ireval metrics --for {row.package} {quote(name + rest)} shows ours"
        joined = None if rest else re.fullmatch(r"(?P<head>[^\W\d_]+)(?P<cutoff>\d+)", name)
        if (
            joined
            and (own := self._find_closest(joined["head"], 0.8))
            and self.metrics[self.heads[own][0]].at == "cutoff"
        ):
            return f"did you mean '{self._shorten_spelling(own)}@{joined['cutoff']}'?"
        meant = self._find_closest(name, 0.7)
        if not meant or rest[:1] in ("_", "."):
            return ""
        return f"did you mean {self._shorten_spelling(meant) + rest!r}?"

    def _find_closest(self, name: str, closeness: float) -> str:
        return find_closest(name, self.heads, closeness)

    def _shorten_spelling(self, name: str) -> str:
        """The metric's own name in place of another, or the spelling if that stands for arguments, too."""
        metric, spelling = self.heads[name]
        return spelling if spelling and self.metrics[metric].info.spellings[spelling] else metric

    def _rewrite(self, name: str, rest: str) -> str:
        """``P(rel=2)@5`` for ``P_5(rel=2)``: a spelling takes no arguments."""
        match = SPELLED.fullmatch(name)
        if not match or normalize_stem(match["stem"]) not in self.stems or not rest.endswith(")"):
            return ""
        name, spelling = self.stems[normalize_stem(match["stem"])]
        metric = self.metrics[name]
        hole = find_holes(spelling)[0]["parameter"]
        return f"{metric.name}{rest}@{match['entries']}" if hole == metric.at and "," not in match["entries"] else ""

    @property
    def known(self) -> str:
        """The line that lists all metrics, or says what lists them; and a line for each package that is missing."""
        every = [*self.metrics, *(f"{each.prefix}:…" for each in self.prefixes)]
        few = len(every) <= _MOST_LISTED
        names = ", ".join(sorted(every, key=str.lower))
        told = f"available: {names}" if few else f"ireval metrics lists all {len(every)} metrics"
        return "\n  ".join(
            [told, *(f"the package {name}, which may have it, is not installed" for name in self.missing)]
        )


def normalize_name(name: str) -> str:
    """Names of one key are read as one: letter case does not count, nor the words in holes."""
    return f"{head}{{}}" if (head := find_stem(name)) else name.lower()


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
            Problem(complaint, f"{quote(self.text)}, column {at + 1}", suggestion=suggestion, allowed=allowed)
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

    def take_if(self, mark: str) -> bool:
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
        metric, arguments = self._find_metric(head)
        given = {**arguments}
        if self.take_if("("):
            self._read_arguments(metric, given, set(arguments))
        cutoffs = self._read_after_at(metric, given)
        if self.peek().kind != "end":
            several = "for several metrics write P@[5, 10], or name each separately" if self.peek().text == "," else ""
            raise self.error(self.peek().at, f"unexpected {self.peek().text!r} after the metric", several)
        return [self._make_metric(metric, {**given, **cutoff}, head) for cutoff in cutoffs]

    def family(self) -> Metric:
        """The metric that the text's first word names; arguments may follow and are not looked at."""
        metric, _ = self._find_metric(self.take())
        if self.peek().text not in ("", "(", "@"):
            raise self.error(self.peek().at, f"unexpected {self.peek().text!r} after the name")
        return metric

    def _find_metric(self, head: Token) -> tuple[Metric, Mapping[str, Any]]:
        found = self.vocabulary.meaning(head.text)
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

    def _read_arguments(self, metric: Metric, given: dict[str, Any], names: set[str]) -> None:
        while not self.take_if(")"):
            name = self.take()
            if name.kind != "name":
                raise self.error(name.at, "expected a parameter, as in rel=2")
            self.take("=")
            value = self._read_value()
            own, checked = name.text, value
            if self.vocabulary.dialect not in metric.info.dialects:
                try:
                    ((own, checked),) = metric(**{name.text: value}).arguments.items()
                except MetricError as error:
                    raise self.error(name.at, str(error)) from None
            if own in names:
                raise self.error(name.at, f"{own} is given twice")
            names.add(own)
            given[own] = checked
            if not self.take_if(","):
                self.take(")")
                return

    def _read_after_at(self, metric: Metric, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        at = self.peek().at
        if not self.take_if("@"):
            return [{}]
        if metric.at is None:
            raise self.error(at, f"{metric.name} has no parameter after @")
        if metric.at in given:
            raise self.error(at, f"{metric.at} is given twice")
        if not self.take_if("["):
            return [{metric.at: self._read_value()}]
        values = [self._read_value()]
        while self.take_if(","):
            values.append(self._read_value())
        self.take("]")
        return [{metric.at: value} for value in values]

    def _read_value(self) -> Any:
        token = self.take()
        if token.kind == "number":
            return parse_number(token.text)
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "name" and token.text.lower() in WORDS:
            return WORDS[token.text.lower()]
        if token.text == "{":
            return self._read_map()
        if token.kind == "name":
            raise self.error(token.at, f"{token.text!r} is not a number; text needs quotes")
        raise self.error(token.at, "expected a value")

    def _read_map(self) -> dict[float, float]:
        entries: dict[float, float] = {}
        while not self.take_if("}"):
            at, key = self.peek().at, self._read_number()
            self.take(":")
            if key in entries:
                raise self.error(at, f"{key} is given twice")
            entries[key] = self._read_number()
            if not self.take_if(","):
                self.take("}")
                break
        return entries

    def _read_number(self) -> float:
        token = self.take()
        if token.kind != "number":
            raise self.error(token.at, "expected a number")
        return parse_number(token.text)

    def _make_metric(self, metric: Metric, given: Mapping[str, Any], head: Token) -> Metric:
        translate = metric.info.dialects.get(self.vocabulary.dialect)
        try:
            made = metric(**(translate(given) if translate else given))
        except MetricError as error:
            raise self.error(head.at, str(error)) from None
        if made.missing:
            name = made.missing[0]
            example = f", for example {metric.name}@10" if name == "cutoff" else ""
            raise self.error(head.at, f"{metric.name} needs a {name}{example}")
        return made

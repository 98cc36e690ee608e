"""What rehearsing a suite showed, as text: alarms by chance, damage and who notices it, changes nobody may mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_ireval.plurals import counted
from pytest_ireval.results.rehearsal import FalseAlarms, HarmlessChange, MutantNoticed, SelfTest
from pytest_ireval.text_table import printable, table, wrapped

WIDTH = 100
NAMED = 1
"""So many rules are named that notice damage; JSON has all."""


def self_test_text(found: SelfTest) -> str:
    """Everything below each other; the last line is the verdict."""
    parts = [_alarms(found), _damage(found), _harmless(found), "\n".join(_notes(found)), _verdict(found)]
    return f"{printable(found.suite)} ({printable(found.file)})\n\n" + "\n\n".join(filter(None, parts)) + "\n"


def _alarms(found: SelfTest) -> str:
    if found.nothing_to_swap:
        hint = "--against RANKINGS names other rankings of these queries to compare with"
        return _paragraph(f"False alarms: nothing can be told, as {found.nothing_to_swap}; {hint}.")
    whole, *rules = found.alarms
    head = _paragraph(
        f"False alarms: {counted(found.trials, 'time')}, a coin decided for each query whether its values in "
        f"{found.compared} change places; they differ on {found.differing} of {counted(found.queries, 'query')}. "
        "Nothing became better or worse but by chance."
    )
    header = ["rule", "decided by", "red", "95% limits", "by evidence", "promised", ""]
    rows = [_alarm_row(each) for each in (*rules, whole)]
    return "\n".join((head, "", table(header, rows, (2, 3, 4, 5)), "", _meaning(whole)))


def _alarm_row(each: FalseAlarms) -> list[str]:
    promised = each.promised is not None
    return [
        each.rule or "the whole suite",
        each.decided_by,
        percent(each.share),
        f"{percent(each.low)} .. {percent(each.high)}",
        percent(each.by_evidence / each.runs) if promised else "-",
        percent(each.promised or 0.0) if promised else "-",
        "<- broken" if each.broken else "",
    ]


def _meaning(whole: FalseAlarms) -> str:
    limits = f"95% limits: {percent(whole.low)} to {percent(whole.high)}"
    return _paragraph(f"This suite turns {percent(whole.share)} of harmless changes of this kind red ({limits}).")


def _damage(found: SelfTest) -> str:
    seen = [each for each in found.mutants if each.noticed_from is not None]
    header = ["damage", "queries", "noticed from", "by"]
    rows = [[each.name, str(each.queries), _from(each), _some(each.rules)] for each in seen]
    head = "Would this gate notice? Damage done to the rankings that were accepted, to ever more queries:"
    lines = [head, "", table(header, rows, (1, 2))] if rows else []
    missed = [each for each in found.mutants if each.noticed_from is None]
    if missed:
        lines += ["", "Nobody would notice:" if lines else "Nobody would notice any of the damage that was tried:"]
        lines += [f"  {each.name}: {_missed(each)}" for each in missed]
    return "\n".join(lines).strip()


def _from(each: MutantNoticed) -> str:
    last = each.levels[-1]
    return "all" if each.noticed_from == 1 else f"{percent(each.noticed_from or 0.0)} ({last.queries})"


def _some(rules: Sequence[str]) -> str:
    """The first rules, and how many more there are."""
    more = f" and {len(rules) - NAMED} more" if len(rules) > NAMED else ""
    return ", ".join(rules[:NAMED]) + more


def _missed(each: MutantNoticed) -> str:
    last = each.levels[-1]
    most = max(each.levels, key=lambda level: level.red / level.trials)
    said = f"red in {most.red} of {counted(most.trials, 'trial')} at {percent(most.share)}" if most.red else "never red"
    unsure = ", inconclusive where it is done to all" if last.inconclusive and not last.red else ""
    right = ", which is right: nobody knows what these documents are worth" if each.unnoticed_is_right else ""
    return f"{said}{unsure}{right} ({counted(last.queries, 'query')})"


def _harmless(found: SelfTest) -> str:
    rows = [[each.name, _said(each)] for each in found.harmless]
    return "Changes that no rule may mind:\n\n" + table(["change", "verdict"], rows)


def _said(each: HarmlessChange) -> str:
    if not each.tried:
        return f"not tried: {each.why}"
    return f"RED: {', '.join(each.red)}" if each.red else "pass"


def _notes(found: SelfTest) -> Iterator[str]:
    for each in found.mutants:
        if each.unnoticed_is_right and each.noticed_from is not None:
            yield _paragraph(
                f"note: {each.name} turn it red, though nobody knows what they are worth: documents that are called "
                "otherwise some day are named in documents: {aliases: FILE}"
            )
    for note in found.notes:
        yield _paragraph(f"note: {note}")


def _verdict(found: SelfTest) -> str:
    return _paragraph("; ".join(_complaints(found)) or "self-test: pass")


def _complaints(found: SelfTest) -> list[str]:
    complaints = [f"self-test: FAIL: {each.name}: {', '.join(each.red)}" for each in found.harmless if each.red]
    broken = [each.rule or "the whole suite" for each in found.alarms if each.broken]
    if broken:
        complaints.append(f"self-test: FAIL: more alarms than alpha allows: {', '.join(broken)}")
    return complaints


def _paragraph(text: str) -> str:
    return "\n".join(wrapped(text, WIDTH))


def percent(share: float) -> str:
    """``0.025`` as ``2.5%``."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def all_self_tests(found: Sequence[SelfTest]) -> str:
    """Those of several suites."""
    return "\n".join(map(self_test_text, found))

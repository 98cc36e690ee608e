"""A run as one page that needs nothing else: the verdict, what broke, and everything behind it."""

from __future__ import annotations

from functools import partial

from pytest_ireval.plurals import counted
from pytest_ireval.reports.charts.drawing import svg_of
from pytest_ireval.reports.markdown_text import SourceLinks
from pytest_ireval.reports.packing import packed
from pytest_ireval.reports.page_assets import SCRIPTS, STYLES, Asset, asset, lean, policy
from pytest_ireval.reports.page_findings import findings_of
from pytest_ireval.reports.page_suite import suite_view, word_of
from pytest_ireval.reports.query_views import queries_data
from pytest_ireval.reports.summary_table import verdicts_in_words
from pytest_ireval.reports.templates import EXTRA, DrawnSection, Templates, templates
from pytest_ireval.reports.verdict_words import words_of
from pytest_ireval.reports.whose import owners_of
from pytest_ireval.results.suite_result import RunResult

NO_LINKS = SourceLinks()


def page_text(run: RunResult, using: Templates | None = None, links: SourceLinks = NO_LINKS) -> str:
    """The HTML; raises ReportError that names the line of a template that cannot be filled in."""
    using = using or templates()
    sections = tuple(using.drawn(section) for section in run.sections)
    styles, scripts = _styles(using, sections), _scripts(using)
    alone = len(run.suites) == 1
    return using.filled(
        "index.html.jinja",
        run=run,
        title=", ".join(suite.name for suite in run.suites[:3]) or "no suite",
        words=words_of(run),
        tally=_tally(run),
        owners=tuple(owners_of(run).items()),
        problems=run.problems,
        red=findings_of(run, links, "fail", "error"),
        doubtful=findings_of(run, links, "inconclusive", "warning", "accepted"),
        suites=tuple(suite_view(suite, alone=alone) for suite in run.suites),
        sections=sections,
        plugins=tuple(dict.fromkeys(plugin for suite in run.suites for plugin in suite.plugins)),
        links=links,
        packed=packed,
        svg=partial(svg_of, environment=using.environment),
        data=queries_data(run),
        styles=styles,
        scripts=scripts,
        policy=policy(styles, scripts),
    )


def _tally(run: RunResult) -> str:
    """How many verdicts there are of each kind; how many of them are let through with a warning."""
    warned = sum(word_of(each) == "warning" for suite in run.suites for each in suite.outcomes)
    among = f" ({counted(warned, 'warning')} among them)" if warned else ""
    return f"{verdicts_in_words(run.suites)}{among}"


def _styles(using: Templates, sections: tuple[DrawnSection, ...]) -> tuple[Asset, ...]:
    """Ours, then those of sections, then what a user adds."""
    ours = tuple(asset(name, _lean(using, name)) for name in STYLES)
    theirs = tuple(asset(f"{each.section.name}.css", each.style) for each in sections if each.style)
    return (*ours, *theirs, *_extra(using, ".css"))


def _scripts(using: Templates) -> tuple[Asset, ...]:
    return (*(asset(name, _lean(using, name)) for name in SCRIPTS), *_extra(using, ".js"))


def _lean(using: Templates, name: str) -> str:
    """Without the indentation and the comments of a file of ours, of which it is known that they say nothing else."""
    text = using.text_of(name)
    return text if using.folder is not None and (using.folder / name).is_file() else lean(text)


def _extra(using: Templates, ending: str) -> tuple[Asset, ...]:
    texts = {name: using.text_of(name) for name in EXTRA if name.endswith(ending)}
    return tuple(asset(name, text) for name, text in texts.items() if text)

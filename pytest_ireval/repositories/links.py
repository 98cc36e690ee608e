"""What changed as it is seen through links: a link counts as changed with what it leads to, by way of others too."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

MOST = 8
"""So many links are followed one after the other."""
NAMES = 200_000
"""So many names by way of links are looked at; where there are more, links lead in circles."""


class Lead(NamedTuple):
    """A link, and where it leads."""

    link: str
    target: str

    @property
    def circular(self) -> bool:
        """Whether it leads to a folder around itself; what is seen through it is not looked for behind itself again."""
        return self.target == "." or _lies_in(self.link, self.target)


def through_links(names: Collection[str], links: Collection[str], root: Path) -> dict[str, str]:
    """Names that changed files have by way of links, seen from the top of the repository, with their own names.

    Where links lead on and on, all of them have changed.
    """
    leads = [Lead(link, target) for link in links for target in _targets(link, root)]
    known = {name: name for name in names}
    new = dict(known)
    for _ in range(MOST):
        found = list(islice(_seen_through(new, leads), NAMES))
        if len(found) == NAMES:
            break
        new = {name: own for name, own in found if name not in known}
        if not new:
            return {name: own for name, own in known.items() if name not in names}
        known |= new
    return {lead.link: lead.link for lead in leads if lead.link not in names}


def _targets(link: str, root: Path) -> Iterator[str]:
    """Where a link leads at once, and in the end; nothing outside of the repository."""
    try:
        next_one = os.path.normpath(os.path.join(root, os.path.dirname(link), os.readlink(root / link)))
    except OSError:  # it was removed, or is no link any more
        return
    ends = {Path(next_one), Path(os.path.realpath(root / link))}
    yield from (end.relative_to(root).as_posix() for end in ends if end.is_relative_to(root))


def _seen_through(names: Mapping[str, str], leads: Iterable[Lead]) -> Iterator[tuple[str, str]]:
    """With one more link on the way to each."""
    ordered = sorted(names)
    for lead in leads:
        link, target = lead.link, lead.target
        for above in PurePosixPath(target).parents:
            if str(above) in names:  # what was or became a link or a submodule
                yield link, names[str(above)]
        for name in _below(ordered, "" if target == "." else target):
            if not _lies_in(name, link) and not (lead.circular and names[name] != name):
                yield (link + name[len(target) :] if target != "." else f"{link}/{name}"), names[name]


def _below(names: list[str], place: str) -> Iterator[str]:
    """What is the place, or lies in it, of names in order."""
    if not place:
        yield from names
        return
    at = bisect_left(names, place)
    if names[at : at + 1] == [place]:
        yield place
    yield from names[bisect_left(names, f"{place}/") : bisect_left(names, f"{place}0")]  # 0 follows / in order


def _lies_in(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}/")

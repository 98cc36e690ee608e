"""Answers of a live system, kept in files and replayed."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_ireval.data.formats.input_file import open_input
from pytest_ireval.errors import InputError, Problem, SourceError, relative_path
from pytest_ireval.masking import VARIABLE, drop_login, mask_values, mask_words, mask_words_of_values
from pytest_ireval.results.suite_result import RecordedAnswers
from pytest_ireval.sources.live.exchange import TimedAnswer
from pytest_ireval.sources.request import Request
from pytest_ireval.suite.suite import OFFLINE
from pytest_ireval.words import format_some

if TYPE_CHECKING:
    from pytest_ireval.sources.live.options import LiveOptions

WITHOUT_OFFLINE = f"without --ireval-offline and {OFFLINE}"
FORMAT = 1


class Recording:
    """The answers to the requests of one source. They are lines of JSON, without secrets, in query order.

    Several processes may record one source at the same time: the last one that finishes replaces the file.
    """

    def __init__(self, options: LiveOptions, request: Request, asked: object) -> None:
        self.offline = bool(os.environ.get(OFFLINE))
        self._suite = request.suite
        written = str(request.public_texts.get(options.engine, options.address))
        self._base = _find_base(options.address, written)
        source = _format_line((drop_login(written), urlsplit(written).username, options.headers))
        source += _format_line(asked).replace(self._base, "")
        digest = hashlib.sha256(mask_words(source).encode()).hexdigest()[:8]
        number = f".against-{request.reference}" if request.reference else ""
        number += f"-{request.repetition}" if request.repetition > 1 else ""
        self.path = (options.record or Path()) / f"{request.suite}.{digest}{number}.jsonl.gz"
        self.shown_path = relative_path(self.path, request.folder)
        self._date = _format_day_of_today()
        self._known: dict[str, TimedAnswer] = {}
        self._replayed: set[int] = set()
        self._lines: dict[tuple[int, int], str] = {}
        self._lock = Lock()

    def __enter__(self) -> Recording:
        """Read what is there, or begin."""
        if self.offline:
            if not self.path.is_file():
                others = sorted(path.name for path in self.path.parent.glob(f"{self._suite}.*.jsonl.gz"))
                again = f"use the suite and the variables of the recorded run, or record one {WITHOUT_OFFLINE}"
                if others:
                    again += f"; those that are there have other requests or addresses: {format_some(others)}"
                raise SourceError(Problem(f"there is no recording {self.shown_path}", suggestion=again))
            self._read()
        else:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise self._refuse_folder(error) from None
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Write the file, after a run that was whole."""
        if self.offline or kind is not None:
            return
        head = _format_line({"ireval_recording": FORMAT, "date": self._date})
        lines = [head, *(self._lines[place] for place in sorted(self._lines))]
        made = self.path.with_name(f"{self.path.stem}.{secrets.token_hex(8)}.new")
        try:
            made.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
            os.replace(made, self.path)
        except OSError as error:
            made.unlink(missing_ok=True)
            raise self._refuse_folder(error) from None

    def count_replayed(self) -> RecordedAnswers | None:
        """The queries that were answered by the recording; None if the system was asked."""
        return RecordedAnswers(len(self._replayed), self._date) if self._replayed else None

    def answer(self, place: tuple[int, int], sent: Mapping[str, Any], ask: Callable[[], TimedAnswer]) -> TimedAnswer:
        """The recorded answer to what is ``sent``, or the one that ``ask`` gets; ``place`` is its query and page."""
        key = _format_line(mask_words_of_values({**sent, "url": sent["url"].removeprefix(self._base)}))
        if self.offline:
            if key not in self._known:
                raise LookupError(f"the recording {self.shown_path} has no answer to this request")
            self._replayed.add(place[0])
            return self._known[key]
        found = ask()
        seconds = None if found.seconds is None else round(found.seconds, 6)
        line = _format_line({"request": json.loads(key), "seconds": seconds, "answer": mask_values(found.answer)})
        with self._lock:
            self._lines[place] = line
        return found

    def _read(self) -> None:
        try:
            with open_input(self.path) as file:
                head, *answers = map(json.loads, file.lines())
            self._date = str(head["date"])
            for each in answers:
                seconds = None if each["seconds"] is None else float(each["seconds"])
                self._known[_format_line(each["request"])] = TimedAnswer(each["answer"], seconds)
        except (InputError, OSError, ValueError, KeyError, TypeError) as error:
            said = f"the recording {self.shown_path} is damaged: {error}"
            raise SourceError(Problem(said, suggestion="record it again")) from None

    def _refuse_folder(self, error: OSError) -> SourceError:
        return SourceError(f"the recording cannot be written to {self.shown_path}: {error.strerror}")


def _find_base(address: str, written: str) -> str:
    """What is before the path that the suite writes itself: a replay may have another host there, or none."""
    address, variable = drop_login(address), VARIABLE.match(written)
    path = written[variable.end() :] if variable else ""
    if variable and address.endswith(path):
        return address.removesuffix(path)
    return "://".join(urlsplit(address)[:2])


def _format_day_of_today() -> str:
    """``2026-11-20``, in UTC."""
    moment = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return datetime.fromtimestamp(moment, timezone.utc).date().isoformat()


def _format_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=list)

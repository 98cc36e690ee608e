"""Other names of documents: renamed ids, variants that count as one document, and passages of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_ireval.data.aliases import Groups, collapse_variants, find_group, rename_documents
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.stages import rename_in_stage

if TYPE_CHECKING:
    from pytest_ireval.data.aliases import Passages


@dataclass(eq=False)
class DocumentNames:
    """Other names of documents: renamed ids, and groups of variants that count as one."""

    aliases: Mapping[str, str] = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)
    passages: Passages | None = None
    """The judged passages that chunks count as; None: ids have no spans."""

    def find_current_name(self, document: str, query: str = "") -> str:
        """The current name of a document; with a query, a chunk is named like the passage that it counts as."""
        found = find_group(self.aliases.get(document, document), self.groups)
        return self.passages.name(found, query) if self.passages and query else found

    def in_rankings(self, rankings: Rankings) -> Rankings:
        """Rankings under the current names, with the first of several variants only."""
        if rankings.fields and (self.aliases or self.groups):
            fields: dict[str, Mapping[str, Any]] = {}
            for document, known in rankings.fields.items():
                fields.setdefault(self.find_current_name(document), known)
            rankings = replace(rankings, fields=fields)
        if rankings.stages and (self.aliases or self.groups or self.passages):
            renamed = {name: rename_in_stage(of, self.find_current_name) for name, of in rankings.stages.items()}
            rankings = replace(rankings, stages=renamed)
        rankings = rename_documents(rankings, self.aliases) if self.aliases else rankings
        rankings = collapse_variants(rankings, self.groups) if self.groups else rankings
        return self.passages.in_rankings(rankings) if self.passages else rankings

    def in_judgments(self, judgments: Judgments) -> Judgments:
        """Judgments under the current names, with the first of several variants only."""
        judgments = rename_documents(judgments, self.aliases) if self.aliases else judgments
        return collapse_variants(judgments, self.groups) if self.groups else judgments

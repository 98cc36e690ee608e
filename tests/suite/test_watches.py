"""What a suite watches: how globs are written, what is wrong with them, and which files they fit."""

from pathlib import Path
from textwrap import indent

import pytest
from toy_kinds import BEGINNING

from pytest_ireval.repositories.changed_files import Files
from pytest_ireval.repositories.git import find_places, find_root
from pytest_ireval.suite.suite import Pattern, Place, Watch
from pytest_ireval.suite.watches import find_fitting, find_watched, make_pattern

RULES = "rules: [{new_document: {at_most: 1}}]\n"


@pytest.fixture
def repository(shop, tmp_path):
    """The folder of the shop is a repository."""
    (tmp_path / ".git").mkdir()
    return tmp_path


def fits(glob, *files, folders=(), top=Path("/repository"), home="suites"):
    """Which files of a repository a glob fits that is written in its folder ``suites``."""
    pattern = make_pattern(glob, top if glob.startswith("/") else top / home)
    return list(find_fitting(pattern, Files(tuple(sorted(files)), frozenset(folders)), top))


FITS = {
    "../search/**": [
        "search/analyzer.py",
        "search/rank/deep/x.json",
        'search/with blank/naïve "q"\n.py',
        "search/.hid",
    ],
    "/search/**": ["search/analyzer.py"],
    "../search": ["search/analyzer.py"],
    "../search/analyzer.py": ["search/analyzer.py"],
    "../search/*.py": ["search/analyzer.py"],
    "../search/**/*.py": ["search/analyzer.py", "search/rank/deep/model.py"],
    "/**/synonyms": ["libs/text/synonyms/de.txt", "synonyms"],
    "/**": ["anything.txt"],
    "data/**": ["suites/data/qrels.txt"],
    "data/[[]a].txt": ["suites/data/[a].txt"],
    "..": ["search/analyzer.py"],
    ".": ["suites/shop.ireval.yaml"],
}
FITS_NOT = {
    "../search/*": ["search/rank/model.py"],
    "../search/*.py": ["search/analyzer.pyc"],
    "../search/**": ["searching/analyzer.py", "search.py"],
    "/libs/*/text/**": ["libs/text/x.py"],
    "../search/**/*.py": ["search/rank/model.json"],
}


def test_which_files_a_glob_fits():
    assert {glob: sorted(fits(glob, *files)) for glob, files in FITS.items()} == {
        glob: sorted(files) for glob, files in FITS.items()
    }
    assert [glob for glob, files in FITS_NOT.items() if fits(glob, *files)] == []


def test_a_submodule_stands_for_everything_in_it():
    assert fits("/vendor/search/src/**", "vendor/search", folders=["vendor/search"]) == ["vendor/search"]
    assert fits("/vendor/**/*.py", "vendor/search", folders=["vendor/search"]) == ["vendor/search"]
    assert fits("/vendor/**/*.py", "vendor/search") == []
    assert fits("/vendor/other/**", "vendor/search", folders=["vendor/search"]) == []


def test_exceptions_take_files_out_wherever_they_stand():
    top = Path("/repository")
    texts = ("!**/*.md", "search/**", "!search/generated")
    watches = [
        Watch(text, Place("", 0, 0), make_pattern(text.removeprefix("!"), top), text.startswith("!")) for text in texts
    ]

    def first(*files):
        found = find_watched(watches, Files(tuple(sorted(files))), top)
        return found and (found[0], found[1].text)

    assert first("search/README.md", "search/generated/deep/x.py", "elsewhere.py") is None
    assert first("search/README.md", "search/model.py") == ("search/model.py", "search/**")


def test_globs_are_seen_from_the_file_they_are_written_in(suites, shop, repository):
    shop("common/all.yaml", "# shared\nwatches: [../search/**, /libs]\n" + RULES)
    beginning = BEGINNING.replace("c.trec", "../c.trec")
    (inherited,) = suites(beginning + "extends: ../common/all.yaml\n", name="suites/shop.yaml")
    (own,) = suites(beginning + "extends: ../common/all.yaml\nwatches: ../ads/**\n", name="suites/own.yaml")

    assert [each.pattern for each in inherited.watches] == [
        Pattern(repository / "search", ("**",)),
        Pattern(repository / "libs", ("**",)),
    ]
    assert [each.pattern for each in own.watches] == [Pattern(repository / "ads", ("**",))]
    assert str(inherited.watches[0].place) == "common/all.yaml:2:11"


def test_a_suite_of_a_matrix_watches_its_own(suites, repository):
    text = BEGINNING + RULES + "matrix: {locale: [de, fr]}\nwatches: ['search/{locale}/**']\n"

    assert [each.watches[0].pattern.base for each in suites(text)] == [
        repository / "search" / "de",
        repository / "search" / "fr",
    ]


WRONG = [
    "''",
    "'!'",
    "/",
    "C:/work/search",
    "~/search",
    "/tmp/search/**",
    "'search\\*.py'",
    "'search/*.{py,json}'",
    "'{a,{b}'",
    "search/**.py",
    "search/*/../x",
    "{a: b}",
]


def test_a_wrong_glob_is_a_mistake_at_its_place(mistakes, repository, golden):
    said = [mistakes(f"{BEGINNING}{RULES}watches:\n  - search/**\n  - {glob}\n") for glob in WRONG]

    golden(
        "wrong.txt", "\n".join(f"{glob}\n{indent(text, '    ')}" for glob, text in zip(WRONG, said, strict=True)) + "\n"
    )


@pytest.mark.parametrize(
    ("glob", "says"),
    [
        (
            "{root}/search/**",
            "'{root}/search/**' is a path of this machine; / is the top of the repository here\n  write /search/**",
        ),
        ("../other/**", "'../other/**' is outside of the repository: git knows nothing about {above}/other"),
    ],
)
def test_a_glob_that_leaves_the_repository_is_a_mistake(mistakes, repository, glob, says):
    named = {"root": repository, "above": repository.parent}

    assert mistakes(BEGINNING + f"watches: {glob.format(**named)}\n") == (
        f"shop.yaml:4:10: watches\n  {says.format(**named)}"
    )


def test_a_file_behind_links_has_a_place_for_each_of_them(tmp_path):
    root = Path(tmp_path.resolve())
    (root / ".git").mkdir()
    (root / "real").mkdir()
    (root / "real" / "a.txt").write_text("")
    (root / "linked").symlink_to("real")
    (root / "b.txt").symlink_to("real/a.txt")

    assert find_places(root / "linked" / "a.txt", root) == ("linked/a.txt", "real/a.txt")
    assert find_places(root / "b.txt", root) == ("b.txt", "real/a.txt")
    assert find_places(root / "none" / "x", root) == ("none/x",)
    assert find_places(root, root) == ("",)
    assert find_places(root.parent / "elsewhere", root) == ()
    assert find_root(root / "linked") == root
    assert find_root(root / "not" / "there" / "yet") == root

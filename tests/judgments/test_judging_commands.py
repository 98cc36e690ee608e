"""``ireval pool``, ``agreement`` and ``collection``: judgments, made and examined."""

import csv
import io
import json

import pytest
from suite_files import write_suite

from pytest_ireval import read_judgments

TREC = {51: (211, 4, 2), 62: (400, 149, 8), 67: (400, 37, 31), 95: (400, 108, 2), 127: (400, 12, 94)}
"""Information need: documents, those that the second judge alone finds relevant, those that the first one does."""


@pytest.fixture
def two_judges(write_texts):
    """Files of two judges who disagree on as many documents as in a well-known table of TREC."""
    first, second = [], []
    for query, (documents, only_second, only_first) in TREC.items():
        for i in range(documents):
            one, other = (0, 1) if i < only_second else (1, 0) if i < only_second + only_first else (i % 3 == 0,) * 2
            first.append(f"{query} 0 d{i} {int(one)}\n")
            second.append(f"{query} 0 d{i} {int(other)}\n")
    write_texts(first="".join(first), second="".join(second))


@pytest.mark.usefixtures("two_judges")
def test_disagreements_are_counted_by_query_and_direction(ireval):
    found = json.loads(ireval("agreement", "first.txt", "second.txt", "--format", "json").out)

    assert [
        (each["query"], each["judged"], each["disagreements"], each["not_relevant"], each["relevant"])
        for each in found["queries"]
    ] == [
        *((str(query), judged, no + yes, no, yes) for query, (judged, no, yes) in TREC.items()),
        ("all", 1811, 447, 310, 137),
    ]
    raw = [round(each["agreement"], 3) for each in found["queries"]]
    assert raw == [0.972, 0.608, 0.83, 0.725, 0.735, 0.753]


def test_judges_may_be_a_column_and_the_weakest_agreement_is_listed_first(ireval, write_texts):
    many = "".join(
        f"q{i:02},a,{judge},{int(judge != 'bob' or i < 14)}\n" for i in range(16) for judge in ("ann", "bob")
    )
    write_texts(book_csv="query,document,judge,grade\n" + many)

    lines = ireval("agreement", "book.csv").out.splitlines()
    assert "Relevance by query, the 10 with the lowest agreement of 16 (--per-query: all):" in lines
    assert [line.split()[0] for line in lines if line.startswith("q1")][:2] == ["q14", "q15"]
    assert sum(line.startswith("q") for line in ireval("agreement", "book.csv", "--per-query").out.splitlines()) == 17


def test_judges_of_any_format_are_compared(ireval, write_texts):
    """JSON, a table without judges, TREC; of a table with judges a row without one belongs to the file."""
    write_texts(
        ann_json='{"q": {"a": 1, "b": 0}}',
        bob_csv="query,document,grade\nq,a,1\nq,b,1\n",
        cid="q 0 a 1\n",
        dan_csv="query,document,grade,judge\nq,a,0,eve\nq,b,1,\n",
    )
    files = ("ann.json", "bob.csv", "cid.txt", "dan.csv")
    found = json.loads(ireval("agreement", *files, "--format", "json").out)

    assert {(each["judge"], each["other"]): each["agreement"] for each in found["pairs"]} == {
        ("ann", "bob"): 0.5,
        ("ann", "cid"): 1.0,
        ("ann", "eve"): 0.0,
        ("ann", "dan"): 0.0,
        ("bob", "cid"): 1.0,
        ("bob", "eve"): 0.0,
        ("bob", "dan"): 1.0,
        ("cid", "eve"): 0.0,
        ("cid", "dan"): None,
        ("eve", "dan"): None,
    }


def test_the_order_of_systems_is_compared_under_each_judge_on_the_queries_of_all(ireval, write_texts):
    """To ann ``one`` is better, to bob ``two``; only ann judged query s."""
    write_texts(
        ann="q 0 a 1\nq 0 b 0\nr 0 a 1\ns 0 b 1\n",
        bob="q 0 a 0\nq 0 b 1\nr 0 b 1\n",
        one="q Q0 a 1 2 t\nq Q0 b 2 1 t\nr Q0 a 1 1 t\n",
        two="q Q0 b 1 2 t\nq Q0 a 2 1 t\nr Q0 b 1 1 t\n",
    )
    options = ("--rankings", "one.txt", "--rankings", "two.txt", "-m", "RR", "--judges", "highest")
    outcome = ireval("agreement", "ann.txt", "bob.txt", *options, "--format", "json")

    found = json.loads(outcome.out)
    values = {(each["judged_by"], each["ranking"]): each["value"] for each in found["systems"]}
    assert [values["ann", name] for name in ("one", "two")] == [1.0, 0.25]
    assert [values["bob", name] for name in ("one", "two")] == [0.25, 1.0]
    tau = {each["judged_by"]: each["tau"] for each in found["orders"]}
    assert tau["ann"] is None  # both systems are equal by the reference, the union
    assert "systems and verdicts: 2 of 3 queries, those that all judges judged" in found["notes"][1]


@pytest.fixture
def suite(tmp_path):
    return write_suite(tmp_path, "threshold: {RR: '>= 0.9'}", source="{run: one.txt}", judgments="ann.txt")


@pytest.mark.usefixtures("suite")
def test_a_verdict_that_depends_on_the_judge_is_shown(ireval, write_texts):
    write_texts(ann="q 0 a 1\nq 0 b 0\n", bob="q 0 a 0\nq 0 b 1\n", one="q Q0 a 1 2 t\nq Q0 b 2 1 t\n")
    found = json.loads(ireval("agreement", "ann.txt", "bob.txt", "--suite", "shop.ireval.yaml", "--format", "json").out)

    verdicts = {each["judged_by"]: each["verdict"] for each in found["verdicts"]}
    assert (verdicts["(its own)"], verdicts["ann"], verdicts["bob"], verdicts["all: highest"]) == (
        "pass",
        "pass",
        "fail",
        "pass",
    )
    lines = ireval("agreement", "ann.txt", "bob.txt", "--suite", "shop.ireval.yaml").out.splitlines()
    assert "The verdict depends on the judgments: shop:" in lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ann.txt"], "ann.txt\n  one judge only: ann\n  two files or more, or a table with a column judge\n"),
        (
            ["ann.txt", "cid.txt", "bob.txt", "--rankings", "one.txt", "--rankings", "two.txt"],
            "ann.txt, cid.txt, bob.txt\n  no query is judged by all judges\n"
            "  leave out --rankings and --suite, or compare fewer judges\n",
        ),
        (["ann.txt", "ann.txt"], "ann.txt\n  is given twice\n  a judge is compared with others: give each file once\n"),
    ],
)
def test_what_cannot_be_compared_is_refused(ireval, write_texts, arguments, message):
    write_texts(ann="q 0 a 1\n", cid="q 0 a 1\n", bob="r 0 a 1\n", one="q Q0 a 1 1 t\n", two="q Q0 b 1 1 t\n")

    assert ireval("agreement", *arguments) == (2, "", f"error: {message}")


def test_judges_are_merged_with_weights_ties_and_missing_votes(ireval, write_texts, tmp_path):
    write_texts(ann="q 0 a 2\nq 0 b 1\n", bob="q 0 a 0\n")
    merge = ("import", "ann.txt", "bob=bob.txt", "--force", "--judges", "majority")

    def grades(*options):
        assert ireval(*merge, *options).code == 0
        return [line.split("\t")[2] for line in (tmp_path / "judgments.tsv").read_text().splitlines()[1:]]

    assert grades() == ["0", "1"]
    assert grades("--judge-ties", "higher") == ["2", "1"]
    assert grades("--judge-ties", "higher", "--missing-judges", "zero") == ["2", "1"]
    assert grades("--weight", "bob=2", "--missing-judges", "zero") == ["0", "0"]
    assert grades("--judge-ties", "higher", "--missing-judges", "drop") == ["2"]
    outcome = ireval(*merge, "--judge-ties", "drop")
    assert outcome.out.splitlines()[2:5] == [
        "1 document had several grades for one query; one was chosen",
        "1 document had a tie between grades",
        "1 document dropped: without a judgment now",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weight", "bob=2"], "choose how to merge the judges: --judges highest, lowest, median, majority, mean"),
        (["--judges", "median", "--weight", "bob=-1"], "'bob=-1' is not JUDGE=NUMBER with a number above 0"),
        (["--judges", "median", "--weight", "Bob=2"], "did you mean 'bob'?"),
        (["--judges", "mean"], "the grade of document 'a' for query 'q' is 1.5, not a whole number"),
        (["--judges", "majority", "--judge-ties", "drop"], "no document is left after merging the judges"),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused(ireval, write_texts, options, message):
    write_texts(ann="q 0 a 2\n", bob="q 0 a 1\n")
    outcome = ireval("import", "ann.txt", "bob.txt", *options)

    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


BOOK = "query,document,judge,grade\nq,a,ann,2\nq,a,ann ,2\nq,a,bob,1\nq,b,ann,1\nq,b,bob,1\n"


def test_a_judge_in_two_batches_has_one_vote_with_and_without_spaces_around_the_name(ireval, write_texts, tmp_path):
    write_texts(book_csv=BOOK)

    found = json.loads(ireval("agreement", "book.csv", "--format", "json").out)
    assert [(each["judge"], each["other"], each["both"]) for each in found["pairs"]] == [("ann", "bob", 2)]
    assert ireval("import", "book.csv", "--judges", "majority", "--judge-ties", "lower").code == 0
    assert (tmp_path / "judgments.tsv").read_text().splitlines()[1].startswith("q\ta\t1\t")


def test_the_mistakes_of_all_judges_are_one_error(ireval, write_texts):
    write_texts(book_csv="query,document,judge,grade\nq,a,ann,x\nq,a,bob,\n")

    found = ireval("agreement", "book.csv").err
    assert [line for line in found.splitlines() if "book.csv:" in line] == ["error: book.csv:2", "book.csv:3"]


def test_two_grades_of_one_judge_are_not_two_votes(ireval, write_texts):
    write_texts(book_csv=BOOK + "q,b,ann,0\n", crowd_csv="query,document,grade\nq,a,1\nq,a,1\nq,a,0\n")

    assert ireval("import", "book.csv", "--judges", "highest").err == (
        "error: book.csv:7\n  judge 'ann' gave document 'b' of query 'q' two grades: 1 (book.csv:5) and 0\n"
        "  keep one of them\n"
    )
    found = ireval("import", "crowd.csv", "--judges", "majority").out
    assert "grades 1 to 1" in found, "rows without the name of a judge are single votes"


@pytest.mark.usefixtures("suite")
def test_queries_that_lose_all_judgments_are_named(ireval, write_texts):
    write_texts(ann="q 0 a 1\nr 0 a 1\n", bob="q 0 a 1\nr 0 a 0\n", one="q Q0 a 1 2 t\nr Q0 a 1 1 t\n")
    drop = ("ann.txt", "bob.txt", "--judge-ties", "drop")

    lost = "1 query left out, with all documents dropped: r"
    assert lost in ireval("import", *drop, "--judges", "majority").out.splitlines()
    notes = ireval("agreement", *drop, "--suite", "shop.ireval.yaml").out.splitlines()
    assert "all: majority: 1 query without a judgment, which --suite leaves out: r" in notes
    assert not [note for note in notes if note.startswith(("ann: ", "all: highest: "))]


RUNS = {"one": "q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 x 3 1 t\nr Q0 a 1 1 t\n", "two": "q Q0 b 1 2 t\nq Q0 c 2 1 t\n"}
QUERIES = "id\ttext\tnarrative\tlabel\nq\tred mug\tany red cup\thead\nr\tteapot\t\ttail\n"
FIELDS = '{"id": "a", "title": "Mug", "text": "two\\nlines", "metadata": {"id": 7}}\n{"id": "b", "title": "Cup"}\n'


def test_a_pool_is_judged_and_comes_back_as_judgments(ireval, write_texts, tmp_path):
    write_texts(**RUNS, queries_tsv=QUERIES, fields_jsonl=FIELDS)
    outcome = ireval(
        "pool",
        "one.txt",
        "two.txt",
        "-k",
        2,
        "--queries",
        "queries.tsv",
        "--fields",
        "fields.jsonl",
        "--format",
        "json",
    )

    assert json.loads(outcome.out)["contributions"] == [
        {"ranking": "one", "documents": 3, "judged": 0, "to_judge": 3, "unique": 2},
        {"ranking": "two", "documents": 2, "judged": 0, "to_judge": 2, "unique": 1},
    ]
    assert json.loads(outcome.out)["notes"] == [
        "wrote pool.tsv: 4 documents of 2 queries",
        "1 document not in fields.jsonl: without fields",
    ]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "pool.tsv").read_text()), delimiter="\t"))
    assert {(row["query"], row["document"]) for row in rows} == {("q", "a"), ("q", "b"), ("q", "c"), ("r", "a")}
    (row,) = [row for row in rows if (row["query"], row["document"]) == ("q", "a")]
    assert row == {
        "query": "q",
        "query_text": "red mug",
        "query_narrative": "any red cup",
        "query_label": "head",
        "document": "a",
        "document_title": "Mug",
        "document_text": "two lines",
        "document_column_id": "7",
        "grade": "",
    }
    text = (tmp_path / "pool.tsv").read_text().replace("\t\n", "\t1\n")
    (tmp_path / "pool.tsv").write_text(text)
    assert ireval("import", "pool.tsv", "--to", "new").code == 0
    assert len(read_judgments("new/judgments.tsv")) == 4


def test_what_is_judged_is_left_out_and_the_bias_of_the_pool_is_shown(ireval, write_texts, tmp_path):
    """Without what ``one`` alone found, its relevant document is unjudged: it falls behind ``two``."""
    write_texts(**RUNS, judgments="q 0 a 1\nq 0 c 0\nq 0 b 1\n")
    options = ("-k", 2, "--judged", "judgments.txt", "-m", "P@1", "--to", "pool.jsonl")
    found = json.loads(ireval("pool", "one.txt", "two.txt", *options, "--format", "json").out)

    assert found["leave_one_out"] == [
        {
            "metric": "P@1",
            "ranking": "one",
            "unique_judgments": 1,
            "relevant": 1,
            "value": 1.0,
            "without": 0.0,
            "difference": -1.0,
            "rank": 1,
            "rank_without": 2,
        },
        {
            "metric": "P@1",
            "ranking": "two",
            "unique_judgments": 1,
            "relevant": 0,
            "value": 1.0,
            "without": 1.0,
            "difference": 0.0,
            "rank": 1,
            "rank_without": 1,
        },
    ]
    assert (tmp_path / "pool.jsonl").read_text() == '{"query": "r", "query_text": "", "document": "a", "grade": ""}\n'
    assert ireval("pool", "one.txt", *options).err == "error: would overwrite pool.jsonl\n  --force overwrites\n"


TITLES = ["=HYPERLINK(1)", "+1 cup", "-5", "@home", "half \\ud800", "a\\u0000b", "red mug"]


@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
def test_texts_of_strangers_do_no_harm_in_a_pool(ireval, write_texts, tmp_path, ending):
    """No formula for a spreadsheet, no half of a character; ids stay, and the query that has no document is named."""
    documents = [f"=d{i}" for i in range(len(TITLES))]
    write_texts(
        one="".join(f"q Q0 {document} {i + 1} {-i} t\n" for i, document in enumerate(documents)),
        queries_tsv=QUERIES,
        fields_jsonl="".join(f'{{"id": "=d{i}", "title": "{title}"}}\n' for i, title in enumerate(TITLES)),
    )
    files = ("--queries", "queries.tsv", "--fields", "fields.jsonl", "--to", f"pool.{ending}")
    outcome = ireval("pool", "one.txt", *files)

    assert outcome.out.splitlines()[-1] == "1 query of queries.tsv not in any ranking: r"
    text = (tmp_path / f"pool.{ending}").read_text()
    if ending == "jsonl":
        rows = list(map(json.loads, text.splitlines()))
    else:
        rows = list(csv.DictReader(io.StringIO(text), delimiter="\t" if ending == "tsv" else ","))
    titles = {row["document"]: row["document_title"] for row in rows}
    plain = ["=HYPERLINK(1)", "+1 cup", "-5", "@home", "half ?", "a\0b", "red mug"]
    table = ["'=HYPERLINK(1)", "'+1 cup", "-5", "'@home", "half ?", "ab", "red mug"]
    assert titles == dict(zip(documents, plain if ending == "jsonl" else table, strict=True))


def test_nothing_is_written_when_all_is_judged(ireval, write_texts, tmp_path):
    write_texts(**RUNS, judgments="q 0 a 1\nq 0 c 0\nq 0 b 1\n")

    outcome = ireval("pool", "two.txt", "-k", 2, "--judged", "judgments.txt")
    assert outcome.out.splitlines()[-1] == "nothing to judge; 2 documents judged already: pool.tsv not written"
    assert not (tmp_path / "pool.tsv").exists()


def test_new_queries_are_pooled_beside_judgments_of_others(ireval, write_texts, tmp_path):
    write_texts(one=RUNS["one"], new="z Q0 b 1 1 t\n", judgments="q 0 a 1\n")
    outcome = ireval("pool", "one.txt", "new.txt", "--judged", "judgments.txt")

    assert outcome.out.splitlines()[-2:] == [
        "not scored: no query of new is judged in judgments.txt",
        "wrote pool.tsv: 4 documents of 3 queries; 1 document judged already",
    ]


def test_a_pool_that_cannot_be_finished_leaves_no_file(ireval, write_texts, tmp_path):
    write_texts(**RUNS, judgments="q 0 a 1\n")
    options = ("pool", "one.txt", "two.txt", "--judged", "judgments.txt")

    assert "did you mean 'nDCG'?" in ireval(*options, "-m", "nDGC").err
    assert not (tmp_path / "pool.tsv").exists()
    assert ireval(*options, "--to", "new/pool.tsv").err == (
        "error: new/pool.tsv\n  there is no folder 'new'\n  create it, or choose another one\n"
    )


def test_a_collection_is_described(ireval, write_texts):
    write_texts(
        judgments="q 0 a 2\nq 0 b 0\nq 0 z 0\nr 0 a 1\n",
        queries_tsv=QUERIES + "s\tbig red mug\t\t\n",
        fields_jsonl=FIELDS,
    )
    options = ("--queries", "queries.tsv", "--fields", "fields.jsonl")
    found = json.loads(ireval("collection", "judgments.txt", *options, "--format", "json").out)

    assert found["per_query"] == [
        {"figure": "judged documents", "mean": 2.0, "median": 2.0, "lowest": 1, "highest": 3},
        {"figure": "relevant documents", "mean": 1.0, "median": 1.0, "lowest": 1, "highest": 1},
        {"figure": "words", "mean": 2.0, "median": 2.0, "lowest": 1, "highest": 3},
    ]
    assert found["grades"] == [
        {"grade": 0, "judgments": 2, "share": 0.5},
        {"grade": 1, "judgments": 1, "share": 0.25},
        {"grade": 2, "judgments": 1, "share": 0.25},
    ]
    assert found["documents"] == [{"documents": 2, "size": 16, "words": 2.5, "judged": 2, "not_in_it": 1}]
    assert "3 queries in queries.tsv, 1 without judgments" in found["notes"]
    header, *rows = ireval("collection", "judgments.txt", "--format", "csv").out.splitlines()
    assert header == "table,figure,mean,median,lowest,highest,grade,judgments,share"
    assert rows[-1] == "grades,,,,,,2,1,0.25"
    write_texts(queries_tsv="id\ttext\nq\tred mug\nr\t\n")
    found = json.loads(ireval("collection", "judgments.txt", *options, "--format", "json").out)
    assert found["per_query"][-1] == {"figure": "words", "mean": 1.0, "median": 1.0, "lowest": 0, "highest": 2}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("one.txt", "other.txt"), "error: one.txt, other.txt\n  no document has two judges: do the ids match?"),
        (("one.txt", "same.txt", "--rankings", "run.txt"), "give at least two --rankings: the order of one system"),
    ],
)
def test_judges_without_anything_to_compare_are_an_error(ireval, write_texts, words, said):
    write_texts(one="q1 0 a 1\n", same="q1 0 a 1\n", other="q2 0 a 1\n", run="q1 Q0 a 1 2.0 x\n")
    found = ireval("agreement", *words)

    assert (found.code, found.out) == (2, "")
    assert said in found.err


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (("pool", "one.txt", "two.txt", "--to", "two.txt"), "two.txt"),
        (("sample", "log.tsv", "--to", "log.tsv"), "log.tsv"),
        (("import", "judgments.tsv"), "judgments.tsv"),
    ],
)
def test_no_command_writes_over_its_input_even_if_it_may_overwrite(ireval, tmp_path, monkeypatch, words, target):
    monkeypatch.chdir(tmp_path)
    for name in ("one.txt", "two.txt", "log.tsv", "judgments.tsv"):
        (tmp_path / name).write_text("of a user")

    printed = ireval(*words, "--force")

    assert (printed.code, printed.out) == (2, "")
    assert f"--to {target} is the same file as the input {target}" in printed.err
    assert (tmp_path / target).read_text() == "of a user"

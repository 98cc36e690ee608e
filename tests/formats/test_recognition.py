"""A file's format is recognised by its content, or named; where two fit, or none, the message says so."""

import pytest
from contents import list_grades

from pytest_ireval import InputError, evaluate, read_judgments, read_queries, read_rankings
from pytest_ireval.data.formats.input_file import open_input
from pytest_ireval.data.formats.recognition import list_fitting_readers
from pytest_ireval.plugins.manager import installed_registry

READERS = installed_registry().readers

SAMPLES = {
    "qrels": ("q1 0 d1 1\nq1 0 d2 0\n", {"judgments": ["trec"]}),
    "qrels with tabs": ("q1\t0\td1\t1\n", {"judgments": ["trec"]}),
    "qrels with a bad grade": ("q1 0 d1 x\n", {"judgments": ["trec"]}),
    "qrels with a comment": ("# a b c d e f\nq1 0 d1 1\n", {"judgments": ["trec"]}),
    "qrels of a query in brackets": ("[q] 0 d1 1\n<b>q</b> 0 d1 1\n", {"judgments": ["trec"]}),
    "diversity qrels": ("1 1 d1 1\n1 2 d1 0\n", {"judgments": ["trec", "trec-diversity"]}),
    "run": ("q1 Q0 d1 1 2.5 t\n", {"rankings": ["trec"]}),
    "run with more columns": ("q1 Q0 d1 1 2.5 t u v\n", {"rankings": ["trec"]}),
    "table of judgments": ("query,document,grade\nq,d,1\n", {"judgments": ["table"]}),
    "table of rankings": ("query\tdocument\tscore\nq\td\t1\n", {"rankings": ["table"]}),
    "table of queries": ("id\ttext\tsegment\nq\tred mug\thead\n", {"queries": ["table"]}),
    "BEIR judgments": ("query-id\tcorpus-id\tscore\nq\td\t1\n", {"judgments": ["table"]}),
    "pairs": ("q1\tred mug\nq2\tcup\n", {"queries": ["pairs"]}),
    "pairs of an id and three words": ("1\tiphone case 12\n2\tblue tea mug\n", {"queries": ["pairs"]}),
    "topics": ("<top>\n<num> 1\n<title> a b c d\n</top>\n", {"queries": ["trec-topics"]}),
    "XML topics": (
        '<?xml version="1.0"?>\n<topics><topic number="1"><query>a</query></topic></topics>',
        {"queries": ["trec-topics"]},
    ),
    "LETOR": ("2 qid:1 1:0.5 2:0.1\n", {"judgments": ["letor"]}),
    "jsonl": ('{"query_id": "q", "doc_id": "d", "grade": 1}\n', {"judgments": ["jsonl"]}),
    "jsonl of queries": (
        '{"_id": "q", "text": "a", "metadata": {}}\n{"_id": "r", "text": "b"}\n',
        {"queries": ["jsonl"]},
    ),
    "mapping": ('{"q": {"d": 1}}', {"queries": ["json"], "judgments": ["json"], "rankings": ["json"]}),
    "answers of OpenSearch": (
        '{"q": {"took": 1, "hits": {"total": {"value": 0}, "hits": []}}}',
        {"rankings": ["responses"]},
    ),
    "answers of Solr, line by line": (
        '{"q": {"response": {"numFound": 0, "docs": []}}}\n{"r": {"response": {"docs": []}}}\n',
        {"rankings": ["responses"]},
    ),
    "answers of Vespa": (
        '{"q": {"root": {"id": "top", "relevance": 1.0, "fields": {"totalCount": 0}}}}',
        {"rankings": ["responses"]},
    ),
    "queries and documents named as in answers": (
        '{"hits": {"hits": 2, "docs": 1}, "root": {"fields": 1}, "response": {"docs": 3}}',
        {"queries": ["json"], "judgments": ["json"], "rankings": ["json"]},
    ),
    "Quepid ratings": ("query,docid,rating\nred mug,d,1\n", {"queries": ["quepid-case"], "judgments": ["quepid-case"]}),
    "Quepid book, which any table might be": ("query,docid,Ann Lee\nred mug,d,1\n", {}),
    "clicks are no grades": ("query\tdocid\tclicks\nred mug\td\t7\n", {}),
    "ranks are no grades": ("query,docid,rank\nq,d,1\n", {"rankings": ["table"]}),
    "run under BEIR's names": (
        "query-id\tcorpus-id\tscore\nq\td\t1.5\n",
        {"judgments": ["table"], "rankings": ["table"]},
    ),
    "table of queries by number": ("number,query\nq1,red mug\n", {"queries": ["table"]}),
    "table of queries under unknown names": ("tid\tquery\nq1\tred mug\n", {}),
    "table of questions": ("topic_id\tquestion\nq1\twhat is it\n", {"queries": ["table"]}),
    "run of MS MARCO": ("q1\td9\t1\nq1\td1\t2\n", {"rankings": ["msmarco"]}),
    "run of MS MARCO with a rank too many": ("q1\td9\t1\nq1\td1\t3\n", {"judgments": ["smart"]}),
    "Cranfield's judgments": ("1 184 2\n1 29 -1\n", {"judgments": ["smart"]}),
    "CISI's judgments": ("  1  28\t0\t0.000000\n  1  35\t0\t0.000000\n", {"judgments": ["smart"]}),
    "SMART queries": (".I 1\n.W\nlaws\n", {"queries": ["smart"]}),
    "ids before colons": ("wt09-1:obama family tree\nwt09-2:french lick resort\n", {"queries": ["id-text"]}),
    "keys and values": ("owner: us\nname1: you\n", {}),
    "NTCIR topics": (
        "<queries><query><qid>1</qid><content>a</content></query></queries>",
        {"queries": ["trec-topics"]},
    ),
    "Quepid snapshot": (
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\na,t,8,dog,d1,1\n",
        {"rankings": ["quepid-snapshot"]},
    ),
    "judgments of the workbench": (
        '{"judgmentRatings": [{"query": "a", "ratings": []}]}',
        {"queries": ["opensearch-workbench"], "judgments": ["opensearch-workbench"]},
    ),
    "queries of the workbench": ('{"querySetQueries": [{"queryText": "a"}]}', {"queries": ["opensearch-workbench"]}),
    "features without queries": ("2 1:0.5 2:0.1\n", {}),
    "nested too deeply": ("{" + '"a":[' * 5000, {"queries": ["json"], "judgments": ["json"], "rankings": ["json"]}),
    "nothing known": ("to be or not to be\nthat is\n", {}),
    "CSV without names": ("q,d,1\n", {}),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_fits_exactly_these_formats(write_file, name):
    content, expected = SAMPLES[name]

    with open_input(write_file(content)) as found:
        fitting = {
            holds: [reader.name for reader in list_fitting_readers(found, holds, READERS)]
            for holds in ("queries", "judgments", "rankings")
        }

    assert {holds: names for holds, names in fitting.items() if names} == expected


def test_two_that_fit_are_never_guessed_between(write_file, read_error):
    path = write_file("1 1 d1 1\n1 2 d1 0\n")

    assert read_error(read_judgments, path) == (
        "DIR/file.txt\n  its judgments could be in format trec or trec-diversity\n"
        "  choose one: judgments_format=…, --judgments-format"
    )
    assert list_grades(read_judgments(path, format="trec-diversity")) == {"1": {"d1": 1}}


def test_a_second_column_that_changes_later_on_is_no_guess_either(write_file, read_error):
    path = write_file("".join(f"1 1 document-{i:06} 1\n" for i in range(5000)) + "1 2 document-000001 1\n")

    assert read_error(read_judgments, path) == (
        "DIR/file.txt:5001\n"
        "  the second column is '2' here and '1' above: are these judgments of subtopics?\n"
        "  choose a format: trec ignores that column, trec-diversity reads subtopics from it"
    )
    assert len(read_judgments(path, format="trec")) == 5000


def test_a_format_that_does_not_exist_is_refused_with_those_that_do(write_file, read_error):
    assert read_error(read_rankings, write_file("q Q0 d 1 1 t\n"), format="tec") == (
        "unknown format 'tec' for rankings\n  did you mean 'trec'?\n"
        "  formats of rankings: arrow, json, jsonl, msmarco, parquet, quepid-snapshot, responses, table, trec"
    )


def test_swapped_arguments_are_named_once(trec_files):
    judgments, rankings = trec_files("q1 0 a 1\n" * 3, "q1 Q0 a 1 1 t\n")

    with pytest.raises(InputError) as caught:
        evaluate(rankings, judgments, "AP")

    assert str(caught.value) == (
        f"{rankings}\n  contains no judgments; it looks like rankings (format trec)\n  are judgments and rankings "
        "swapped?"
    )


RUN = "q1 Q0 d1 1 3 t\n"


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (
            read_rankings,
            RUN + "q1 Q0 d2\n",
            ":2\n  is not like the other lines: 'q1 Q0 d2'\n  they are in format trec: ",
        ),
        (read_rankings, "q1 d2\n" + RUN, "\n  contains no rankings"),
        (read_judgments, "# us\n\nq1 0 d1 1\r\nq1 0 d2\r\n", ":4\n  is not like the other lines: 'q1 0 d2'"),
        (read_queries, "q1\tred mug\nq2 blue mug\n", ":2\n  is not like the other lines: 'q2 blue mug'"),
    ],
)
def test_the_first_line_that_is_unlike_the_others_is_named(write_file, read_error, read, text, says):
    assert read_error(read, write_file(text)).startswith(f"DIR/file.txt{says}")


@pytest.mark.parametrize(
    ("content", "kind"), [(b"PK\x03\x04abc", "a zip archive"), (b"BZh91AY", "compressed with bzip2")]
)
def test_archives_are_named(write_file, read_error, content, kind):
    assert read_error(read_queries, write_file(content)) == (
        f"DIR/file.txt\n  this file is {kind}: unpack it first\n"
        "  allowed: plain files, and files compressed with gzip or Zstandard"
    )


def test_a_table_that_may_be_a_book_is_not_guessed(write_file, read_error):
    text = read_error(read_judgments, write_file("query,docid,Ann,clicks\nq,d,1,7\n"))

    assert text.splitlines()[2] == (
        "  as a table it has the query (query) and the document (docid), but no column for the grade; "
        "if the other columns are judges, use format quepid-book"
    )


@pytest.mark.parametrize(
    ("read", "header", "says"),
    [
        (
            read_rankings,
            "query_id,sku,points",
            "  as a table it has the query (query_id) and the document (sku), but no column for the score or rank\n"
            "  column names for the score: score, sim, similarity\n"
            "  column names for the rank: rank, position",
        ),
        (
            read_judgments,
            "Query ID,article,points",
            "  as a table it has the query (Query ID), but no column for the document nor for the grade\n"
            "  column names for the document: document, document_id, doc_id, docno, doc, corpus_id, did, docid, sku, "
            "product_id, item_id, product, item\n"
            "  column names for the grade: grade, relevance, rel, label, rating",
        ),
    ],
)
def test_a_table_that_lacks_a_column_says_which_and_what_it_is_called(write_file, read_error, read, header, says):
    row = ",".join("1" for _ in header.split(","))
    kind = read.__name__.removeprefix("read_")

    assert read_error(read, write_file(f"{header}\n{row}\n")) == (
        f"DIR/file.txt\n  contains no {kind} in a known format: it begins with {header!r}\n{says}"
    )


def test_a_product_beside_a_document_is_not_the_document(write_file):
    judgments = read_judgments(write_file("query,product,sku,doc_id,grade\nq,mug,s1,d,1\n"))

    assert judgments.documents.texts([0]) == ["d"]


def test_queries_may_be_about_products(write_file):
    assert read_queries(write_file("id,text,product\nq,red mug,mug\n")).columns == {"product": ("mug",)}
    assert read_queries(write_file("q1\tproduct\nq2\tblue mug\n")).text == ("product", "blue mug")


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("to be or not\nto be\n", "split at spaces and tabs, its lines have 2 or 4 columns"),
        ("q|d|1\n".encode("utf-16"), "it contains zero bytes: is it UTF-16, or not a text file?"),
    ],
)
def test_what_is_unknown_gets_a_hint(write_file, read_error, content, hint):
    assert read_error(read_judgments, write_file(content)).splitlines()[2] == f"  {hint}"


def test_an_id_with_a_blank_in_a_run_is_named(write_file, read_error):
    path = write_file("mug Q0 a 1 3 t\nred mug Q0 a 1 2\n")

    assert read_error(read_rankings, path) == (
        "DIR/file.txt:2\n  has Q0 in the third column, not in the second: does the query's id contain a space?"
    )


def test_a_document_may_be_called_q0(write_file):
    assert read_rankings(write_file("mug Q0 Q0 1 3 t\nmug\tQ0\tb\t2\t2\tt\n")).ranking("mug") == ["Q0", "b"]


def test_a_format_is_for_files_only():
    with pytest.raises(InputError) as caught:
        evaluate({"q": {"d": 1}}, {"q": ["d"]}, "AP", rankings_format="trec")

    assert str(caught.value) == "rankings_format='trec' applies only to files, but these rankings come from Python"


def test_every_format_can_be_used_on_the_command_line(ireval, write_file):
    judgments = write_file("query,document,grade\nq,d,1\n", "judgments.csv")
    rankings = write_file('{"q": ["x", "d"]}', "rankings.json")

    outcome = ireval("evaluate", judgments, rankings, "-m", "RR", "--format", "trec", "--judgments-format", "table")

    assert outcome == (0, "RR\tall\t0.5000000000\n", "")

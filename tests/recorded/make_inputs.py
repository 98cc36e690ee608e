"""Makes what the suites lie on: ``python tests/recorded/make_inputs.py answers`` or ``baselines``.

``answers`` are those of a made-up engine, for the live suites. It answers with the lists of a file of suites/data,
which the first part of the path names; ``search.example`` leads to it as to a proxy. ``baselines`` are accepted again
for each suite that has a folder ``baselines``.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
SUITES = HERE / "suites"
sys.path.insert(0, str(HERE.parent))

from live_server import Server  # noqa: E402 - beside the other helpers of the tests

OF_A_MATRIX = ("tail", "slightly", "tied", "missing", "reversed", "exchanged", "part", "shifted", "fewer")
LIVE = ("live_http", "live_elasticsearch", "live_opensearch", "live_solr", "live_vespa")


def read_lists(name):
    """The documents of each query, by its text."""
    rows = [line.split("\t") for line in (SUITES / "data/queries.tsv").read_text().splitlines()[1:]]
    lists = {row[0]: [] for row in rows}
    for line in (SUITES / f"data/{name}.trec").read_text().splitlines():
        lists[line.split()[0]].append(line.split()[2])
    return {row[1]: lists[row[0]] for row in rows}


def find_text(body):
    """The text of a query, wherever the request has it."""
    if "params" in body:
        return body["params"]["ireval_text"]
    if "yql" in body:
        return body["query"]
    (match,) = body["query"].values()
    return match["query"] if "query" in match else match["title"]


def make_hits(lists, text):
    return [(document, round(1 - rank / 20, 4)) for rank, document in enumerate(lists[text])]


def answer_as(rankings):
    """What the engine answers: before the change the accepted lists, under another mapping."""

    accepted = rankings == "before"

    def respond(asked):
        changed, kind = asked.path.split("/")[1], asked.path.rpartition("/")[2]
        if asked.path == "/stats":
            return {"version": "v7" if accepted else "v8", "documents": 576}
        lists = read_lists("before" if accepted else changed)
        shards = {"total": 1, "successful": 1, "failed": 0}

        def search(body):
            if "ids" in body["query"]:
                hits = [{"_id": each} for each in body["query"]["ids"]["values"] if each != "shop-0101"]
            else:
                found = make_hits(lists, find_text(body))
                title = find_text(body).title()
                hits = [{"_id": each, "_score": score, "_source": {"title": title}} for each, score in found]
            return {"took": 7, "timed_out": False, "_shards": shards, "hits": {"hits": hits}}

        def select(body):
            if body is None:
                docs = []
            elif "terms" in body["query"]:
                docs = [{"id": each} for each in body["query"]["terms"]["query"].split("\n")]
            else:
                docs = [{"id": each, "score": score} for each, score in make_hits(lists, find_text(body))]
            return {"responseHeader": {"QTime": 5}, "response": {"numFound": 576, "docs": docs}}

        def vespa(body):
            if body["query"] == "red lamp" and not accepted:
                return {"root": {"errors": [{"message": "timeout"}], "fields": {"totalCount": 0}}}
            found = make_hits(lists, body["query"])
            hits = [{"relevance": score, "fields": {"sku": each, "title": "Vespa"}} for each, score in found]
            return {"root": {"fields": {"totalCount": len(hits)}, "children": hits}}

        if kind == "tail":
            found = make_hits(lists, asked.params["q"])
            hits = [{"sku": each, "score": score, "name": asked.params["q"].title()} for each, score in found]
            return {"took": 40 + 10 * len(asked.params["segment"]), "results": hits}
        if kind == "_settings":
            return {"products-1": {"settings": {"index": {"uuid": "u1" if accepted else "u2"}}}}
        if kind == "_mapping":
            analyzer = "english" if accepted or changed == "slightly" else "standard"
            fields = {"title": {"type": "text", "analyzer": analyzer}, "description": {"type": "text"}}
            return {"products-1": {"mappings": {"properties": fields}}}
        if kind == "_count":
            return {"count": 576, "_shards": shards}
        if kind == "schema":
            return {"schema": {"name": "products", "version": 1.6}}
        if kind == "requestHandler":
            return {"config": {"requestHandler": {"/select": {"defaults": {"mm": "2<75%"}}}}}
        if kind == "_msearch":
            return {"took": 9, "responses": [search(body) | {"status": 200} for body in asked.lines[1::2]]}
        return {"_search": search, "select": select, "": vespa}[kind](asked.body)

    return respond


def run_pytest(folder, names, *options):
    """One process for each call: pytest imports the functions of a suite once."""
    common = ["--ireval", "-q", "--ireval-report=none", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
    common += ["--rootdir", "."]
    subprocess.run([sys.executable, "-m", "pytest", *common, *options, *names], cwd=folder, check=False)


def record_answers(*_):
    """Ask the engine before and after its change, in a copy without baselines: it is asked twice, for the first one."""
    os.environ.pop("IREVAL_OFFLINE", None)
    os.environ["SOURCE_DATE_EPOCH"] = "1764547200"  # 2025-12-01
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "suites"
        shutil.copytree(SUITES, copy, ignore=shutil.ignore_patterns("baselines", "recordings"))
        for rankings in ("before", "now"):
            server = Server()
            server.respond = answer_as(rankings)
            os.environ |= {"http_proxy": server.url, "RANKINGS": rankings}
            run_pytest(copy, LIVE)
            server.close()
        for name in LIVE:
            shutil.rmtree(SUITES / name / "recordings", ignore_errors=True)
            shutil.copytree(copy / name / "recordings", SUITES / name / "recordings")
            for second in (SUITES / name / "recordings/now").glob("*-2.jsonl.gz"):
                second.unlink()


def accept_baselines(*names):
    """Accept ``before.trec`` in a copy outside of git, where every list is this one; then bring the files back."""
    os.environ |= {"RANKINGS": "before", "IREVAL_OFFLINE": "1", "SOURCE_DATE_EPOCH": "1764547200"}  # 2025-12-01
    os.environ.pop("CI", None)
    forced = ("--ireval-force", "--ireval-reason", "cheaper, as agreed")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "suites"
        shutil.copytree(SUITES, copy, ignore=shutil.ignore_patterns("baselines"))
        for name in OF_A_MATRIX:
            shutil.copy(SUITES / "data/before.trec", copy / f"data/{name}.trec")
        compare = [each.parent.name for each in sorted(SUITES.glob("*/baselines"))]
        compare = [name for name in compare if name in names or not names]
        os.environ["RANKINGS"] = "better"
        run_pytest(copy, ["anchor"], "--ireval-update-new")
        pin = ["baseline", "anchor", "anchor", "--reason", "release 1"]
        subprocess.run([sys.executable, "-m", "pytest_ireval", *pin], cwd=copy, check=True)
        os.environ["RANKINGS"] = "before"
        run_pytest(copy, ["anchor"], "--ireval-update", *forced)
        run_pytest(copy, [name for name in compare if name != "anchor"], "--ireval-update-new", *forced)
        for name in compare:
            shutil.rmtree(SUITES / name / "baselines")
            kept = shutil.ignore_patterns(".*")
            shutil.copytree(copy / name / "baselines", SUITES / name / "baselines", ignore=kept)
    if "damaged_baseline" not in compare:
        return
    damaged = SUITES / "damaged_baseline/baselines/damaged_baseline.baseline"
    damaged.write_text(damaged.read_text()[:1400])


if __name__ == "__main__":
    {"answers": record_answers, "baselines": accept_baselines}[sys.argv[1]](*sys.argv[2:])

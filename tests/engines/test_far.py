"""Rankings far away or on many machines: a real S3 server, a Dask cluster with processes, lake tables."""

import importlib
import os
import select
import shutil
import signal
import socket
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from engines.conftest import without

from pytest_ireval import InputError, IrevalError, Policies, evaluate
from pytest_ireval.cli import evaluate_command
from pytest_ireval.data import coerce
from pytest_ireval.evaluating import executors
from pytest_ireval.progress import Silent

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("default")]
"""Other people's servers warn of what they like."""
METRICS = ["nDCG@10", "AP", "RR", "NumRet"]


def list_needed(*modules):
    """The modules; without one the test is skipped, or fails where engines are required."""
    try:
        return [importlib.import_module(module) for module in modules]
    except ImportError as error:
        raise without(error) from None


QUERIES = 24
JUDGMENTS = {f"q{i:02}": {f"d{j}": (i + j) % 3 for j in range(0, 40, 3)} for i in range(QUERIES)}


def lines(queries):
    return "".join(f"q{i:02} Q0 d{j} 1 {(j * (i + 3)) % 7 + 1 / (j + 1)!r} x\n" for i in queries for j in range(40))


@pytest.fixture
def runs(tmp_path):
    """Judgments, six files with four queries each, and all of it in one file."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "judgments.txt").write_text(
        "".join(
            f"{query} 0 {document} {grade}\n"
            for query, grades in JUDGMENTS.items()
            for document, grade in grades.items()
        )
    )
    for part in range(6):
        (folder / f"part-{part}.trec").write_text(lines(range(part * 4, part * 4 + 4)))
    (tmp_path / "whole.trec").write_text(lines(range(QUERIES)))
    return tmp_path


def whole(runs):
    return figures(evaluate(str(runs / "judgments.txt"), str(runs / "whole.trec"), METRICS))


def figures(evaluation):
    """All values with all their bits, by query."""
    return {
        metric.name: (metric.value.hex(), {q: v.hex() for q, v in metric.values.items()})
        for metric in evaluation.metrics
    }


@pytest.fixture(scope="module")
def bucket():
    """A bucket in a real S3 server, over a socket."""
    server, s3fs = list_needed("moto.server", "s3fs")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        files = s3fs.S3FileSystem()
        files.mkdir("search")
        yield files
    running.stop()


def test_a_bucket_is_read_as_a_folder_is(bucket, runs, ireval):
    pandas, parquet, pyarrow = list_needed("pandas", "pyarrow.parquet", "pyarrow")
    frame = pandas.read_csv(runs / "whole.trec", sep=" ", names=["query", "q0", "document", "rank", "score", "tag"])
    frame = frame.sample(frac=1, random_state=1)  # rows of a query anywhere in its file
    for name, rows in frame.groupby(frame["query"].str[1:].astype(int) % 3):
        place = runs / f"part-{name}.parquet"
        parquet.write_table(pyarrow.table(rows.reset_index(drop=True)), place)
        bucket.put_file(str(place), f"search/runs/shard={name}/part.parquet")
    bucket.pipe_file("search/runs/_SUCCESS", b"")
    bucket.put_file(str(runs / "judgments.txt"), "search/judgments.txt")

    for address in ("s3://search/runs", "s3://search/runs/*/*.parquet", "s3://search/runs/**/*.parquet"):
        evaluation = evaluate("s3://search/judgments.txt", address, METRICS)
        assert figures(evaluation) == whole(runs)
        assert evaluation.rankings == f"{address} (3 files)"
    one = evaluate(
        JUDGMENTS, "s3://search/runs/shard=1/part.parquet", "NumRet", policies=Policies(missing_queries="ignore")
    )
    assert one["NumRet"].value == 320

    code, said, _ = ireval("evaluate", "s3://search/judgments.txt", "s3://search/runs/*/*.parquet", "-m", "NumRet")
    assert (code, "rankings: s3://search/runs/*/*.parquet (3 files)" in said) == (0, True)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("s3://search/none.parquet", "s3://search/none.parquet\n  there is no such file"),
        ("s3://search/none/*.parquet", "s3://search/none/*.parquet\n  there is no file"),
    ],
)
def test_what_a_bucket_does_not_have_is_named(bucket, address, said):
    with pytest.raises(InputError) as error:
        evaluate(JUDGMENTS, address, "AP")
    assert str(error.value).startswith(said)


@pytest.fixture
def google(monkeypatch):
    """A bucket in an emulator of Google Cloud Storage, over a socket."""
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # the emulator has no gRPC; read at import
    server, gcsfs = list_needed("gcp_storage_emulator.server", "gcsfs")
    running = server.create_server("127.0.0.1", 0, in_memory=True, default_bucket="search")
    running.start()
    address = "http://{}:{}".format(*running._api._httpd.server_address)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", address)
    (config,) = list_needed("fsspec.config")
    monkeypatch.setitem(config.conf, "gs", {"token": "anon", "endpoint_url": address})
    gcsfs.GCSFileSystem.clear_instance_cache()
    yield gcsfs.GCSFileSystem()
    running.stop()


@pytest.fixture
def azure(monkeypatch):
    """A container in Azurite, over a socket: `npm install azurite` brings it."""
    (adlfs,) = list_needed("adlfs")
    if (program := shutil.which("azurite-blob")) is None:
        raise without("there is no azurite-blob on PATH")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "--disableTelemetry", "--inMemoryPersistence", "--skipApiVersionCheck", "--blobPort", f"{port}"]
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # of every Azurite
    account = f"AccountName=devstoreaccount1;AccountKey={key};BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            next(line for line in running.stdout if "successfully listens" in line)
            monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"DefaultEndpointsProtocol=http;{account}")
            files = adlfs.AzureBlobFileSystem()
            files.mkdir("search")
            yield files
        finally:
            running.terminate()


@pytest.mark.parametrize(("store", "scheme"), [("google", "gs"), ("azure", "az")])
def test_other_stores_are_read_as_a_folder_is(store, scheme, runs, request):
    files = request.getfixturevalue(store)
    for path in sorted((runs / "runs").iterdir()):
        files.pipe_file(f"search/runs/{path.name}", path.read_bytes())
    files.pipe_file("search/judgments.txt", (runs / "judgments.txt").read_bytes())

    for address in (f"{scheme}://search/runs", f"{scheme}://search/runs/*.trec"):
        evaluation = evaluate(f"{scheme}://search/judgments.txt", address, METRICS)
        assert figures(evaluation) == whole(runs)
        assert evaluation.rankings == f"{address} (6 files)"
    with pytest.raises(InputError, match="there is no such file"):
        evaluate(JUDGMENTS, f"{scheme}://search/none.trec", "AP")


def test_a_file_of_a_web_server_is_read(runs):
    list_needed("aiohttp")
    handler = partial(SimpleHTTPRequestHandler, directory=str(runs))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        assert figures(evaluate(f"{address}/judgments.txt", f"{address}/whole.trec", METRICS)) == whole(runs)
        with pytest.raises(InputError, match="there is no such file"):
            evaluate(JUDGMENTS, f"{address}/none.trec", "AP")
        server.shutdown()


def test_a_query_in_two_files_of_a_bucket_is_an_error(bucket):
    for name in ("one", "two"):
        bucket.pipe_file(f"search/twice/{name}.trec", lines([1]).encode())

    with pytest.raises(InputError) as error:
        evaluate(JUDGMENTS, "s3://search/twice/", "AP")
    assert str(error.value).startswith(
        "s3://search/twice/two.trec\n  query 'q01' is also in s3://search/twice/one.trec\n"
    )


@pytest.fixture(scope="module")
def cluster():
    """Two workers of Dask, each in a process of its own."""
    (distributed,) = list_needed("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as running:
        yield running


def address_of(cluster):
    return cluster.scheduler_address.replace("tcp://", "dask://")


def test_a_cluster_reads_files_as_one_process_does(cluster, runs, ireval):
    asked = ["evaluate", runs / "judgments.txt", "-m", "nDCG@10", "-m", "AP", "--per-query", "--format", "csv"]
    alone = ireval(*asked, runs / "whole.trec")

    assert ireval(*asked, runs / "runs", "--on", address_of(cluster)) == alone
    assert ireval(*asked, runs / "runs" / "*.trec", "--on", address_of(cluster)) == alone
    assert ireval(*asked, runs / "whole.trec", "--on", address_of(cluster)) == alone
    assert alone[0] == 0


def test_a_worker_that_is_killed_while_it_reads_changes_nothing(cluster, runs, monkeypatch):
    """One file is a pipe: a worker has it open when it is killed, and the rest of the file comes for another one.

    The other files are read by then, and gone, so the loss of a worker does not make them be read again.
    """
    from distributed import Client

    pipe = runs / "runs" / "part-5.trec"
    content = pipe.read_bytes()
    pipe.unlink()
    os.mkfifo(pipe)
    files = sorted(map(str, (runs / "runs").iterdir()))
    monkeypatch.setattr(coerce, "list_ranking_files", lambda _: files)  # a folder has no pipes
    found = []
    done = Counted()

    def read(executor):
        judgments, folder = str(runs / "judgments.txt"), str(runs / "runs")
        found.append(evaluate(judgments, folder, METRICS, executor=executor, progress=done))

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        reading = threading.Thread(target=read, args=(client.get_executor(pure=False),))
        reading.start()
        with open(pipe, "wb", buffering=0) as half:  # which waits until a worker has opened it
            half.write(content[: len(content) // 2])
            done.wait_for_files(len(files) - 1)
            for file in files[:-1]:
                os.unlink(file)
            (holding,) = [pid for pid in client.run(os.getpid).values() if has_open(pid, pipe)]
            ended = os.pidfd_open(holding)
            os.kill(holding, signal.SIGKILL)
            select.select([ended], [], [])  # it has the pipe open until it has ended
            os.close(ended)
        with open(pipe, "wb") as again:
            again.write(content)
        reading.join()
        assert holding not in client.run(os.getpid).values()

    assert figures(found[0]) == whole(runs)


class Counted(Silent):
    """A progress that can be waited for; what comes before the files does not count."""

    def __init__(self):
        self.files = None

    def expect(self, _amount, what):
        self.files = threading.Semaphore(0) if what == "files" else None

    def advance(self, amount):
        if self.files is not None:
            self.files.release(amount)

    def wait_for_files(self, number):
        for _ in range(number):
            self.files.acquire()


def has_open(pid, path):
    return any(os.path.realpath(handle) == str(path) for handle in Path(f"/proc/{pid}/fd").iterdir())


def test_a_broken_file_is_named(cluster, runs, ireval):
    (runs / "runs" / "part-1.trec").write_text("q04 Q0 d1 1 high x\n")

    code, _, said = ireval("evaluate", runs / "judgments.txt", runs / "runs", "--on", address_of(cluster))

    assert (code, said.splitlines()[0]) == (2, f"error: {runs}/runs/part-1.trec:1")


def kill_the_worker(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_file_that_kills_every_worker_is_named(cluster, runs, monkeypatch):
    from distributed import Client

    monkeypatch.setattr(executors, "_read_group", kill_the_worker)
    with Client(cluster.scheduler_address, set_as_default=False) as client, pytest.raises(IrevalError) as error:
        evaluate(JUDGMENTS, str(runs / "whole.trec"), METRICS, executor=client.get_executor(pure=False))
    assert str(error.value).startswith(f"{runs}/whole.trec\n  no worker could read it: KilledWorker")


@pytest.mark.parametrize(
    ("on", "said"),
    [
        ("dask://127.0.0.1:1", "--on\n  no scheduler answers at dask://127.0.0.1:1: "),
        ("spark://host:7077", "--on\n  'spark://host:7077' is not a cluster\n  allowed: dask://HOST:PORT, "),
        ("dask://user:secretpw99@127.0.0.1:1", "--on\n  'dask://127.0.0.1:1' is not a cluster\n"),
    ],
)
def test_a_cluster_that_does_not_answer_is_an_error(runs, ireval, monkeypatch, on, said):
    list_needed("distributed")
    monkeypatch.setattr(evaluate_command, "PATIENCE", 1)
    code, _, text = ireval("evaluate", runs / "judgments.txt", runs / "runs", "--on", on)

    assert (code, text.removeprefix("error: ")[: len(said)]) == (2, said)


def frame_of(runs):
    (pandas,) = list_needed("pandas")
    frame = pandas.read_csv(runs / "whole.trec", sep=" ", names=["query", "q0", "document", "rank", "score", "tag"])
    return frame[["query", "document", "score"]]


def test_polars_and_duckdb_give_their_rows_as_they_are(runs):
    polars, duckdb = list_needed("polars", "duckdb")
    frame = frame_of(runs)
    for source in (polars.from_pandas(frame), duckdb.sql("select * from frame order by score")):
        assert figures(evaluate(str(runs / "judgments.txt"), source, METRICS)) == whole(runs)
    relation = duckdb.sql("select query, document, score::decimal(9, 3) as score from frame")
    assert evaluate(JUDGMENTS, relation, "NumRet")["NumRet"].value == 960
    with pytest.raises(InputError, match=r"LazyFrame has no rows yet; call its method collect\(\)"):
        evaluate(JUDGMENTS, polars.from_pandas(frame).lazy(), "AP")


def test_a_delta_table_is_read_through_its_own_reader(runs):
    (deltalake,) = list_needed("deltalake")
    place = str(runs / "delta")
    frame = frame_of(runs)
    deltalake.write_deltalake(place, frame[:500])
    deltalake.write_deltalake(place, frame[500:], mode="append")

    table = deltalake.DeltaTable(place)
    assert figures(evaluate(str(runs / "judgments.txt"), table.to_pyarrow_table(), METRICS)) == whole(runs)
    reader = table.to_pyarrow_dataset().scanner(["query", "document", "score"]).to_reader()
    assert figures(evaluate(str(runs / "judgments.txt"), reader, METRICS)) == whole(runs)


def test_an_iceberg_table_is_read_through_its_own_reader(runs):
    catalogs, pyarrow = list_needed("pyiceberg.catalog.sql", "pyarrow")
    catalog = catalogs.SqlCatalog("shop", uri=f"sqlite:///{runs}/catalog.db", warehouse=f"file://{runs}/warehouse")
    catalog.create_namespace("search")
    rows = pyarrow.table(frame_of(runs))
    table = catalog.create_table("search.rankings", schema=rows.schema)
    table.append(rows[:500])
    table.append(rows[500:])

    reader = table.scan(selected_fields=("query", "document", "score")).to_arrow_batch_reader()
    assert figures(evaluate(str(runs / "judgments.txt"), reader, METRICS)) == whole(runs)

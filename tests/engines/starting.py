"""Real engines, each in a process of its own: on a free port of this machine, in a folder that goes away with it.

The jars of the engines in Java are brought by Maven, once, into ``~/.cache/pytest-ireval-engines``; a change of their
pom or of ``Start.java`` makes another folder there. The others are packages of Debian. Everything is pinned, by the pom
or by the release of Debian.
"""

import contextlib
import functools
import hashlib
import http.client
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

JAVA = Path(__file__).parent / "java"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pytest-ireval-engines"
LIMIT = 180
"""Seconds until an engine must answer, or have ended. It takes some; nothing waits longer than needed."""
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FAST = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Dlog4j2.level=INFO")


class MissingError(Exception):
    """An engine needs what this machine does not have."""


class StartError(Exception):
    """An engine does not answer; its log is in the message."""


class Engine:
    """A process that answers at ``url``, and its folder."""

    def __init__(self, name, url, command, folder, stop_by=signal.SIGTERM):
        self.name, self.url, self.folder, self._stop_by = name, url, folder, stop_by
        with (folder / "log").open("ab") as log:  # Groonga writes to it, too
            # In a session of its own, Ctrl-C does not reach the engine: the program that started it stops it.
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, start_new_session=True
            )

    def wait_until(self, answers):
        """Returns when ``answers()`` is true; a StartError if the process ends before, or the limit is over."""
        end = time.monotonic() + LIMIT
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if answers():
                    return
            if self.process.poll() is not None or time.monotonic() > end:
                state = "did not answer in time" if self.process.poll() is None else "ended"
                raise StartError(f"{self.name} {state}; the end of its log:\n{self.log()[-8000:]}")
            time.sleep(0.05)

    def log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def memory(self):
        """Megabytes of main memory, with those of the processes that it started."""
        number = str(self.process.pid)
        listed = subprocess.run(["ps", "-o", "rss=", "-p", number, "--ppid", number], capture_output=True, check=True)
        return sum(map(int, listed.stdout.split())) // 1024

    def kill(self):
        """Ends it at once, as a machine that loses its power."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ends it as its operators do. Its folder is gone, whatever happened."""
        try:
            if self.process.poll() is None:
                self.process.send_signal(self._stop_by)
                self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise StartError(f"{self.name} did not stop; the end of its log:\n{self.log()[-8000:]}") from None
        finally:
            self.process.stdin.close()
            shutil.rmtree(self.folder, ignore_errors=True)


def start(name):
    """An engine that answers. If it does not start, nothing of it is left."""
    with contextlib.ExitStack() as undone:
        folder = Path(tempfile.mkdtemp(prefix=f"ireval-{name}-"))
        undone.callback(shutil.rmtree, folder, ignore_errors=True)
        engine, answers = STARTERS[name](folder, _free_port())
        undone.callback(engine.stop)
        engine.wait_until(answers)
        undone.pop_all()
    return engine


@contextlib.contextmanager
def running(name):
    """``with running("solr") as solr: …``: it answers at ``solr.url``, and is stopped at the end."""
    engine = start(name)
    try:
        yield engine
    finally:
        engine.stop()


@contextlib.contextmanager
def opensearch_nodes():
    """Two nodes of one cluster. The first leads; the second holds data alone, and may be killed at any moment."""
    transport = _free_port()
    cluster = {
        "discovery.seed_hosts": f"127.0.0.1:{transport}",
        "cluster.fault_detection.follower_check.retry_count": 1,  # a killed node is missed after a second
    }
    first = {"node.name": "first", "transport.port": transport, "cluster.initial_cluster_manager_nodes": "first"}
    with contextlib.ExitStack() as stack:
        nodes = []
        for own in (first, {"node.name": "second", "node.roles": "data"}):
            folder = Path(tempfile.mkdtemp(prefix="ireval-opensearch-"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            nodes.append(_elastic("opensearch", folder, _free_port(), **cluster, **own))
            stack.callback(nodes[-1].stop)
        for node in nodes:
            node.wait_until(lambda node=node: _answers(node, "/_cluster/health?wait_for_nodes=2&timeout=1s"))
        yield nodes


def _answers(engine, path):
    parts = urllib.parse.urlsplit(engine.url + path)
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=LIMIT)) as connection:
        connection.request("GET", f"{parts.path}?{parts.query}")
        return connection.getresponse().status == 200


def _need(program, package):
    found = shutil.which(program)
    if found is None:
        raise MissingError(f"needs the program {program} (apt install {package})")
    return found


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _java(name, folder):
    """The start of a command line: Java, with the jars of the engine. It writes to the folder alone."""
    for program, package in (("java", "default-jdk-headless"), ("javac", "default-jdk-headless"), ("mvn", "maven")):
        _need(program, package)
    source = JAVA / name
    content = b"".join((source / file).read_bytes() for file in ("pom.xml", "Start.java"))
    home = CACHE / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"
    if not home.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=CACHE))
        try:
            maven = ["mvn", "-q", "-B", "-C", "-f", str(source / "pom.xml"), COPY, "-DincludeScope=runtime"]
            try:
                _run([*maven, f"-DoutputDirectory={made / 'jars'}"])
            except StartError as error:
                raise MissingError(f"needs jars that Maven does not bring: {error}") from None
            _run(["javac", "-d", str(made / "classes"), "-cp", f"{made}/jars/*", str(source / "Start.java")])
            try:
                made.rename(home)
            except OSError:
                if not home.is_dir():  # else another process was first, with the same files
                    raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    own = (f"-D{name}={folder}" for name in ("java.io.tmpdir", "jna.tmpdir", "solr.log.dir"))
    return ["java", *FAST, *own, "-cp", f"{home}/classes:{home}/jars/*", "Start"]


def _run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True, **options)
    if done.returncode:
        raise StartError(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{done.stdout[-8000:]}")
    return done.stdout


def _elastic(name, folder, port, **settings):
    """A process of one node, which may not answer yet."""
    settings = {
        "network.host": "127.0.0.1",
        "http.port": port,
        "transport.port": _free_port(),
        "cluster.routing.allocation.disk.threshold_enabled": "false",  # the disk of a developer may be nearly full
    } | settings
    command = [*_java(name, folder), *(f"{key}={value}" for key, value in settings.items())]
    return Engine(name, f"http://127.0.0.1:{port}", command, folder)


def _single_node(name, folder, port):
    node = _elastic(name, folder, port, **{"discovery.type": "single-node"})
    return node, lambda: _answers(node, "/_cluster/health")


def _solr(folder, port):
    shutil.copytree(JAVA / "solr", folder, dirs_exist_ok=True)
    solr = Engine("solr", f"http://127.0.0.1:{port}/solr", [*_java("solr", folder), str(port)], folder)
    return solr, lambda: _answers(solr, "/products/select?q=id:0")


def _postgresql_of_debian(folder, port):
    _need("psql", "postgresql")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return _postgresql(folder, port, found[-1].parent if found else Path(_need("initdb", "postgresql")).parent)


def _pgvector(folder, port):
    """PostgreSQL with pgvector, as a package of Python brings it; Debian's release has none."""
    found = importlib.util.find_spec("pgserver")
    if found is None:
        raise MissingError("needs the package pgserver (pip install pgserver)")
    # A copy, because another user than ours runs it, who may not look into our folders.
    package = Path(found.origin).parent
    for part in ("pgserver/pginstall", "pgserver.libs"):
        shutil.copytree(package.parent / part, folder / part, symlinks=True)
    return _postgresql(folder, port, folder / "pgserver" / "pginstall" / "bin")


def _postgresql(folder, port, programs):
    """Any user of this machine may log in as postgres. Nothing is synced to disk."""
    as_user = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "postgres", "postgres")
        as_user = ["--reuid=postgres", "--regid=postgres", "--init-groups"]
    make = "-D data -U postgres --auth=trust --no-sync --encoding=UTF8 --locale=C"
    _run([*_with_us(), *as_user, programs / "initdb", *make.split()], cwd=folder)
    run = f"-D data -F -p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
    command = [*_with_us(), *as_user, programs / "postgres", *run.split()]
    database = Engine("postgresql", f"postgresql://postgres@127.0.0.1:{port}/postgres", command, folder, signal.SIGINT)
    ready = [programs / "pg_isready", "-q", "-d", database.url]
    return database, lambda: subprocess.run(ready, check=False).returncode == 0


def _groonga(folder, port):
    program = _need("groonga", "groonga-bin")
    run = f"-s --protocol http --bind-address 127.0.0.1 --port {port} --log-path log -n db"
    command = [*_with_us(), program, *run.split()]
    groonga = Engine("groonga", f"http://127.0.0.1:{port}", command, folder)
    return groonga, lambda: _answers(groonga, "/d/status")


def _with_us():
    """Ends a program if ours is killed. Those in Java end when their standard input does."""
    return [_need("setpriv", "util-linux"), "--pdeathsig=INT"]


STARTERS = {
    "opensearch": functools.partial(_single_node, "opensearch"),
    "elasticsearch": functools.partial(_single_node, "elasticsearch"),
    "solr": _solr,
    "postgresql": _postgresql_of_debian,
    "pgvector": _pgvector,
    "groonga": _groonga,
}

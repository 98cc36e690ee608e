"""How fast a live system is asked, beside what its own answer time allows, and how much memory that takes.

``python benchmarks/live_speed.py`` starts a server that answers each search after 10 ms. 8 requests at a time then take
at least 1,000 x 10 ms / 8 = 1.25 s. The exit code is 1 if asking takes longer than the limit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import selectors
import subprocess
import sys
import time
from pathlib import Path

SECONDS, CONCURRENCY, HITS, CATALOGUE = 0.01, 8, 20, 10_000
LIMIT = 2.0
"""The longest time, in times of the minimum."""


class Answering(asyncio.Protocol):
    """Answers each request after 10 ms with 20 documents of a catalogue of 10,000, all of them encoded before."""

    def __init__(self, answers: list[bytes]) -> None:
        self.answers, self.data, self.loop = answers, b"", asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a connection."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer a request that is there as a whole."""
        self.data += data
        head, end, body = self.data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r", 1)[0] or 0)
        if end and len(body) >= length:
            self.data = b""
            self.loop.call_later(SECONDS, self.transport.write, self.answers[hash(body) % len(self.answers)])


async def serve() -> None:
    answers = []
    for first in range(0, CATALOGUE, HITS):
        hits = [
            {"_id": f"sku-{i:08}", "_score": 99.5 - i % HITS, "_source": {"title": f"Title of the product {i}"}}
            for i in range(first, first + HITS)
        ]
        body = json.dumps({"took": 5, "timed_out": False, "hits": {"hits": hits}}).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        answers.append(head.encode() + body)
    server = await asyncio.get_running_loop().create_server(lambda: Answering(answers), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def ask(port: int, number: int) -> None:
    """Ask with the source opensearch."""
    from pytest_ireval import Answer, Queries, Request
    from pytest_ireval.sources.live.elasticsearch import OpenSearchOptions, opensearch

    ids = tuple(f"q{i}" for i in range(number))
    queries = Queries(ids, tuple(f"red mug {i}" for i in range(number)))
    search = {"query": {"match": {"title": "{text}"}}, "fields": ["title"], "concurrency": CONCURRENCY}
    options = OpenSearchOptions.model_validate({"opensearch": f"http://127.0.0.1:{port}/products", **search})
    request = Request(queries, HITS, Path(), "speed")
    began = time.monotonic(), time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = opensearch.fetch(options, request)
    wall, cpu = time.monotonic() - began[0], time.process_time() - began[1]
    assert isinstance(answer, Answer)
    assert len(answer.rankings) == number
    print(json.dumps([wall, cpu, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024]))


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--queries", type=int, default=1_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--memory", type=int, nargs="*", default=[5_000, 50_000], help="numbers of queries")
    options.add_argument("--do", help=argparse.SUPPRESS)
    options.add_argument("--port", type=int, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.do == "serve":
        loop = asyncio.SelectorEventLoop(selectors.SelectSelector())  # its timers are finer than those of epoll
        loop.run_until_complete(serve())
        return 0
    if chosen.do == "ask":
        ask(chosen.port, chosen.queries)
        return 0
    return measured(chosen.queries, chosen.rounds, chosen.memory)


def measured(number: int, rounds: int, memory: list[int]) -> int:
    own = [sys.executable, __file__, "--do"]
    server = subprocess.Popen([*own, "serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = server.stdout.readline().strip()

    def asked(queries: int) -> list[float]:
        command = [*own, "ask", "--port", port, "--queries", str(queries)]
        return list(json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout))

    minimum = number * SECONDS / CONCURRENCY
    try:
        print(f"{number:,} queries, 10 ms each, {CONCURRENCY} at a time: at least {minimum:.2f} s")
        rows = [asked(number) for _ in range(rounds)]
        walls, cpus = [wall for wall, _, _ in rows], [cpu for _, cpu, _ in rows]
        print(f"wall time       {min(walls):.2f} s = {min(walls) / minimum:.2f} x the minimum, limit {LIMIT} x")
        print(f"processor time  {min(cpus) / number * 1000:.2f} ms a query")
        for queries in memory:
            print(f"memory          {asked(queries)[2]:.0f} MiB more after {queries:,} queries")
    finally:
        server.kill()
        server.wait()
    return min(walls) > LIMIT * minimum


if __name__ == "__main__":
    sys.exit(main())

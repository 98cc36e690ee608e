"""How long a gate on a live engine takes, beside the least that the engine's own answers allow.

    python benchmarks/live_speed.py

Starts a server that answers each search after 20 ms. Eight requests in flight then take at least 1,000 x 20 ms / 8 =
2.5 s. Prints what pytest itself says, and the whole command, in times of that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import selectors
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from interleave import Contestant, measure_once

SECONDS, IN_FLIGHT, HITS, CATALOGUE = 0.02, 8, 20, 100
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
SUITE = """\
ireval: 1
suite: live
source:
  opensearch: http://127.0.0.1:PORT/products
  query: {match: {title: "{text}"}}
  fields: [title]
  concurrency: 8
depth: 20
queries: queries.tsv
judgments: judgments.txt
metrics: [nDCG@10]
rules:
  - threshold: {nDCG@10: ">= 0"}
"""


class Answering(asyncio.Protocol):
    """Answers each request after 20 ms with 20 documents of a catalogue of 100, all of them encoded before."""

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


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a gate on a live engine.")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        loop = asyncio.SelectorEventLoop(selectors.SelectSelector())  # its timers are finer than those of epoll
        loop.run_until_complete(serve())
        return
    server = subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        with tempfile.TemporaryDirectory() as name:
            measure(Path(name), server.stdout.readline().strip(), options.queries, options.rounds)
    finally:
        server.kill()
        server.wait()


def measure(folder: Path, port: str, queries: int, rounds: int) -> None:
    """Run the gate, and print its medians."""
    ids = [f"q{number:05}" for number in range(queries)]
    (folder / "queries.tsv").write_text("id\ttext\n" + "".join(f"{each}\tred mug {each}\n" for each in ids))
    judged = (f"{each} 0 sku-{i:08} 1\n" for each in ids for i in range(0, CATALOGUE, HITS))
    (folder / "judgments.txt").write_text("".join(judged))
    (folder / "live.ireval.yaml").write_text(SUITE.replace("PORT", port))
    command = (*PYTEST, "--ireval", f"--ireval-report={folder / 'report'}", str(folder))
    gate = Contestant("gate", command, folder / "gate.out", {"CI": ""})
    measure_once(gate)
    walls, told, cpus = [], [], []
    for _ in range(rounds):
        cost = measure_once(gate)
        last = re.search(r"passed.* in ([\d.]+)s", gate.output.read_text())
        if last is None:
            raise SystemExit(f"not green:\n{gate.output.read_text()}")
        walls.append(cost.wall_seconds)
        cpus.append(cost.cpu_seconds)
        told.append(float(last[1]))
    least = queries * SECONDS / IN_FLIGHT
    print(f"{queries:,} queries, {SECONDS * 1000:g} ms each, {IN_FLIGHT} in flight: at least {least:.2f} s")
    for what, seconds in (("pytest's own figure", told), ("whole command", walls)):
        print(f"{what:20} {statistics.median(seconds):.2f} s = {statistics.median(seconds) / least:.2f} x the least")
    print(f"{'CPU':20} {statistics.median(cpus) / queries * 1000:.2f} ms a query")


if __name__ == "__main__":
    main()

"""A search engine with the made-up shop in it, until Ctrl-C: ``python tests/engines/start.py opensearch``.

``--nodes 2`` starts two nodes of OpenSearch with a shard each; end one of them with ``kill -9`` to see what is left.
``--files FOLDER`` writes the shop's products, queries and judgments, for a suite over the engine.
"""

import argparse
import contextlib
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from engines import collection, indexing, starting


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=starting.STARTERS)
    parser.add_argument("--nodes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--files", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.nodes == 2 and given.engine != "opensearch":
        parser.error("--nodes 2 needs opensearch")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does: the engine is stopped
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a script it would be ignored
    shop = collection.make()
    if given.files:
        collection.write(shop, given.files)
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
        if given.nodes == 2:
            nodes = stack.enter_context(starting.opensearch_nodes())
            indexing.index_elastic(nodes[0].url, collection.documents(shop), shards=2)
        else:
            nodes = [stack.enter_context(starting.running(given.engine))]
            indexing.INDEX[given.engine](nodes[0].url, collection.documents(shop))
        for node in nodes:
            print(f"{node.url}  (process {node.process.pid}, {node.memory()} MB, log {node.folder / 'log'})")
        print(f"'products' has {len(shop.products)} documents. Ctrl-C stops the engine.", flush=True)
        signal.pause()


if __name__ == "__main__":
    try:
        main()
    except (starting.MissingError, starting.StartError, indexing.AnswerError) as error:
        sys.exit(str(error))

"""A small search engine of our own over a real socket, which answers as Elasticsearch and OpenSearch do.

Texts are analyzed as its mapping says, so that another analyzer, field or boost really moves documents.
"""

import json
import re
from collections import Counter
from functools import cache

from live_server import Server

PEOPLE = ("smith", "jones", "brown", "green", "white", "black", "stone", "woods")
THINGS = ("mugs", "pans", "pots", "cups", "bowls", "plates", "spoons", "knives", "lamps", "chairs")
COLOURS = ("red", "blue", "grey", "pink", "gold", "lime", "teal", "plum", "rust", "navy")


@cache
def make_catalogue(size=300):
    """Products by id, in three rounds of all colours and things.

    Title and body of most name what they are, some in the singular. Each third round has accessories instead: their
    titles name a thing often, and their bodies do not name it.
    """
    made = {}
    for number in range(size):
        rounds, colour, thing = number // 100, COLOURS[number % 10], THINGS[number // 10 % 10]
        if rounds % 3 == 2:
            title, body = f"{colour} hook for {thing} and {thing}, {thing}, {thing}", "made of steel"
        else:
            title = f"{colour} {thing if rounds % 2 else thing[:-1]}"
            body = f"{thing} made of clay"
        made[f"p{number:04}"] = {"title": title, "body": body, "author": PEOPLE[number % 8]}
    return made


QUERIES = [f"{colour} {thing}" for thing in THINGS for colour in COLOURS[:2]]


def list_judgments():
    """What a query asks for is relevant, accessories are not."""
    for number, query in enumerate(QUERIES):
        colour, thing = query.split()
        for key, each in make_catalogue().items():
            words = each["title"].split()
            if words[0] == colour and thing[:-1] in (words[1], words[1][:-1], words[-1][:-1]):
                yield f"q{number:02} 0 {key} {int(words[1] != 'hook')}\n"


class ShopEngine:
    """``build()`` makes another index of the same name: a job of CI does that each time."""

    def __init__(self):
        self.server = Server()
        self.server.respond = self.respond
        self.url = self.server.url
        self.reset()

    def reset(self):
        """Bring back the first index."""
        self.builds = 0
        self.documents = make_catalogue()
        self.mapping = {
            "dynamic": "strict",
            "properties": {
                "title": {"type": "text", "analyzer": "english"},
                "body": {"type": "text", "analyzer": "english"},
                "author": {"type": "keyword"},
            },
        }
        self.analysis = {"analyzer": {"nostem": {"tokenizer": "standard", "filter": ["lowercase"]}}}
        self.settings, self.scripts, self.pipelines, self.forbidden = {}, {}, {}, ()
        self.build()

    def build(self):
        """The same documents in a new index."""
        self.builds += 1
        self.uuid = f"Zk{self.builds:04}uuidOfThisBuild"

    def close(self):
        self.server.close()

    def respond(self, asked):
        path = asked.path.removeprefix("/products").removeprefix("/")
        if any(path.startswith(each) for each in self.forbidden):
            return 403, {"error": {"type": "security_exception"}}, {}
        if path in ("_settings", "_mapping", "_count"):
            return self._describe_index(path)
        kind, _, name = path.rpartition("/")
        if kind == "_scripts":
            known = name in self.scripts
            found = {"lang": "mustache", "source": self.scripts.get(name)}
            return (200 if known else 404), {"_id": name, "found": known, **({"script": found} if known else {})}, {}
        if kind == "_search/pipeline":
            known = name in self.pipelines
            return (200 if known else 404), ({name: self.pipelines[name]} if known else {}), {}
        if path == "_search":
            return self._search(asked.body["query"], asked.body["size"])
        if path == "_search/template":
            source = self.scripts[asked.body["id"]]
            for key, value in asked.body["params"].items():
                source = source.replace("{{" + key + "}}", str(value))
            return self._search(json.loads(source)["query"], 20)
        return 404, {"error": f"no such path: {asked.path}"}, {}

    def _describe_index(self, path):
        settings = {"uuid": self.uuid, "creation_date": f"17000000{self.builds:05}", "number_of_shards": "1"}
        settings |= {"provided_name": "products", "version": {"created": "136327827"}, **self.settings}
        return {
            "_settings": {"products": {"settings": {"index": {**settings, "analysis": self.analysis}}}},
            "_mapping": {"products": {"mappings": self.mapping}},
            "_count": {"count": len(self.documents), "_shards": {"total": 1, "successful": 1, "failed": 0}},
        }[path]

    def _search(self, query, size):
        if "ids" in query:
            found = [(1.0, key) for key in query["ids"]["values"] if key in self.documents]
        else:
            (match,) = query.values()
            weights = [(name, float(boost or 1)) for name, _, boost in (f.partition("^") for f in match["fields"])]
            scores = (
                (self._score_document(match["query"], each, weights), key) for key, each in self.documents.items()
            )
            found = sorted((each for each in scores if each[0]), key=lambda each: (-each[0], each[1]))
        return {"took": 1, "hits": {"hits": [{"_id": key, "_score": score} for score, key in found[:size]]}}

    def _score_document(self, text, document, weights):
        score, fields = 0.0, self.mapping["properties"]
        for name, weight in weights:
            if name in fields:
                stems = fields[name].get("analyzer") == "english"
                score += weight * score_field(text, document.get(name, ""), stems)
        return score


@cache  # each job asks for the same
def score_field(query, text, stems):
    counts = count_words(text, stems)
    found = (counts[word] for word in count_words(query, stems) if word in counts)
    return sum(count / (1 + count) for count in found)


@cache
def count_words(text, stems):
    """The number of each word of a text."""
    words = re.findall(r"\w+", text)
    return Counter(word.removesuffix("s") for word in words) if stems else Counter(words)

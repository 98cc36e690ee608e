"""A made-up judge: the more words of the query a title has, the higher is its grade. Ask a language model here."""

import json
import sys

for line in sys.stdin:
    asked = json.loads(line)
    words = set(asked["text"].lower().split())
    title = set(asked["fields"].get("title", "").lower().split())
    best = max(map(int, asked["grades"]))
    print(json.dumps({"grade": round(best * len(words & title) / len(words))}), flush=True)

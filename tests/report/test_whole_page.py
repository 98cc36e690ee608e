"""What the page and its charts look like as a whole: see tests/golden/whole_page."""

import base64
import json
import re
import zlib

import pytest
from report.full_run import full_run

from pytest_ireval.report.charts.curves import make_recall_precision_chart
from pytest_ireval.report.charts.differences import make_differences_chart
from pytest_ireval.report.charts.drawing import draw_file
from pytest_ireval.report.charts.intervals import make_intervals_chart
from pytest_ireval.report.page import render_page

ASSET = re.compile(r"<(style|script)>.*?</\1>", re.DOTALL)
PACKED = re.compile(r'data-packed="([^"]*)"')
DATA = re.compile(r'(id="ireval-data">)(.*?)(</script>)', re.DOTALL)


def unpack(text):
    return zlib.decompress(base64.b64decode(text)).decode()


def readable(page):
    """Styles and scripts stand in files of their own, and their fingerprints change with them; nothing is packed."""
    page = re.sub(r"'sha256-[^']*'|&#39;sha256-[^&]*&#39;", "'sha256-…'", ASSET.sub(r"<\1>…</\1>", page))
    return DATA.sub(_data, PACKED.sub(lambda found: f'data-packed="\n{unpack(found[1])}\n"', page))


def _data(found):
    data = json.loads(found[2])
    for suite in data["suites"]:
        suite["documents"] = json.loads(unpack(suite["documents"]))
    return f"{found[1]}\n{json.dumps(data, ensure_ascii=False, indent=1)}\n{found[3]}"


def test_the_page(golden):
    golden("index.html", readable(render_page(full_run(suites=2, queries=9, metrics=2, documents=2))))


(SUITE,) = full_run(queries=9, metrics=1).suites
CHARTS = {
    "differences": make_differences_chart(SUITE, SUITE.metrics[0]),
    "intervals": make_intervals_chart(SUITE),
    "recall_precision": make_recall_precision_chart(SUITE),
}


@pytest.mark.parametrize("name", CHARTS)
def test_each_chart(golden, name):
    golden(f"{name}.svg", draw_file(CHARTS[name]))

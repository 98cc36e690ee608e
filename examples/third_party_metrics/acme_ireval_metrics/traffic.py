"""How many searches are behind the queries that got worse: what Acme's product managers ask first."""

from pytest_ireval import report_section


@report_section(name="acme_traffic", title="Traffic", template="traffic.html.jinja", style="traffic.css")
def traffic(run):
    """The share of searches whose value fell and rose, by suite and metric; `run` is what results.json holds."""
    rows = [
        {"suite": suite["name"], "metric": metric["name"], **shares(suite["queries"], metric)}
        for suite in run["suites"]
        for metric in suite["metrics"]
        if suite["queries"]["weights"] and metric["name"] in suite["queries"]["baseline"]
    ]
    return {"rows": rows}


def shares(queries, metric):
    """What part of all searches the queries stand for that got worse, and those that got better."""
    sign = -1 if metric["direction"] == "lower" else 1
    both = zip(queries["weights"], queries["now"][metric["name"]], queries["baseline"][metric["name"]], strict=True)
    moved = [(weight, sign * (now - then)) for weight, now, then in both if now is not None and then is not None]
    total = sum(weight for weight, _ in moved) or 1
    return {
        "worse": sum(weight for weight, change in moved if change < 0) / total,
        "better": sum(weight for weight, change in moved if change > 0) / total,
    }

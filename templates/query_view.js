// Draws one query: the same as templates/query.html.jinja, for queries that the reader opens in the table.
// Texts come into the page as text nodes only, so that nothing in them can be anything but text.
const queryView = (() => {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";

  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };

  const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const shape = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  const figure = (value) => (value === null || value === undefined ? "-" : value.toFixed(4));
  const change = (value) => (value === null || value === undefined ? "-" : (value < 0 ? "" : "+") + value.toFixed(4));

  // "worse", "better", "same", or nothing if neither direction of a metric is better.
  const movedBy = (value, direction) => {
    if (value === null || value === undefined || !["higher", "lower"].includes(direction)) return "";
    if (value === 0) return "same";
    return (value > 0) === (direction === "higher") ? "better" : "worse";
  };

  const number = (text, moved = "") => make("td", { class: `number ${moved}` }, text);
  const heading = (text, numeric = false) => make("th", { scope: "col", class: numeric ? "number" : null }, text);
  const table = (kind, headings, rows) =>
    make("table", { class: kind }, make("thead", {}, make("tr", {}, ...headings)), make("tbody", {}, ...rows));

  const figures = (suite, position) =>
    table(
      "query-figures",
      [heading("metric"), heading("baseline", true), heading("now", true), heading("change", true)],
      suite.metrics.map((metric) => {
        const moved = metric.change[position];
        return make(
          "tr",
          {},
          make("th", { scope: "row" }, metric.name),
          number(figure(metric.baseline[position])),
          number(figure(metric.now[position])),
          number(change(moved), movedBy(moved, metric.direction)),
        );
      }),
    );

  const gradeOf = (suite, grade) => {
    if (grade === null) return "";
    const label = suite.labels.get(String(grade));
    return label ? `${grade} ${label}` : String(grade);
  };

  // One list of the documents for each side: where each stands, how it is judged, where it went.
  const placedOf = (suite, kept) =>
    kept.ids.map((id, place) => ({
      id,
      place,
      grade: gradeOf(suite, kept.grades[place]),
      relevant: kept.grades[place] !== null && kept.grades[place] >= suite.relevantFrom,
      now: kept.now[place],
      baseline: kept.baseline[place],
      title: kept.titles?.[place] ?? "",
      url: kept.urls?.[place] ?? "",
    }));

  const ranked = (placed, side) => placed.filter((each) => each[side] !== null).sort((a, b) => a[side] - b[side]);

  const move = (each, side) => {
    if (each.now === null || each.baseline === null) return [side === "now" ? "new" : "gone"];
    if (each.now === each.baseline) return ["="];
    const [when, other] = side === "now" ? ["was ", each.baseline] : ["now ", each.now];
    return [each.now < each.baseline ? "↑ " : "↓ ", make("span", { class: "when" }, when), `#${other}`];
  };

  const effect = (each) => {
    if (!each.relevant) return "";
    const now = each.now ?? Infinity, before = each.baseline ?? Infinity;
    return now === before ? "same" : now < before ? "better" : "worse";
  };

  const LONG = 24; // a longer id may be cut by the edge of its list
  const named = (each) => {
    if (!each.title) return make("bdi", { class: "document", title: each.id.length > LONG ? each.id : null }, each.id);
    const title = each.url ? make("a", { href: each.url, rel: "noreferrer noopener" }, each.title) : each.title;
    const whole = `${each.title} (${each.id})`;
    return make("span", { class: "document", title: whole }, make("bdi", {}, title), " ", make("small", {}, each.id));
  };
  const standing = (each, side, compared) =>
    make(
      "li",
      { value: each[side], class: each.relevant ? `relevant ${compared ? effect(each) : ""}` : null },
      make("span", { class: "rank" }, `#${each[side]}`), " ",
      named(each), " ",
      make("span", { class: each.grade ? "grade" : "grade none" }, each.grade || "unjudged"), " ",
      make("span", { class: "move" }, ...(compared ? move(each, side) : [])),
    );

  const side = (name, list, compared) =>
    make(
      "section",
      { class: `side ${name}` },
      make("h5", {}, name),
      list.length
        ? make("ol", {}, ...list.map((each) => standing(each, name, compared)))
        : make("p", { class: "soft" }, "no documents"),
    );

  // Lines that say more are drawn later, so that they lie above the others.
  const ORDER = ["", "same", "better", "worse"];
  const lines = (before, now) => {
    const rows = new Map(now.map((each, row) => [each.place, row]));
    const found = before.flatMap((each, row) =>
      rows.has(each.place) ? [{ left: row + 0.5, right: rows.get(each.place) + 0.5, moved: effect(each) }] : [],
    );
    found.sort((a, b) => ORDER.indexOf(a.moved) - ORDER.indexOf(b.moved));
    return shape(
      "svg",
      {
        class: "moves",
        "aria-hidden": "true",
        viewBox: `0 0 100 ${Math.max(before.length, now.length)}`,
        preserveAspectRatio: "none",
      },
      ...found.map(({ moved, left, right }) => shape("path", { class: moved || null, d: `M0 ${left}L100 ${right}` })),
    );
  };

  const rankings = (suite, placed) => {
    const now = ranked(placed, "now");
    if (!suite.compared) return make("div", { class: "rankings alone" }, side("now", now, false));
    const before = ranked(placed, "baseline");
    const both = [side("baseline", before, true), lines(before, now), side("now", now, true)];
    return make("div", { class: "rankings" }, ...both);
  };

  const known = (kept, first) => {
    const count = kept.relevant;
    const judged =
      count === null
        ? "This query has no judgments."
        : `${count} relevant ${count === 1 ? "document is" : "documents are"} known.`;
    const others = kept.more === 1 ? "document is" : "documents are";
    const more = kept.more ? ` Below rank ${first}, ${kept.more} other ${others} left out.` : "";
    return make("p", { class: "soft" }, judged + more);
  };

  const rank = (value) => (value === null ? "nowhere" : `#${value}`);

  // What each document adds, what adds most to the first metric before the others.
  const shares = (suite, kept, placed) => {
    const every = kept.shares.map(([name, values]) => ({
      name,
      values,
      direction: suite.metrics.find((metric) => metric.name === name)?.direction ?? "",
    }));
    const counts = (each) => every.some(({ values }) => values[each.place]);
    const size = ({ values }, each) => Math.abs(values[each.place] ?? 0);
    const telling = placed.filter(counts).sort((a, b) => {
      const decisive = every.find((metric) => size(metric, a) !== size(metric, b));
      return decisive ? size(decisive, b) - size(decisive, a) : a.place - b.place;
    });
    if (!telling.length) return [];
    const rows = telling.map((each) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, make("bdi", {}, each.id)),
        make("td", {}, each.grade || "unjudged"),
        make("td", {}, `${rank(each.baseline)} → ${rank(each.now)}`),
        ...every.map(({ values, direction }) =>
          number(change(values[each.place]), movedBy(values[each.place], direction)),
        ),
      ),
    );
    const headings = [heading("document"), heading("grade"), heading("moved")];
    const drawn = table("shares", [...headings, ...every.map(({ name }) => heading(name, true))], rows);
    drawn.prepend(make("caption", {}, "What each document adds to the change"));
    return [make("div", { class: "wide" }, drawn)];
  };

  const command = (text) =>
    make(
      "div",
      { class: "command" },
      make("span", { class: "label" }, "why"),
      make("code", {}, text),
      make("button", { type: "button", class: "copy" }, "Copy"),
    );

  const columns = (suite, position) => {
    const pairs = suite.columns.map((column) => [column.name, column.values[column.of[position]]]);
    if (suite.weights) pairs.push(["weight", String(suite.weights[position])]);
    if (!pairs.length) return [];
    const shown = pairs.flatMap(([name, value]) => [
      make("span", {}, make("bdi", {}, name), " ", make("bdi", { class: "value" }, value)), " ",
    ]);
    return [make("p", { class: "query-columns" }, ...shown)];
  };

  const rules = (suite, position) => {
    const named = suite.rules.filter((rule) => rule.members.has(position));
    if (!named.length) return [];
    const lines_ = named.map((rule) =>
      make("li", {}, make("span", { class: `word ${rule.verdict}` }, rule.verdict), ` ${rule.headline}`),
    );
    return [make("ul", { class: "query-rules" }, ...lines_)];
  };

  const documents = (suite, kept, first) => {
    if (!kept) {
      return [make("p", { class: "soft" }, "The page does not hold the documents of this query: it has those of " +
        "queries behind failing rules, and of the worst of each metric. The command shows them.")];
    }
    const placed = placedOf(suite, kept);
    return [rankings(suite, placed), known(kept, first), ...shares(suite, kept, placed)];
  };

  // The query's view; ``kept`` is what the page holds of its documents, or nothing; ``why`` is a command.
  const draw = (suite, position, kept, first, why) =>
    make(
      "article",
      { class: "query" },
      make("h4", {}, make("bdi", { class: "query-id" }, suite.ids[position]), " ",
        make("bdi", { class: "query-text" }, suite.texts[position] ?? "")),
      ...columns(suite, position),
      ...rules(suite, position),
      make("div", { class: "query-facts" }, figures(suite, position), ...(kept ? queryCurve.draw(kept) : [])),
      ...documents(suite, kept, first),
      ...(why ? [command(why)] : []),
    );

  return { make, shape, figure, change, movedBy, draw };
})();

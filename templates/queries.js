// The table of all queries of a suite: filter, sort, pages, and the view of a query below its row.
const queryTables = (() => {
  "use strict";

  const ROWS = 50; // on a page: thousands of rows at once would make the browser slow, and people do not read them
  const FEW = 40; // a column with more values is not offered as slices; the filter finds them
  const { make, movedBy } = queryView;
  const { columnsOf, filtered, compare, same, worstFirst, firstChanged } = queryChoice;

  const counted = (number) => number.toLocaleString("en");

  // ---- drawing

  const header = (explorer, column) => {
    const { sort } = explorer;
    const sorted = same(sort.column, column) ? (sort.down ? "descending" : "ascending") : null;
    const long = column.metric ? `${column.metric.name} ${column.name}` : column.name;
    const button = make("button", { type: "button" });
    if (column.metric) button.append(make("span", { class: "of-metric" }, column.metric.name), " ");
    button.append(make("span", {}, column.name));
    button.addEventListener("click", () => sortBy(explorer, column));
    const kind = `${column.numeric ? "number" : ""} ${column.kind}`;
    return make("th", { scope: "col", class: kind, "aria-sort": sorted, title: `Sort by ${long}` }, button);
  };

  const bar = (explorer, column, value) => {
    const size = explorer.largest(column.metric);
    const drawn = make("span", { class: "bar", "aria-hidden": "true" }, make("i"));
    // A style that a script sets is not a style attribute of the page, so the policy lets it be.
    drawn.firstChild.style.width = `${size ? (100 * Math.abs(value ?? 0)) / size : 0}%`;
    return drawn;
  };

  const cell = (explorer, column, position) => {
    const text = column.text(position);
    if (!column.numeric) return make("td", { class: column.kind }, make("bdi", { title: text }, text));
    if (column.kind !== "change") return make("td", { class: `number ${column.kind}` }, text);
    const value = column.value(position);
    const moved = movedBy(value, column.metric.direction);
    const bars = explorer.metrics().length === 1 || column.metric === explorer.sort.column.metric; // more would crowd
    const drawn = make("td", { class: `number change ${moved}` }, make("span", {}, text));
    if (bars) drawn.prepend(bar(explorer, column, value));
    return drawn;
  };

  const row = (explorer, position) => {
    const open = explorer.open.has(position);
    const id = explorer.suite.ids[position];
    const state = { type: "button", class: "opener", "aria-expanded": String(open) };
    const button = make("button", state, make("bdi", {}, id));
    const cells = explorer.columns.slice(1).map((column) => cell(explorer, column, position));
    const kind = open ? "query-row open" : "query-row";
    const drawn = make("tr", { class: kind }, make("th", { scope: "row" }, button), ...cells);
    drawn.dataset.position = position;
    return drawn;
  };

  const viewRow = (explorer, position) => {
    const drawn = make("tr", { class: "view-row" }, make("td", { colspan: explorer.columns.length }));
    const place = drawn.firstChild;
    const metric = firstChanged(explorer.metrics());
    queryData.documents(explorer.suite).then((kept) => {
      const why = queryData.why(explorer.suite, position, metric);
      const view = queryView.draw(explorer.suite, position, kept.get(position), explorer.first, why);
      view.append(actions(explorer, position));
      place.replaceChildren(view);
      for (const wide of view.querySelectorAll(".wide")) if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    });
    return drawn;
  };

  const actions = (explorer, position) => {
    const copy = make("button", { type: "button", class: "copy-link" }, "Copy link");
    const close = make("button", { type: "button", class: "close" }, "Close");
    copy.addEventListener("click", () => queryAddress.copy(explorer, position, copy));
    close.addEventListener("click", () => toggle(explorer, position, false));
    return make("p", { class: "query-actions" }, copy, " ", close);
  };

  const drawRows = (explorer) => {
    const start = explorer.page * ROWS;
    const shown = explorer.found.slice(start, start + ROWS);
    const rows = shown.flatMap((position) =>
      explorer.open.has(position) ? [row(explorer, position), viewRow(explorer, position)] : [row(explorer, position)],
    );
    const none = make("tr", {}, make("td", { colspan: explorer.columns.length }, "No query is like that."));
    explorer.body.replaceChildren(...(rows.length ? rows : [none]));
    explorer.root.classList.toggle("has-open", Boolean(explorer.body.querySelector(".view-row")));
    drawPages(explorer, start, shown.length);
  };

  const drawPages = (explorer, start, count) => {
    const { part, found } = explorer;
    part("previous").disabled = explorer.page === 0;
    part("next").disabled = start + count >= found.length;
    part("explorer-pages").hidden = found.length <= ROWS;
    part("page").textContent = `${counted(start + 1)} to ${counted(start + count)} of ${counted(found.length)}`;
  };

  const drawHead = (explorer) => {
    const focused = [...explorer.head.children].findIndex((each) => each.contains(document.activeElement));
    explorer.head.replaceChildren(...explorer.columns.map((column) => header(explorer, column)));
    explorer.head.children[focused]?.firstChild.focus(); // who sorts with the keyboard goes on from there
  };

  const say = (explorer, note = "") => {
    const { found, suite, sort } = explorer;
    const all = counted(suite.ids.length);
    const count = `${found.length === suite.ids.length ? "All" : `${counted(found.length)} of`} ${all} queries`;
    const by = sort.column.metric ? `${sort.column.metric.name} ${sort.column.name}` : sort.column.name;
    const way = sort.column.numeric ? (sort.down ? "highest" : "lowest") : sort.down ? "last" : "first";
    explorer.part("explorer-count").textContent = `${count}, by ${by}, the ${way} first. ${note}`.trim();
  };

  // ---- doing

  const refresh = (explorer, note) => {
    explorer.found = filtered(explorer).sort(compare(explorer.sort.column, explorer.sort.down));
    explorer.page = 0;
    drawHead(explorer);
    drawRows(explorer);
    say(explorer, note);
  };

  const sortBy = (explorer, column) => {
    const again = same(explorer.sort.column, column);
    explorer.sort = { column, down: again ? !explorer.sort.down : Boolean(column.falls) };
    refresh(explorer);
  };

  const choose = (explorer) => {
    explorer.columns = columnsOf(explorer);
    const kept = explorer.sort && explorer.columns.find((column) => same(column, explorer.sort.column));
    explorer.sort = kept ? { ...explorer.sort, column: kept } : worstFirst(explorer);
    refresh(explorer);
  };

  const turn = (explorer, pages) => {
    const last = Math.max(0, Math.ceil(explorer.found.length / ROWS) - 1);
    const page = Math.min(last, Math.max(0, explorer.page + pages));
    if (page === explorer.page) return false;
    explorer.page = page;
    drawRows(explorer);
    return true;
  };

  const rowOf = (explorer, position) => explorer.body.querySelector(`tr[data-position="${position}"]`);
  const openerOf = (explorer, position) => rowOf(explorer, position)?.querySelector(".opener");

  // A view that opens below the edge of the screen would look as if nothing had happened.
  const reveal = (opened) => {
    const seen = window.innerHeight - opened.getBoundingClientRect().bottom;
    if (seen < window.innerHeight / 3) opened.scrollIntoView({ block: "start" });
  };

  const toggle = (explorer, position, open = !explorer.open.has(position)) => {
    if (open) explorer.open.add(position);
    else explorer.open.delete(position);
    const old = rowOf(explorer, position);
    if (!old) return;
    if (old.nextSibling?.classList.contains("view-row")) old.nextSibling.remove();
    old.replaceWith(row(explorer, position), ...(open ? [viewRow(explorer, position)] : []));
    explorer.root.classList.toggle("has-open", Boolean(explorer.body.querySelector(".view-row")));
    openerOf(explorer, position).focus({ preventScroll: true });
    if (open) reveal(rowOf(explorer, position));
    queryAddress.write(explorer, open ? position : null);
  };

  const clearFilter = (explorer) => {
    for (const name of ["words", "slice", "rule"]) explorer.part(name).value = "";
    explorer.part("worsened").checked = false;
  };

  // Shows a query wherever it is: on another page, and behind a filter, which is cleared then, and said.
  const show = (explorer, position) => {
    if (!explorer.found.includes(position)) {
      clearFilter(explorer);
      refresh(explorer, `The filter hid ${explorer.suite.ids[position]} and was cleared.`);
    }
    explorer.open.add(position);
    explorer.page = Math.floor(explorer.found.indexOf(position) / ROWS);
    drawRows(explorer);
    for (let each = explorer.root; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    openerOf(explorer, position).focus({ preventScroll: true });
    // Views that are open above it have their height only when their documents are there.
    queryData.documents(explorer.suite).then(() => rowOf(explorer, position)?.scrollIntoView({ block: "start" }));
  };

  // ---- setting up

  const option = (value, text) => make("option", { value }, text);

  const fillChoices = (explorer) => {
    const { suite, part } = explorer;
    suite.columns.forEach((column, place) => {
      if (column.values.length < 2 || column.values.length > FEW) return;
      const values = column.values.map((value, each) => option(`${place}:${each}`, `${column.name}=${value}`));
      part("slice").append(make("optgroup", { label: column.name }, ...values));
    });
    if (suite.rules.length) {
      const rules = suite.rules.map((rule, place) => option(String(place), `${rule.verdict}: ${rule.id}`));
      part("rule").append(make("optgroup", { label: "one rule" }, ...rules));
    }
    const metrics = suite.metrics.map((metric, place) => option(String(place), metric.name));
    part("metric").append(option("all", "all"), ...metrics);
    const few = suite.metrics.length <= 3 && window.matchMedia("(min-width: 60rem)").matches;
    part("metric").value = few ? "all" : String(Math.max(0, suite.metrics.indexOf(firstChanged(suite.metrics))));
  };

  const listen = (explorer) => {
    const { part, body } = explorer;
    for (const name of ["words", "slice", "rule", "worsened"]) {
      part(name).addEventListener("input", () => refresh(explorer));
    }
    part("metric").addEventListener("input", () => choose(explorer));
    part("previous").addEventListener("click", () => turn(explorer, -1));
    part("next").addEventListener("click", () => turn(explorer, 1));
    body.addEventListener("click", (event) => {
      const clicked = event.target.closest("tr.query-row");
      if (clicked && !String(window.getSelection())) toggle(explorer, Number(clicked.dataset.position));
    });
  };

  // The largest change of each metric: as long as a bar can be.
  const largestChange = (metric) => metric.change.reduce((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);

  const parts = (root) => {
    const known = new Map();
    return (name) => known.get(name) ?? known.set(name, root.querySelector(`.${name}`)).get(name);
  };

  const build = (root, suite, first) => {
    const part = parts(root);
    const largest = new Map(suite.metrics.map((metric) => [metric, largestChange(metric)]));
    const chosen = () => part("metric").value;
    const explorer = {
      root, suite, first, part, body: root.querySelector("tbody"), head: root.querySelector("thead tr"),
      open: new Set(), page: 0, found: [], columns: [], sort: null,
      metrics: () => suite.metrics.filter((_, place) => chosen() === "all" || place === Number(chosen())),
      largest: (metric) => largest.get(metric),
    };
    fillChoices(explorer);
    listen(explorer);
    choose(explorer);
    root.hidden = false;
    root.parentElement.querySelector(".without-script")?.remove();
    return explorer;
  };

  const start = () => {
    const { first, suites } = queryData.read();
    const byName = new Map(suites.map((suite) => [suite.name, suite]));
    return [...document.querySelectorAll(".explorer")]
      .filter((root) => byName.has(root.dataset.suite))
      .map((root) => build(root, byName.get(root.dataset.suite), first));
  };

  return { start, show, toggle, turn, openerOf };
})();

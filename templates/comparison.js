"use strict";
// The leaderboard: sorted by a click on a column; the values of one ranking are shown when it is chosen.
const body = document.querySelector("#board tbody");
const order = [...body.rows];

for (const [column, head] of [...document.querySelectorAll("#board thead button")].entries()) {
  head.addEventListener("click", () => {
    const { lower, sorted } = head.dataset;
    const up = sorted ? sorted === "down" : Boolean(lower);
    for (const other of document.querySelectorAll("#board thead button")) delete other.dataset.sorted;
    head.dataset.sorted = up ? "up" : "down";
    const key = (row) => {
      const value = row.cells[column + 2].dataset.value;
      return value === "" ? Infinity : (up ? 1 : -1) * Number(value);
    };
    const keys = new Map(order.map((row) => [row, key(row)]));
    chosen?.remove();
    chosen = null;
    body.append(...[...order].sort((one, other) => keys.get(one) - keys.get(other) || 0));
  });
}

const held = document.getElementById("values");
let values = null;
let chosen = null;

function show(row) {
  values ??= JSON.parse(held.textContent);
  if (chosen) chosen.remove();
  const open = chosen?.dataset.of !== row.dataset.number;
  chosen = null;
  if (!open) return;
  chosen = document.createElement("tr");
  chosen.dataset.of = row.dataset.number;
  const table = document.createElement("table");
  const line = (cells, kind) => {
    const made = document.createElement("tr");
    for (const text of cells) made.append(Object.assign(document.createElement(kind), { textContent: text }));
    table.append(made);
  };
  for (const { unit, names, metrics } of values) {
    line([unit, ...Object.keys(metrics)], "th");
    const columns = Object.values(metrics).map((rows) => rows[row.dataset.number]);
    names.forEach((name, i) => line([name, ...columns.map((found) => found[i]?.toFixed(4) ?? "–")], "td"));
  }
  const cell = document.createElement("td");
  cell.colSpan = row.cells.length;
  cell.append(table);
  chosen.append(cell);
  row.after(chosen);
}

if (held) {
  body.addEventListener("click", (event) => {
    const button = event.target.closest("button.name");
    if (button) show(button.closest("tr"));
  });
}

// Addresses of queries, and the keyboard; starts the tables.
const queryAddress = (() => {
  "use strict";

  // The address is a convenience: pages inside others may be forbidden to change it.
  const write = (explorer, position) => {
    const link = position === null ? location.pathname + location.search : queryData.link(explorer.suite, position);
    try {
      history.replaceState(null, "", link);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
    }
  };

  const copy = async (explorer, position, button) => {
    write(explorer, position);
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(location.href.split("#")[0] + queryData.link(explorer.suite, position));
      button.textContent = "Copied";
    } catch (error) {
      if (!(error instanceof DOMException || error instanceof TypeError)) throw error;
      button.textContent = "It is in the address bar";
    }
    setTimeout(() => { button.textContent = before; }, 2000);
  };

  const spellings = (fragment) => {
    try {
      return [decodeURIComponent(fragment), fragment];
    } catch (error) {
      if (error instanceof URIError) return [fragment]; // a percent sign written as it is
      throw error;
    }
  };

  const find = (explorers, anchor) => {
    for (const explorer of explorers) {
      const start = `${explorer.suite.name}::q=`;
      const position = anchor.startsWith(start) ? explorer.suite.ids.indexOf(anchor.slice(start.length)) : -1;
      if (position >= 0) return { explorer, position };
    }
    return null;
  };

  // A view that the page has without a script is where a browser goes by itself; the others are in the tables.
  const follow = (explorers) => {
    const wanted = spellings(location.hash.slice(1));
    if (wanted.some((anchor) => anchor && document.getElementById(anchor))) return;
    const found = wanted.map((anchor) => find(explorers, anchor)).find(Boolean);
    if (found) queryTables.show(found.explorer, found.position);
  };

  return { write, copy, follow };
})();

const queryKeys = (() => {
  "use strict";

  const { make } = queryView;
  const KEYS = [
    ["/", "go to the filter; Enter leads on to the queries that it found"],
    ["j, k", "next or previous query; the arrows do the same within the table"],
    ["Enter", "open or close the query"],
    ["Escape", "close the query"],
    ["?", "show or hide this"],
  ];

  const drawn = () => {
    const close = make("button", { type: "button" }, "Close");
    const row = ([key, text]) =>
      make("tr", {}, make("th", { scope: "row" }, make("kbd", {}, key)), make("td", {}, text));
    const dialog = make(
      "dialog",
      { class: "keys-dialog", "aria-label": "Keys" },
      make("h2", {}, "Keys"),
      make("table", {}, make("tbody", {}, ...KEYS.map(row))),
      make("p", {}, close),
    );
    close.addEventListener("click", () => dialog.close());
    document.body.append(dialog);
    return dialog;
  };

  const isTyping = (element) => element.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName);

  // The table with the focus, else the first that can be seen.
  const nearest = (explorers) =>
    explorers.find(({ root }) => root.contains(document.activeElement)) ??
    explorers.find(({ root }) => root.getClientRects().length && root.getBoundingClientRect().bottom > 0) ??
    explorers.find(({ root }) => root.getClientRects().length);

  const currentRow = (explorer) => {
    const row = document.activeElement.closest("tr.query-row, tr.view-row");
    if (!row || !explorer.body.contains(row)) return null;
    return row.classList.contains("view-row") ? row.previousSibling : row;
  };

  const step = (explorer, by) => {
    const rows = [...explorer.body.querySelectorAll("tr.query-row")];
    const place = rows.indexOf(currentRow(explorer));
    let next = rows[place < 0 ? 0 : place + by];
    if (!next && queryTables.turn(explorer, by)) {
      const turned = explorer.body.querySelectorAll("tr.query-row");
      next = turned[by > 0 ? 0 : turned.length - 1];
    }
    const opener = next?.querySelector(".opener");
    opener?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
  };

  const close = (explorer) => {
    const row = currentRow(explorer);
    if (!row) return false;
    const position = Number(row.dataset.position);
    if (!explorer.open.has(position)) return false;
    queryTables.toggle(explorer, position, false);
    return true;
  };

  const arrows = { ArrowDown: 1, ArrowUp: -1 };

  const act = (event, explorer, dialog) => {
    if (event.key === "?") return void dialog.showModal() ?? true;
    if (!explorer) return false;
    if (event.key === "/") return void explorer.part("words").focus() ?? true;
    if (event.key === "j" || event.key === "k") return void step(explorer, event.key === "j" ? 1 : -1) ?? true;
    if (event.key in arrows && currentRow(explorer)) return void step(explorer, arrows[event.key]) ?? true;
    return event.key === "Escape" && close(explorer);
  };

  const listen = (explorers) => {
    const dialog = drawn();
    for (const explorer of explorers) {
      explorer.part("keys").addEventListener("click", () => dialog.showModal());
      explorer.part("words").addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault(); // it would press what has the focus then
        step(explorer, 1);
      });
    }
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
      if (dialog.open) {
        if (event.key === "?") dialog.close();
        return;
      }
      if (act(event, nearest(explorers), dialog)) event.preventDefault();
    });
  };

  return { listen };
})();

(() => {
  "use strict";

  const explorers = queryTables.start();
  if (!explorers.length) return;
  queryKeys.listen(explorers);
  window.addEventListener("hashchange", () => queryAddress.follow(explorers));
  queryAddress.follow(explorers);
})();

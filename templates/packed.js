// What a page holds deflated: documents of queries, and charts that are folded away.
const packed = (() => {
  "use strict";

  const possible = typeof DecompressionStream !== "undefined"; // in browsers since 2023

  const text = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  };

  // The parser makes elements of it and runs nothing; the page's policy would not let it, either.
  const fill = async (element) => {
    const { packed: content } = element.dataset;
    delete element.dataset.packed;
    const parsed = new DOMParser().parseFromString(await text(content), "text/html");
    element.replaceChildren(...parsed.body.childNodes);
    window.dispatchEvent(new Event("resize")); // something may have become wider than its place
  };

  const inSight = (element) => !element.parentElement.closest("details:not([open])");
  const fillThose = (root) => {
    for (const each of root.querySelectorAll("[data-packed]")) if (inSight(each)) fill(each);
  };

  const start = () => {
    if (!possible) return;
    // The event does not bubble, so it is caught on its way down.
    document.addEventListener("toggle", (event) => { if (event.target.open) fillThose(event.target); }, true);
    fillThose(document);
  };

  return { possible, text, start };
})();
packed.start();

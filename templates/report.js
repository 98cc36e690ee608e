// Copies commands, and opens what an address or a printer asks for. The page says everything without it, too.
(() => {
  "use strict";

  const open = (element) => {
    for (let each = element; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") each.open = true;
    }
  };

  const named = () => {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch (error) {
      if (error instanceof URIError) return null; // an address that was cut
      throw error;
    }
  };

  const follow = () => {
    const target = named();
    if (!target) return;
    open(target);
    target.scrollIntoView();
  };

  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };

  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    select(code); // where nothing may be copied for them, readers do it themselves
    if (!navigator.clipboard) return;
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => { button.textContent = before; }, 2000);
  };

  // What has to be scrolled sideways is reached with the keyboard, too; the keyboard skips what fits.
  const reachable = () => {
    for (const each of document.querySelectorAll(".wide, .charts figure, .query-curve")) {
      if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
      else each.removeAttribute("tabindex");
    }
  };

  for (const button of document.querySelectorAll("button.copy")) button.hidden = false;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button) copy(button);
    const link = event.target.closest('a[href^="#"]');
    if (link) history.replaceState({ followed: [...document.links].indexOf(link) }, "");
  });
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const each of closed) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of closed) each.open = false;
  });
  window.addEventListener("resize", reachable);
  document.addEventListener("toggle", reachable, true);
  reachable();
  window.addEventListener("hashchange", () => {
    // Who goes back is at the link again that was followed; a browser alone would go on with Tab where it led.
    const link = document.links[history.state?.followed];
    if (link) link.focus();
    else follow();
  });
  follow();
})();

// The rater: shows one document at a time, and sends each grade at once. All texts are set as text, never as HTML.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const buttons = [...document.querySelectorAll("[data-grade]")];
  const given = [];
  const seen = [];
  let item = null;
  let busy = false;

  const say = (text, wrong) => {
    at("status").textContent = text;
    at("status").classList.toggle("wrong", Boolean(wrong));
  };

  const ask = async (place, sent, done = "") => {
    const how = sent && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sent) };
    const unseen = done ? `${done} The next document cannot be shown` : "This document cannot be shown";
    const failed = sent ? "Not saved" : unseen;
    let response;
    try {
      response = await fetch(`items/${place}`, { cache: "no-store", ...how });
    } catch (error) {
      throw new Error(`${failed}: ${error.message}. Is ireval judge still running?`);
    }
    const answer = await response.json();
    if (!response.ok && response.status !== 409) throw new Error(`${failed}: ${answer.error || response.statusText}`);
    return { clash: response.status === 409, ...answer };
  };

  const list = (into, pairs) => {
    const parts = pairs.flatMap(([name, text]) => {
      const term = document.createElement("dt");
      term.textContent = name;
      const value = document.createElement("dd");
      value.dir = "auto";
      if (/^https?:\/\/\S+$/.test(text)) {
        const link = document.createElement("a");
        link.href = text;
        link.rel = "noopener noreferrer";
        link.target = "_blank";
        link.textContent = text;
        value.append(link);
      } else value.textContent = text;
      return [term, value];
    });
    into.replaceChildren(...parts);
  };

  const draw = (found, focus) => {
    item = found;
    at("item").hidden = at("answers").hidden = false;
    at("text").textContent = found.text || found.query;
    at("query").textContent = found.query;
    at("document").textContent = found.document;
    at("title").textContent = found.title;
    list(at("about"), found.about);
    list(at("fields"), found.fields);
    at("progress").max = found.total;
    at("progress").value = found.judged;
    at("count").textContent = `${found.judged} of ${found.total} judged`;
    for (const each of buttons) each.setAttribute("aria-pressed", String(each.dataset.grade === found.grade));
    at("undo").disabled = !given.length;
    at("back").disabled = !seen.length;
    if (focus) {
      window.scrollTo(0, 0);
      at("text").focus({ preventScroll: true });
    }
  };

  const one_at_a_time = (work) => async (...values) => {
    if (busy) return;
    busy = true;
    try {
      await work(...values);
    } catch (error) {
      say(error.message, true);
    }
    busy = false;
  };

  const go = async (place, text, remember) => {
    if (place === null) {
      draw(await ask(item.place, null, text), true);
      say(`${text} All ${item.total} documents are judged.`.trim());
      return;
    }
    const found = await ask(place, null, text);
    if (remember && item) seen.push(item.place);
    draw(found, true);
    say(`${text} ${item.judged} of ${item.total} judged.`.trim());
  };

  const clash = (found) => {
    draw(found, false);
    say(`This document was judged elsewhere: ${found.grade || "its grade was removed"}. Press a key again to change it.`, true);
  };

  const grade = one_at_a_time(async (value) => {
    const before = item.grade;
    const found = await ask(item.place, { grade: value, seen: before });
    if (found.clash) {
      clash(found);
      return;
    }
    given.push({ place: found.place, before, value });
    draw(found, false); // if the next one does not come, this one is shown as it was saved
    await go(found.next, `Grade ${value} saved.`, true);
  });

  const undo = one_at_a_time(async () => {
    const last = given.at(-1);
    if (!last) return;
    const found = await ask(last.place, { grade: last.before, seen: last.value });
    given.pop(); // not before: a request that failed can be sent again
    if (found.clash) {
      clash(found);
      return;
    }
    draw(found, true);
    say(last.before ? `Undone: grade ${last.before} again.` : "Undone: without a grade again.");
  });

  const skip = one_at_a_time(async () => {
    const { next } = await ask(item.place);
    if (next === null && !item.grade) say("This is the last document without a grade.");
    else await go(next, item.grade ? "" : "Skipped.", true);
  });

  const back = one_at_a_time(async () => {
    if (!seen.length) return;
    await go(seen.at(-1), "", false);
    seen.pop();
    at("back").disabled = !seen.length;
  });

  for (const each of buttons) each.addEventListener("click", () => grade(each.dataset.grade));
  at("undo").addEventListener("click", undo);
  at("skip").addEventListener("click", skip);
  at("back").addEventListener("click", back);
  document.addEventListener("keydown", (event) => {
    if (!item || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
    const key = event.key;
    const moves = { u: undo, s: skip, ArrowLeft: back, ArrowRight: skip };
    const chosen = buttons.find((each) => each.dataset.grade === key);
    const work = chosen ? () => grade(key) : moves[key];
    if (!work) return;
    event.preventDefault();
    work();
  });
  one_at_a_time(() => go("next", "", false))();
})();

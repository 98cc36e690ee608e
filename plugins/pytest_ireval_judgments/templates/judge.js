// The rater: shows one document at a time, and sends each grade at once. All texts are set as text, never as HTML.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const buttons = [...document.querySelectorAll("[data-grade]")];
  const given = [];
  const seen = [];
  let item = null;
  let under_way = null; // the promise of what is saved or fetched now
  let ending = false;

  const say = (text, wrong) => {
    at("status").textContent = text;
    at("status").classList.toggle("wrong", Boolean(wrong));
  };

  const element = (kind, text, name) => {
    const made = document.createElement(kind);
    made.textContent = text;
    if (name) made.className = name;
    return made;
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
    return answer;
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

  const rank = (into, documents) => {
    const rows = documents.map((each) => {
      const row = document.createElement("li");
      const name = element("bdi", each.title || each.document);
      const grade = each.grade === "" ? "not graded" : `grade ${each.grade}`;
      row.append(element("span", each.rank, "soft"), name, element("span", grade, "grade soft"));
      if (each.here) row.setAttribute("aria-current", "true");
      return row;
    });
    into.replaceChildren(...(rows.length ? rows : [element("li", "no ranking", "soft")]));
  };

  // Judging a run again may take longer than saving a grade, so the next document does not wait for it.
  const check_again = async () => {
    const list_of_checks = at("verdicts");
    if (!list_of_checks) return;
    list_of_checks.parentElement.classList.add("waiting");
    let text = "";
    try {
      const response = await fetch("verdicts", { cache: "no-store" });
      const answer = await response.json();
      if (!response.ok) throw new Error(answer.error || response.statusText);
      list_of_checks.replaceChildren(...answer.checks.map((each) => {
        const row = document.createElement("li");
        const change = each.before === each.now ? each.now : `${each.before} → ${each.now}`;
        row.append(element("strong", change), ` ${each.headline} `, element("code", each.id), element("span", each.bound, "bound soft"));
        return row;
      }));
      at("final").hidden = !answer.final;
    } catch (error) {
      text = `The run cannot be checked again: ${error.message}`;
    }
    list_of_checks.parentElement.classList.remove("waiting");
    if (text) say(text, true);
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
    if (found.rankings) {
      at("ranks").textContent = found.rankings.ranks;
      for (const side of ["baseline", "current"]) rank(at(side), found.rankings[side]);
    }
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

  const attempt = async (work, values) => {
    try {
      await work(...values);
    } catch (error) {
      say(error.message, true);
    }
    under_way = null;
  };

  // A second press of a key must not grade the next document, which nobody has read.
  const one_at_a_time = (work) => async (...values) => {
    if (under_way) return;
    under_way = attempt(work, values);
    await under_way;
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
    say(found.clash, true);
  };

  const grade = one_at_a_time(async (value) => {
    const before = item.grade;
    const found = await ask(item.place, { grade: value, seen: before });
    if (found.clash) {
      clash(found);
      return;
    }
    given.push({ place: found.place, before, value });
    check_again();
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
    check_again();
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

  const end = one_at_a_time(async () => {
    await fetch("end", { method: "POST" });
    item = null;
    at("item").hidden = at("answers").hidden = true;
    say("Ended. The terminal shows what changed and what to do next; you may close this page.");
  });

  // The end waits for what is under way; a second click ends nothing more.
  const end_when_done = async () => {
    if (ending) return;
    ending = true;
    while (under_way) await under_way;
    await end();
    ending = false;
  };

  for (const each of document.querySelectorAll(".end")) each.addEventListener("click", end_when_done);
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
  check_again();
  one_at_a_time(() => go("next", "", false))();
})();

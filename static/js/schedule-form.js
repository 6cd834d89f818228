/**
 * Says what the form of a schedule means while it is filled in: the server makes the sentence and the next runs out of
 * it. Without JavaScript they are those of what was saved or sent last.
 */

import { fragmentFrom } from "./lazy-fragment.js";

const PAUSE = 300;

const form = document.getElementById("schedule-form");
const said = document.querySelector("[data-preview]");
let waiting = 0;
let asked = 0;

/** The next runs stand in the card beside the form. @param {ParentNode} part */
function place(part) {
  const times = part.querySelector("[data-next-runs]");
  const there = document.querySelector("[data-next-place]");
  if (times && there) there.replaceChildren(times);
}

/** @param {HTMLFormElement} filled @param {HTMLElement} shown */
async function look(filled, shown) {
  const mine = ++asked;
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(filled)) {
    if (typeof value === "string" && name !== "csrfmiddlewaretoken") fields.append(name, value);
  }
  const came = await fragmentFrom(`${shown.dataset.preview}?${fields}`).catch(() => null);
  if (!came || mine !== asked) return;
  place(came);
  shown.replaceChildren(came);
}

if (form instanceof HTMLFormElement && said instanceof HTMLElement) {
  place(said);
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => look(form, said), PAUSE);
  });
}

/** The notes of a reviewer at their lines and steps: each stands there as soon as its place is on the page. */

import { key, on } from "../events.js";

const notes = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-returned] [data-note]")]);
const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-note-link]")]);
let here = -1;
/** Whether its line is on the way. */
let waits = false;

/** The note where it stands in the work. @param {number} at */
const shown = (at) => /** @type {HTMLElement | null} */ (document.getElementById(`note-here-${at}`));

/** @param {number} at */
function box(at) {
  const made = document.createElement("div");
  made.className = "thread";
  const comment = document.createElement("div");
  comment.className = "comment dnote";
  comment.id = `note-here-${at}`;
  comment.tabIndex = -1;
  const head = document.createElement("header");
  head.className = "comment__head";
  head.textContent = "Note for you";
  const body = document.createElement("div");
  body.className = "comment__body";
  body.dir = "auto";
  body.textContent = notes[at]?.querySelector("[data-text]")?.textContent ?? "";
  if (notes[at]?.querySelector("form")) {
    const answer = document.createElement("a");
    answer.className = "push small";
    answer.href = `#answer-${at}`;
    answer.textContent = "Answer it";
    head.append(answer);
  }
  comment.append(head, body);
  made.append(comment);
  return made;
}

/** @param {HTMLElement} note @param {number} at */
function place(note, at) {
  if (shown(at)) return;
  const { file, side, line, step } = note.dataset;
  if (step) document.querySelector(`#s${step} > .step__head`)?.after(box(at));
  if (!file || !Number(line)) return;
  const row = document.getElementById(`f${file}`)?.querySelector(`tr[data-${side}="${line}"]`);
  if (!row) return;
  const under = document.createElement("tr");
  under.className = "inline";
  const cell = under.insertCell();
  cell.colSpan = /** @type {HTMLTableRowElement} */ (row).cells.length;
  cell.append(box(at));
  row.after(under);
}

const placeAll = () => notes.forEach(place);

/** Go to a note: to its line or step, which may have to come first, else to the list. @param {number} at */
function go(at) {
  here = at;
  for (const link of links) {
    if (link.dataset.noteLink === String(at)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const note = shown(at);
  const place = note ? null : /** @type {HTMLElement | null} */ (notes[at]?.querySelector("a[href^='#f']"));
  waits = place !== null;
  if (place) return place.click();
  const found = note ?? notes[at];
  found?.scrollIntoView({ block: "center" });
  // The note itself, and no field in it: the next key is for walking on.
  found?.focus({ preventScroll: true });
}

/** @param {number} by */
function walk(by) {
  if (!notes.length) return false;
  go((Math.max(here, by < 0 ? 0 : -1) + by + notes.length) % notes.length);
}

/** Notes without an answer are things left, as what the schemes ask for is. */
export function missing() {
  return notes.flatMap((note, at) => (note.querySelector("form") ? [{ label: `Note ${at + 1}`, go: () => go(at) }] : []));
}

export function redraw() {}

placeAll();
// Files and hidden lines come when they are near the viewport.
on("fragment", ":root", () => {
  placeAll();
  if (waits && shown(here)) go(here);
});
on("click", "[data-note-link]", (event, link) => {
  event.preventDefault();
  go(Number(link.dataset.noteLink));
});
key("]", () => walk(1));
key("[", () => walk(-1));

/** The notes of a reviewer at their lines: each stands under its line as soon as that is on the page. */

import { key, on } from "../events.js";

const notes = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-returned] [data-note]")]);
let here = -1;

/** @param {HTMLElement} note */
function place(note) {
  const { file, side, line } = note.dataset;
  if (!file || !Number(line)) return;
  const article = document.getElementById(`f${file}`);
  const row = article?.querySelector(`tr[data-${side}="${line}"]`);
  const known = article?.querySelector(`tr.inline[data-note-at="${side}-${line}-${notes.indexOf(note)}"]`);
  if (!row || known) return;
  const shown = document.createElement("tr");
  shown.className = "inline";
  shown.dataset.noteAt = `${side}-${line}-${notes.indexOf(note)}`;
  const cell = shown.insertCell();
  cell.colSpan = /** @type {HTMLTableRowElement} */ (row).cells.length;
  const text = note.querySelector("[data-text]")?.textContent ?? "";
  const box = document.createElement("div");
  box.className = "thread";
  const comment = document.createElement("div");
  comment.className = "comment dnote";
  const head = document.createElement("header");
  head.className = "comment__head";
  head.textContent = "Note for you";
  const body = document.createElement("div");
  body.className = "comment__body";
  body.dir = "auto";
  body.textContent = text;
  comment.append(head, body);
  box.append(comment);
  cell.append(box);
  row.after(shown);
}

const placeAll = () => notes.forEach(place);

/** @param {number} by */
function walk(by) {
  if (!notes.length) return false;
  here = (here + by + notes.length) % notes.length;
  const note = notes[here];
  note?.scrollIntoView({ block: "center" });
  /** @type {HTMLElement | null | undefined} */ (note?.querySelector("a, input"))?.focus();
}

placeAll();
// Files and hidden lines come when they are near the viewport.
on("fragment", ":root", placeAll);
key("]", () => walk(1));
key("[", () => walk(-1));

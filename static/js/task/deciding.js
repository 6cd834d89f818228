/**
 * What a reviewer decides of an annotation: a click on a line's number, or on a step's button, opens a note there, which
 * goes with the decision. While the page is looked at, the annotation stays with this reviewer.
 * What is typed is kept in the tab until a decision was made: one that is refused, a reload, or "later" loses nothing.
 */

import { key, on } from "../events.js";
import "../undo-ends.js";
import { copyOf, one } from "./dom.js";
import { send } from "./http.js";

/** @type {{ files: { index: number, path: string }[], api: string, tab: string }} */
const { files, api, tab } = JSON.parse(one("#task-data").textContent ?? "");
const label = document.querySelector("[data-return-label]");
const list = document.querySelector("[data-notes]");

/** The fields of notes at lines and steps that have words. */
const written = () => /** @type {HTMLTextAreaElement[]} */ ([...document.querySelectorAll("[data-placed] textarea[name=note]")]).filter((field) => field.value.trim());

function show() {
  const notes = written();
  if (label) label.textContent = notes.length ? `Return with ${notes.length} note${notes.length === 1 ? "" : "s"}` : "Return";
  if (!(list instanceof HTMLElement)) return;
  list.hidden = !notes.length;
  list.replaceChildren(
    ...notes.map((field) => {
      const item = document.createElement("li");
      item.className = "small";
      item.textContent = `${field.ariaLabel}: ${field.value.trim()}`;
      return item;
    }),
  );
}

/**
 * @param {HTMLElement} button of a line
 * @returns {HTMLTextAreaElement | null} the field of the note at that line, null where none can be written
 */
function noteAt(button) {
  const row = button.closest("tr");
  const index = Number(button.closest("article")?.id.slice(1));
  const path = files.find((file) => file.index === index)?.path;
  const { side = "new", l: line } = button.dataset;
  if (!label || !row || !path || !line) return null;
  return noteBehind(row, "line-note", `${side}:${line}:${path}`, `${path}, ${side === "old" ? "old " : ""}line ${line}`);
}

/**
 * @param {Element | null | undefined} article of a step
 * @returns {HTMLTextAreaElement | null} the field of the note at that step, null where it is not on the page
 */
function noteAtStep(article) {
  const head = article?.querySelector(".step__head");
  const index = article?.id.slice(1);
  return head ? noteBehind(head, "step-note", `step:${index}`, `Step ${index}`) : null;
}

/**
 * The field of the note at a place, which is there already or comes behind an element.
 * @param {Element} before @param {string} template @param {string} place as the form sends it @param {string} words
 */
function noteBehind(before, template, place, words) {
  const known = [...document.querySelectorAll("[data-placed] [name=place]")].find((field) => /** @type {HTMLInputElement} */ (field).value === place);
  const note = /** @type {HTMLElement} */ (known?.closest("[data-placed]") ?? copyOf(template));
  const field = /** @type {HTMLTextAreaElement} */ (one("textarea", note));
  if (!known) {
    one(".comment__lines", note).textContent = words;
    field.ariaLabel = words;
    /** @type {HTMLInputElement} */ (one("[name=place]", note)).value = place;
    before.after(note);
  }
  return field;
}

/** @typedef {{ isSent: boolean, fields: Record<string, string>, lines: { place: string, text: string }[] }} Kept */

const PREFIX = "review-notes:";
const FIELDS = ["[data-whole]", "[name=step]", "[name=step_note]", "[name=reason]"];

/** @param {string} selector @returns {HTMLInputElement | HTMLTextAreaElement | null} */
const fieldOf = (selector) => document.querySelector(`${selector}[form=decide]`);

/** @param {boolean} isSent */
function keep(isSent) {
  const fields = Object.fromEntries(FIELDS.map((selector) => [selector, fieldOf(selector)?.value ?? ""]));
  const lines = written().map((field) => ({
    place: /** @type {HTMLInputElement} */ (one("[name=place]", /** @type {HTMLElement} */ (field.closest("[data-placed]")))).value,
    text: field.value,
  }));
  sessionStorage.setItem(PREFIX + location.pathname, JSON.stringify({ isSent, fields, lines }));
}

/** @param {string} place @returns {[HTMLTextAreaElement | null, string]} the field of the note there, and the place in words */
function placed(place) {
  const [, step] = /^step:(\d+)$/.exec(place) ?? [];
  if (step !== undefined) return [noteAtStep(document.getElementById(`s${step}`)), `Step ${step}`];
  const [, side, line, path] = /** @type {RegExpExecArray} */ (/^(\w+):(\d+):(.*)$/s.exec(place));
  const file = files.find((each) => each.path === path);
  const button = document.querySelector(`#f${file?.index} button[data-side="${side}"][data-l="${line}"]`);
  return [button instanceof HTMLElement ? noteAt(button) : null, `${path}, line ${line}`];
}

/** What was typed on this page before; a note at a place that is not shown now goes to the note on the whole. */
function restore() {
  const stored = sessionStorage.getItem(PREFIX + location.pathname);
  if (!stored) return;
  const { fields, lines } = /** @type {Kept} */ (JSON.parse(stored));
  for (const [selector, text] of Object.entries(fields)) {
    const field = fieldOf(selector);
    if (field) field.value = text;
  }
  for (const { place, text } of lines) {
    const [field, words] = placed(place);
    const whole = fieldOf("[data-whole]");
    if (field) field.value = text;
    else if (whole) whole.value = `${whole.value}\n${words}: ${text}`.trim();
  }
  show();
}

// The page after a decision offers to undo it: what went with it is not needed any more.
if (document.querySelector("[data-undo-seconds]")) {
  for (const name of Object.keys(sessionStorage).filter((each) => each.startsWith(PREFIX))) {
    if (JSON.parse(sessionStorage.getItem(name) ?? "{}").isSent) sessionStorage.removeItem(name);
  }
}
if (label && tab === "steps") {
  for (const article of document.querySelectorAll("article.step")) {
    const button = copyOf("step-note-button");
    button.ariaLabel = `Note at step ${article.id.slice(1)}`;
    article.querySelector("[data-toggle]")?.before(button);
  }
}
restore();

on("click", "[data-note-step]", (_, button) => {
  noteAtStep(button.closest("article"))?.focus();
  return true;
});
on("click", "article.file button[data-side]", (event, button) => {
  const field = noteAt(button);
  if (!field) return false;
  event.preventDefault();
  field.focus();
  return true;
});
on("input", "[form=decide]", () => {
  show();
  keep(false);
});
document.querySelector("#decide")?.addEventListener("submit", (event) => {
  const act = /** @type {SubmitEvent} */ (event).submitter?.getAttribute("value") ?? "";
  keep(["accept", "return", "void"].includes(act));
});
on("click", "[data-discard]", (_, button) => {
  button.closest("[data-placed]")?.remove();
  show();
  keep(false);
});
for (const control of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-decide] [aria-keyshortcuts]"))) {
  key(control.getAttribute("aria-keyshortcuts") ?? "", () => control.click());
}

const AGAIN_MS = 5 * 60_000;
const submission = document.querySelector("[data-hold]")?.getAttribute("data-hold");
if (submission) {
  setInterval(() => {
    // One that is not reached holds it no longer, and the next time does.
    if (document.visibilityState === "visible") void send("POST", `${api}submissions/${submission}/hold/`);
  }, AGAIN_MS);
}

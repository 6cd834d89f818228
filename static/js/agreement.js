/**
 * A project's agreement: while a report is computed the figures are loaded again every other second, stay until new ones
 * are there, and changed values are marked for a minute. `r` computes, `d` opens the downloads.
 */

import { fragmentFrom } from "./lazy-fragment.js";

const PAUSE = 2_000;
const LONGEST_PAUSE = 60_000;
const MARKED = 60_000;

const shown = document.querySelector("[data-agreement]");
const status = document.querySelector("[data-agreement-said]");
let pause = PAUSE;

/** @param {ParentNode} part @returns {Map<string, string>} the values by what they are of */
function values(part) {
  const found = /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("[data-figure]"));
  return new Map([...found].map((cell) => [cell.dataset.figure ?? "", cell.textContent ?? ""]));
}

/** @param {HTMLElement} part @param {Map<string, string>} before */
function markChanged(part, before) {
  for (const cell of part.querySelectorAll("[data-figure]")) {
    if (!(cell instanceof HTMLElement) || before.get(cell.dataset.figure ?? "") === cell.textContent) continue;
    cell.classList.add("is-changed");
    setTimeout(() => cell.classList.remove("is-changed"), MARKED);
  }
}

/** @param {HTMLElement} part */
async function look(part) {
  if (!part.querySelector("[data-on-its-way]")) return;
  const came = document.hidden ? null : await fragmentFrom(part.dataset.agreement ?? "").catch(() => null);
  if (came) {
    const before = values(part);
    const isOver = !came.querySelector("[data-on-its-way]");
    const progress = came.querySelector("[data-on-its-way]");
    const old = part.querySelector("[data-on-its-way]");
    if (isOver) {
      part.replaceChildren(came);
      if (before.size) markChanged(part, before);
      if (status) status.textContent = part.querySelector("[role=alert]")?.textContent ?? "The new figures are there.";
    } else if (progress && old) {
      old.replaceWith(progress);
    }
  }
  pause = came || document.hidden ? PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
  setTimeout(look, pause, part);
}

/** @param {KeyboardEvent} event */
function pressed(event) {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (target instanceof HTMLElement && target.closest("input, select, textarea, [contenteditable]")) return;
  const name = { r: "[data-compute]", d: "[data-downloads]" }[event.key];
  const button = name ? document.querySelector(name) : null;
  if (!(button instanceof HTMLElement)) return;
  event.preventDefault();
  button.click();
}

document.addEventListener("keydown", pressed);
if (shown instanceof HTMLElement) setTimeout(look, PAUSE, shown);

/**
 * Lists with rows: `j` and `k` move, Enter opens, `x` ticks, Shift and `x` tick all since the last one, Escape unticks all,
 * and what has `data-key` is pressed by its key. Without JavaScript all of it is links and an ordinary form.
 *
 * `data-list` is around the rows, which have `data-row`, or are those of its table; the first link of a row opens it, and
 * of one without a link its details. In the list `data-bulk` is the bar of what is done to the rows that are ticked,
 * `data-chosen` says how many these are, `data-page` ticks all of the page and `data-all` stands for all that fit. The list
 * has an event `chosen` whenever that changes. What js/live.js puts in the place of a row is that row. A dialog
 * with `data-refused` opens by itself.
 */

import { key, on } from "./events.js";
import "./undo-ends.js";

const list = /** @type {HTMLElement | null} */ (document.querySelector("[data-list]"));
const idle = list?.querySelector("[data-chosen]")?.textContent ?? "";
/** @type {HTMLElement | null} */ let here = null;
/** @type {HTMLElement | null} */ let last = null;

/** @returns {HTMLElement[]} */
function rows() {
  const own = list?.querySelectorAll("[data-row]") ?? [];
  return /** @type {HTMLElement[]} */ ([...(own.length ? own : list?.querySelectorAll("tbody > tr") ?? [])]);
}

/** @param {string} selector @returns {HTMLInputElement | null} */
const box = (selector) => list?.querySelector(selector) ?? null;

/** @param {Element | null} row @returns {HTMLInputElement | null} */
const tick = (row) => row?.querySelector(".tick input") ?? null;

/** What opens a row. @param {Element | null} row @returns {HTMLElement | null} */
const opener = (row) => row?.querySelector("th a") ?? row?.querySelector("a[href]") ?? row?.querySelector("summary") ?? null;

/** The row as it is on the page now, after js/live.js may have replaced it. @param {HTMLElement | null} row */
function present(row) {
  if (!row || row.isConnected) return row;
  const address = opener(row)?.getAttribute("href");
  return rows().find((other) => (row.id ? other.id === row.id : address && opener(other)?.getAttribute("href") === address)) ?? null;
}

function show() {
  const boxes = rows().map(tick).filter((each) => each !== null);
  const chosen = boxes.filter((each) => each.checked).length;
  for (const row of rows()) row.classList.toggle("is-on", Boolean(tick(row)?.checked));
  const page = box("[data-page]"), isAll = Boolean(box("[data-all]")?.checked);
  if (page) {
    page.checked = chosen > 0 && chosen === boxes.length;
    page.indeterminate = chosen > 0 && !page.checked;
  }
  const isNone = !chosen && !isAll;
  list?.querySelector("[data-bulk]")?.classList.toggle("is-idle", isNone);
  const words = list?.querySelector("[data-chosen]");
  if (words) words.textContent = isAll ? "All that fit" : isNone ? idle : `${chosen} chosen`;
  list?.dispatchEvent(new CustomEvent("chosen", { bubbles: true }));
}

/** @param {HTMLElement | null} row */
function mark(row) {
  here?.classList.remove("is-here");
  here = row;
  here?.classList.add("is-here");
}

/** @param {number} by */
function move(by) {
  const all = rows(), from = present(here);
  if (!all.length) return false;
  mark(all[Math.max(0, Math.min(all.length - 1, (from ? all.indexOf(from) : -1) + by))] ?? null);
  const row = here;
  if (row && !opener(row)) row.tabIndex = -1;
  (opener(row) ?? row)?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

/** @param {boolean} isRange */
function choose(isRange) {
  const row = present(here), own = tick(row), before = present(last);
  if (!row || !own) return false;
  const isFrom = isRange && before !== null;
  const checked = isFrom || !own.checked;
  const all = rows(), places = [all.indexOf(row), all.indexOf(isFrom ? before : row)];
  for (const each of all.slice(Math.min(...places), Math.max(...places) + 1)) {
    const other = tick(each);
    if (other) other.checked = checked;
  }
  last = row;
  show();
}

function chooseNone() {
  const boxes = rows().map(tick).filter((each) => each?.checked);
  const all = box("[data-all]");
  if (document.querySelector(":popover-open") || (!boxes.length && !all?.checked)) return false;
  for (const each of boxes) if (each) each.checked = false;
  if (all) all.checked = false;
  show();
}

if (list) {
  key("j", () => move(1));
  key("k", () => move(-1));
  key("x", () => choose(false));
  key("X", () => choose(true));
  key("Escape", chooseNone);
  key("Enter", ({ target }) => {
    const own = opener(present(here));
    // What has the focus keeps Enter for itself.
    if (!own || (target instanceof Element && target.closest("a, button, input, select, summary"))) return false;
    own.click();
  });
}

/** @param {string} name */
const pressed = (name) => [...document.querySelectorAll(`[data-key="${CSS.escape(name)}"]`)].at(-1);
/** @type {Set<string>} */ const bound = new Set();

/** What a key presses is looked for when it is pressed: js/live.js may have put another in its place by then. */
function bind() {
  for (const element of document.querySelectorAll("[data-key]")) {
    const name = element.getAttribute("data-key") ?? "";
    if (bound.has(name)) continue;
    bound.add(name);
    key(name, () => {
      const button = pressed(name);
      if (!(button instanceof HTMLElement) || button.matches(":disabled")) return false;
      button.click();
    });
  }
}
bind();

on("change", "[data-list] input[type=checkbox]", (_, changed) => {
  const page = box("[data-page]");
  if (changed === page) for (const row of rows()) {
    const other = tick(row);
    if (other) other.checked = Boolean(page?.checked);
  }
  last = rows().find((row) => row.contains(changed)) ?? last;
  show();
});
on("focusin", "[data-list] :is(tbody > tr, [data-row])", (_, element) => {
  const row = rows().find((each) => each.contains(element));
  if (row && row !== here) mark(row);
});
on("live", ":root", () => {
  mark(present(here));
  show();
  bind();
});
// A dialog that a menu opens stands in the menu's place, not over it. Without JavaScript the menu stays behind it.
on("click", "[data-menu] [popovertarget]", (event, button) => {
  const dialog = document.getElementById(button.getAttribute("popovertarget") ?? ""), menu = button.closest("[data-menu]");
  if (!dialog || !(menu instanceof HTMLElement)) return;
  event.preventDefault();
  menu.hidePopover();
  dialog.showPopover();
  const field = dialog.querySelector("input:not([type=hidden]), select, textarea, button");
  if (field instanceof HTMLElement) field.focus();
});
on("click", "[data-choose-none]", () => void chooseNone());
on("change", "select[data-clicks]", (_, select) => document.getElementById(select.dataset.clicks ?? "")?.click());
on("change", "[data-submits]", (_, field) => /** @type {HTMLSelectElement | HTMLInputElement} */ (field).form?.requestSubmit());

// A page that comes back from the browser's memory, or shows a form that was refused, keeps its ticks.
show();

// What was refused is asked for again where it was asked.
const refused = document.querySelector("[popover][data-refused]");
if (refused instanceof HTMLElement) {
  refused.showPopover();
  const field = refused.querySelector("[aria-invalid]");
  if (field instanceof HTMLElement) field.focus();
}

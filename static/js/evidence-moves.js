/** Going from change to change by key. Loaded when the first such key is pressed. */

import { markRow, nextOf } from "./evidence-lines.js";
import { LazyFragment } from "./lazy-fragment.js";

const CHANGES = "article:not(.is-closed) :is(tr.is-add, tr.is-del, td.ln.is-add, td.ln.is-del)";

/** Where changes begin, and files that are not loaded yet, in the page's order. @returns {HTMLElement[]} */
function changes() {
  /** @type {HTMLElement[]} */
  const found = [];
  for (const at of document.querySelectorAll(`${CHANGES}, article:not(.is-closed) lazy-fragment:not([data-loaded])`)) {
    const row = at.closest("tr");
    if (!row) {
      if (at instanceof HTMLElement) found.push(at);
    } else if (row !== found.at(-1) && !isChanged(rowBefore(row))) found.push(row);
  }
  return found;
}

/** The line above, over what stands between lines, also where a long file's next table begins. @param {HTMLTableRowElement} row */
function rowBefore(row) {
  const last = ":scope > table > tbody > tr:last-child";
  let above = row.previousElementSibling ?? row.closest(".chunk")?.previousElementSibling?.querySelector(last) ?? null;
  while (above?.matches(".inline")) above = above.previousElementSibling;
  return above;
}

/** @param {Element | null} row */
function isChanged(row) {
  return row?.matches(".is-add, .is-del, :has(> .ln:is(.is-add, .is-del))") ?? false;
}

/** Go to the next or previous change, also into a file that is not loaded. @param {1 | -1} direction */
export async function moveByChange(direction) {
  for (let at = document.querySelector("tr.is-at"); ; ) {
    const next = nextOf(changes(), at, direction);
    if (!next) return;
    if (next instanceof HTMLTableRowElement) return markRow(next);
    if (!(next instanceof LazyFragment)) return;
    next.scrollIntoView({ block: "center" });
    await next.load();
    if (!next.isLoaded) return;
    const inside = changes().filter((row) => next.contains(row));
    const row = direction > 0 ? inside[0] : inside.at(-1);
    if (row instanceof HTMLTableRowElement) return markRow(row);
    at = next;
  }
}

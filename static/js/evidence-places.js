/** Finding a line by its address, in what is not loaded yet too. Loaded when an address is gone to. */

import { LazyFragment } from "./lazy-fragment.js";

/** @typedef {import("./evidence-lines.js").Place} Place */

/**
 * The row of a line, after loading what it needs: the file, hidden rows, or more of a long file.
 * @param {HTMLElement} file
 * @param {Place} place
 * @param {(button: HTMLButtonElement) => Promise<boolean>} ask loads what a button asks for; false if it did not come
 * @returns {Promise<HTMLTableRowElement | null>} null where the file has no such line
 */
export async function rowOf(file, place, ask) {
  const lazy = file.querySelector("lazy-fragment");
  if (lazy instanceof LazyFragment) await lazy.load();
  for (;;) {
    const row = file.querySelector(`tr[data-${place.side}="${place.line}"]`);
    if (row instanceof HTMLTableRowElement) return row;
    const button = hiding(file, place) ?? file.querySelector(".diff__more button[data-part]");
    if (!(button instanceof HTMLButtonElement) || !(await ask(button))) return null;
  }
}

/** The button behind which the line is hidden. @param {HTMLElement} file @param {Place} place */
function hiding(file, place) {
  for (const row of /** @type {NodeListOf<HTMLElement>} */ (file.querySelectorAll("tr.expand[data-rows]"))) {
    const first = Number(place.side === "old" ? row.dataset.oldFirst : row.dataset.newFirst);
    if (first && first <= place.line && place.line < first + Number(row.dataset.rows)) {
      return row.querySelector("button[data-part]");
    }
  }
  return null;
}

/** The file or step is on another page of this trace. @param {string} index @param {"file" | "step"} name */
export function openOtherPage(index, name) {
  const query = new URLSearchParams(location.search);
  if (query.get(name) === index) return;
  query.delete("page");
  query.delete("q");
  query.set(name, index);
  location.replace(`?${query}${location.hash}`);
}

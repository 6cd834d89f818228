/**
 * What checkers found, at its lines of the final change: a quiet row under each, apart from comments. Rows come with the
 * lines that they are about; a reader may hide them all. Loaded where a page has findings.
 */

import { on } from "./events.js";
import { kept } from "./kept.js";
import { element, visible } from "./shown-text.js";

/** @typedef {{ file: number, line: number, end: number, level: string, by: string, words: string }} Finding */

const KEPT = "findings";
const LEVELS = /** @type {Record<string, string>} */ ({ error: "Error", warning: "Warning", note: "Note" });
/** @type {Finding[]} */
let findings = [];

/** The row of a line as the run left it; in a file that is not loaded so far there is none. @param {Finding} finding */
function rowOf({ file, line }) {
  const row = document.querySelector(`#f${file} tr[data-new="${line}"]`);
  return row instanceof HTMLTableRowElement ? row : null;
}

/** @param {Finding} finding */
function rowFor({ line, end, level, by, words }) {
  const where = end > line ? ` (lines ${line} to ${end})` : "";
  const text = element("span", "finding__words", ...visible(words));
  const state = element("span", "checks__state", LEVELS[level] ?? "Finding");
  state.dataset.level = level;
  const inside = element("div", "finding__in", state, element("span", "finding__by mono", ...visible(by)), text, where);
  inside.setAttribute("role", "note");
  return inside;
}

/** Put in what has its lines on the page now. */
function place() {
  const isHidden = kept(KEPT) === "hidden";
  for (const [at, finding] of findings.entries()) {
    const id = `finding-${at}`;
    if (document.getElementById(id)) continue;
    const line = rowOf(finding);
    if (!line) continue;
    const cell = document.createElement("td");
    cell.colSpan = line.cells.length;
    cell.append(rowFor(finding));
    const row = element("tr", "finding", cell);
    row.id = id;
    row.hidden = isHidden;
    // Comments stand nearest to their line.
    let before = /** @type {Element} */ (line);
    while (before.nextElementSibling?.matches("tr.inline, tr.finding")) before = before.nextElementSibling;
    before.after(row);
  }
}

/** @param {boolean} isHidden */
function hide(isHidden) {
  kept(KEPT, isHidden ? "hidden" : "");
  for (const row of document.querySelectorAll("tr.finding")) if (row instanceof HTMLElement) row.hidden = isHidden;
}

export function start() {
  const data = document.getElementById("findings");
  findings = JSON.parse(data?.textContent ?? "[]");
  place();
  on("fragment", "article", place);
  const box = document.querySelector("input[data-findings]");
  if (box instanceof HTMLInputElement) {
    box.checked = kept(KEPT) !== "hidden";
    box.addEventListener("change", () => hide(!box.checked));
  }
}

/**
 * Shows how far exports are: loads their table again every other second while one is open, and says it when one is
 * over. Where no answer comes it asks less and less often. Without JavaScript the page is reloaded by hand.
 */

import { fragmentFrom } from "./lazy-fragment.js";

const PAUSE = 2_000;
const LONGEST_PAUSE = 60_000;

const table = document.querySelector("[data-exports]");
const status = document.querySelector("[data-exports-said]");
let pause = PAUSE;

/** @param {ParentNode} rows @returns {string[]} the ids of those that are on their way */
const open = (rows) => [...rows.querySelectorAll("[data-open]")].map((row) => row.id);

/** @param {HTMLElement} shown */
async function look(shown) {
  const before = open(shown);
  if (!before.length) return;
  const came = document.hidden ? null : await fragmentFrom(shown.dataset.exports ?? "").catch(() => null);
  if (came) {
    const focused = shown.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    shown.replaceChildren(came);
    if (focused) {
      const same = shown.querySelector(`[href="${CSS.escape(focused)}"]`);
      if (same instanceof HTMLElement) same.focus();
    }
    const now = open(shown);
    const over = before.filter((id) => !now.includes(id));
    const words = over.map((id) => document.getElementById(id)?.dataset.over ?? "").filter(Boolean);
    if (status && words.length) status.textContent = words.join(". ");
  }
  pause = came || document.hidden ? PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
  setTimeout(() => look(shown), pause);
}

if (table instanceof HTMLElement) setTimeout(look, PAUSE, table);

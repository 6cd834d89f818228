/**
 * Shows what becomes of a delivery: loads the list again every other second while one is being sent. What the reader
 * has opened stays open. Without JavaScript the page is reloaded by hand.
 */

import { fragmentFrom } from "./lazy-fragment.js";

const PAUSE = 2_000;
const LONGEST_PAUSE = 30_000;

const list = document.querySelector("[data-deliveries]");
let pause = PAUSE;

/** @param {HTMLElement} shown */
async function look(shown) {
  if (!shown.querySelector("[data-open]")) return;
  const address = `${shown.dataset.deliveries ?? ""}${location.search}`;
  const came = document.hidden ? null : await fragmentFrom(address).catch(() => null);
  if (came && !shown.contains(document.activeElement)) {
    const opened = [...shown.querySelectorAll("details[open]")].map((each) => each.id);
    shown.replaceChildren(came);
    for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  }
  pause = came || document.hidden ? PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
  setTimeout(() => look(shown), pause);
}

if (list instanceof HTMLElement) setTimeout(look, PAUSE, list);

/** Where toasts stand: beside the work, or where no control of it is that somebody may be about to use. */

import { one } from "./dom.js";

/** Tried in this order: over the rail, above the foot bar, below the top bar, above the foot bar at the other side; then
 * the newest toast alone, and at last that one over the top bar. The older ones come back when it goes. */
const PLACES = ["rail", "end", "top", "start", "end alone", "top alone", "start alone", "over alone"];
const CONTROLS = ":is(.main, .bar) :is(a, button, input, label, select, textarea, summary)";
/** How far apart places are looked at, in pixels: half of the smallest control. */
const APART = 12;

addEventListener("resize", placeToasts);

/** Put the toasts where they lie on no control, or at least on the fewest. */
export function placeToasts() {
  const toasts = one("#toasts");
  if (!toasts.firstChild) return;
  const foot = document.querySelector(".bar")?.getBoundingClientRect().top ?? innerHeight;
  toasts.style.setProperty("--above", `${Math.max(0, innerHeight - foot)}px`);
  let best = { place: "end", covered: Infinity };
  for (const place of PLACES) {
    if (place === "rail" && !hasRail()) continue;
    put(toasts, place);
    const covered = controlsBelow(toasts).size;
    if (covered < best.covered) best = { place, covered };
    if (!covered) break;
  }
  put(toasts, best.place);
}

/** @param {HTMLElement} toasts @param {string} place */
function put(toasts, place) {
  const [name = "", alone] = place.split(" ");
  toasts.dataset.place = name;
  toasts.toggleAttribute("data-alone", Boolean(alone));
}

/** The controls that can be seen but for the toasts. Only where these are: a page has thousands. @param {HTMLElement} toasts */
function controlsBelow(toasts) {
  const { left, right, top, bottom } = toasts.getBoundingClientRect();
  /** @type {Set<Element>} */
  const found = new Set();
  for (const y of places(top, bottom)) {
    for (const x of places(left, right)) {
      const below = document.elementsFromPoint(x, y).find((element) => !toasts.contains(element));
      const control = below?.closest(CONTROLS);
      if (control) found.add(control);
    }
  }
  return found;
}

/** @param {number} first @param {number} last */
function places(first, last) {
  const between = Array.from({ length: Math.ceil((last - first) / APART) }, (_, at) => first + 1 + at * APART);
  return [...between, last - 1];
}

/** Whether a column stands beside the work that is only read and gone along. */
function hasRail() {
  const rail = document.querySelector(".rail");
  return rail !== null && getComputedStyle(rail).position === "sticky";
}

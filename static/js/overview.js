/**
 * Keeps the overview of a project as it is now: asks every ten seconds, while the page is in sight, for the parts that
 * change, and replaces those that did. Without JavaScript the page is reloaded by hand.
 */

import { fragmentIfChanged } from "./lazy-fragment.js";

const PERIOD = 10_000;
const LONGEST_PERIOD = 120_000;

const root = document.querySelector("[data-live]");
const said = document.querySelector("[data-live-said]");
let period = PERIOD;

/** Whether somebody is at something in it that must not be taken away. @param {Element} part */
const isBusy = (part) => part.contains(document.activeElement) || part.querySelector(".attn__later[open]") !== null;

/** @param {Element} old @param {Element} part */
function replace(old, part) {
  const open = [...old.querySelectorAll("details")].map((details) => details.open);
  [...part.querySelectorAll("details")].forEach((details, at) => (details.open = open[at] ?? false));
  if (said && part instanceof HTMLElement && old instanceof HTMLElement && part.dataset.number !== old.dataset.number)
    said.textContent = `Needs attention: ${part.dataset.number}`;
  old.replaceWith(part);
}

/** What the parts looked like when they came: the mark of the time is not among it. @type {Map<string, string>} */
const shown = new Map();

/** @param {ParentNode} within */
const partsOf = (within) =>
  new Map([...within.querySelectorAll("[data-part]")].map((part) => [part.getAttribute("data-part") ?? "", part]));

/** @param {HTMLElement} live @param {DocumentFragment} came @returns {boolean} whether all of it is shown now */
function show(live, came) {
  const [before, now] = [partsOf(live), partsOf(came)];
  // A part that comes or goes changes the places of others: then the page is laid out anew by a reload.
  if ([...before.keys()].join() !== [...now.keys()].join()) {
    if ([...before.values()].some(isBusy)) return false;
    location.reload();
    return true;
  }
  let isAll = true;
  for (const [name, part] of now) {
    const old = before.get(name);
    if (!old || shown.get(name) === part.outerHTML) continue;
    if (isBusy(old)) {
      isAll = false;
      continue;
    }
    shown.set(name, part.outerHTML);
    replace(old, part);
  }
  return isAll;
}

/** @param {string} words @param {boolean} isLive */
function mark(words, isLive) {
  const place = root?.querySelector("[data-live-mark]");
  if (!(place instanceof HTMLElement)) return;
  const dot = document.createElement("span");
  dot.className = isLive ? "dot" : "dot dot--off";
  place.replaceChildren(dot, words);
  place.hidden = false;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** @param {HTMLElement} live */
async function look(live) {
  if (!document.hidden) {
    try {
      const answer = await fragmentIfChanged(live.dataset.live ?? "", live.dataset.tag ?? "");
      if (answer && show(live, answer.content)) live.dataset.tag = answer.tag;
      mark(`Live, checked ${clock.format(new Date())}`, true);
      period = PERIOD;
    } catch {
      mark("Not reached, tried again soon", false);
      period = Math.min(2 * period, LONGEST_PERIOD);
    }
  }
  setTimeout(look, period, live);
}

if (root instanceof HTMLElement) {
  for (const [name, part] of partsOf(root)) shown.set(name, part.outerHTML);
  mark(`Live, checked ${clock.format(new Date())}`, true);
  setTimeout(look, PERIOD, root);
}

/**
 * Which step wrote each changed line: a mark where the lines of a step begin, its sentence under the pointer, and a key
 * that goes to it in the trace. Loaded where a file has such links.
 */

import { key, on } from "./events.js";

/** @typedef {{ side: "new" | "old", steps: number[] }} Link */
/** @typedef {{ links: Map<string, Link>, titles: Record<string, string> }} Known links by side and line, "new 12" */

const BUTTONS = "button[data-side]";
/** Stands for a step that nobody knows. */
const UNKNOWN = "?";
/** @type {WeakMap<Element, Known>} */
const known = new WeakMap();

/** @param {HTMLElement} article @returns {Known} */
function linksOf(article) {
  let kept = known.get(article);
  if (!kept) {
    const { lines = [], steps = {} } = JSON.parse(article.dataset.links ?? "{}");
    kept = { links: new Map(), titles: steps };
    for (const [side, first, last, of] of /** @type {[Link["side"], number, number, number[]][]} */ (lines)) {
      for (let line = first; line <= last; line++) kept.links.set(`${side} ${line}`, { side, steps: of });
    }
    known.set(article, kept);
  }
  return kept;
}

/**
 * The step that wrote the first of these lines of which that is known.
 * @param {HTMLElement} article @param {string} side @param {number} start @param {number} end
 * @returns {{ step: number, sentence: string, address: string } | null} null where none is known, or no page shows steps
 */
export function stepOfLines(article, side, start, end) {
  const { links, titles } = linksOf(article);
  for (let line = start; line <= end; line++) {
    const link = links.get(`${side} ${line}`);
    const address = link ? addressOf(link.steps[0]) : null;
    if (link && address) return { step: link.steps[0] ?? 0, sentence: sentence(link, titles), address };
  }
  return null;
}

/** The link of the changed line that a button stands for. @param {HTMLElement} button @returns {{ link: Link, titles: Record<string, string> } | null} */
function linkOf(button) {
  const article = button.closest("article[data-links]");
  if (!(article instanceof HTMLElement) || !isChanged(button)) return null;
  const { links, titles } = linksOf(article);
  const link = links.get(`${button.dataset.side} ${button.dataset.l}`);
  return link ? { link, titles } : null;
}

/** What the pointer says of a changed line; "" of one that is as it was. @param {HTMLElement} button */
function told(button) {
  const found = linkOf(button);
  if (found) return sentence(found.link, found.titles);
  const did = button.dataset.side === "old" ? "removed" : "wrote";
  return isChanged(button) && button.closest("article[data-links]") ? `Which step ${did} this line is not known.` : "";
}

/** @param {HTMLElement} button */
function isChanged(button) {
  return button.closest("tr.is-add, tr.is-del, td.is-add, td.is-del") !== null;
}

/** @param {Link} link @param {Record<string, string>} titles */
function sentence({ side, steps }, titles) {
  const [last, ...before] = steps;
  const title = titles[String(last)];
  const did = side === "old" ? "removed this line" : "wrote this line";
  const earlier = before.length ? ` Before that, step${before.length > 1 ? "s" : ""} ${before.join(", ")}.` : "";
  return `Step ${last} ${did}${title ? `: ${title}` : ""}.${earlier}`;
}

/** Where the steps are shown. @param {number | undefined} step @returns {string | null} null on a page without them */
function addressOf(step) {
  const tab = document.querySelector("nav.tabs a[data-steps-tab]");
  if (!(tab instanceof HTMLAnchorElement)) return null;
  const url = new URL(tab.href);
  url.searchParams.set("step", String(step));
  url.hash = `s${step}`;
  return url.href;
}

/**
 * Mark the lines that are new on the page: in a file of which some steps are known, also those of an unknown one.
 * @param {ParentNode} scope
 */
function markLinks(scope) {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (scope.querySelectorAll(BUTTONS))) {
    const sign = signOf(button);
    const article = button.closest("article[data-links]");
    if (!sign || sign.dataset.step || !(article instanceof HTMLElement) || !isChanged(button) || !linksOf(article).links.size)
      continue;
    const step = linkOf(button)?.link.steps[0];
    sign.dataset.step = String(step ?? UNKNOWN);
    // What one step removed and wrote in one place begins once.
    const above = button.closest("tr")?.previousElementSibling?.querySelector(".sg[data-step]");
    const goesOn = above instanceof HTMLElement && above.dataset.step === sign.dataset.step;
    if (!goesOn) sign.nextElementSibling?.append(markOf(step, told(button)));
  }
}

/** The cell of the sign on the button's side. @param {HTMLElement} button @returns {HTMLElement | null} */
function signOf(button) {
  let cell = button.closest("td")?.nextElementSibling ?? null;
  while (cell && !cell.matches(".sg")) cell = cell.nextElementSibling;
  return cell instanceof HTMLElement ? cell : null;
}

/** @param {number | undefined} step @param {string} words */
function markOf(step, words) {
  const mark = document.createElement(step === undefined ? "span" : "a");
  mark.className = "linestep";
  if (mark instanceof HTMLAnchorElement) {
    mark.href = addressOf(step) ?? "";
    mark.tabIndex = -1;
  } else mark.role = "img";
  mark.dataset.step = String(step ?? UNKNOWN);
  mark.ariaLabel = words;
  mark.title = words;
  return mark;
}

/** Say which step wrote the line under the pointer. @param {Element} target @param {HTMLElement} row */
function describe(target, row) {
  const cell = target.closest("td");
  if (!cell || cell.title) return;
  const before = /** @type {HTMLElement[]} */ ([...row.querySelectorAll(BUTTONS)]);
  const button = before.findLast((each) => cell.contains(each) || each.compareDocumentPosition(cell) & Node.DOCUMENT_POSITION_FOLLOWING);
  if (button) cell.title = told(button);
}

/** The line that the reader is at goes to its step. @returns {boolean | void} */
function goToStep() {
  const focused = document.activeElement?.matches(BUTTONS) ? document.activeElement : null;
  const button = focused ?? document.querySelector(`tr.is-at ${BUTTONS}`);
  const found = button instanceof HTMLElement ? linkOf(button) : null;
  const address = found ? addressOf(found.link.steps[0]) : null;
  if (!address) return false;
  location.href = address;
}

export function start() {
  if (addressOf(0) === null) return;
  markLinks(document);
  on("fragment", "article", (event, article) => markLinks(article));
  on("mouseover", "tr:is([data-new], [data-old])", ({ target }, row) => {
    if (target instanceof Element) describe(target, row);
  });
  key("t", goToStep);
}

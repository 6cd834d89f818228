/**
 * Files and steps of a trace, for managers and on a task: loads what is near, opens and closes, shows hidden lines,
 * follows addresses of files, lines and steps, marks where the reader is in the rail. The page is whole without it.
 */

import { key, on } from "./events.js";
import { kept } from "./kept.js";
import { hashOf, markRow, moveByLine, nextOf, placeOf, prepareLines } from "./evidence-lines.js";
import { failure, fragmentFrom, LazyFragment } from "./lazy-fragment.js";

const root = /** @type {HTMLElement} */ (document.querySelector("[data-evidence]"));
const isFiles = root.dataset.evidence === "files";
const rail = root.querySelector(".rail");
const articles = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("article[data-base]")]);
/** The rail's link of the article that is read now. @type {Element | null | undefined} */
let current;

/* Opening and closing ------------------------------------------------------------------------- */

/** Show or hide what is under the header of a file or step. @param {Element} article @param {boolean} open */
export function setOpen(article, open) {
  if (article.classList.contains("is-closed") !== open) return;
  article.classList.toggle("is-closed", !open);
  article.querySelector("[data-toggle]")?.setAttribute("aria-expanded", String(open));
  showWhetherAllOpen();
}

function showWhetherAllOpen() {
  const isAnyClosed = articles.some((article) => article.classList.contains("is-closed"));
  const [close, open] = root.querySelectorAll("[data-all] span");
  close?.toggleAttribute("hidden", isAnyClosed);
  open?.toggleAttribute("hidden", !isAnyClosed);
}

function toggleAll() {
  const open = articles.some((article) => article.classList.contains("is-closed"));
  for (const article of articles) setOpen(article, open);
  if (open) for (const group of root.querySelectorAll("details.stepgroup")) group.setAttribute("open", "");
}

/* Parts that buttons ask for ---------------------------------------------------------------------- */

/**
 * Put what the button asks for in its place: hidden rows for their row, the rest of a file or a text for the button.
 * @param {HTMLButtonElement} button
 * @returns {Promise<boolean>} false if it did not come
 */
async function loadPart(button) {
  const article = button.closest("article");
  const base = article?.dataset.base;
  if (base === undefined || button.ariaBusy === "true") return false;
  const place = button.closest("tr.expand, .diff__more") ?? button;
  const hadFocus = document.activeElement === button;
  button.ariaBusy = "true";
  try {
    const part = await fragmentFrom(`${base}${button.dataset.part}.html`);
    prepareLines(part, root);
    const first = part.querySelector("button, summary, a[href]");
    place.replaceWith(part);
    if (hadFocus && first instanceof HTMLElement) first.focus({ preventScroll: true });
    article?.dispatchEvent(new CustomEvent("fragment", { bubbles: true }));
    return true;
  } catch {
    button.ariaBusy = null;
    button.after(failure());
    return false;
  }
}

/** What was long is closed again from inside it: its beginning comes back into sight. @param {HTMLElement} summary */
function foldBack(summary) {
  requestAnimationFrame(() => summary.scrollIntoView({ block: "nearest" }));
}

/** @param {Element} again the button of a failure */
function tryAgain(again) {
  const failed = again.closest(".lazy__failed");
  const button = failed?.previousElementSibling;
  const lazy = again.closest("lazy-fragment");
  if (button instanceof HTMLButtonElement) {
    failed?.remove();
    loadPart(button);
  } else if (lazy instanceof LazyFragment) lazy.load();
}

/* Addresses ----------------------------------------------------------------------------------------- */

const places = () => import("./evidence-places.js");

async function followHash() {
  const place = placeOf(location.hash);
  if (place && !(await goTo(place))) (await places()).openOtherPage(place.id.slice(1), isFiles ? "file" : "step");
}

/**
 * Show a file, one of its lines, or a step, and put the focus there; what is not loaded is loaded first.
 * @param {import("./evidence-lines.js").Place} place
 * @returns {Promise<HTMLElement | null>} the line's row, else its file or step; null where it is not on this page
 */
export async function goTo(place) {
  const article = articles.find(({ id }) => id === place.id);
  if (!article) return null;
  setOpen(article, true);
  if (!isFiles) {
    focusStep(article);
    return article;
  }
  article.scrollIntoView();
  if (!place.line) return article;
  const row = await (await places()).rowOf(article, place, loadPart);
  if (row) markRow(row, place.side);
  return row ?? article;
}

/** @param {HTMLElement} step */
function focusStep(step) {
  step.closest("details")?.setAttribute("open", "");
  root.querySelector(".step.is-focus")?.classList.remove("is-focus");
  step.classList.add("is-focus");
  const link = step.querySelector("a.snum");
  if (link instanceof HTMLElement) link.focus({ preventScroll: true });
  step.scrollIntoView();
}

/* The rail ---------------------------------------------------------------------------------------------- */

/** @param {string} id of the article that is read now */
export function showCurrent(id) {
  dispatchEvent(new CustomEvent("current", { detail: id }));
  current?.removeAttribute("aria-current");
  current = rail?.querySelector(`a[href="#${id}"]`);
  current?.setAttribute("aria-current", isFiles ? "true" : "step");
  // It is measured when the page is laid out anyway.
  requestAnimationFrame(showInRail);
}

function showInRail() {
  if (!rail || !current || getComputedStyle(rail).position !== "sticky") return;
  const [box, frame] = [current.getBoundingClientRect(), rail.getBoundingClientRect()];
  if (box.top < frame.top + 8) rail.scrollTop += box.top - frame.top - 60;
  else if (box.bottom > frame.bottom - 8) rail.scrollTop += box.bottom - frame.bottom + 60;
}

function watchArticles() {
  const inSight = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) inSight.add(target);
        else inSight.delete(target);
      }
      const first = articles.find((article) => inSight.has(article));
      if (first) showCurrent(first.id);
    },
    { rootMargin: "-110px 0px -60% 0px" },
  );
  for (const article of articles) observer.observe(article);
}

/* What the reader does ------------------------------------------------------------------------------- */

/** @param {Element | null} target leaves it open where this is inside */
function closeAbout(target) {
  const about = document.querySelector("details.about[open]");
  if (about && !about.contains(target)) about.removeAttribute("open");
}

/** @param {MouseEvent} event @param {HTMLElement} link @returns {boolean | void} */
function onLink(event, link) {
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const lazy = link.closest("lazy-fragment:not([data-loaded])");
  if (lazy instanceof LazyFragment) {
    event.preventDefault();
    lazy.load();
  } else if (link.dataset.view) {
    const current = rail?.querySelector("a[aria-current]");
    link.hash = current instanceof HTMLAnchorElement ? current.hash : "";
    keepForSite("view", link.dataset.view);
  } else if (link.hash === location.hash && placeOf(link.hash)) {
    // The browser would do nothing: the address stays the same.
    event.preventDefault();
    followHash();
  }
}

/** Keep a choice in a cookie, because the site renders what is chosen. @param {string} name @param {string} value */
function keepForSite(name, value) {
  document.cookie = `potato_${name}=${value}; path=/; max-age=31536000; samesite=lax`;
}

/** @param {HTMLElement} button */
function showAddress(button) {
  history.replaceState(null, "", hashOf(button));
  const row = button.closest("tr");
  if (row) markRow(row, button.dataset.side);
}

/** @param {1 | -1} direction */
function moveByArticle(direction) {
  const next = nextOf(articles, document.activeElement?.closest("article[data-base]") ?? null, direction);
  if (!next) return;
  const header = next.querySelector("header :is(a, button)");
  if (header instanceof HTMLElement) header.focus({ preventScroll: true });
  next.scrollIntoView();
}

/** @param {1 | -1} direction @param {HTMLElement[]} steps */
function moveByStep(direction, steps) {
  const next = nextOf(steps, root.querySelector(".step.is-focus"), direction);
  if (next) focusStep(next);
}

/** @param {1 | -1} direction */
async function goByChange(direction) {
  const { moveByChange } = await import("./evidence-moves.js");
  await moveByChange(direction);
}

/** @param {1 | -1} direction @returns {(event: KeyboardEvent) => boolean | void} */
function arrow(direction) {
  return ({ target }) => {
    if (!(target instanceof HTMLElement) || !target.matches("button[data-side]")) return false;
    moveByLine(target, direction);
  };
}

function listenToKeys() {
  const failed = articles.filter((article) => article.classList.contains("is-error"));
  if (isFiles) {
    key("j", () => void goByChange(1));
    key("k", () => void goByChange(-1));
    key("n", () => moveByArticle(1));
    key("p", () => moveByArticle(-1));
    key("ArrowDown", arrow(1));
    key("ArrowUp", arrow(-1));
  } else {
    // Where steps are judged the project says which keys move.
    if (!("judged" in root.dataset)) {
      key("j", () => moveByStep(1, articles));
      key("k", () => moveByStep(-1, articles));
    }
    key("]", () => moveByStep(1, failed));
    key("[", () => moveByStep(-1, failed));
  }
  key("o", toggleAll);
  key("s", () => /** @type {HTMLElement | null} */ (root.querySelector("a[data-view]:not([aria-current])"))?.click());
  key("/", () => /** @type {HTMLElement | null} */ (root.querySelector("[data-filter]"))?.focus());
  key("?", () => void document.getElementById("keys")?.togglePopover());
}

function listen() {
  on("click", "a", onLink);
  on("click", "button[data-copy]", (event, button) => void import("./copy-path.js").then(({ copy }) => copy(button)));
  on("click", "button[data-again]", (event, button) => tryAgain(button));
  on("click", "button[data-all]", toggleAll);
  on("click", "button[data-side]", (event, button) => showAddress(button));
  on("click", "button[data-part]", (event, button) => void loadPart(/** @type {HTMLButtonElement} */ (button)));
  on("click", ".fold--long[open] > summary", (event, summary) => foldBack(summary));
  on("click", "[data-toggle]", (event, button) => {
    const article = button.closest("article");
    if (article) setOpen(article, article.classList.contains("is-closed"));
  });
  on("click", ":root", ({ target }) => closeAbout(target instanceof Element ? target : null));
  on("keydown", ":root", (event) => {
    if (event.key === "Escape") closeAbout(null);
  });
  on("keydown", "[data-filter]", (event, input) => {
    if (event.key !== "Enter") return;
    // Whoever types fast is ahead of the filter: it is applied before the first one that it leaves is opened.
    void import("./rail-filter.js").then(({ filterRail }) => {
      filterRail(/** @type {HTMLInputElement} */ (input));
      const first = rail?.querySelector("a:is(.tree__file, .srail__item):not([hidden])");
      if (first instanceof HTMLElement) first.click();
    });
  });
  on("input", "[data-filter]", (event, input) => {
    void import("./rail-filter.js").then(({ filterRail }) => filterRail(/** @type {HTMLInputElement} */ (input)));
  });
  on("focusin", "[data-filter]", () => void import("./rail-filter.js"));
  on("input", "[data-wrap]", (event, input) => {
    setWrapped(kept("wrap", /** @type {HTMLInputElement} */ (input).checked ? "" : "off") !== "off");
  });
  on("change", "[data-whitespace]", (event, input) => {
    keepForSite("whitespace", /** @type {HTMLInputElement} */ (input).checked ? "hidden" : "shown");
    location.reload();
  });
  on("input", "[data-keys]", (event, input) => void kept("keys", /** @type {HTMLInputElement} */ (input).checked ? "" : "off"));
  on("fragment", "lazy-fragment", (event, lazy) => prepareLines(lazy, root));
  on("hashchange", ":root", () => void followHash());
}

/** @param {boolean} wrapped */
function setWrapped(wrapped) {
  root.classList.toggle("is-unwrapped", !wrapped);
}

function start() {
  if (isFiles && root.dataset.view === "split" && !("asked" in root.dataset) && matchMedia("(max-width: 1023px)").matches) {
    // Two columns are too narrow here; a reader who asks for them still gets them.
    const query = new URLSearchParams(location.search);
    query.set("view", "unified");
    return location.replace(`?${query}${location.hash}`);
  }
  const wrap = root.querySelector("[data-wrap]");
  if (wrap instanceof HTMLInputElement) wrap.checked = kept("wrap") !== "off";
  setWrapped(kept("wrap") !== "off");
  const keysOn = document.querySelector("[data-keys]");
  if (keysOn instanceof HTMLInputElement) keysOn.checked = kept("keys") !== "off";
  prepareLines(root, root);
  listen();
  listenToKeys();
  customElements.define("lazy-fragment", LazyFragment);
  showWhetherAllOpen();
  if (root.querySelector("article[data-links]")) void import("./line-links.js").then(({ start: link }) => link());
  if (document.getElementById("findings")) void import("./findings.js").then(({ start: show }) => show());
  if (!("judged" in root.dataset)) watchArticles();
  followHash();
}

start();

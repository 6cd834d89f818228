/**
 * The two tabs of a trace: loads what is near, opens and closes, shows hidden lines, follows addresses of files, lines
 * and steps, marks where the reader is in the rail, and listens to keys. The page is whole without it.
 */

import { hashOf, markRow, moveByChange, moveByLine, nextOf, placeOf, prepareLines, rowOf } from "./evidence-lines.js";
import { failure, fragmentFrom, LazyFragment } from "./lazy-fragment.js";

const root = /** @type {HTMLElement} */ (document.querySelector("[data-evidence]"));
const isFiles = root.dataset.evidence === "files";
const rail = root.querySelector(".rail");
const articles = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("article[data-base]")]);

/** @param {string} name @param {string} [value] writes it, an empty one forgets it @returns {string | null} */
function kept(name, value) {
  try {
    if (value === "") localStorage.removeItem(`potato.${name}`);
    else if (value !== undefined) localStorage.setItem(`potato.${name}`, value);
    return localStorage.getItem(`potato.${name}`);
  } catch {
    // Storage is refused by the browser: the choice lasts for this page.
    return value ?? null;
  }
}

/* Opening and closing ------------------------------------------------------------------------- */

/** @param {Element} article @param {boolean} open */
function setOpen(article, open) {
  article.classList.toggle("is-closed", !open);
  article.querySelector("[data-toggle]")?.setAttribute("aria-expanded", String(open));
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
  showWhetherAllOpen();
}

/* Parts that buttons ask for ---------------------------------------------------------------------- */

/**
 * Put what the button asks for in its place: hidden rows for their row, the rest of a file or a text for the button.
 * @param {HTMLButtonElement} button
 * @returns {Promise<boolean>} false if it did not come
 */
async function loadPart(button) {
  const base = button.closest("article")?.dataset.base;
  if (base === undefined || button.ariaBusy === "true") return false;
  const place = button.closest("tr.expand, .diff__more") ?? button;
  const hadFocus = document.activeElement === button;
  button.ariaBusy = "true";
  try {
    const part = await fragmentFrom(`${base}${button.dataset.part}.html`);
    prepareLines(part, root.dataset.lineLabel ?? "");
    const first = part.querySelector("button, summary, a[href]");
    place.replaceWith(part);
    if (hadFocus && first instanceof HTMLElement) first.focus({ preventScroll: true });
    return true;
  } catch {
    button.ariaBusy = null;
    button.after(failure());
    return false;
  }
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

async function followHash() {
  const place = placeOf(location.hash);
  if (!place) return;
  const article = document.getElementById(place.id);
  if (!article) return openOtherPage(place.id.slice(1));
  setOpen(article, true);
  showWhetherAllOpen();
  if (!isFiles) return focusStep(article);
  if (!place.line) return article.scrollIntoView();
  article.scrollIntoView();
  const row = await rowOf(article, place, loadPart);
  if (row) markRow(row, place.side);
}

/** The file or step is on another page of this trace. @param {string} index */
function openOtherPage(index) {
  const query = new URLSearchParams(location.search);
  const name = isFiles ? "file" : "step";
  if (query.get(name) === index) return;
  query.delete("page");
  query.delete("q");
  query.set(name, index);
  location.replace(`?${query}${location.hash}`);
}

/** @param {HTMLElement} step */
function focusStep(step) {
  root.querySelector(".step.is-focus")?.classList.remove("is-focus");
  step.classList.add("is-focus");
  const link = step.querySelector("a.snum");
  if (link instanceof HTMLElement) link.focus({ preventScroll: true });
  step.scrollIntoView();
}

/* The rail ---------------------------------------------------------------------------------------------- */

/** @param {string} id of the article that is read now */
function showCurrent(id) {
  for (const link of rail?.querySelectorAll("a[aria-current]") ?? []) link.removeAttribute("aria-current");
  const link = rail?.querySelector(`a[href="#${id}"]`);
  if (!rail || !(link instanceof HTMLElement)) return;
  link.setAttribute("aria-current", isFiles ? "true" : "step");
  if (getComputedStyle(rail).position !== "sticky") return;
  const [box, frame] = [link.getBoundingClientRect(), rail.getBoundingClientRect()];
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

/** @param {HTMLInputElement} input */
function filterRail(input) {
  const words = input.value.trim().toLowerCase();
  const links = /** @type {HTMLElement[]} */ ([...(rail?.querySelectorAll(".tree__file, .srail__item") ?? [])]);
  for (const link of links) {
    const folder = link.closest(".tree__group")?.querySelector(".tree__dir")?.textContent?.trim() ?? "";
    const name = link.querySelector(".trunc")?.textContent ?? "";
    link.hidden = !`${folder ? `${folder}/` : ""}${name}`.toLowerCase().includes(words);
  }
  for (const group of /** @type {NodeListOf<HTMLElement>} */ (rail?.querySelectorAll(".tree__group") ?? [])) {
    group.hidden = !group.querySelector(".tree__file:not([hidden])");
  }
  const found = rail?.querySelector("[data-found]");
  if (found) found.textContent = words ? `${links.filter((link) => !link.hidden).length} / ${links.length}` : "";
}

/* What the reader does ------------------------------------------------------------------------------- */

/** @param {Element | null} target leaves it open where this is inside */
function closeAbout(target) {
  const about = document.querySelector("details.about[open]");
  if (about && !about.contains(target)) about.removeAttribute("open");
}

/** @param {MouseEvent} event */
function onClick(event) {
  const target = event.target instanceof Element ? event.target : null;
  closeAbout(target);
  const button = target?.closest("button");
  const article = target?.closest("article[data-base]");
  if (button?.matches("[data-toggle]") && article) {
    setOpen(article, article.classList.contains("is-closed"));
    showWhetherAllOpen();
  } else if (button?.dataset.part) loadPart(button);
  else if (button?.dataset.side) {
    history.replaceState(null, "", hashOf(button));
    const row = button.closest("tr");
    if (row) markRow(row, button.dataset.side);
  } else if (button?.matches("[data-all]")) toggleAll();
  else if (button?.matches("[data-again]")) tryAgain(button);
  else if (button?.dataset.copy) copy(button);
  else onLink(event, target?.closest("a") ?? null);
}

/** @param {MouseEvent} event @param {HTMLAnchorElement | null} link */
function onLink(event, link) {
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const lazy = link.closest("lazy-fragment:not([data-loaded])");
  if (lazy instanceof LazyFragment) {
    event.preventDefault();
    lazy.load();
  } else if (link.dataset.view) {
    const current = rail?.querySelector("a[aria-current]");
    link.hash = current instanceof HTMLAnchorElement ? current.hash : "";
  } else if (link.hash === location.hash && placeOf(link.hash)) {
    // The browser would do nothing: the address stays the same.
    event.preventDefault();
    followHash();
  }
}

/** @param {HTMLButtonElement} button */
async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy ?? "");
  const use = button.querySelector("use");
  const href = use?.getAttribute("href") ?? "";
  use?.setAttribute("href", `${href.split("#")[0]}#i-copy-check`);
  setTimeout(() => use?.setAttribute("href", href), 1500);
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

const failed = articles.filter((article) => article.classList.contains("is-error"));

/** @type {Record<string, (() => unknown) | undefined>} */
const keys = {
  j: () => (isFiles ? moveByChange(1) : moveByStep(1, articles)),
  k: () => (isFiles ? moveByChange(-1) : moveByStep(-1, articles)),
  "]": () => (isFiles ? moveByArticle(1) : moveByStep(1, failed)),
  "[": () => (isFiles ? moveByArticle(-1) : moveByStep(-1, failed)),
  o: toggleAll,
  s: () => /** @type {HTMLElement | null} */ (root.querySelector("a[data-view]:not([aria-current])"))?.click(),
  "/": () => /** @type {HTMLElement | null} */ (root.querySelector("[data-filter]"))?.focus(),
  "?": () => document.getElementById("keys")?.togglePopover(),
};

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === "Escape") return closeAbout(null);
  if (target.matches("[data-filter]") && event.key === "Enter") {
    const first = rail?.querySelector("a:is(.tree__file, .srail__item):not([hidden])");
    if (first instanceof HTMLElement) first.click();
    return;
  }
  if (target.matches("input:not([type=checkbox]), textarea, select")) return;
  const isLine = target.matches("button[data-side]");
  if (isLine && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    moveByLine(target, event.key === "ArrowDown" ? 1 : -1);
    return;
  }
  const act = kept("keys") === "off" ? undefined : keys[event.key];
  const help = document.getElementById("keys");
  if (!act || (help?.matches(":popover-open") && event.key !== "?")) return;
  event.preventDefault();
  act();
}

/** @param {Event} event */
function onInput(event) {
  const input = event.target;
  if (!(input instanceof HTMLInputElement)) return;
  if (input.matches("[data-filter]")) filterRail(input);
  else if (input.matches("[data-wrap]")) setWrapped(Boolean(kept("wrap", input.checked ? "" : "off") !== "off"));
  else if (input.matches("[data-keys]")) kept("keys", input.checked ? "" : "off");
}

/** @param {boolean} wrapped */
function setWrapped(wrapped) {
  root.classList.toggle("is-unwrapped", !wrapped);
}

function start() {
  if (isFiles && root.dataset.view === "split" && !("asked" in root.dataset) && matchMedia("(max-width: 1023px)").matches) {
    // Two columns are too narrow here; a reader who asks for them still gets them.
    return location.replace(`?view=unified${location.hash}`);
  }
  const wrap = root.querySelector("[data-wrap]");
  if (wrap instanceof HTMLInputElement) wrap.checked = kept("wrap") !== "off";
  setWrapped(kept("wrap") !== "off");
  const keysOn = document.querySelector("[data-keys]");
  if (keysOn instanceof HTMLInputElement) keysOn.checked = kept("keys") !== "off";
  prepareLines(root, root.dataset.lineLabel ?? "");
  root.addEventListener("fragment", (event) => {
    if (event.target instanceof Element) prepareLines(event.target, root.dataset.lineLabel ?? "");
  });
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  document.addEventListener("input", onInput);
  addEventListener("hashchange", followHash);
  customElements.define("lazy-fragment", LazyFragment);
  showWhetherAllOpen();
  watchArticles();
  followHash();
}

start();

/**
 * Screenshots of a web agent, and pictures that tools gave back: the filmstrip above the steps follows the reader, and a
 * picture is seen larger in a dialog.
 * The page is whole without it: filmstrip and pictures are links.
 */

import { namesAlone, on } from "./events.js";

const LEVELS = [0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4];
const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("zoom"));
const body = /** @type {HTMLElement} */ (dialog.querySelector("[data-zoom-body]"));
const level = dialog.querySelector("[data-zoom-level]");
const filmstrip = document.querySelector(".filmstrip");
/** The link of the picture that is shown. @type {HTMLElement | undefined} */
let shown;
/** Its scale, 0 for as large as the dialog. */
let scale = 0;

/* The filmstrip ----------------------------------------------------------------------------------------- */

/** The reader is at this step. @param {string} id */
function follow(id) {
  const link = filmstrip?.querySelector(`a[href="#${id}"]`);
  if (!filmstrip || !(link instanceof HTMLElement)) return;
  for (const other of filmstrip.querySelectorAll("a[aria-current]")) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "step");
  for (const other of filmstrip.querySelectorAll("a")) other.tabIndex = other === link ? 0 : -1;
  const [box, frame] = [link.getBoundingClientRect(), filmstrip.getBoundingClientRect()];
  if (box.left < frame.left || box.right > frame.right) filmstrip.scrollLeft += box.left - frame.left - frame.width / 2;
}

/** @param {KeyboardEvent} event @param {HTMLElement} link */
function moveInFilmstrip(event, link) {
  const to = { ArrowLeft: link.previousElementSibling, ArrowRight: link.nextElementSibling }[event.key];
  if (!(to instanceof HTMLElement)) return;
  event.preventDefault();
  to.focus();
}

/* The picture in a dialog ----------------------------------------------------------------------------- */

/**
 * What the picture is, and its step: what the agent saw has no other words on every page.
 * @param {HTMLElement} link @param {string} words
 */
function titleOf(link, words) {
  const step = link.closest("article")?.id.slice(1) ?? "";
  if (!link.closest(".shot--result")) return `Screenshot of step ${step}`;
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}, step ${step}`;
}

/** @param {HTMLElement} link */
function show(link) {
  const words = (link.ariaLabel ?? "").replace(/^[^:]*: /, "");
  const title = dialog.querySelector("[data-zoom-title]");
  if (title) title.textContent = titleOf(link, words);
  const frame = document.createElement("div");
  frame.className = "shot__open";
  frame.append(...[...link.children].map((child) => child.cloneNode(true)));
  const picture = frame.querySelector("img");
  if (picture) {
    picture.loading = "eager";
    picture.alt = words;
  }
  body.replaceChildren(frame);
  shown = link;
  if (!dialog.open) dialog.showModal();
  resize(scale);
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (dialog.querySelectorAll("[data-zoom-move]"))) {
    button.disabled = !neighbour(Number(button.dataset.zoomMove));
  }
  // A button that cannot be used any more lets go of the focus, and keys would end beside the dialog.
  if (!dialog.contains(document.activeElement) || dialog.querySelector(":focus:disabled")) body.focus();
}

/** The picture's own width on the screen. */
function width() {
  return Number(body.querySelector("img")?.getAttribute("width")) || 1;
}

function fitting() {
  return Math.min(1, (body.clientWidth - 32) / width());
}

/** @param {number} to a scale, or 0 for what fits */
function resize(to) {
  const frame = body.firstElementChild;
  if (!(frame instanceof HTMLElement)) return;
  const middle = (body.scrollTop + body.clientHeight / 2) / body.scrollHeight;
  const centre = (body.scrollLeft + body.clientWidth / 2) / body.scrollWidth;
  scale = to;
  frame.style.inlineSize = `${Math.round(width() * (to || fitting()))}px`;
  if (level) level.textContent = `${Math.round((to || fitting()) * 100)} %`;
  body.scrollTo(centre * body.scrollWidth - body.clientWidth / 2, to ? middle * body.scrollHeight - body.clientHeight / 2 : 0);
}

/** @param {number} direction 1 for larger, -1 for smaller */
function zoom(direction) {
  const now = scale || fitting();
  const next = direction > 0 ? LEVELS.find((one) => one > now + 0.01) : LEVELS.findLast((one) => one < now - 0.01);
  if (next) resize(next);
}

/** The picture before or after the one that is shown. @param {number} direction @returns {HTMLElement | undefined} */
function neighbour(direction) {
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("article a[data-shot]")]);
  const at = shown ? links.indexOf(shown) : -1;
  return at < 0 ? undefined : links[at + direction];
}

/** @param {number} direction */
function move(direction) {
  const next = neighbour(direction);
  if (next) show(next);
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (!dialog.open) return;
  const names = namesAlone(event).map((name) => (name === "=" ? "+" : name));
  const buttons = /** @type {NodeListOf<HTMLElement>} */ (dialog.querySelectorAll("[aria-keyshortcuts]"));
  const button = [...buttons].find((one) => names.includes(one.getAttribute("aria-keyshortcuts") ?? ""));
  if (!button) return;
  event.preventDefault();
  button.click();
}

on("click", "a[data-shot]", (event, link) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(link);
});
on("click", "[data-zoom-by]", (event, button) => zoom(Number(button.dataset.zoomBy)));
on("click", "[data-zoom-move]", (event, button) => move(Number(button.dataset.zoomMove)));
on("click", "[data-zoom-fit]", () => resize(0));
on("click", "[data-zoom-close]", () => dialog.close());
on("click", "#zoom", ({ target }) => {
  // The dialog itself is its backdrop here: its parts fill it.
  if (target === dialog) dialog.close();
});
on("keydown", "#zoom", press);
on("keydown", ".filmstrip a", moveInFilmstrip);
on("current", ":root", (event) => follow(event.detail));
dialog.addEventListener("close", () => shown?.focus());
addEventListener("resize", () => {
  if (dialog.open && !scale) resize(0);
});
follow((filmstrip?.querySelector("a")?.hash ?? "").slice(1));

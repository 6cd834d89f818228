/**
 * "Show what I changed": the answers beside those of the version that a reviewer returned, as a list with ways to the
 * places and as marks there. On a returned task they follow the work; where an annotation is read they stand still.
 */

import { on } from "../events.js";
import { choiceWords, nameOf } from "./answer-words.js";
import { changesBetween } from "./answer-changes.js";
import { element, visible } from "../shown-text.js";

/** @import { Scheme, Work } from "./task.js" */
/** @import { Change } from "./answer-changes.js" */

/** @param {Work} task @param {Record<string, any>} before what was returned, by the names of schemes */
export function mountChanges(task, before) {
  const card = /** @type {HTMLElement | null} */ (document.querySelector("[data-changes]"));
  const buttons = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-show-changes]"));
  const list = card?.querySelector("ul");
  if (!card || !list) return;
  const { schemes, files } = task.data;
  let isShown = false;

  const changes = () => {
    const now = Object.fromEntries(schemes.map(({ name }) => [name, task.answers(name)]));
    return changesBetween(before, now, schemes.map(({ name }) => name));
  };

  function draw() {
    for (const mark of document.querySelectorAll("[data-change-mark]")) mark.remove();
    card?.toggleAttribute("hidden", !isShown);
    for (const button of buttons) button.setAttribute("aria-pressed", String(isShown));
    if (!isShown || !list) return;
    const all = changes();
    const count = card?.querySelector("[data-changes-count]");
    if (count) count.textContent = String(all.length);
    list.replaceChildren(...(all.length ? all.map(item) : [element("li", "small muted", "Nothing is changed so far.")]));
    for (const change of all) mark(change);
  }

  /** @param {Change} change */
  function item(change) {
    const { was, is, comment } = change;
    const kind = was === undefined ? "Added" : is === undefined ? "Removed" : "Changed";
    const place = wayTo(change);
    const head = element("span", "row row--wrap", element("span", `badge ${kind === "Added" ? "ok-t" : kind === "Removed" ? "bad-t" : "warn-t"}`, kind), place);
    const words = comment ? ofComment(change) : ofValue(change);
    return element("li", "stack stack--s", head, ...words);
  }

  /** @param {Change} change */
  function ofComment({ scheme, was, is }) {
    /** @param {string} tag @param {any} one */
    const text = (tag, one) => {
      const kinds = (/** @type {const} */ (["category", "severity"])).filter((key) => one[key]).map((key) => choiceWords(schemeOf(scheme), [key], one[key]));
      return element(tag, "small", ...visible([kinds.join(", "), one.comment ?? ""].filter(Boolean).join(": ")));
    };
    return [...(was ? [text("del", was)] : []), ...(is ? [text("ins", is)] : [])];
  }

  /** @param {Change} change */
  function ofValue({ scheme, path, was, is }) {
    const words = (/** @type {any} */ value) => choiceWords(schemeOf(scheme), path, value);
    return [...(was === undefined ? [] : [element("del", "small", ...visible(words(was)))]), ...(is === undefined ? [] : [element("ins", "small", ...visible(words(is)))])];
  }

  /** @param {string} name @returns {Scheme} */
  const schemeOf = (name) => /** @type {Scheme} */ (schemes.find((one) => one.name === name));
  /** @param {string} path */
  const indexOf = (path) => files.find((file) => file.path === path)?.index;

  /** What was changed, as a link where it has a place on this page. @param {Change} change @returns {Node} */
  function wayTo(change) {
    const { comment, path } = change;
    const words = visible(nameOf(schemeOf(change.scheme), path, change.is ?? change.was));
    if (comment && change.is) {
      const link = element("a", "", ...words);
      link.setAttribute("href", "#");
      link.dataset.comment = comment;
      return link;
    }
    const place = markedPlace(change);
    const link = element(place ? "a" : "span", "", ...words);
    if (place?.id) link.setAttribute("href", `#${place.id}`);
    return link;
  }

  /** @param {Change} change @returns {HTMLElement | null} what carries the mark */
  function markedPlace({ scheme, path, comment }) {
    const step = path.find((part) => /^\d+$/.test(part));
    const { target } = schemeOf(scheme);
    if (comment) return document.querySelector(`article[data-comment="${CSS.escape(comment)}"]`);
    if (target === "file") return document.getElementById(`rate-${indexOf(path[0] ?? "")}`);
    if (target === "change_set") return document.getElementById("verdict");
    return step === undefined ? null : document.getElementById(`s${step}`);
  }

  /** @param {Change} change */
  function mark(change) {
    const place = markedPlace(change);
    const { path, was, is, comment, scheme } = change;
    if (!place || (comment && !is)) return;
    const [file, dimension] = path;
    const exact = dimension && file ? place.querySelector(`fieldset[data-dimension="${CSS.escape(dimension)}"] legend`) : null;
    const host = exact ?? place.querySelector(".comment__head, .step__head, .card__head, .rate__head");
    const words = was === undefined ? "New since the return" : comment ? "Changed since the return" : path.at(-1) === "summary" ? "Summary changed" : `Was ${choiceWords(schemeOf(scheme), path, was)}`;
    const badge = element("span", `badge ${was === undefined ? "ok-t" : "warn-t"}`, ...visible(words.slice(0, 60)));
    badge.dataset.changeMark = "";
    host?.append(badge);
  }

  on("click", "[data-show-changes]", () => {
    isShown = !isShown;
    draw();
    if (!isShown) return;
    card.scrollIntoView({ block: "start" });
    card.focus({ preventScroll: true });
  });
  on("fragment", ":root", () => isShown && draw());
  // After what was changed is drawn by its scheme.
  task.onRefresh(() => isShown && requestAnimationFrame(draw));
}

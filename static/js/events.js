/**
 * What happens on a page, handed to whom it concerns: one listener for each type of event on the whole window, so that
 * parts which come later need none of their own. Single keys are a registry beside it.
 */

import { kept } from "./kept.js";
import { namesOf } from "./key-names.js";

/** @typedef {boolean | void} Ends true from a handler of an event: the handlers that were registered before it are not asked */
/** @typedef {{ selector: string, handle: (event: any, matched: HTMLElement) => Ends }} Handler */

/** @type {Map<string, Handler[]>} */
const handlers = new Map();
/** @type {Map<string, ((event: KeyboardEvent) => boolean | void)[]>} */
const keys = new Map();
/** How long the first key of two is waited for, in milliseconds. */
const TOGETHER = 1500;
/** What stays where the project has switched single keys off: the help, and leaving what was begun by click. */
const STAY = new Set(["?", "Escape"]);
let before = { key: "", at: 0 };

/**
 * Call a handler for events of a type whose target is in an element that the selector matches, which it is given.
 * Later registrations are asked first; one that returns true ends the event. ":root" matches every event, those of the
 * window too.
 * @template {string} Type
 * @param {Type} type
 * @param {string} selector
 * @param {(event: Type extends keyof WindowEventMap ? WindowEventMap[Type] : CustomEvent, matched: HTMLElement) => Ends} handle
 */
export function on(type, selector, handle) {
  listening(type).unshift({ selector, handle });
}

/**
 * Call a handler for a key pressed alone: off while the reader types, in dialogs, and where they switched single keys
 * off. Later registrations are asked first; one that returns false leaves the key to the others.
 * @param {string} name as key-names.js names it: "j", "J" with Shift, "Shift+ArrowDown" for keys that are no characters, "g v" for two
 * @param {(event: KeyboardEvent) => boolean | void} handle
 */
export function key(name, handle) {
  listening("keydown");
  keys.set(name, [handle, ...(keys.get(name) ?? [])]);
}

/** The handlers of a type, whose one listener is added with the first of them. @param {string} type @returns {Handler[]} */
function listening(type) {
  let list = handlers.get(type);
  if (!list) {
    list = [];
    handlers.set(type, list);
    addEventListener(type, dispatch);
  }
  return list;
}

/** @param {Event} event */
function dispatch(event) {
  const target = event.target instanceof Element ? event.target : document.documentElement;
  for (const { selector, handle } of handlers.get(event.type) ?? []) {
    const matched = target.closest(selector);
    if (matched && handle(event, /** @type {HTMLElement} */ (matched)) === true) return;
  }
  // A handler may have led on from a field: the key is for where the reader is now.
  if (event instanceof KeyboardEvent && event.type === "keydown") press(event, document.activeElement ?? target);
}

/**
 * The names of a key that is pressed alone, the best one first: none with Ctrl, Alt or the command key, while a
 * character is composed, or where single keys are off. The one place that says whether a single key acts.
 * @param {KeyboardEvent} event
 * @returns {string[]}
 */
export function namesAlone(event) {
  const isCombined = event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph"));
  if (isCombined || event.isComposing || event.defaultPrevented || kept("keys") === "off") return [];
  const isOff = document.querySelector("[data-keys-off]") !== null;
  return namesOf(event).filter((name) => !isOff || STAY.has(name));
}

/** @param {KeyboardEvent} event @param {Element} target */
function press(event, target) {
  const names = namesAlone(event).filter((name) => isHeard(target, name));
  const [first] = names;
  if (!first) return;
  const pair = event.timeStamp - before.at < TOGETHER ? `${before.key} ${first}` : "";
  before = { key: first, at: event.timeStamp };
  const found = [pair, ...names].find((name) => keys.has(name));
  for (const handle of keys.get(found ?? "") ?? []) {
    if (handle(event) === false) continue;
    event.preventDefault();
    return;
  }
}

/** @param {Element} target @param {string} name */
function isHeard(target, name) {
  if (target.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]")) return false;
  return name === "?" || !document.querySelector("dialog:modal, [role=dialog]:popover-open");
}

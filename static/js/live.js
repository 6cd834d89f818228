/**
 * Keeps what changes by itself as it is now, while the page is in sight. The one mechanism of all lists and figures:
 *
 * - `data-live="address"` and `data-tag="..."` stand on the element that is kept; the address answers its content, or 304
 *   where it still has that tag (accounts/live_parts.py). Where the content has elements with `data-live-part="name"`,
 *   each is replaced for itself; else all of it is.
 * - `data-live-rows` on that element: its content is rows with ids. Those that are here change in their place; for those that
 *   came the button `data-live-new` says how many they are, and puts them in: nothing moves under the reader's hands.
 * - `data-open` on an element with an id in it: something is on its way, and it is asked for every other second, else
 *   every ten. `data-over="words"` on the element with that id, once it is over: the words are said.
 * - `data-live-says="words"` on a part: the words are said when they are others.
 * - `data-count-of="name"` in it, outside its parts: a number that stands elsewhere on the page, in `data-count="name"`.
 * - `data-figure="name"` in it: the figure is marked for a minute when it is another.
 * - `data-live-mark`, hidden: says since when it is known. `data-live-said`: the status in which all this is said.
 *
 * What the reader is at stays: ticks, open details and the focus; a part in which they write, or have a menu open, waits.
 * Where parts come or go the page is loaded anew, once no form beside them has what was written or chosen in it, and
 * nothing has `data-at-work`.
 * After a change the event "live" is sent from the kept element. Where no answer comes it asks less and less often.
 * Without JavaScript the page is reloaded by hand.
 */

import { fragmentIfChanged } from "./lazy-fragment.js";

const WHILE_OPEN = 2_000;
const PERIOD = 10_000;
const LONGEST_PERIOD = 120_000;
const MARKED = 60_000;
const WRITES = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
const MENUS = "dialog[open], [popover]:popover-open, details[data-keeps][open]";

const said = document.querySelector("[data-live-said]");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** @param {string[]} words */
function say(words) {
  if (said && words.some(Boolean)) said.textContent = words.filter(Boolean).join(". ");
}

/** @param {ParentNode} within @returns {string[]} the ids of what is on its way */
const open = (within) => [...within.querySelectorAll("[data-open]")].map((one) => one.id);

/** @param {ParentNode} within @returns {Map<string, string>} */
const figures = (within) =>
  new Map([...within.querySelectorAll("[data-figure]")].map((cell) => [nameOf(cell, "data-figure"), cell.textContent ?? ""]));

/** @param {Element} element @param {string} attribute */
const nameOf = (element, attribute) => element.getAttribute(attribute) ?? "";

/** The same control in another copy of the part, as a selector; "" where nothing tells it from others. @param {Element} control */
function sameControl(control) {
  if (control.id) return `#${CSS.escape(control.id)}`;
  const names = ["href", "name", "value"].filter((name) => control.hasAttribute(name));
  return names.map((name) => `[${name}="${CSS.escape(nameOf(control, name))}"]`).join("");
}

/** @param {ParentNode} part @returns {string[]} what is ticked in it */
const ticks = (part) => [...part.querySelectorAll("input[type=checkbox]:checked")].map(sameControl).filter(Boolean);

/** Those of a part, by their id, else by their place among those without. @param {ParentNode} part */
function details(part) {
  let place = 0;
  return new Map([...part.querySelectorAll("details")].map((one) => [one.id || String((place += 1)), one]));
}

/** Whether the reader is at something in it that the new one cannot take over. @param {Element} part @param {ParentNode} now */
function isBusy(part, now) {
  if (part.querySelector(MENUS)) return true;
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  if (!focused) return false;
  const same = sameControl(focused);
  return focused.matches(WRITES) || !same || !now.querySelector(same);
}

/** Whether the reader has written, ticked or chosen something that a reload would lose, or something is being sent, outside
 * of these parts. @param {Element[]} parts */
function isWrittenBeside(parts) {
  if (document.querySelector("[data-at-work]")) return true;
  const fields = [...document.querySelectorAll("input, textarea, select")].filter((field) => !parts.some((part) => part.contains(field)));
  return fields.some((field) => {
    if (field instanceof HTMLSelectElement) {
      const options = [...field.options];
      if (field.multiple) return options.some((option) => option.selected !== option.defaultSelected);
      // Of an empty one the index is -1.
      const usual = Math.max(Math.min(0, options.length - 1), options.findLastIndex((option) => option.defaultSelected));
      return field.selectedIndex !== usual;
    }
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    if (!(field instanceof HTMLInputElement) || field.type === "hidden") return false;
    if (field.type === "file") return Boolean(field.files?.length);
    return ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
  });
}

/**
 * Put the new content in the place of the old, with what the reader did to that.
 * @param {Element} old @param {ParentNode} now @param {() => ParentNode} place answers where the new content is
 */
function takeOver(old, now, place) {
  const focused = old.contains(document.activeElement) && document.activeElement ? sameControl(document.activeElement) : "";
  const ticked = ticks(old);
  const unfolded = details(old);
  const before = figures(old);
  for (const [name, one] of details(now)) one.open = unfolded.get(name)?.open ?? one.open;
  const shown = place();
  for (const selector of ticked) {
    const box = shown.querySelector(selector);
    if (box instanceof HTMLInputElement) box.checked = true;
  }
  const same = focused ? shown.querySelector(focused) : null;
  if (same instanceof HTMLElement) same.focus({ preventScroll: true });
  for (const cell of before.size ? shown.querySelectorAll("[data-figure]") : []) {
    if (before.get(nameOf(cell, "data-figure")) === cell.textContent) continue;
    cell.classList.add("is-changed");
    setTimeout(() => cell.classList.remove("is-changed"), MARKED);
  }
}

class Live {
  /** What the parts, or rows, looked like when they came. @type {Map<string, string>} */ #came = new Map();
  /** The rows that the button puts in. @type {Element[]} */ #new = [];
  #failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #timer;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    for (const [name, part] of this.#parts(root)) this.#came.set(name, part.outerHTML);
    this.button?.addEventListener("click", () => this.#putIn());
    this.#mark(`Live, checked ${clock.format(new Date())}`, true);
    this.#wait();
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.#look();
    });
  }

  /** @returns {HTMLElement | null} */
  get button() {
    return this.root.hasAttribute("data-live-rows") ? document.querySelector("[data-live-new]") : null;
  }

  /** @param {ParentNode} within */
  #parts(within) {
    if (this.root.hasAttribute("data-live-rows")) return new Map([...within.children].map((row) => [row.id, row]));
    return new Map([...within.querySelectorAll("[data-live-part]")].map((part) => [nameOf(part, "data-live-part"), part]));
  }

  #wait() {
    const period = open(this.root).length ? WHILE_OPEN : PERIOD;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), Math.min(period * 2 ** this.#failures, LONGEST_PERIOD));
  }

  async #look() {
    clearTimeout(this.#timer);
    if (!document.hidden) {
      try {
        const answer = await fragmentIfChanged(this.root.dataset.live ?? "", this.root.dataset.tag ?? "");
        if (answer && this.#show(answer.content)) this.root.dataset.tag = answer.tag;
        this.#failures = 0;
        this.#mark(`Live, checked ${clock.format(new Date())}`, true);
      } catch {
        this.#failures += 1;
        this.#mark("Not reached, tried again soon", false);
      }
    }
    this.#wait();
  }

  /** @param {DocumentFragment} came @returns {boolean} whether all of it is shown now */
  #show(came) {
    for (const count of came.querySelectorAll("[data-count-of]"))
      for (const shown of document.querySelectorAll(`[data-count="${CSS.escape(nameOf(count, "data-count-of"))}"]`))
        shown.textContent = count.textContent;
    const [before, now] = [this.#parts(this.root), this.#parts(came)];
    const onTheirWay = open(this.root);
    let isAll = true;
    if (this.root.hasAttribute("data-live-rows")) {
      for (const [name, row] of now) isAll = this.#replace(name, before.get(name), row) && isAll;
      this.#offer([...now.values()], before);
    } else if (!before.size && !now.size) {
      if (isBusy(this.root, came)) return false;
      takeOver(this.root, came, () => {
        this.root.replaceChildren(came);
        return this.root;
      });
    } else if ([...before.keys()].join() !== [...now.keys()].join()) {
      // A part that comes or goes changes the places of others: then the page is laid out anew by a reload.
      if ([...before.values()].some((part) => part.contains(document.activeElement) || part.querySelector(MENUS))) return false;
      if (isWrittenBeside([...before.values()])) return false;
      location.reload();
      return true;
    } else {
      for (const [name, part] of now) isAll = this.#replace(name, before.get(name), part) && isAll;
    }
    const over = onTheirWay.filter((id) => !open(this.root).includes(id));
    say(over.map((id) => document.getElementById(id)?.dataset.over ?? ""));
    this.root.dispatchEvent(new CustomEvent("live", { bubbles: true }));
    return isAll;
  }

  /** What came behind the last row that is here was pushed up from the next page. @param {Element[]} now @param {Map<string, Element>} before */
  #offer(now, before) {
    const last = now.findLastIndex((row) => before.has(row.id));
    const came = now.slice(0, last < 0 ? now.length : last).filter((row) => !before.has(row.id)).length;
    this.#new = came ? now : [];
    const { button } = this;
    if (!button) return;
    const words = `${came.toLocaleString("en")} new`;
    if (came && (button.hidden || button.textContent !== words)) say([words]);
    button.textContent = words;
    button.hidden = !came;
  }

  /** The rows as they were answered last; those that are here already stay, with what the reader did to them. */
  #putIn() {
    const here = this.#parts(this.root);
    for (const row of this.#new) if (!here.has(row.id)) this.#came.set(row.id, row.outerHTML);
    this.root.replaceChildren(...this.#new.map((row) => here.get(row.id) ?? row));
    this.#new = [];
    if (this.button) this.button.hidden = true;
    this.root.querySelector("a")?.focus({ preventScroll: true });
    this.root.dispatchEvent(new CustomEvent("live", { bubbles: true }));
  }

  /** @param {string} name @param {Element | undefined} old @param {Element} part @returns {boolean} whether it is shown */
  #replace(name, old, part) {
    const markup = part.outerHTML;
    if (!old || this.#came.get(name) === markup) return true;
    if (isBusy(old, part)) return false;
    const words = nameOf(part, "data-live-says");
    if (words !== nameOf(old, "data-live-says")) say([words]);
    takeOver(old, part, () => {
      old.replaceWith(part);
      return part;
    });
    this.#came.set(name, markup);
    return true;
  }

  /** @param {string} words @param {boolean} isReached */
  #mark(words, isReached) {
    const place = this.root.querySelector("[data-live-mark]") ?? document.querySelector("[data-live-mark]");
    if (!(place instanceof HTMLElement)) return;
    const dot = document.createElement("span");
    dot.className = isReached ? "dot" : "dot dot--off";
    place.replaceChildren(dot, words);
    place.hidden = false;
  }
}

for (const root of document.querySelectorAll("[data-live]")) if (root instanceof HTMLElement) new Live(root);

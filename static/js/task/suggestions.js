/**
 * What a model suggests, shown where it is about, to be accepted, edited or rejected one by one. Nothing is chosen before
 * the annotator does so. Where an item stands, and what accepting it does, the module of its scheme may say.
 */

import { key, on } from "../events.js";
import { visible } from "../shown-text.js";
import { copyOf, one } from "./dom.js";

/** @import { Mounted, Work as Task } from "./task.js" */
/**
 * @typedef {object} Item  One thing that is suggested, as assignments/suggestions/items.py has it
 * @property {string} id
 * @property {string} scheme
 * @property {string} title
 * @property {string[]} words
 * @property {number | null} number
 * @property {string} text
 * @property {string | null} replacement
 * @property {string[]} at
 * @property {Record<string, any>} value
 * @property {string | null} file
 * @property {string | null} side
 * @property {number | null} line_start
 * @property {number | null} line_end
 * @property {number | null} step
 */
/**
 * @typedef {object} Suggests  What the module of a scheme knows of suggested items
 * @property {(item: Item) => HTMLElement | null} beside  where it stands; null while that is not on the page
 * @property {(item: Item, part: string | undefined) => unknown} edit  lead to where the accepted item is changed
 * @property {(item: Item) => string | undefined} [accept]  make it the annotator's answer; the name of the part that it became
 * @property {(item: Item, part: string) => boolean} [has]  whether that part is still among the answers
 */
/** @typedef {{ id: string, action: "accepted" | "rejected", part?: string }} Act */

/** Under which answers keep what was done, as potato/schemes/suggested.py has it. */
const KEY = "suggestions";

export class Suggestions {
  /** @type {Map<string, HTMLElement>} */ #cards = new Map();

  /** @param {Task} task @param {Item[]} items @param {Map<string, Mounted>} modules by the scheme's name */
  constructor(task, items, modules) {
    this.task = task;
    this.items = items;
    this.modules = modules;
    on("fragment", ":root", () => this.place());
    on("click", ".suggested button", (_, button) => this.#act(button));
    on("keydown", ".suggested", (event, card) => this.#press(event, card));
    key("g s", () => this.#next());
    task.onModeChange(() => this.redraw());
    task.onRefresh(() => this.redraw());
    this.redraw();
  }

  /* What was done ------------------------------------------------------------------------------------ */

  /** @returns {Act[]} */
  get acts() {
    const items = this.task.answers(KEY)?.items;
    return Array.isArray(items) ? items : [];
  }

  /** What was done with an item; a comment that was deleted since was not accepted. @param {Item} item @returns {Act | undefined} */
  act(item) {
    const act = this.acts.find(({ id }) => id === item.id);
    if (!act?.part || act.action !== "accepted") return act;
    return (this.#suggests(item)?.has?.(item, act.part) ?? true) ? act : undefined;
  }

  /** @param {Item} item @param {Act | null} act */
  #say(item, act) {
    const others = this.acts.filter(({ id }) => id !== item.id);
    return this.task.change(KEY, { items: act ? [...others, act] : others });
  }

  /** @param {Item} item @returns {Suggests | undefined} */
  #suggests(item) {
    return this.modules.get(item.scheme)?.suggests;
  }

  /** @param {Item} item @param {boolean} edits whether it is changed next */
  #accept(item, edits) {
    if (this.task.isReadOnly) return;
    const before = this.task.answers(item.scheme);
    const suggests = this.#suggests(item);
    let part;
    if (suggests?.accept) part = suggests.accept(item);
    else this.task.change(item.scheme, laidOver(before ?? {}, item.at, item.value));
    this.#say(item, { id: item.id, action: "accepted", ...(part !== undefined && { part }) });
    this.modules.get(item.scheme)?.redraw();
    this.redraw();
    if (edits) return suggests?.edit(item, part);
    this.task.announce(`Accepted: ${wordsOf(item)}`);
    const undo = () => {
      this.task.change(item.scheme, before ?? (item.at[0] === "-" ? [] : {}));
      this.#say(item, null);
      this.modules.get(item.scheme)?.redraw();
      this.redraw();
    };
    this.task.toast(`Accepted: ${wordsOf(item)}`, { undo });
  }

  /** @param {Item} item */
  #reject(item) {
    if (!this.#say(item, { id: item.id, action: "rejected" })) return;
    this.redraw();
    this.task.announce(`Rejected: ${wordsOf(item)}`);
  }

  /** @param {HTMLElement} button */
  #act(button) {
    const item = this.#itemOf(button);
    if (!item) return;
    const { dataset } = button;
    if ("accept" in dataset) this.#accept(item, false);
    else if ("editSuggested" in dataset) this.#accept(item, true);
    else if ("reject" in dataset) this.#reject(item);
    else if (this.#say(item, null)) this.redraw();
    if (!("editSuggested" in dataset)) this.#cards.get(item.id)?.focus({ preventScroll: true });
    return true;
  }

  /** @param {KeyboardEvent} event @param {HTMLElement} card */
  #press(event, card) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const name = { y: "accept", e: "edit-suggested", d: "reject" }[event.key];
    const button = name && card.querySelector(`[data-${name}]:not([hidden], :disabled)`);
    if (!(button instanceof HTMLElement)) return;
    event.preventDefault();
    button.click();
    return true;
  }

  /* What is shown ------------------------------------------------------------------------------------ */

  redraw() {
    this.place();
    for (const item of this.items) this.#draw(item);
  }

  /** Put in what has its place on the page now. */
  place() {
    for (const item of this.items) {
      const card = this.#cards.get(item.id);
      if (card?.isConnected) continue;
      const beside = this.#suggests(item)?.beside(item);
      if (!beside) continue;
      const made = card ?? cardOf(item);
      this.#cards.set(item.id, made);
      beside.append(made);
      this.#draw(item);
    }
  }

  /** @param {Item} item */
  #draw(item) {
    const card = this.#cards.get(item.id);
    if (!card) return;
    const act = this.act(item);
    card.classList.toggle("is-done", Boolean(act));
    const state = one("[data-state]", card);
    state.hidden = !act;
    state.textContent = act?.action === "rejected" ? "Rejected" : "Accepted";
    for (const name of ["accept", "edit-suggested", "reject"]) {
      const button = /** @type {HTMLButtonElement} */ (one(`[data-${name}]`, card));
      button.hidden = Boolean(act);
      button.disabled = this.task.isReadOnly;
    }
    const again = /** @type {HTMLButtonElement} */ (one("[data-again]", card));
    // What was accepted is an answer of the annotator's by now, and is changed where that is.
    again.hidden = act?.action !== "rejected";
    again.disabled = this.task.isReadOnly;
  }

  /** From the card that has the focus to the next one that waits. */
  #next() {
    const waiting = this.items
      .map((item) => (this.act(item) ? undefined : this.#cards.get(item.id)))
      .filter((card) => card?.isConnected)
      .sort((one, other) => (one?.compareDocumentPosition(/** @type {Node} */ (other)) ?? 0) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
    const here = document.activeElement?.closest(".suggested");
    const after = waiting.find((card) => here && here.compareDocumentPosition(/** @type {Node} */ (card)) & Node.DOCUMENT_POSITION_FOLLOWING);
    const next = after ?? waiting.find((card) => card !== here);
    if (!next) return this.task.announce("No suggestion waits on this page");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "center" });
  }

  /** @param {Element} inside */
  #itemOf(inside) {
    const card = inside.closest(".suggested");
    return this.items.find(({ id }) => this.#cards.get(id) === card);
  }
}

/** @param {Item} item */
function wordsOf({ title, words, number }) {
  const said = words.length || number === null ? words.join(", ") : String(number);
  return [title, said].filter(Boolean).join(": ");
}

/** @param {Item} item @returns {HTMLElement} */
function cardOf(item) {
  const card = copyOf("suggested");
  const { line_start: first, line_end: last, text, replacement } = item;
  one("[data-words]", card).replaceChildren(...visible(wordsOf(item)));
  if (first !== null && last !== null) one("[data-lines]", card).textContent = last > first ? `lines ${first}–${last}` : `line ${first}`;
  card.ariaLabel = `A model suggests: ${wordsOf(item)}`;
  for (const [name, said] of /** @type {const} */ ([["text", text], ["code", replacement ?? ""]])) {
    const part = one(`[data-${name}]`, card);
    part.hidden = !said;
    part.replaceChildren(...visible(said));
  }
  return card;
}

/**
 * Answers with a value laid over what is at a path.
 * @param {any} answers @param {string[]} at @param {Record<string, any>} value @returns {any}
 */
function laidOver(answers, [name, ...rest], value) {
  if (name === undefined) return { ...answers, ...value };
  const inside = answers && Object.hasOwn(answers, name) ? answers[name] : {};
  return { ...answers, [name]: laidOver(inside, rest, value) };
}

/**
 * The steps of a trace while they are judged: which one has the focus, what stands on each of them and in the rail, and
 * which of them carry controls. Knows no judgement: a mode says what to show.
 */

import { key, on } from "../events.js";
import { setOpen, showCurrent } from "../trace-page.js";
import { one } from "../task/dom.js";
import { Ranges } from "./ranges.js";

/** @import { Scheme, Work as Task } from "../task/task.js" */
/**
 * @typedef {object} Mark  What a step shows of its judgement
 * @property {string} value  names its colour, as data-c="<scheme>.<value>"; empty for none
 * @property {string} words  on its header, in a badge
 * @property {string} [sub]  in the rail; the words where left out
 * @property {boolean} [hasNote]
 * @property {boolean} [isPending]  a preview, drawn dashed
 * @property {boolean} [isWrong]
 */

/** How far from the viewport a step's controls are drawn, in pixels. */
const NEAR = 700;
/** What the top bar with a step's header, and the foot bar, leave of the viewport, in pixels. */
const [ABOVE, BELOW] = [110, 70];
/** How long a step that was gone to is held in sight, in milliseconds, unless the annotator scrolls. */
const SETTLING = 1200;
/** How long the place is the same before it is kept, in milliseconds. */
const KEPT_AFTER = 400;
/** A label of more characters is shown in two parts, and how long its second one is. */
const [SHORT, TAIL] = [24, 12];
/** Keys that scroll the page. */
const SCROLLS = /^(Page|Arrow|Home|End| )/;

export class Steps {
  /** The index of the step that keys act on. */
  focus = 0;
  /** @type {Map<number, HTMLElement>} */ #articles = new Map();
  /** @type {Map<number, HTMLElement>} */ #links = new Map();
  /** @type {Map<number, string>} */ #marks = new Map();
  /** @type {Set<number>} */ #near = new Set();
  /** @type {((index: number) => void)[]} */ #focusListeners = [];
  /** @type {((index: number, slot: HTMLElement) => void)[]} */ #nearListeners = [];
  #last = Infinity;
  #opens;
  #wentAt = -Infinity;
  #isLooking = false;
  #keeping = 0;

  /** @param {Task} task @param {Scheme} scheme */
  constructor(task, scheme) {
    this.task = task;
    this.scheme = scheme;
    /** How many steps the trace has, those of other pages included. */
    this.count = task.data.steps;
    /** Above the steps, for what is said and done about all of them. */
    this.panel = one("[data-steps-panel]");
    /** In the foot bar, before its own buttons. */
    this.bar = task.isReading ? document.createElement("div") : one("[data-bar-steps]");
    /** Whether a step shows its content when it gets the focus. */
    this.#opens = scheme.block.first_error?.show_step_content !== false;
    this.read = new Ranges(task.kept("read"));
    for (const article of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("article.step"))) {
      this.#articles.set(indexOf(article), article);
    }
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(".srail__item"))) {
      this.#links.set(Number(link.hash.slice(2)), link);
    }
    this.focus = Math.min(...this.#articles.keys(), this.count);
    this.#listen();
  }

  /** Begin where the annotator left; the mode is mounted by now. */
  start() {
    for (const index of this.indexes) if (this.read.has(index)) this.#showRead(index);
    const asked = document.querySelector(".step.is-focus");
    const kept = this.task.kept("step");
    if (asked instanceof HTMLElement) {
      this.#setFocus(indexOf(asked), true);
      this.#arrive(asked);
    } else if (typeof kept === "number" && kept > 0 && this.#isShown(kept)) this.goTo(kept);
    else {
      const first = this.article(this.focus);
      if (first && this.#opens) setOpen(first, true);
      this.#setFocus(this.focus, false);
    }
    this.#lookSoon();
    // What arrives in a step moves those below it, and nobody scrolls.
    new ResizeObserver(() => this.#lookSoon()).observe(one(".steps"));
    for (const type of ["scroll", "resize"]) on(type, ":root", () => this.#lookSoon());
  }

  /* Where things stand ------------------------------------------------------------------------------ */

  /** @param {number} index @returns {HTMLElement | null} null where it is not on this page */
  article(index) {
    return this.#articles.get(index) ?? null;
  }

  /** The indexes of the steps on this page, in their order. */
  get indexes() {
    return [...this.#articles.keys()];
  }

  /** The part of a step's header that holds its controls. @param {HTMLElement} article */
  #slot(article) {
    const found = article.querySelector(".step__rate");
    if (found instanceof HTMLElement) return found;
    const slot = document.createElement("div");
    slot.className = "step__rate";
    article.querySelector("[data-toggle]")?.before(slot);
    return slot;
  }

  /** The foot of a step, for forms; made when asked for first. @param {number} index @returns {HTMLElement | null} */
  foot(index) {
    const article = this.article(index);
    const found = article?.querySelector(".step__foot");
    if (found instanceof HTMLElement || !article) return /** @type {HTMLElement | null} */ (found ?? null);
    const foot = document.createElement("div");
    foot.className = "step__foot";
    article.append(foot);
    return foot;
  }

  /** A copy of a part of the scheme's template. @param {string} name as its data-part says @returns {HTMLElement} */
  part(name) {
    const template = /** @type {HTMLTemplateElement} */ (one(`#mount-${this.scheme.name}`));
    const found = template.content.querySelector(`[data-part="${name}"]`);
    if (!found) throw new Error(`The scheme's template has no part ${name}`);
    return /** @type {HTMLElement} */ (found.cloneNode(true));
  }

  /* What a mode is told ------------------------------------------------------------------------------- */

  /** @param {(index: number) => void} listen called when another step has the focus */
  onFocus(listen) {
    this.#focusListeners.push(listen);
  }

  /**
   * Called with the element for the controls of a step that comes near: an empty one, or after redrawControls one that
   * was filled before, whose controls may have the focus and are changed in place. They are taken away when it is far.
   * @param {(index: number, slot: HTMLElement) => void} listen
   */
  onNear(listen) {
    this.#nearListeners.push(listen);
  }

  /** Call the listeners of onNear again for a step that carries controls, which are still in the slot. @param {number} index */
  redrawControls(index) {
    const article = this.article(index);
    if (article && this.#near.has(index)) this.#tell(index, article);
  }

  /**
   * A key of the configuration by what it does ("correct", or a label's value), which comes before the page's own.
   * @param {string} name @param {(index: number) => boolean | void} act
   */
  configuredKey(name, act) {
    const pressed = this.scheme.block.keys[name];
    if (pressed) this.#onKey(pressed, act);
  }

  /**
   * A key of ours, where the configuration has not given it to something else.
   * @param {string} pressed @param {(index: number) => boolean | void} act
   */
  ownKey(pressed, act) {
    if (!Object.values(this.scheme.block.keys).includes(pressed)) this.#onKey(pressed, act);
  }

  /** Nothing is done to a step that is not shown. @param {string} pressed @param {(index: number) => boolean | void} act */
  #onKey(pressed, act) {
    key(pressed, () => (this.#isShown(this.focus) ? act(this.focus) : false));
  }

  /* What is shown --------------------------------------------------------------------------------------- */

  /** @param {number} index @param {Mark} mark */
  mark(index, mark) {
    const said = `${mark.value}|${mark.isPending ?? ""}|${mark.hasNote ?? ""}|${mark.words}|${mark.sub ?? ""}`;
    if (this.#marks.get(index) === said) return;
    this.#marks.set(index, said);
    const colour = mark.value && `${this.scheme.name}.${mark.value}`;
    const article = this.article(index);
    if (article) {
      const badge = this.#badge(article);
      badge.title = mark.words.length > SHORT ? mark.words : "";
      badge.replaceChildren(...cutInTheMiddle(mark.words));
      article.classList.toggle("is-wrong", Boolean(mark.isWrong));
      for (const element of [article, badge]) paint(element, colour, mark.isPending);
    }
    const link = this.#links.get(index);
    if (!link) return;
    paint(link, colour, mark.isPending);
    part(link, "sub").textContent = mark.sub ?? mark.words;
    const note = link.querySelector(".srail__note");
    if (!mark.hasNote) note?.remove();
    else if (!note) link.append(this.part("note"));
  }

  /** @param {HTMLElement} article */
  #badge(article) {
    const found = article.querySelector(".step__mark");
    if (found instanceof HTMLElement) return found;
    const badge = document.createElement("span");
    badge.className = "badge step__mark mid";
    this.#slot(article).before(badge);
    return badge;
  }

  /** Say in the rail how far the work is ("6 of 8 labelled"). @param {string} words */
  progress(words) {
    one("[data-steps-progress]").textContent = words;
  }

  /** Hide the steps after this one, their titles too. @param {number} last Infinity shows all */
  reveal(last) {
    if (last === this.#last) return;
    this.#last = last;
    for (const [index, article] of this.#articles) article.hidden = index > last;
    for (const [index, link] of this.#links) link.hidden = index > last;
    document.querySelector(".steps")?.removeAttribute("data-reveal");
    this.#lookSoon();
  }

  /* Going ------------------------------------------------------------------------------------------------ */

  /** Show a step and give it the focus, wherever it is. @param {number} index */
  goTo(index) {
    const article = this.article(index);
    if (article && index <= this.#last) {
      article.closest("details")?.setAttribute("open", "");
      if (this.#opens) setOpen(article, true);
      this.#setFocus(index, true);
      /** @type {HTMLElement | null} */ (article.querySelector("a.snum"))?.focus({ preventScroll: true });
      this.#arrive(article);
    } else if (index <= this.#last) {
      const url = new URL(this.task.data.urls.steps, location.href);
      url.searchParams.set("step", String(index));
      url.hash = `s${index}`;
      location.assign(url);
    }
  }

  /** @param {HTMLElement} article */
  #arrive(article) {
    this.#wentAt = performance.now();
    article.scrollIntoView();
  }

  /** The step after or before the focused one, those of other pages included. @param {1 | -1} direction */
  move(direction) {
    const shown = this.indexes.filter((index) => this.#isShown(index));
    const next = direction > 0 ? shown.find((index) => index > this.focus) : shown.findLast((index) => index < this.focus);
    const isSearch = new URLSearchParams(location.search).has("q");
    const beyond = this.focus + direction;
    if (next !== undefined) this.goTo(next);
    else if (!isSearch && beyond >= 0 && beyond < this.count) this.goTo(beyond);
  }

  /** @param {number} index */
  #isShown(index) {
    return this.#articles.has(index) && index <= this.#last;
  }

  /** @param {number} index @param {boolean} isKept whether the annotator went there */
  #setFocus(index, isKept) {
    const article = this.article(index);
    if (!article) return;
    const isNew = index !== this.focus;
    this.article(this.focus)?.classList.remove("is-focus");
    this.focus = index;
    article.classList.add("is-focus");
    showCurrent(`s${index}`);
    if (!this.#near.has(index)) this.#give(index, article);
    if (!isNew && isKept) return;
    const isUnread = this.read.add(index);
    if (isUnread) this.#showRead(index);
    // An address names the step that was asked for: a reload leads to where the work is now.
    if (isKept && location.hash && location.hash !== `#s${index}`) history.replaceState(null, "", location.pathname + location.search);
    if (isKept && (isUnread || this.task.kept("step") !== index)) {
      clearTimeout(this.#keeping);
      this.#keeping = setTimeout(() => this.#keep(), KEPT_AFTER);
    }
    for (const listen of this.#focusListeners) listen(index);
  }

  /** @param {number} index */
  #showRead(index) {
    if (this.task.isReading) return;
    this.#links.get(index)?.append(this.part("read"));
  }

  #keep() {
    clearTimeout(this.#keeping);
    this.#keeping = 0;
    this.task.keep("read", this.read.text);
    this.task.keep("step", this.focus);
  }

  /* What comes and goes ------------------------------------------------------------------------------------- */

  /** @param {number} index @param {HTMLElement} article */
  #give(index, article) {
    this.#near.add(index);
    this.#tell(index, article);
  }

  /** @param {number} index @param {HTMLElement} article */
  #tell(index, article) {
    for (const listen of this.#nearListeners) listen(index, this.#slot(article));
  }

  #lookSoon() {
    if (this.#isLooking) return;
    this.#isLooking = true;
    requestAnimationFrame(() => this.#look());
  }

  /** Find out which steps are near and which are in sight: everything is measured before anything is changed. */
  #look() {
    this.#isLooking = false;
    const shown = this.indexes.filter((index) => this.#isShown(index));
    /** @param {number | undefined} index */
    const box = (index) => {
      const article = this.article(index ?? -1);
      return (article?.closest("details:not([open])") ?? article)?.getBoundingClientRect() ?? new DOMRect();
    };
    let [first, beyond] = [0, shown.length];
    while (first < beyond) {
      const middle = (first + beyond) >> 1;
      if (box(shown[middle]).bottom > -NEAR) beyond = middle;
      else first = middle + 1;
    }
    /** @type {Set<number>} */
    const near = new Set();
    let seen = -1;
    for (const index of shown.slice(first)) {
      const { top, bottom } = box(index);
      if (top > innerHeight + NEAR) break;
      near.add(index);
      const isSeen = bottom > ABOVE && top < innerHeight - BELOW;
      if (isSeen && (seen < 0 || index === this.focus)) seen = index;
    }
    this.#come(near);
    this.#see(seen);
  }

  /** @param {Set<number>} near */
  #come(near) {
    for (const index of this.#near) {
      const article = this.article(index);
      if (!article || near.has(index) || index === this.focus || article.contains(document.activeElement)) continue;
      this.#near.delete(index);
      this.#slot(article).replaceChildren();
    }
    for (const index of near) {
      const article = this.article(index);
      if (article && !this.#near.has(index)) this.#give(index, article);
    }
  }

  /** The focus follows who scrolls: keys never act on a step that cannot be seen. @param {number} seen the focused step where it is in sight, else the first that is; -1 for none */
  #see(seen) {
    if (seen < 0 || seen === this.focus) return;
    // Content that arrives above a step moves it away from where somebody has just gone.
    if (performance.now() - this.#wentAt < SETTLING) this.article(this.focus)?.scrollIntoView();
    else this.#setFocus(seen, false);
  }

  #listen() {
    on("focusin", "article.step", (event, article) => this.#setFocus(indexOf(article), true));
    on("click", "article.step", (event, article) => this.#setFocus(indexOf(article), true));
    for (const type of ["wheel", "touchmove", "pointerdown"]) on(type, ":root", () => void (this.#wentAt = -Infinity));
    on("keydown", ":root", (event) => {
      if (SCROLLS.test(event.key)) this.#wentAt = -Infinity;
    });
    // Asked before the task sends its last words.
    on("pagehide", ":root", () => {
      if (this.#keeping) this.#keep();
    });
    on("hashchange", ":root", () => {
      const index = Number(/^#s(\d+)$/.exec(location.hash)?.[1] ?? -1);
      this.#wentAt = performance.now();
      return index > this.#last;
    });
    if (this.task.isReading) {
      // Whoever reads may not know the project's keys; those act as well.
      key("j", () => this.move(1));
      key("k", () => this.move(-1));
    }
    this.configuredKey("next_step", () => this.move(1));
    this.configuredKey("prev_step", () => this.move(-1));
    key("Enter", ({ target }) => {
      const article = this.article(this.focus);
      const isFree = target instanceof Element && (target.matches("a.snum") || !target.closest("a, button, summary, input"));
      if (!article || !isFree) return false;
      /** @type {HTMLElement | null} */ (article.querySelector("[data-toggle]"))?.click();
    });
  }
}

/** @param {Element} article */
function indexOf(article) {
  return Number(article.id.slice(1));
}

/** @param {HTMLElement} element @param {string} colour @param {boolean} [isPending] */
function paint(element, colour, isPending = false) {
  element.classList.toggle("tint", Boolean(colour));
  element.classList.toggle("is-pending", isPending);
  if (colour) element.dataset.c = colour;
  else delete element.dataset.c;
}

/** A long label in two parts, of which the first is cut where there is no room. @param {string} words */
function cutInTheMiddle(words) {
  if (words.length <= SHORT) return [words];
  return [words.slice(0, -TAIL), words.slice(-TAIL)].map((text) => {
    const half = document.createElement("span");
    half.textContent = text;
    return half;
  });
}

/** @param {HTMLElement} parent @param {string} name */
function part(parent, name) {
  const found = parent.querySelector(`.${name}`);
  if (found) return found;
  const made = document.createElement("span");
  made.className = name;
  parent.append(made);
  return made;
}

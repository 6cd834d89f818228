/**
 * Where comments stand on the page: under their last line, as a card or as the form that somebody writes in, as soon as
 * that line is loaded; and the ways to them. What becomes of what is written is decided elsewhere.
 */

import { nextOf } from "../evidence-lines.js";
import { cardOf, cloneOf } from "./comment-parts.js";
import { buttonOf, mark, rowOf } from "./line-range.js";
import { element } from "../shown-text.js";

/** @typedef {import("../task/task.js").Work} Task */
/** @typedef {import("./comment-form.js").CommentForm} CommentForm */
/** @typedef {typeof import("./comment-form.js").CommentForm} FormClass */
/** @typedef {import("./comment-rules.js").Draft} Draft */
/** @typedef {import("./kept-comments.js").KeptComments} KeptComments */
/** @typedef {import("./kept-comments.js").Entry} Entry */
/** @typedef {import("./line-range.js").Lines} Lines */

export class CommentThreads {
  /** What forms are made by; null until it is loaded. @type {FormClass | null} */ Form = null;
  /** The drafts whose form is open. @type {Map<string, CommentForm>} */ forms = new Map();
  /** Forms and comments on the page. @type {Map<string, HTMLElement>} */ #elements = new Map();
  /** @type {Lines | null} */ #chosen = null;
  /** The comment that the reader is on the way to; what it stands in may have to be loaded first. */ #goal = "";

  /**
   * @param {Task} task
   * @param {KeptComments} kept
   * @param {DocumentFragment | null} template what comments are made of; null on tabs that show no lines
   * @param {() => Promise<unknown>} load brings what forms are made by
   */
  constructor(task, kept, template, load) {
    this.task = task;
    this.kept = kept;
    this.template = template;
    this.load = load;
  }

  /** Everything that is kept, in the order of the page. @returns {Entry[]} */
  entries() {
    const order = new Map(this.task.data.files.map(({ path }, at) => [path, at]));
    /** @param {Draft} one */
    const file = ({ file }) => order.get(file) ?? Infinity;
    return this.kept.entries().sort((a, b) => {
      const [first, second] = [this.#elements.get(a.id), this.#elements.get(b.id)];
      if (first?.isConnected && second?.isConnected) {
        return first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
      }
      return file(a) - file(b) || a.line_end - b.line_end || a.line_start - b.line_start;
    });
  }

  /** The file's card on this page; the one with the line where a path has several. @param {Pick<Draft, "file" | "side" | "line_end">} place */
  #articleOf({ file, side, line_end }) {
    const articles = this.task.data.files
      .filter(({ path }) => path === file)
      .map(({ index }) => document.getElementById(`f${index}`))
      .filter((article) => article !== null);
    return articles.find((article) => rowOf(article, side, line_end)) ?? articles[0] ?? null;
  }

  /** The place for what stands under a line; null while that is not on the page. @param {Pick<Draft, "file" | "side" | "line_end">} place @returns {HTMLElement | null} */
  threadOf(place) {
    const article = this.#articleOf(place);
    const row = article && rowOf(article, place.side, place.line_end);
    return row ? /** @type {HTMLElement} */ (threadAt(row)) : null;
  }

  /* Showing ------------------------------------------------------------------------------------------ */

  redraw() {
    for (const id of [...this.#elements.keys()]) this.#remove(id);
    this.place();
  }

  /** Put in what has its lines on the page now. */
  place() {
    for (const { id } of this.entries()) if (!this.#elements.get(id)?.isConnected) this.#put(id);
    this.#mark();
  }

  /** Show a comment or its form anew. @param {string} id @param {Element | null} [beside] */
  show(id, beside) {
    this.#put(id, beside);
    this.#mark();
  }

  /** Mark these lines as those that are being chosen. @param {Lines | null} lines */
  choose(lines) {
    this.#chosen = lines;
    this.#mark();
  }

  /** Enable what the task's mode lets people do, and nothing else. */
  showMode() {
    for (const made of this.#elements.values()) disable(made, this.task.isReadOnly);
  }

  /**
   * Under its last line; nothing while that is not on the page.
   * @param {string} id
   * @param {Element | null} [beside] the row, or where there is none the file's content
   */
  #put(id, beside) {
    this.#remove(id);
    const entry = this.kept.entry(id);
    if (!entry || !this.template) return;
    const article = this.#articleOf(entry);
    const host = entry.subject_type === "change" ? changeHost() : article?.querySelector(".file__body");
    const row = entry.subject_type ? host : (beside ?? (article && rowOf(article, entry.side, entry.line_end)));
    if (!row) return;
    const thread = threadAt(row);
    const isNew = !this.kept.find(id);
    const isDraft = this.kept.drafts.has(id);
    const isForm = isDraft && !entry.closed;
    if (isForm && !this.Form) return void this.load().then(() => this.show(id, beside), () => {});
    const made = isForm && this.Form ? this.#newForm(this.Form, entry, isNew) : cardOf(this.task, this.template, entry, { isNew, isDraft });
    this.#elements.set(id, made);
    thread.append(made);
    if (this.task.isReadOnly) disable(made, true);
  }

  /** @param {string} id */
  #remove(id) {
    const old = this.#elements.get(id);
    const thread = old?.parentElement;
    old?.remove();
    if (thread && !thread.childElementCount) (thread.closest("tr.inline") ?? thread).remove();
    this.#elements.delete(id);
    this.forms.delete(id);
  }

  /** @param {FormClass} Form @param {Draft} draft @param {boolean} isNew */
  #newForm(Form, draft, isNew) {
    const root = /** @type {HTMLFormElement} */ (cloneOf(this.template, "form"));
    const form = new Form(this.task, root, draft, isNew);
    this.forms.set(draft.id, form);
    if (this.kept.isDirty(draft)) form.sayKept();
    return root;
  }

  /** Put a form under its last line, which became another. @param {CommentForm} form */
  moveForm(form) {
    const { id, file, side, line_end } = form.draft;
    const focused = document.activeElement;
    const article = form.root.closest("article.file") ?? this.#articleOf({ file, side, line_end });
    const row = article instanceof HTMLElement ? rowOf(article, side, line_end) : null;
    const thread = form.root.parentElement;
    if (row && thread) {
      threadAt(row).append(form.root);
      if (!thread.childElementCount) thread.closest("tr.inline")?.remove();
      if (focused instanceof HTMLElement && form.root.contains(focused)) focused.focus({ preventScroll: true });
      else form.focus();
      form.root.scrollIntoView({ block: "nearest" });
    }
    this.#elements.set(id, form.root);
    this.#mark();
  }

  #mark() {
    const open = [...this.forms.values()].flatMap(({ draft, root }) => {
      const article = /** @type {HTMLElement | null} */ (root.closest("article.file"));
      return article && !draft.subject_type ? [{ article, side: draft.side, start: draft.line_start, end: draft.line_end }] : [];
    });
    mark(this.#chosen ? [...open, this.#chosen] : open);
  }

  /* Finding again ------------------------------------------------------------------------------------- */

  /** Show a comment wherever it is, and put the focus there. @param {string} id */
  async jump(id) {
    const entry = this.kept.entry(id);
    if (!entry) return;
    if (entry.subject_type === "change") return this.#jumpToChange(entry);
    this.#goal = id;
    const place = await this.task.goTo({ path: entry.file, side: entry.side, line: entry.line_end });
    if (this.#goal !== id) return;
    this.#goal = "";
    if (!place || !this.template) return;
    if (!this.#elements.get(id)?.isConnected) this.#put(id, place.closest("tr") ?? place.querySelector(".file__body"));
    const form = this.forms.get(id);
    const made = this.#elements.get(id);
    if (form) form.focus();
    else made?.focus({ preventScroll: true });
    made?.scrollIntoView({ block: "center" });
  }

  /** @param {Draft} entry on the whole change */
  #jumpToChange({ id }) {
    const host = changeHost();
    if (!host) return location.assign(`${this.task.data.urls.files}#change-comments`);
    if (!this.#elements.get(id)?.isConnected) this.#put(id);
    const made = this.#elements.get(id);
    made?.focus({ preventScroll: true });
    made?.scrollIntoView({ block: "center" });
  }

  /** From the comment that has the focus to the next one, else from where the reader is. @param {1 | -1} direction */
  step(direction) {
    const entries = this.entries();
    const active = document.activeElement;
    const focused = /** @type {HTMLElement | null | undefined} */ (active?.closest("[data-comment]:not(a)"));
    const here = this.#goal || focused?.dataset.comment;
    let at = entries.findIndex(({ id }) => id === here);
    if (at >= 0) at += direction;
    else {
      const places = entries.map((entry) => this.#elements.get(entry.id) ?? this.#articleOf(entry));
      const next = nextOf(places.filter((place) => place !== null), active?.closest("tr") ?? null, direction) ?? null;
      at = next ? (direction > 0 ? places.indexOf(next) : places.lastIndexOf(next)) : -1;
    }
    const next = entries[at];
    if (next) void this.jump(next.id);
    else this.task.announce(entries.length ? `No comment ${direction > 0 ? "below" : "above"}` : "No comments yet");
  }

  /** Put the focus on the last line of a comment. @param {Draft} place */
  focusLine(place) {
    const article = this.#articleOf(place);
    if (place.subject_type) {
      const on = place.subject_type === "change" ? document.getElementById("change-comments") : article;
      /** @type {HTMLElement | null | undefined} */ (on?.querySelector("[data-comment-on]"))?.focus({ preventScroll: true });
      return;
    }
    buttonOf(article && rowOf(article, place.side, place.line_end), place.side)?.focus({ preventScroll: true });
  }
}

/** Where comments on the whole change stand; null on tabs that show no files. @returns {Element | null} */
function changeHost() {
  return document.querySelector("#change-comments > .card__body");
}

/** The place for comments under a row; above the content of a file that has no such row. @param {Element} beside @returns {Element} */
function threadAt(beside) {
  if (!(beside instanceof HTMLTableRowElement)) {
    const first = beside.querySelector(":scope > .thread");
    if (first) return first;
    const thread = element("div", "thread thread--lost");
    beside.prepend(thread);
    return thread;
  }
  const below = beside.nextElementSibling;
  if (below?.matches("tr.inline")) return /** @type {Element} */ (below.querySelector(".thread"));
  const thread = element("div", "thread");
  const cell = document.createElement("td");
  cell.colSpan = beside.cells.length;
  cell.append(thread);
  const row = element("tr", "inline", cell);
  beside.after(row);
  return thread;
}

/** @param {HTMLElement} root a form or a comment @param {boolean} isReadOnly */
function disable(root, isReadOnly) {
  const controls = root.querySelectorAll(root.matches("form") ? "button, input, textarea" : "[data-edit], [data-delete]");
  for (const control of /** @type {NodeListOf<HTMLInputElement>} */ (controls)) control.disabled = isReadOnly;
}

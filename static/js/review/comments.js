/**
 * Comments on lines: the forms that people write them in, the comments under their lines, and where they are found
 * again. What is being written stands in the draft's page state with every keystroke; only Save makes a comment of it.
 */

import { nextOf } from "../evidence-lines.js";
import { key, on } from "../events.js";
import { uid } from "../task/storage.js";
import { CommentMarks } from "./comment-marks.js";
import { cardOf, cloneOf, counted, linesIn, nameOf } from "./comment-parts.js";
import { faultsOf } from "./comment-rules.js";
import { buttonOf, chooseLines, isBroken, mark, neighbour, numberOf, rowOf } from "./line-range.js";
import { asTyped, element } from "./suggestion.js";

/** @typedef {import("../task/task.js").Task} Task */
/** @typedef {import("./comment-form.js").CommentForm} CommentForm */
/** @typedef {import("./comment-rules.js").Draft} Draft */
/** @typedef {import("./comment-rules.js").Block} Block */
/** @typedef {import("./line-range.js").Lines} Lines */
/** @typedef {{ label: string, go: () => void }} Gap */
/** @typedef {{ comment_id: string, created_at: string, file: string, side: "old" | "new", line_start: number, line_end: number, category?: string, severity?: string, comment: string, suggestion?: string, unsure?: boolean }} Comment */

/** Loaded when a line gets the focus: not needed to read. @type {typeof import("./comment-form.js") | undefined} */
let forms;

async function loadForms() {
  forms ??= await import("./comment-form.js");
}

/**
 * @param {Task} task
 * @param {{ name: string, block: Block }} scheme
 * @returns {{ missing: () => Gap[], done: () => string[], redraw: () => void }}
 */
export function mount(task, scheme) {
  const comments = new Comments(task, scheme);
  comments.start();
  return { missing: () => comments.missing(), done: () => comments.done(), redraw: () => comments.redraw() };
}

class Comments {
  /** What is being written, by the comment's id. @type {Map<string, Draft>} */ #drafts = new Map();
  /** The drafts whose form is open. @type {Map<string, CommentForm>} */ #forms = new Map();
  /** Forms and comments on the page. @type {Map<string, HTMLElement>} */ #elements = new Map();
  /** @type {Lines | null} */ #chosen = null;
  /** The comment that the reader is on the way to; what it stands in may have to be loaded first. */ #goal = "";

  /** @param {Task} task @param {{ name: string, block: Block }} scheme */
  constructor(task, scheme) {
    this.task = task;
    this.name = scheme.name;
    this.block = scheme.block;
    const template = document.getElementById(`mount-${scheme.name}`);
    /** What comments are made of; null on tabs that show no lines. */
    this.template = template instanceof HTMLTemplateElement ? template.content : null;
    this.marks = new CommentMarks(task, scheme.name, this.template);
  }

  start() {
    if (this.template) this.#listen();
    this.redraw();
  }

  /* What there is ------------------------------------------------------------------------------------ */

  /** The saved comments, those of programs with what they may leave out. @returns {Comment[]} */
  get #saved() {
    const answers = this.task.answers(this.name);
    if (!Array.isArray(answers)) return [];
    return answers.map((one, at) => {
      /** @type {any} */
      const whole = { comment_id: `comment-${at + 1}`, file: "", side: "new", line_end: one.line_start, comment: "" };
      for (const [name, value] of Object.entries(one)) if (value !== null) whole[name] = value;
      return whole;
    });
  }

  /** @param {string} id */
  #find(id) {
    return this.#saved.find(({ comment_id }) => comment_id === id);
  }

  /** Everything by file and line, what is being written included. */
  #entries() {
    const saved = this.#saved.map(({ comment_id, created_at, ...rest }) => ({ ...rest, id: comment_id, isNew: false }));
    const known = new Set(saved.map(({ id }) => id));
    const written = [...this.#drafts.values()].filter(({ id }) => !known.has(id)).map((draft) => ({ ...draft, isNew: true }));
    const order = new Map(this.task.data.files.map(({ path }, at) => [path, at]));
    /** @param {Draft} one */
    const file = ({ file }) => order.get(file) ?? Infinity;
    return [...saved, ...written].sort((a, b) => {
      const [first, second] = [this.#elements.get(a.id), this.#elements.get(b.id)];
      if (first?.isConnected && second?.isConnected) {
        return first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
      }
      return file(a) - file(b) || a.line_end - b.line_end || a.line_start - b.line_start;
    });
  }

  /** Whether a draft says more than what is saved of it. @param {Draft} draft */
  #isDirty(draft) {
    const saved = this.#find(draft.id);
    if (!saved) return Boolean(draft.comment || draft.category || draft.severity || draft.suggestion !== undefined);
    const keys = /** @type {const} */ (["comment", "category", "severity", "suggestion", "unsure", "line_start", "line_end"]);
    /** @param {unknown} value */
    const typed = (value) => (typeof value === "string" ? asTyped(value) : value);
    return keys.some((name) => typed(draft[name]) !== typed(saved[name]));
  }

  #count() {
    const entries = this.#entries();
    const drafts = new Set(this.#unsaved(entries).map(({ id }) => id));
    const shown = entries.filter(({ id, isNew }) => !isNew || drafts.has(id));
    this.marks.show(shown.map((entry) => ({ ...entry, ...this.#drafts.get(entry.id), isDraft: drafts.has(entry.id) })));
  }

  #unsaved(entries = this.#entries()) {
    return entries.filter(({ id }) => {
      const draft = this.#drafts.get(id);
      return draft && this.#isDirty(draft);
    });
  }

  /** The file's card on this page; the one with the line where a path has several. @param {{ file: string, side: "old" | "new", line_end: number }} place */
  #articleOf({ file, side, line_end }) {
    const articles = this.task.data.files
      .filter(({ path }) => path === file)
      .map(({ index }) => document.getElementById(`f${index}`))
      .filter((article) => article !== null);
    return articles.find((article) => rowOf(article, side, line_end)) ?? articles[0] ?? null;
  }

  /** @param {HTMLElement} article */
  #pathOf(article) {
    return this.task.data.files.find(({ index }) => article.id === `f${index}`)?.path ?? "";
  }

  /* Showing ------------------------------------------------------------------------------------------ */

  redraw() {
    const kept = this.task.kept("forms");
    /** @type {Draft[]} */
    const drafts = Array.isArray(kept) ? kept.filter((draft) => draft?.id && draft.file) : [];
    this.#drafts = new Map(drafts.map((draft) => [draft.id, draft]));
    for (const id of [...this.#elements.keys()]) this.#remove(id);
    this.#place();
    this.#count();
  }

  /** Put in what has its lines on the page now. */
  #place() {
    for (const { id } of this.#entries()) if (!this.#elements.get(id)?.isConnected) this.#show(id);
    this.#mark();
  }

  /**
   * Show a comment or its form anew under its last line; nothing while that is not on the page.
   * @param {string} id
   * @param {Element | null} [beside] the row, or where there is none the file's content
   */
  #show(id, beside) {
    this.#remove(id);
    const draft = this.#drafts.get(id);
    const entry = draft ?? this.#entries().find((one) => one.id === id);
    if (!entry || !this.template) return;
    const article = this.#articleOf(entry);
    const row = beside ?? (article && rowOf(article, entry.side, entry.line_end));
    if (!row) return;
    const thread = threadAt(row);
    const isNew = !this.#find(id);
    const isForm = draft && !draft.closed;
    if (isForm && !forms) return void loadForms().then(() => (this.#show(id, beside), this.#mark()), () => {});
    const made = isForm ? this.#newForm(draft, isNew) : cardOf(this.task, this.template, entry, { isNew, isDraft: Boolean(draft) });
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
    this.#forms.delete(id);
  }

  /** @param {Draft} draft @param {boolean} isNew */
  #newForm(draft, isNew) {
    const root = /** @type {HTMLFormElement} */ (cloneOf(this.template, "form"));
    const form = new /** @type {NonNullable<typeof forms>} */ (forms).CommentForm(this.task, root, draft, isNew);
    this.#forms.set(draft.id, form);
    if (this.#isDirty(draft)) this.#sayKept(form);
    return root;
  }

  #mark() {
    const open = [...this.#forms.values()].flatMap(({ draft, root }) => {
      const article = /** @type {HTMLElement | null} */ (root.closest("article.file"));
      return article ? [{ article, side: draft.side, start: draft.line_start, end: draft.line_end }] : [];
    });
    mark(this.#chosen ? [...open, this.#chosen] : open);
  }

  /* Finding again ------------------------------------------------------------------------------------- */

  /** Show a comment wherever it is, and put the focus there. @param {string} id */
  async #jump(id) {
    const entry = this.#drafts.get(id) ?? this.#entries().find((one) => one.id === id);
    if (!entry) return;
    this.#goal = id;
    const place = await this.task.goTo({ path: entry.file, side: entry.side, line: entry.line_end });
    if (this.#goal !== id) return;
    this.#goal = "";
    if (!place || !this.template) return;
    if (!this.#elements.get(id)?.isConnected) this.#show(id, place.closest("tr") ?? place.querySelector(".file__body"));
    const form = this.#forms.get(id);
    const made = this.#elements.get(id);
    if (form) form.focus();
    else made?.focus({ preventScroll: true });
    made?.scrollIntoView({ block: "center" });
  }

  /** From the comment that has the focus to the next one, else from where the reader is. @param {1 | -1} direction */
  #move(direction) {
    const entries = this.#entries();
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
    if (next) void this.#jump(next.id);
    else this.task.announce(entries.length ? `No comment ${direction > 0 ? "below" : "above"}` : "No comments yet");
  }

  /* Writing ---------------------------------------------------------------------------------------- */

  #keep() {
    for (const [id, form] of this.#forms) this.#drafts.set(id, form.draft);
    this.task.keep("forms", [...this.#drafts.values()]);
    this.#count();
    this.task.refresh();
  }

  /** @param {CommentForm} form */
  #sayKept(form) {
    const line = form.root.querySelector("[data-kept]");
    if (line && !line.textContent) line.textContent = "Draft kept on this task";
  }

  /** Lines were chosen: a form for them, the one that is there, or the one whose range Shift extends. @param {Lines} lines @param {Lines | null} from */
  #open({ article, side, start, end }, from) {
    const file = this.#pathOf(article);
    /** @param {number} first @param {number} last */
    const draftOn = (first, last) =>
      [...this.#drafts.values()].find(
        (draft) => draft.file === file && draft.side === side && draft.line_start === first && draft.line_end === last && !this.#find(draft.id),
      );
    const extended = from && this.#forms.get(draftOn(from.start, from.end)?.id ?? "");
    if (extended) return void this.#extend(extended, start, end);
    const draft = draftOn(start, end);
    const form = this.#forms.get(draft?.id ?? "");
    if (form) form.focus();
    else this.#write(draft ?? { id: uid(), file, side, line_start: start, line_end: end, comment: "" }, rowOf(article, side, end));
  }

  /** Open the form of a draft. @param {Draft} draft @param {Element | null} [row] */
  async #write({ closed, ...draft }, row) {
    this.#drafts.set(draft.id, draft);
    try {
      await loadForms();
    } catch {
      this.task.toast("The form could not be loaded. Look whether you are online, and try again.");
      return;
    }
    this.#show(draft.id, row);
    this.#mark();
    this.#keep();
    const form = this.#forms.get(draft.id);
    if (!form) return;
    form.focus();
    this.#checkRange(form);
  }

  /** @param {CommentForm} form @param {import("./comment-rules.js").Faults} [more] @param {boolean} [moves] */
  #checkRange(form, more = {}, moves = false) {
    const { side, line_start, line_end } = form.draft;
    const article = /** @type {HTMLElement | null} */ (form.root.closest("article.file"));
    const isWrong = article !== null && isBroken({ article, side, start: line_start, end: line_end });
    const faults = isWrong ? { ...more, range: "Some of these lines are not in the trace. Choose lines that are shown." } : more;
    form.showFaults(faults, moves);
    return Object.keys(faults).length === 0;
  }

  /** @param {CommentForm} form @param {number} start @param {number} end */
  async #extend(form, start, end) {
    const { id, side, file } = form.draft;
    const focused = document.activeElement;
    const moved = form.move(start, end);
    const article = form.root.closest("article.file") ?? this.#articleOf({ file, side, line_end: end });
    const row = article instanceof HTMLElement ? rowOf(article, side, end) : null;
    const thread = form.root.parentElement;
    if (row && thread) {
      threadAt(row).append(form.root);
      if (!thread.childElementCount) thread.closest("tr.inline")?.remove();
      if (focused instanceof HTMLElement && form.root.contains(focused)) focused.focus({ preventScroll: true });
      else form.focus();
      form.root.scrollIntoView({ block: "nearest" });
    }
    this.#elements.set(id, form.root);
    this.task.announce(`${linesIn(form.draft, " to ")} selected`);
    this.#mark();
    this.#keep();
    this.#checkRange(form);
    await moved;
    form.read();
    this.#keep();
  }

  /** Move the end that Shift moves: the last line, or the first one once it passed it. @param {CommentForm} form @param {1 | -1} direction */
  #extendBy(form, direction) {
    const { side, line_start, line_end } = form.draft;
    const article = /** @type {HTMLElement | null} */ (form.root.closest("article.file"));
    const anchor = Number(form.root.dataset.anchor ?? line_start);
    const head = line_start < anchor ? line_start : line_end;
    const line = article && numberOf(neighbour(article, side, head, direction), side);
    if (!line) return;
    form.root.dataset.anchor = String(anchor);
    void this.#extend(form, Math.min(anchor, line), Math.max(anchor, line));
  }

  /** @param {CommentForm} form */
  #save(form) {
    if (this.task.isReadOnly) return;
    const { id, ...written } = form.finished();
    if (!this.#checkRange(form, faultsOf(written, this.block), true)) return;
    const saved = this.#saved;
    const before = saved.find(({ comment_id }) => comment_id === id);
    const created_at = before?.created_at ?? this.task.now().toISOString();
    const comment = { comment_id: id, created_at, ...written };
    this.#drafts.delete(id);
    this.task.change(this.name, before ? saved.map((one) => (one === before ? comment : one)) : [...saved, comment]);
    this.#settle({ ...comment, id });
    this.task.announce(`Comment saved on ${linesIn(comment, " to ")}`);
  }

  /** A comment or draft changed: show it anew, and go back to its line. @param {Pick<Draft, "id" | "file" | "side" | "line_end">} place */
  #settle(place) {
    this.#show(place.id);
    this.#mark();
    this.#keep();
    const article = this.#articleOf(place);
    buttonOf(article && rowOf(article, place.side, place.line_end), place.side)?.focus({ preventScroll: true });
  }

  /** Close a form; what is written stays a draft. @param {CommentForm} form */
  #close(form) {
    const draft = form.read();
    if (!this.#isDirty(draft)) return this.#discard(draft.id);
    this.#drafts.set(draft.id, { ...draft, closed: true });
    this.#settle(draft);
    this.task.toast("Form closed. What you wrote is kept as a draft.", { undo: () => this.#write(draft) });
  }

  /** Forget what is being written. @param {string} id */
  #discard(id) {
    const draft = this.#forms.get(id)?.read() ?? this.#drafts.get(id);
    if (!draft) return;
    this.#drafts.delete(id);
    this.#settle(draft);
    if (this.#isDirty(draft)) this.task.toast("Draft discarded.", { undo: () => this.#write(draft) });
  }

  /** @param {string} id */
  #delete(id) {
    const before = this.#saved;
    const at = before.findIndex(({ comment_id }) => comment_id === id);
    const comment = before[at];
    if (!comment) return;
    const draft = this.#drafts.get(id);
    this.#drafts.delete(id);
    this.task.change(this.name, before.toSpliced(at, 1));
    this.#settle({ ...comment, id });
    const undo = () => {
      if (draft) this.#drafts.set(id, draft);
      this.task.change(this.name, this.#saved.toSpliced(at, 0, comment));
      this.#settle({ ...comment, id });
    };
    this.task.toast("Comment deleted.", { undo });
  }

  /** @param {string} id */
  #edit(id) {
    const saved = this.#find(id);
    const draft = this.#drafts.get(id);
    if (draft) return this.#write(draft);
    if (!saved) return;
    const { comment_id, created_at, ...rest } = saved;
    this.#write({ ...rest, id });
  }

  /* What people do ------------------------------------------------------------------------------------- */

  #listen() {
    /** @param {(form: CommentForm, event: any, matched: HTMLElement) => boolean | void} act @returns {(event: any, matched: HTMLElement) => boolean | void} */
    const inForm = (act) => (event, matched) => {
      const form = this.#forms.get(/** @type {HTMLElement | null} */ (matched.closest(".cform"))?.dataset.comment ?? "");
      return form && act(form, event, matched);
    };
    /** @param {(form: CommentForm, event: any, matched: HTMLElement) => unknown} act */
    const changing = (act) =>
      inForm((form, event, matched) => {
        void Promise.resolve(act(form, event, matched)).then(() => this.#written(form));
      });

    chooseLines({
      many: this.block.allow_multi_line,
      isOff: () => this.task.isReadOnly,
      open: (lines, from) => this.#open(lines, from),
      show: (lines, isByKey) => {
        this.#chosen = lines;
        this.#mark();
        if (!lines || !isByKey) return;
        const { side, start, end } = lines;
        this.task.announce(`${linesIn({ side, line_start: start, line_end: end }, " to ")} selected`);
      },
    });
    on("focusin", "button[data-side]", () => void loadForms().catch(() => {}));
    on("fragment", ":root", () => this.#place());
    on("submit", ".cform", inForm((form, event) => (event.preventDefault(), this.#save(form), true)));
    on("input", ".cform", changing((form) => form.showCode()));
    on("click", ".cform input[type=radio]", changing((form, _, radio) => form.unchoose(/** @type {HTMLInputElement} */ (radio))));
    on("click", ".cform [data-suggest]", changing((form) => form.suggest()));
    on("click", ".cform [data-unsuggest]", changing((form) => form.unsuggest()));
    on("click", ".cform [data-reset]", changing((form) => form.reset()));
    on("click", ".cform [data-preview]", inForm((form) => form.togglePreview()));
    on("click", ".cform [data-extend]", inForm((form, _, button) => this.#extendBy(form, button.dataset.extend === "1" ? 1 : -1)));
    on("click", ".cform [data-discard]", inForm((form) => this.#discard(form.draft.id)));
    on("click", ".cform [data-close]", inForm((form) => this.#close(form)));
    on("keydown", ".cform", inForm((form, event) => this.#press(form, event)));
    /** @param {(id: string) => void} act @returns {(event: Event, button: HTMLElement) => boolean} */
    const onComment = (act) => (event, button) => {
      event.preventDefault();
      act(/** @type {HTMLElement | null} */ (button.closest("[data-comment]"))?.dataset.comment ?? "");
      return true;
    };
    on("click", ".comment [data-edit]", onComment((id) => this.#edit(id)));
    on("click", ".comment [data-delete]", onComment((id) => (this.#find(id) ? this.#delete(id) : this.#discard(id))));
    on("click", "a[data-comment]", onComment((id) => {
      document.getElementById("my-comments")?.hidePopover();
      void this.#jump(id);
    }));
    key("]", () => this.#move(1));
    key("[", () => this.#move(-1));
    for (let digit = 1; digit < 10; digit++) key(String(digit), (event) => this.#chooseCategory(event, digit));
    this.task.onModeChange(() => {
      for (const made of this.#elements.values()) disable(made, this.task.isReadOnly);
    });
  }

  /** @param {CommentForm} form */
  #written(form) {
    form.read();
    if (this.#isDirty(form.draft)) this.#sayKept(form);
    if (form.root.querySelector("[aria-invalid]")) this.#checkRange(form, faultsOf(form.draft, this.block));
    this.#keep();
  }

  /** @param {CommentForm} form @param {KeyboardEvent} event @returns {boolean | void} */
  #press(form, event) {
    if (event.isComposing) return;
    const isTyping = event.target instanceof HTMLTextAreaElement;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.shiftKey) this.#save(form);
    else if (event.key === "Escape") this.#close(form);
    else if (event.key === "Enter" && event.target instanceof HTMLInputElement) {
      // Enter on a choice would save a comment that nobody has written yet.
      if (!event.target.checked) event.target.click();
      form.comment.focus();
    } else if (step && event.shiftKey && !isTyping && this.block.allow_multi_line) this.#extendBy(form, step);
    else return;
    event.preventDefault();
    return true;
  }

  /** @param {KeyboardEvent} event @param {number} digit @returns {boolean | void} */
  #chooseCategory({ target }, digit) {
    const root = target instanceof Element ? target.closest(".cform") : null;
    const form = this.#forms.get(root instanceof HTMLElement ? (root.dataset.comment ?? "") : "");
    const radio = root?.querySelectorAll("[data-choice=category] input")[digit - 1];
    if (!form || !(radio instanceof HTMLInputElement) || radio.disabled) return false;
    radio.checked = true;
    form.unchoose(radio);
    form.comment.focus();
    this.#written(form);
  }

  /* What is left to do ------------------------------------------------------------------------------- */

  /** @returns {Gap[]} */
  missing() {
    const gaps = [];
    const saved = this.#saved;
    const more = this.block.min_comments - saved.length;
    if (more > 0) gaps.push({ label: counted(more, "more comment"), go: () => this.#goToFirstLine() });
    for (const comment of saved) {
      const wrong = Object.values(faultsOf(comment, this.block))[0];
      const label = `Comment on ${linesIn(comment)} of ${nameOf(comment.file)}: ${wrong}`;
      if (wrong) gaps.push({ label, go: () => void this.#resume(comment.comment_id) });
    }
    const unsaved = this.#unsaved();
    const first = unsaved[0];
    if (first) gaps.push({ label: counted(unsaved.length, "unsaved comment"), go: () => void this.#resume(first.id) });
    return gaps;
  }

  /** Open the form of a comment, wherever it is. @param {string} id */
  async #resume(id) {
    await this.#jump(id);
    if (this.template) this.#edit(id);
  }

  /** @returns {string[]} */
  done() {
    const { length } = this.#saved;
    return this.block.min_comments && length >= this.block.min_comments ? [counted(length, "comment")] : [];
  }

  async #goToFirstLine() {
    const first = this.task.data.files[0];
    const place = first && (await this.task.goTo(first.index));
    const button = place && (buttonOf(place, "new") ?? buttonOf(place, "old"));
    button?.focus();
  }
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

/**
 * Comments on lines: what people do with them. What is being written stands in the draft's page state with every
 * keystroke; only Save makes a comment of it.
 */

import { key, on } from "../events.js";
import { uid } from "../task/storage.js";
import { CommentMarks } from "./comment-marks.js";
import { counted, linesIn, nameOf } from "./comment-parts.js";
import { faultsOf } from "./comment-rules.js";
import { CommentThreads, loadForms } from "./comment-threads.js";
import { KeptComments } from "./kept-comments.js";
import { buttonOf, chooseLines, isBroken, neighbour, numberOf, rowOf } from "./line-range.js";

/** @typedef {import("../task/task.js").Task} Task */
/** @typedef {import("./comment-form.js").CommentForm} CommentForm */
/** @typedef {import("./comment-rules.js").Draft} Draft */
/** @typedef {import("./comment-rules.js").Block} Block */
/** @typedef {import("./line-range.js").Lines} Lines */
/** @typedef {{ label: string, go: () => void }} Gap */

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
  /** @param {Task} task @param {{ name: string, block: Block }} scheme */
  constructor(task, scheme) {
    this.task = task;
    this.block = scheme.block;
    const template = document.getElementById(`mount-${scheme.name}`);
    /** What comments are made of; null on tabs that show no lines. */
    this.template = template instanceof HTMLTemplateElement ? template.content : null;
    this.kept = new KeptComments(task, scheme.name);
    this.threads = new CommentThreads(task, this.kept, this.template);
    this.marks = new CommentMarks(task, scheme.name, this.template);
  }

  start() {
    if (this.template) this.#listen();
    this.redraw();
  }

  redraw() {
    this.kept.readDrafts();
    this.threads.redraw();
    this.#count();
  }

  #count() {
    const entries = this.threads.entries();
    const drafts = new Set(this.kept.unsaved(entries).map(({ id }) => id));
    const shown = entries.filter(({ id, isNew }) => !isNew || drafts.has(id));
    this.marks.show(shown.map((entry) => ({ ...entry, ...this.kept.drafts.get(entry.id), isDraft: drafts.has(entry.id) })));
  }

  /** @param {HTMLElement} article */
  #pathOf(article) {
    return this.task.data.files.find(({ index }) => article.id === `f${index}`)?.path ?? "";
  }

  /* Writing ---------------------------------------------------------------------------------------- */

  #keep() {
    for (const [id, form] of this.threads.forms) this.kept.drafts.set(id, form.draft);
    this.kept.keepDrafts();
    this.#count();
    this.task.refresh();
  }

  /** Lines were chosen: a form for them, the one that is there, or the one whose range Shift extends. @param {Lines} lines @param {Lines | null} from */
  #open({ article, side, start, end }, from) {
    const file = this.#pathOf(article);
    /** @param {number} first @param {number} last */
    const draftOn = (first, last) =>
      [...this.kept.drafts.values()].find(
        (draft) => draft.file === file && draft.side === side && draft.line_start === first && draft.line_end === last && !this.kept.find(draft.id),
      );
    const extended = from && this.threads.forms.get(draftOn(from.start, from.end)?.id ?? "");
    if (extended) return void this.#extend(extended, start, end);
    const draft = draftOn(start, end);
    const form = this.threads.forms.get(draft?.id ?? "");
    if (form) form.focus();
    else this.#write(draft ?? { id: uid(), file, side, line_start: start, line_end: end, comment: "" }, rowOf(article, side, end));
  }

  /** Open the form of a draft. @param {Draft} draft @param {Element | null} [row] */
  async #write({ closed, ...draft }, row) {
    this.kept.drafts.set(draft.id, draft);
    try {
      await loadForms();
    } catch {
      this.task.toast("The form could not be loaded. Look whether you are online, and try again.");
      return;
    }
    this.threads.show(draft.id, row);
    this.#keep();
    const form = this.threads.forms.get(draft.id);
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
    const moved = form.move(start, end);
    this.threads.moveForm(form);
    this.task.announce(`${linesIn(form.draft, " to ")} selected`);
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
    const { saved } = this.kept;
    const before = saved.find(({ comment_id }) => comment_id === id);
    const created_at = before?.created_at ?? this.task.now().toISOString();
    const comment = { comment_id: id, created_at, ...written };
    this.kept.drafts.delete(id);
    this.kept.saved = before ? saved.map((one) => (one === before ? comment : one)) : [...saved, comment];
    this.#settle({ ...comment, id });
    this.task.announce(`Comment saved on ${linesIn(comment, " to ")}`);
  }

  /** A comment or draft changed: show it anew, and go back to its line. @param {Draft} place */
  #settle(place) {
    this.threads.show(place.id);
    this.#keep();
    this.threads.focusLine(place);
  }

  /** Close a form; what is written stays a draft. @param {CommentForm} form */
  #close(form) {
    const draft = form.read();
    if (!this.kept.isDirty(draft)) return this.#discard(draft.id);
    this.kept.drafts.set(draft.id, { ...draft, closed: true });
    this.#settle(draft);
    this.task.toast("Form closed. What you wrote is kept as a draft.", { undo: () => this.#write(draft) });
  }

  /** Forget what is being written. @param {string} id */
  #discard(id) {
    const draft = this.threads.forms.get(id)?.read() ?? this.kept.drafts.get(id);
    if (!draft) return;
    this.kept.drafts.delete(id);
    this.#settle(draft);
    if (this.kept.isDirty(draft)) this.task.toast("Draft discarded.", { undo: () => this.#write(draft) });
  }

  /** @param {string} id */
  #delete(id) {
    const before = this.kept.saved;
    const at = before.findIndex(({ comment_id }) => comment_id === id);
    const comment = before[at];
    if (!comment) return;
    const draft = this.kept.drafts.get(id);
    this.kept.drafts.delete(id);
    this.kept.saved = before.toSpliced(at, 1);
    this.#settle({ ...comment, id });
    const undo = () => {
      if (draft) this.kept.drafts.set(id, draft);
      this.kept.saved = this.kept.saved.toSpliced(at, 0, comment);
      this.#settle({ ...comment, id });
    };
    this.task.toast("Comment deleted.", { undo });
  }

  /** @param {string} id */
  #edit(id) {
    const entry = this.kept.entry(id);
    if (entry) this.#write(entry);
  }

  /* What people do ------------------------------------------------------------------------------------- */

  #listen() {
    /** @param {(form: CommentForm, event: any, matched: HTMLElement) => boolean | void} act @returns {(event: any, matched: HTMLElement) => boolean | void} */
    const inForm = (act) => (event, matched) => {
      const form = this.threads.forms.get(/** @type {HTMLElement | null} */ (matched.closest(".cform"))?.dataset.comment ?? "");
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
        this.threads.choose(lines);
        if (!lines || !isByKey) return;
        const { side, start, end } = lines;
        this.task.announce(`${linesIn({ side, line_start: start, line_end: end }, " to ")} selected`);
      },
    });
    on("focusin", "button[data-side]", () => void loadForms().catch(() => {}));
    on("fragment", ":root", () => this.threads.place());
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
    on("click", ".comment [data-delete]", onComment((id) => (this.kept.find(id) ? this.#delete(id) : this.#discard(id))));
    on("click", "a[data-comment]", onComment((id) => {
      document.getElementById("my-comments")?.hidePopover();
      void this.threads.jump(id);
    }));
    key("]", () => this.threads.step(1));
    key("[", () => this.threads.step(-1));
    for (let digit = 1; digit < 10; digit++) key(String(digit), (event) => this.#chooseCategory(event, digit));
    this.task.onModeChange(() => this.threads.showMode());
  }

  /** @param {CommentForm} form */
  #written(form) {
    form.read();
    if (this.kept.isDirty(form.draft)) form.sayKept();
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
    const form = this.threads.forms.get(root instanceof HTMLElement ? (root.dataset.comment ?? "") : "");
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
    const saved = this.kept.saved;
    const more = this.block.min_comments - saved.length;
    if (more > 0) gaps.push({ label: counted(more, "more comment"), go: () => this.#goToFirstLine() });
    for (const comment of saved) {
      const wrong = Object.values(faultsOf(comment, this.block))[0];
      const label = `Comment on ${linesIn(comment)} of ${nameOf(comment.file)}: ${wrong}`;
      if (wrong) gaps.push({ label, go: () => void this.#resume(comment.comment_id) });
    }
    const unsaved = this.kept.unsaved(this.threads.entries());
    const first = unsaved[0];
    if (first) gaps.push({ label: counted(unsaved.length, "unsaved comment"), go: () => void this.#resume(first.id) });
    return gaps;
  }

  /** Open the form of a comment, wherever it is. @param {string} id */
  async #resume(id) {
    await this.threads.jump(id);
    if (this.template) this.#edit(id);
  }

  /** @returns {string[]} */
  done() {
    const { length } = this.kept.saved;
    return this.block.min_comments && length >= this.block.min_comments ? [counted(length, "comment")] : [];
  }

  async #goToFirstLine() {
    const first = this.task.data.files[0];
    const place = first && (await this.task.goTo(first.index));
    const button = place && (buttonOf(place, "new") ?? buttonOf(place, "old"));
    button?.focus();
  }
}

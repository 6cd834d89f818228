/**
 * Writing comments: the forms at chosen lines, from the first key to Save. What is being written stands in the draft's
 * page state with every keystroke; only Save makes a comment of it. Loaded when somebody points at the change.
 */

import { key, on } from "../events.js";
import { uid } from "../task/storage.js";
import { CommentForm } from "./comment-form.js";
import { linesIn } from "./comment-parts.js";
import { faultsOf } from "./comment-rules.js";
import { neighbour, numberingOf, numberOf, rowOf, rowsOf } from "./line-range.js";

/** Milliseconds in which a second click may follow, which selects a word: the page does not move under it. */
const SECOND_CLICK = 400;

/** @typedef {import("./comment-rules.js").Draft} Draft */
/** @typedef {import("./line-range.js").Lines} Lines */

export class CommentWriting {
  /** @param {import("./comments.js").Comments} comments */
  constructor(comments) {
    this.comments = comments;
    this.task = comments.task;
    this.block = comments.block;
    this.kept = comments.kept;
    this.threads = comments.threads;
    this.threads.Form = CommentForm;
    this.#listen();
  }

  /** @param {HTMLElement} article */
  #pathOf(article) {
    return this.task.data.files.find(({ index }) => article.id === `f${index}`)?.path ?? "";
  }

  /** The draft of a new comment on just these lines. @param {Lines} lines */
  #draftOn({ article, side, start, end }) {
    const file = this.#pathOf(article);
    return [...this.kept.drafts.values()].find(
      (draft) => draft.file === file && draft.side === side && draft.line_start === start && draft.line_end === end && !this.kept.find(draft.id),
    );
  }

  /** Close the form on these lines if nobody has written in it. @param {Lines} lines @returns {boolean} whether there was one */
  withdraw(lines) {
    const form = this.threads.forms.get(this.#draftOn(lines)?.id ?? "");
    if (!form || this.kept.isDirty(form.read())) return false;
    this.comments.discard(form.draft.id);
    return true;
  }

  /** The code of a line was clicked: a form for it, or the empty one that is there away. @param {Lines} lines */
  toggle(lines) {
    if (!this.withdraw(lines)) this.open(lines, null, SECOND_CLICK);
  }

  /** Lines were chosen: a form for them, the one that is there, or the one whose range Shift extends. @param {Lines} lines @param {Lines | null} from @param {number} [wait] as of CommentForm.focus */
  open(lines, from, wait) {
    const { article, side, start, end } = lines;
    const file = this.#pathOf(article);
    const extended = from && this.threads.forms.get(this.#draftOn(from)?.id ?? "");
    if (extended) return void this.#extend(extended, start, end);
    const draft = this.#draftOn(lines);
    const form = this.threads.forms.get(draft?.id ?? "");
    if (form) form.focus(wait);
    else this.write(draft ?? { id: uid(), file, side, line_start: start, line_end: end, ...numberingOf(article), comment: "" }, rowOf(article, side, end), wait);
  }

  /** A form for a general comment, the one that is there where one is open. @param {"file" | "change"} subject_type @param {string} file */
  openGeneral(subject_type, file) {
    const known = [...this.kept.drafts.values()].find((draft) => draft.subject_type === subject_type && draft.file === file && !this.kept.find(draft.id));
    const form = this.threads.forms.get(known?.id ?? "");
    if (form) form.focus();
    else this.write(known ?? { id: uid(), file, side: "new", line_start: 0, line_end: 0, subject_type, comment: "" });
  }

  /** Open the form of a draft. @param {Draft} draft @param {Element | null} [row] @param {number} [wait] as of CommentForm.focus */
  write({ closed, ...draft }, row, wait) {
    this.kept.drafts.set(draft.id, draft);
    this.threads.show(draft.id, row);
    this.comments.keep();
    const form = this.threads.forms.get(draft.id);
    if (!form) return;
    form.focus(wait);
    this.#checkRange(form);
  }

  /** @param {CommentForm} form @param {import("./comment-rules.js").Faults} [more] @param {boolean} [moves] */
  #checkRange(form, more = {}, moves = false) {
    const { side, line_start, line_end, subject_type } = form.draft;
    const article = /** @type {HTMLElement | null} */ (form.root.closest("article.file"));
    const isWrong = article !== null && !subject_type && isBroken({ article, side, start: line_start, end: line_end });
    const faults = isWrong ? { ...more, range: "Some of these lines are not in the trace. Choose lines that are shown." } : more;
    form.showFaults(faults, moves);
    return Object.keys(faults).length === 0;
  }

  /** @param {CommentForm} form @param {number} start @param {number} end */
  async #extend(form, start, end) {
    const moved = form.move(start, end);
    this.threads.moveForm(form);
    this.task.announce(`${linesIn(form.draft, " to ")} selected`);
    this.comments.keep();
    this.#checkRange(form);
    await moved;
    form.read();
    this.comments.keep();
  }

  /** Move the end that Shift moves: the last line, or the first one once it passed it. @param {CommentForm} form @param {1 | -1} direction */
  #extendBy(form, direction) {
    const { side, line_start, line_end, subject_type } = form.draft;
    if (subject_type) return;
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
    this.comments.settle({ ...comment, id });
    this.task.announce(`Comment saved on ${comment.subject_type ? "the " : ""}${linesIn(comment, " to ")}`);
  }

  /** Close a form; what is written stays a draft. @param {CommentForm} form */
  #close(form) {
    const draft = form.read();
    if (!this.kept.isDirty(draft)) return this.comments.discard(draft.id);
    this.kept.drafts.set(draft.id, { ...draft, closed: true });
    this.comments.settle(draft);
    this.task.toast("Form closed. What you wrote is kept as a draft.", { undo: () => this.write(draft) });
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
    on("submit", ".cform", inForm((form, event) => (event.preventDefault(), this.#save(form), true)));
    on("input", ".cform", changing((form) => form.showCode()));
    on("click", ".cform input[type=radio]", changing((form, _, radio) => form.unchoose(/** @type {HTMLInputElement} */ (radio))));
    on("click", ".cform [data-suggest]", changing((form) => form.suggest()));
    on("click", ".cform [data-unsuggest]", changing((form) => form.unsuggest()));
    on("click", ".cform [data-reset]", changing((form) => form.reset()));
    on("click", ".cform [data-preview]", inForm((form) => form.togglePreview()));
    on("click", ".cform [data-extend]", inForm((form, _, button) => this.#extendBy(form, button.dataset.extend === "1" ? 1 : -1)));
    on("click", ".cform [data-discard]", inForm((form) => this.comments.discard(form.draft.id)));
    on("click", ".cform [data-close]", inForm((form) => this.#close(form)));
    on("keydown", ".cform", inForm((form, event) => this.#press(form, event)));
    for (let digit = 1; digit < 10; digit++) key(String(digit), (event) => this.#chooseCategory(event, digit));
  }

  /** @param {CommentForm} form */
  #written(form) {
    form.read();
    if (this.kept.isDirty(form.draft)) form.sayKept();
    if (form.root.querySelector("[aria-invalid]")) this.#checkRange(form, faultsOf(form.draft, this.block));
    this.comments.keep();
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
}

/** Whether the trace lacks some of these lines. Hidden ones that can be shown are not lacking. @param {Lines} lines */
function isBroken(lines) {
  const { article, side, start, end } = lines;
  const known = new Set(rowsOf(lines).map((row) => numberOf(row, side)));
  for (const row of /** @type {NodeListOf<HTMLElement>} */ (article.querySelectorAll("tr.expand[data-rows]"))) {
    const first = Number(row.dataset[`${side}First`]);
    const last = Math.min(end, first + Number(row.dataset.rows) - 1);
    for (let line = Math.max(start, first); line <= last; line++) known.add(line);
  }
  return known.size < end - start + 1;
}

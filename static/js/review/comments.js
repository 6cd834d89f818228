/**
 * Comments on lines: shown, counted, found again and taken away, and what is missing of them. They are written in
 * comment-writing.js, which comes when somebody points at the change.
 */

import { key, on } from "../events.js";
import { nameLines } from "../evidence-lines.js";
import { CommentMarks } from "./comment-marks.js";
import { cloneOf, counted, linesIn, placeIn } from "./comment-parts.js";
import { faultsOf } from "./comment-rules.js";
import { CommentThreads } from "./comment-threads.js";
import { KeptComments } from "./kept-comments.js";
import { buttonOf, chooseLines, numberingOf } from "./line-range.js";
import { uid } from "../task/storage.js";

/** @typedef {import("../task/task.js").Work} Task */
/** @typedef {import("./comment-rules.js").Draft} Draft */
/** @typedef {import("./comment-rules.js").Block} Block */
/** @typedef {import("./comment-writing.js").CommentWriting} CommentWriting */
/** @typedef {{ label: string, go: () => void }} Gap */

/**
 * @param {Task} task
 * @param {{ name: string, block: Block }} scheme
 * @returns {import("../task/task.js").Mounted}
 */
export function mount(task, scheme) {
  const comments = new Comments(task, scheme);
  comments.start();
  return { missing: () => comments.missing(), done: () => comments.done(), redraw: () => comments.redraw(), suggests: comments.suggests };
}

export class Comments {
  /** Loaded when somebody points at the change: not needed to read. @type {Promise<CommentWriting> | undefined} */ #writing;
  /** Of a line's button while comments can be written. @type {string | undefined} */ #label;

  /** @param {Task} task @param {{ name: string, block: Block }} scheme */
  constructor(task, scheme) {
    this.task = task;
    this.block = scheme.block;
    const template = document.getElementById(`mount-${scheme.name}`);
    /** What comments are made of; null on tabs that show no lines. */
    this.template = template instanceof HTMLTemplateElement ? template.content : null;
    this.kept = new KeptComments(task, scheme.name);
    this.threads = new CommentThreads(task, this.kept, this.template, () => this.#loadWriting());
    this.marks = new CommentMarks(task, scheme.name, this.template);
  }

  /** @type {import("../task/suggestions.js").Suggests} */
  get suggests() {
    return {
      beside: ({ file, side, line_end }) =>
        this.template && file !== null && line_end !== null
          ? this.threads.threadOf({ file, side: side === "old" ? "old" : "new", line_end })
          : null,
      accept: ({ value }) => {
        const id = uid();
        /** @type {any} */
        const comment = { ...value, comment_id: id, created_at: this.task.now().toISOString() };
        this.kept.saved = [...this.kept.saved, comment];
        return id;
      },
      has: (_, part) => this.kept.find(part) !== undefined,
      edit: (_, part) => part && this.#edit(part),
    };
  }

  start() {
    if (this.template) {
      this.#offerGeneral(this.template);
      this.#listen();
    }
    this.redraw();
    if (this.task.isReadOnly) this.#showMode();
    void this.#openAsked();
  }

  /** The address names lines to comment, as a wrong step's link does: open the form on them, once. */
  async #openAsked() {
    const url = new URL(location.href);
    const asked = /^(new|old)-(\d{1,9})-(\d{1,9})$/.exec(url.searchParams.get("comment") ?? "");
    const path = this.task.data.files.find(({ index }) => String(index) === url.searchParams.get("file"))?.path;
    // A page that was left a moment ago may write still: what is asked waits for its end.
    if (!asked || path === undefined || !this.template || this.task.isReadOnly) return;
    url.searchParams.delete("comment");
    history.replaceState(null, "", url);
    const side = asked[1] === "old" ? "old" : "new";
    const [first, end] = [Number(asked[2]), Number(asked[3])];
    const place = await this.task.goTo({ path, side, line: end });
    const article = place?.closest("article.file");
    const start = this.block.allow_multi_line ? first : end;
    if (article instanceof HTMLElement) void this.#write((writing) => writing.open({ article, side, start, end }, null));
  }

  /** Where nothing can be written a line's button is its address, as on pages without comments. */
  #showMode() {
    this.threads.showMode();
    for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-comment-on]"))) {
      button.disabled = this.task.isReadOnly;
    }
    const root = /** @type {HTMLElement | null} */ (document.querySelector("[data-evidence]"));
    if (!this.template || !root) return;
    this.#label ??= root.dataset.commentLabel ?? "";
    const { isReadOnly } = this.task;
    if (isReadOnly) delete root.dataset.commentLabel;
    else root.dataset.commentLabel = this.#label;
    root.classList.toggle("work--links", isReadOnly);
    nameLines(root, root);
  }

  /** The ways to comment on a file or the change as a whole. @param {DocumentFragment} template */
  #offerGeneral(template) {
    const isOffered = this.block.allow_general !== false && !this.task.isReading;
    const hasOne = this.kept.saved.some(({ subject_type }) => subject_type === "change");
    if (!isOffered && !hasOne) return;
    const section = cloneOf(template, "change");
    const verdict = document.getElementById("verdict");
    if (verdict) verdict.before(section);
    else [...document.querySelectorAll("article.file")].at(-1)?.after(section);
    if (!isOffered) return void section.querySelector("[data-comment-on]")?.remove();
    for (const article of document.querySelectorAll("article.file")) {
      const button = cloneOf(template, "on-file");
      button.ariaLabel = `Comment on ${article.ariaLabel ?? "this file"} as a whole`;
      article.querySelector(".file__head [data-copy]")?.after(button);
    }
  }

  /** @param {Element | null} article the file, null for the whole change */
  #writeGeneral(article) {
    if (this.task.isReadOnly || this.block.allow_general === false) return false;
    const path = this.task.data.files.find(({ index }) => article?.id === `f${index}`)?.path ?? "";
    if (article && path) void import("../trace-page.js").then(({ setOpen }) => setOpen(/** @type {HTMLElement} */ (article), true));
    void this.#write((writing) => writing.openGeneral(path ? "file" : "change", path));
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

  /** Keep what is being written, as it is now. */
  keep() {
    for (const [id, form] of this.threads.forms) this.kept.drafts.set(id, form.draft);
    this.kept.keepDrafts();
    this.#count();
    this.task.refresh();
  }

  /** A comment or draft changed: show it anew, and go back to its line. @param {Draft} place */
  settle(place) {
    this.threads.show(place.id);
    this.keep();
    this.threads.focusLine(place);
  }

  /** Forget what is being written. @param {string} id */
  discard(id) {
    const draft = this.threads.forms.get(id)?.read() ?? this.kept.drafts.get(id);
    if (!draft) return;
    this.kept.drafts.delete(id);
    this.settle(draft);
    const undo = () => this.#write((writing) => writing.write(draft));
    if (this.kept.isDirty(draft)) this.task.toast("Draft discarded.", { undo });
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
    this.settle({ ...comment, id });
    const undo = () => {
      if (draft) this.kept.drafts.set(id, draft);
      this.kept.saved = this.kept.saved.toSpliced(at, 0, comment);
      this.settle({ ...comment, id });
    };
    this.task.toast("Comment deleted.", { undo });
  }

  /** @param {string} id */
  #edit(id) {
    const entry = this.kept.entry(id);
    if (entry) void this.#write((writing) => writing.write(entry));
  }

  #loadWriting() {
    if (!this.#writing) {
      // The form is imported there; asked for here as well, it does not wait for that.
      const modules = Promise.all([import("./comment-writing.js"), import("./comment-form.js")]);
      this.#writing = modules.then(([{ CommentWriting }]) => new CommentWriting(this));
      this.#writing.catch(() => (this.#writing = undefined));
    }
    return this.#writing;
  }

  /** @param {(writing: CommentWriting) => unknown} act */
  async #write(act) {
    let writing;
    try {
      writing = await this.#loadWriting();
    } catch {
      this.task.toast("The form could not be loaded. Look whether you are online, and try again.");
      return;
    }
    act(writing);
  }

  #listen() {
    on("fragment", ":root", () => this.threads.place());
    key("]", () => this.threads.step(1));
    key("[", () => this.threads.step(-1));
    on("click", "a[data-comment]", onComment((id) => {
      document.getElementById("my-comments")?.hidePopover();
      void this.threads.jump(id);
    }));
    if (!this.task.isReading) this.#listenToWriting();
  }

  #listenToWriting() {
    on("click", "[data-comment-on]", (event, button) => void this.#writeGeneral(button.closest("article.file")));
    key("g c", () => this.#writeGeneral(null));
    key("C", () => this.#writeGeneral(document.activeElement?.closest("article.file") ?? document.querySelector("article.file")));
    chooseLines({
      many: this.block.allow_multi_line,
      isOff: () => this.task.isReadOnly,
      open: (lines, from) => void this.#write((writing) => writing.open(lines, from)),
      toggle: (lines) => void this.#write((writing) => writing.toggle(lines)),
      withdraw: (lines) => void this.#write((writing) => writing.withdraw(lines)),
      show: (lines, isByKey) => {
        this.threads.choose(lines);
        if (!lines || !isByKey) return;
        const { article, side, start, end } = lines;
        this.task.announce(`${linesIn({ side, line_start: start, line_end: end, ...numberingOf(article) }, " to ")} selected`);
      },
    });
    on("focusin", "button[data-side]", () => void this.#loadWriting());
    /** @type {unknown} */
    let expected;
    // Who points at the change may write next. Once: where the site does not answer, each move would ask again.
    on("pointerover", "article.file", () => void (expected ??= this.task.isReadOnly ? null : this.#loadWriting()));
    on("click", ".comment [data-edit]", onComment((id) => this.#edit(id)));
    on("click", ".comment [data-delete]", onComment((id) => (this.kept.find(id) ? this.#delete(id) : this.discard(id))));
    this.task.onModeChange(() => {
      this.#showMode();
      void this.#openAsked();
    });
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
      const label = `Comment on ${placeIn({ ...comment, id: comment.comment_id }, "–")}: ${wrong}`;
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

/** @param {(id: string) => void} act @returns {(event: Event, button: HTMLElement) => boolean} a handler that acts on the comment in which the button stands */
function onComment(act) {
  return (event, button) => {
    event.preventDefault();
    act(/** @type {HTMLElement | null} */ (button.closest("[data-comment]"))?.dataset.comment ?? "");
    return true;
  };
}

/**
 * The comments of a task as they are kept: those that are saved are its answers, what is being written stands in the
 * draft's page state. Knows nothing of the page.
 */

import { asTyped } from "../shown-text.js";

/** @typedef {import("../task/task.js").Work} Task */
/** @typedef {import("./comment-rules.js").Draft} Draft */
/** @typedef {{ comment_id: string, created_at: string, file: string, side: "old" | "new", line_start: number, line_end: number, subject_type?: "file" | "change", category?: string, severity?: string, comment: string, suggestion?: string, unsure?: boolean }} Comment */
/** @typedef {Draft & { isNew: boolean }} Entry isNew: nothing of it is saved */

/** @param {Comment} comment @returns {Draft} */
const asDraft = ({ comment_id, created_at, ...rest }) => ({ ...rest, id: comment_id });

/** A general comment names no lines, and that on the whole change no file. @param {Comment} comment */
function asAnswer(comment) {
  if (!comment.subject_type) return comment;
  const { file, side, line_start, line_end, ...rest } = comment;
  return file ? { file, ...rest } : rest;
}

export class KeptComments {
  /** What is being written, by the comment's id. @type {Map<string, Draft>} */ drafts = new Map();

  /** @param {Task} task @param {string} name of the scheme */
  constructor(task, name) {
    this.task = task;
    this.name = name;
  }

  /** Take up what is being written from the draft. */
  readDrafts() {
    const kept = this.task.kept("forms");
    /** @type {Draft[]} */
    const drafts = Array.isArray(kept) ? kept.filter((draft) => draft?.id && (draft.file || draft.subject_type)) : [];
    this.drafts = new Map(drafts.map((draft) => [draft.id, draft]));
  }

  /** Keep what is being written in the draft. */
  keepDrafts() {
    this.task.keep("forms", [...this.drafts.values()]);
  }

  /** The saved comments, those of programs with what they may leave out. @returns {Comment[]} */
  get saved() {
    const answers = this.task.answers(this.name);
    if (!Array.isArray(answers)) return [];
    return answers.map((one, at) => {
      /** @type {any} */
      const whole = { comment_id: `comment-${at + 1}`, file: "", side: "new", line_end: one.line_start, comment: "" };
      if (one.subject_type) whole.line_start = whole.line_end = 0;
      for (const [name, value] of Object.entries(one)) if (value !== null) whole[name] = value;
      return whole;
    });
  }

  set saved(comments) {
    this.task.change(this.name, comments.map(asAnswer));
  }

  /** @param {string} id */
  find(id) {
    return this.saved.find(({ comment_id }) => comment_id === id);
  }

  /** A comment as it is being written, else as it is saved. @param {string} id @returns {Draft | undefined} */
  entry(id) {
    return this.drafts.get(id) ?? this.saved.map(asDraft).find((comment) => comment.id === id);
  }

  /** The saved comments, and what is written of new ones. @returns {Entry[]} */
  entries() {
    const saved = this.saved.map((comment) => ({ ...asDraft(comment), isNew: false }));
    const known = new Set(saved.map(({ id }) => id));
    const written = [...this.drafts.values()].filter(({ id }) => !known.has(id)).map((draft) => ({ ...draft, isNew: true }));
    return [...saved, ...written];
  }

  /** Whether a draft says more than what is saved of it. @param {Draft} draft */
  isDirty(draft) {
    const saved = this.find(draft.id);
    if (!saved) return Boolean(draft.comment || draft.category || draft.severity || draft.suggestion !== undefined);
    const keys = /** @type {const} */ (["comment", "category", "severity", "suggestion", "unsure", "line_start", "line_end"]);
    /** @param {unknown} value */
    const typed = (value) => (typeof value === "string" ? asTyped(value) : value);
    return keys.some((name) => typed(draft[name]) !== typed(saved[name]));
  }

  /** Those of the entries that are not saved as they are written. @param {Entry[]} entries */
  unsaved(entries) {
    return entries.filter(({ id }) => {
      const draft = this.drafts.get(id);
      return draft && this.isDirty(draft);
    });
  }
}

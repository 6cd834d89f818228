/** What a comment must have: the same as the server demands of it. */

import { stripped } from "../task/text.js";

/**
 * A comment as it is written. One on a file or the change as a whole has a `subject_type`, and 0 for its lines; that on
 * the change has "" for its file.
 * @typedef {{ id: string, file: string, side: "old" | "new", line_start: number, line_end: number, numbering?: "excerpt", subject_type?: "file" | "change", category?: string, severity?: string, comment: string, suggestion?: string, unsure?: boolean, closed?: boolean }} Draft
 */
/** @typedef {{ categories: { value: string }[], severity: { enabled: boolean, levels: { value: string }[] }, require_category: boolean, require_severity: boolean, allow_multi_line: boolean, allow_suggestions: boolean, allow_general?: boolean, min_comments: number }} Block */
/** @typedef {Partial<Record<"range" | "category" | "severity" | "comment" | "suggestion", string>>} Faults what is wrong, by field */

/** What keeps a comment from being submitted. @param {Omit<Draft, "id">} draft @param {Block} block @returns {Faults} */
export function faultsOf({ category, severity, comment, suggestion, line_start, line_end, subject_type }, block) {
  /** @type {Faults} */
  const faults = {};
  const levels = block.severity.enabled ? block.severity.levels : [];
  if (line_end > line_start && !block.allow_multi_line) faults.range = "A comment is about one line in this project.";
  if (subject_type && block.allow_general === false) faults.range = "A comment is about lines in this project.";
  if (category ? !block.categories.some(({ value }) => value === category) : block.require_category) {
    faults.category = "Choose a category.";
  }
  if (severity ? !levels.some(({ value }) => value === severity) : block.require_severity && levels.length) {
    faults.severity = levels.length ? "Choose a severity." : "Comments carry no severity in this project: save it again.";
  }
  if (!stripped(comment)) faults.comment = "Write the comment.";
  if (suggestion !== undefined && !block.allow_suggestions) {
    faults.suggestion = "Comments carry no suggestion in this project: save it again.";
  }
  return faults;
}

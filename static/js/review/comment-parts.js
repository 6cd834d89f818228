/** What a comment looks like under its lines, and the words for where it stands. Its texts become text and nothing else. */

import { element, visible } from "../shown-text.js";

/** @typedef {import("../task/task.js").Work} Task */
/** @typedef {import("./comment-rules.js").Draft} Draft */

/** "1 comment", "2 comments". @param {number} count @param {string} noun */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** @param {string} path */
export const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);

/** "line 15", "old lines 3–5", "excerpt line 2", "whole file". @param {Pick<Draft, "side" | "line_start" | "line_end" | "numbering" | "subject_type">} place */
export function linesIn({ side, line_start, line_end, numbering, subject_type }, between = "–") {
  if (subject_type) return `whole ${subject_type}`;
  const lines = line_end > line_start ? `lines ${line_start}${between}${line_end}` : `line ${line_start}`;
  return [side === "old" ? "old" : "", numbering ?? "", lines].filter(Boolean).join(" ");
}

/** "line 15 of a.py", "a.py as a whole", "the whole change". @param {Draft} draft */
export function placeIn(draft, between = " to ") {
  if (draft.subject_type === "change") return "the whole change";
  return draft.subject_type ? `${nameOf(draft.file)} as a whole` : `${linesIn(draft, between)} of ${nameOf(draft.file)}`;
}

/** A copy of a part of the page's template. @param {DocumentFragment | null} template @param {string} part @returns {HTMLElement} */
export function cloneOf(template, part) {
  return /** @type {HTMLElement} */ (template?.querySelector(`[data-part-of="${part}"]`)?.cloneNode(true));
}

/**
 * The form's label of a value, where that is offered.
 * @param {DocumentFragment | null} template @param {string} name @param {string} value
 * @returns {HTMLElement | null | undefined}
 */
export function choiceOf(template, name, value) {
  return template?.querySelector(`[data-choice="${name}"] [value="${CSS.escape(value)}"]`)?.closest("label");
}

/**
 * A comment under its lines.
 * @param {Task} task @param {DocumentFragment} template @param {Draft} comment
 * @param {{ isNew: boolean, isDraft: boolean }} state isNew: nothing of it is saved; isDraft: not all of it is
 */
export function cardOf(task, template, comment, { isNew, isDraft }) {
  const { id, line_start, suggestion } = comment;
  const card = cloneOf(template, "card");
  /** @param {string} selector */
  const part = (selector) => /** @type {HTMLElement} */ (card.querySelector(selector));
  const place = placeIn(comment);
  card.dataset.comment = id;
  card.ariaLabel = `${isNew ? "Draft of a comment" : "Comment"} on ${place}`;
  part("[data-lines]").textContent = linesIn(comment);
  if (task.isReading) {
    part("strong").replaceChildren(...visible(task.data.annotator));
    part("[data-edit]").parentElement?.remove();
    card.id = `comment-${id}`;
  } else {
    part("[data-edit]").ariaLabel = `${isDraft ? "Go on writing the" : "Edit the"} comment on ${place}`;
    part("[data-delete]").ariaLabel = `${isNew ? "Discard the draft" : "Delete the comment"} on ${place}`;
  }
  part("[data-draft]").hidden = !isDraft;
  if (!isNew) part("[data-draft]").textContent = "Changes, not saved";
  for (const name of /** @type {const} */ (["category", "severity"])) {
    fillBadge(part(`[data-${name}]`), comment[name], choiceOf(template, name, comment[name] ?? ""));
  }
  part("[data-unsure]").hidden = !comment.unsure;
  part(".comment__body").append(...prose(comment.comment));
  if (suggestion === undefined) return card;
  const copy = part("[data-copy]");
  copy.dataset.copy = suggestion;
  copy.ariaLabel = `Copy the code suggested for ${place}`;
  copy.hidden = suggestion === "";
  if (suggestion === "") part("[data-sugg-title]").textContent = "Suggested: delete the lines";
  const shown = part(".sugg");
  shown.hidden = false;
  // Most comments have no suggestion; the form, which writes them, brings the same module along.
  void import("./suggestion.js").then(({ exactText, smallDiff }) => {
    const table = shown.appendChild(smallDiff(null, suggestion, line_start));
    void exactText(task, comment).then(({ text }) => table.replaceWith(smallDiff(text, suggestion, line_start)));
  });
  return card;
}

/**
 * As the form's choice shows it; a value that is not offered stands as it is.
 * @param {HTMLElement} badge @param {string | undefined} value @param {HTMLElement | null | undefined} choice
 */
function fillBadge(badge, value, choice) {
  badge.hidden = !value;
  const label = /** @type {HTMLElement | undefined} */ (choice?.cloneNode(true));
  label?.querySelector("input")?.remove();
  if (label?.dataset.c) badge.dataset.c = label.dataset.c;
  badge.append(...(label?.childNodes ?? [value ?? ""]));
}

/** The text of a comment: paragraphs, and code between backticks. @param {string} text */
function prose(text) {
  /** @param {string} piece @param {number} at @returns {(string | Node)[]} */
  const shown = (piece, at) => (at % 2 ? [element("code", "inline", ...visible(piece))] : visible(piece));
  return text.split(/\n{2,}/).map((part) => element("p", "", ...part.split(/`([^`\n]+)`/).flatMap(shown)));
}

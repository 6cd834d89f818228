/** A wrong step offers to comment the lines that it left in the final change. Loaded where comments are asked for, too. */

import { element } from "../shown-text.js";

/** @import { Work as Task } from "../task/task.js" */
/** @import { Steps } from "./steps.js" */

/** @param {Task} task @param {Steps} steps */
export function offerLines(task, steps) {
  for (const list of document.querySelectorAll("article.step > .step__lines")) {
    const lines = list.querySelector("a[data-lines]");
    if (lines instanceof HTMLAnchorElement) list.append(itemOf(lines));
  }
  /** @param {boolean} isReadOnly */
  const show = (isReadOnly) => {
    for (const item of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".step__comment"))) item.hidden = isReadOnly;
  };
  task.onModeChange(show);
  show(task.isReadOnly);
  steps.ownKey("l", (step) => {
    const link = document.querySelector(`#s${step}.is-wrong .step__comment:not([hidden]) a`);
    if (!(link instanceof HTMLAnchorElement)) return false;
    link.click();
  });
  for (const hint of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-comment-lines-key]"))) hint.hidden = false;
}

/** @param {HTMLAnchorElement} lines a link to lines that the step left */
function itemOf(lines) {
  const url = new URL(lines.href);
  url.searchParams.set("comment", lines.dataset.lines ?? "");
  const link = element("a", "btn btn--s", "Comment its lines");
  link.setAttribute("href", url.href);
  return element("li", "step__comment", link);
}

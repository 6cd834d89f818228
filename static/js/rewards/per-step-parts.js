/** Small parts that the modules of per-step mode share. */

/** @import { Scheme } from "../task/task.js" */

/** A copy of a part of the scheme's template, without keys of ours that the configuration gives to something else or switches off. @param {Scheme} scheme @param {string} name @returns {HTMLElement} */
export function copyOfPart(scheme, name) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById(`mount-${scheme.name}`));
  const part = /** @type {HTMLElement} */ (template.content.querySelector(`[data-part="${name}"]`)?.cloneNode(true));
  const taken = Object.values(scheme.block.keys);
  for (const hint of /** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("[data-own]"))) {
    if (!taken.length || taken.includes(hint.dataset.own)) hint.remove();
  }
  return part;
}

/** "+1.0", "−0.25", "0.0". @param {number} score */
export function signed(score) {
  const size = Math.abs(score);
  return `${score > 0 ? "+" : score < 0 ? "−" : ""}${Number.isInteger(size) ? size.toFixed(1) : size}`;
}

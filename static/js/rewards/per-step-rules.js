/** What is missing of the ratings of a trace's steps, on whichever tab. */

/** @import { Scheme } from "../task/task.js" */
/** @import { Missing } from "./process-reward.js" */
/** @typedef {{ step_details?: Record<string, { label?: string, error_category?: string, notes?: string, correction?: string, unsure?: boolean }> }} Answers */

/** @param {Answers} answers @param {Scheme} scheme @param {number} count @returns {Missing[]} */
export function missing(answers, scheme, count) {
  if (!scheme.block.per_step.require_all_steps) return [];
  const unrated = [...Array(count).keys()].filter((step) => !answers.step_details?.[step]?.label);
  return unrated.map((step) => ({ label: `Step ${step}`, step }));
}

/** @param {Answers} answers @param {Scheme} scheme @param {number} count */
export function done(answers, scheme, count) {
  return missing(answers, scheme, count).length ? [] : ["Every step rated"];
}

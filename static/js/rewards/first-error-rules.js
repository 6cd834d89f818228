/** What is missing of a first-error judgement, on whichever tab. */

/** @import { Scheme } from "../task/task.js" */
/** @import { Missing } from "./process-reward.js" */
/**
 * @typedef {object} Answers  As rewards/first_error.py reads them
 * @property {number} [first_error_step]
 * @property {boolean} [all_correct]
 * @property {number} [reviewed_to]  the last step that was found correct, while nothing is judged
 * @property {number[]} [neutral_steps]
 * @property {string} [correction]
 * @property {boolean} [unsure]
 */

/** @param {Answers} answers */
export const isJudged = (answers) => answers.first_error_step !== undefined || answers.all_correct === true;

/** @param {Answers} answers @param {Scheme} scheme @returns {Missing[]} */
export function missing(answers, scheme) {
  if (isJudged(answers)) return [];
  const step = answers.reviewed_to === undefined ? undefined : answers.reviewed_to + 1;
  const orElse = scheme.block.first_error.allow_no_error ? ", or all steps correct" : "";
  return [{ label: `First error${orElse}`, ...(step !== undefined && { step }) }];
}

/** @param {Answers} answers */
export function done(answers) {
  if (answers.all_correct) return ["All steps marked correct"];
  return answers.first_error_step === undefined ? [] : [`First error marked at step ${answers.first_error_step}`];
}

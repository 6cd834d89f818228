/** The first wrong step of a trace, marked by click or key. */

/** @import { Scheme, Task } from "../task/task.js" */
/** @import { Steps } from "./steps.js" */

/** @param {Task} task @param {Scheme} scheme @param {Steps} steps @returns {import("./process-reward.js").Mode} */
export function mount(task, scheme, steps) {
  return { redraw: () => steps.progress(`${steps.read.size} of ${steps.count} read`) };
}

/**
 * Process rewards on the task page, in the mode that the project chose. On the other tabs nothing is drawn: there it
 * only says what is missing, and leads to it.
 */

import { KEY } from "../task/unjudged.js";

/** @import { Gap, Mounted, Scheme, Work as Task } from "../task/task.js" */
/** @typedef {{ label: string, step?: number }} Missing Without a step it is about the whole trace */
/** @typedef {{ missing(answers: any, scheme: Scheme, count: number): Missing[], done(answers: any, scheme: Scheme, count: number): string[] }} Rules */
/** @typedef {{ redraw(): void, goTo?(missing: Missing): void }} Mode `goTo` where more is to be done than to show the step */

/** @param {Task} task @param {Scheme} scheme @returns {Promise<Mounted>} */
export async function mount(task, scheme) {
  const isFirstError = scheme.block.mode === "first_error";
  /** @type {Rules} */
  const rules = isFirstError ? await import("./first-error-rules.js") : await import("./per-step-rules.js");
  const count = task.data.steps;
  const answers = () => task.answers(scheme.name) ?? {};
  /** @type {(missing: Missing) => void} */
  let go = ({ step = 0 }) => location.assign(`${task.data.urls.steps}#s${step}`);
  let redraw = () => {};
  /** @type {(step: number | null) => HTMLElement | null} */
  let beside = () => null;
  if (task.data.tab === "steps") {
    const { Steps } = await import("./steps.js");
    const steps = new Steps(task, scheme);
    const mode = task.isReading ? await import("./judged-steps.js") : isFirstError ? await import("./first-error.js") : await import("./per-step.js");
    const mounted = mode.mount(task, scheme, steps);
    go = (missing) => (mounted.goTo ? mounted.goTo(missing) : steps.goTo(missing.step ?? steps.focus));
    redraw = () => mounted.redraw();
    beside = (step) => (step === null ? steps.panel : steps.foot(step));
    steps.start();
    const asksComments = task.data.schemes.some(({ annotation_type: type }) => type === "code_review_comments");
    if (asksComments && !task.isReading && document.querySelector(".step__lines")) {
      (await import("./comment-lines.js")).offerLines(task, steps);
    }
  }
  return {
    redraw,
    suggests: {
      beside: ({ step }) => beside(step),
      accept: ({ step, value }) => {
        const given = answers();
        const { [KEY]: reasons = {}, ...rest } = given;
        const left = Object.fromEntries(Object.entries(reasons).filter(([index]) => Number(index) !== step));
        const said = isFirstError ? value : { ...rest, step_details: { ...rest.step_details, [String(step)]: value } };
        task.change(scheme.name, { ...said, ...(Object.keys(left).length && { [KEY]: left }) });
        return undefined;
      },
      edit: ({ step }) => go({ label: "", step: step ?? 0 }),
    },
    /** @returns {Gap[]} */
    missing: () =>
      rules.missing(answers(), scheme, count).map((missing) => ({ label: missing.label, go: () => go(missing) })),
    done: () => rules.done(answers(), scheme, count),
  };
}

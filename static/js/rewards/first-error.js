/** The first wrong step of a trace, marked by click or key: what comes before it is correct, what follows is downstream. */

import { on } from "../events.js";
import { askReason, KEY, showReason, WORDS } from "../task/unjudged.js";
import { one } from "../task/dom.js";
import { confirm } from "./confirm.js";
import { given as givenIn, isJudged, stateOf, wordsFor } from "./first-error-rules.js";

/** @import { Scheme, Work as Task } from "../task/task.js" */
/** @import { Answers, State } from "./first-error-rules.js" */
/** @import { Steps } from "./steps.js" */

/** @param {Task} task @param {Scheme} scheme @param {Steps} steps @returns {import("./process-reward.js").Mode} */
export function mount(task, scheme, steps) {
  const { first_error: block, reveal } = scheme.block;
  const last = steps.count - 1;
  /** The answers that a confirmation is asked for. @type {Answers | null} */
  let proposed = null;

  /** @returns {Answers} */
  const answers = () => givenIn(task.answers(scheme.name));

  /* What is judged --------------------------------------------------------------------------------- */

  /** @param {Answers} given @param {State} state */
  const wordsOf = (given, state) => wordsFor(block, given, state);

  /** @param {Answers} given @param {number} step */
  function withError(given, step) {
    const { all_correct: _, correction, neutral_steps: neutral = [], [KEY]: reasons = {}, ...others } = given;
    const rest = { ...others, ...without(reasons, step) };
    const kept = correctionOf(step);
    const before = neutral.filter((index) => index < step);
    return { ...rest, first_error_step: step, ...(before.length && { neutral_steps: before }), ...(kept && { correction: kept }) };
  }

  /** The reasons why steps cannot be judged, without that of one. @param {Record<string, string>} reasons @param {number} step @returns {Answers} */
  function without(reasons, step) {
    const { [step]: _, ...left } = reasons;
    return Object.keys(left).length ? { [KEY]: left } : {};
  }

  /** @param {number} step */
  async function cannotJudge(step) {
    const { first_error_step: error, [KEY]: reasons = {} } = answers();
    if (task.isReadOnly) return;
    if (step === error) return task.toast(`Step ${step} is the first error. Clear that first.`);
    const reason = await askReason(`step ${step}`, reasons[step]);
    if (reason === null) return;
    const { neutral_steps: neutral = [], [KEY]: now = {}, ...rest } = answers();
    const left = neutral.filter((index) => index !== step);
    const kept = reason ? { [KEY]: { ...now, [step]: reason } } : without(now, step);
    task.change(scheme.name, { ...rest, ...(left.length && { neutral_steps: left }), ...kept });
    redraw();
    task.announce(reason ? `Step ${step} cannot be judged.` : `Step ${step} can be judged.`);
  }

  /** @param {Answers} given */
  function withoutError({ first_error_step: _, correction: __, ...rest }) {
    return rest;
  }

  /** What was written for a step stays for it while the mark is elsewhere. @param {number} step @returns {string} */
  function correctionOf(step) {
    return task.kept("corrections")?.[step] ?? "";
  }

  /* What the annotator does --------------------------------------------------------------------------- */

  /** @param {Answers} next @param {string} sentence */
  function change(next, sentence) {
    const before = task.answers(scheme.name);
    if (!task.change(scheme.name, next)) return;
    redraw();
    task.toast(sentence, {
      undo() {
        task.change(scheme.name, before ?? {});
        redraw();
      },
    });
  }

  /**
   * Ask first, where the project says so.
   * @param {Answers} next @param {string} sentence @param {{ question: string, verb: string, at: number }} asked
   */
  async function propose(next, sentence, asked) {
    if (task.isReadOnly || proposed) return;
    if (block.require_confirmation) {
      proposed = next;
      draw(next, true);
      const isSure = await confirm({
        ...asked,
        steps,
        now: (step) => stateOf(answers(), step),
        then: (step) => stateOf(next, step),
        words: (state) => wordsOf(next, state),
      });
      proposed = null;
      if (!isSure) return redraw();
    }
    change(next, sentence);
  }

  /** @param {number} step */
  function markError(step) {
    if (answers().first_error_step === step) return task.announce(`Step ${step} is already the first error.`);
    const asked = { question: `Mark step ${step} as the first error?`, verb: "Mark first error", at: step };
    return void propose(withError(answers(), step), `Step ${step} is the first error.`, asked);
  }

  function markAllCorrect() {
    const { all_correct: isAllCorrect, ...given } = withoutError(answers());
    if (isAllCorrect) return task.announce("All steps are already marked correct.");
    if (!block.allow_no_error || reveals() < last) return;
    const asked = { question: "Mark all steps as correct?", verb: "All Steps Correct", at: steps.focus };
    void propose({ ...given, all_correct: true }, "All steps are correct.", asked);
  }

  /** Nothing is wrong up to this step. On the last one that is a judgement. @param {number} step */
  function markCorrect(step) {
    const given = answers();
    const { first_error_step: error, reviewed_to: reviewed = -1 } = given;
    if (task.isReadOnly) return;
    if (step === error) return change({ ...withoutError(given), reviewed_to: Math.max(step, reviewed) }, `Step ${step} is no longer the first error.`);
    if (error !== undefined && step > error) return task.toast(`Step ${step} comes after the first error, step ${error}. Mark another step, or clear the mark.`);
    if (step === last && !isJudged(given) && block.allow_no_error) return markAllCorrect();
    if (step > reviewed && !isJudged(given)) {
      task.change(scheme.name, { ...given, reviewed_to: step });
      redraw();
    }
    if (step < last) steps.move(1);
    else if (!isJudged(given)) task.toast("You found no error, and this project takes no trace without one: mark the first wrong step, or skip the task.");
  }

  /** @param {number} step */
  function toggleNeutral(step) {
    const given = answers();
    const neutral = given.neutral_steps ?? [];
    const { neutral_steps: _, ...rest } = given;
    const next = neutral.includes(step) ? neutral.filter((index) => index !== step) : [...neutral, step].sort((one, other) => one - other);
    task.change(scheme.name, { ...rest, ...(next.length && { neutral_steps: next }) });
    redraw();
  }

  /** The focused step, else the one before it, which a key has just left. @param {number} focus */
  function neutralByKey(focus) {
    const step = [focus, focus - 1].find((index) => index >= 0 && stateOf(answers(), index) === "correct" && !answers().cannot_judge?.[index]);
    if (step === undefined) return false;
    toggleNeutral(step);
    task.announce(`Step ${step}: ${answers().neutral_steps?.includes(step) ? "neutral" : "not neutral"}`);
  }

  function clear() {
    if (!Object.keys(answers()).length) return;
    change({}, "Nothing is marked any more.");
  }

  /** @param {string} text */
  function correct(text) {
    const { correction: _, ...given } = answers();
    const step = given.first_error_step ?? 0;
    task.change(scheme.name, { ...given, ...(text && { correction: text }) });
    task.keep("corrections", { ...task.kept("corrections"), [step]: text });
  }

  /** @param {boolean} isUnsure */
  function setUnsure(isUnsure) {
    const { unsure: _, ...given } = answers();
    task.change(scheme.name, { ...given, ...(isUnsure && { unsure: true }) });
  }

  /* What is shown ---------------------------------------------------------------------------------------- */

  /** The last step that may be seen. */
  function reveals() {
    const given = answers();
    return reveal !== "progressive" || isJudged(given) ? Infinity : (given.reviewed_to ?? -1) + 1;
  }

  /** @param {Answers} given @param {boolean} isPending */
  function draw(given, isPending) {
    const isReviewed = !isJudged(given);
    for (const index of steps.indexes) {
      const state = stateOf(given, index);
      const words = wordsOf(given, state);
      const isNeutral = state === "correct" && given.neutral_steps?.includes(index);
      steps.mark(index, {
        value: state,
        words,
        sub: isNeutral ? `${words}, neutral` : given.cannot_judge?.[index] ? WORDS : words,
        hasNote: Boolean(given.cannot_judge?.[index]),
        isPending: isPending || (isReviewed && state === "correct"),
        isWrong: state === "first_error",
      });
    }
  }

  function redraw() {
    const given = answers();
    draw(given, false);
    steps.reveal(reveals());
    steps.progress(`${steps.read.size} of ${steps.count} read`);
    for (const index of steps.indexes) steps.redrawControls(index);
    drawCounts(given);
    drawBar(given);
    drawCorrection(given);
  }

  /** @param {Answers} given */
  function drawCounts({ first_error_step: error, all_correct: isAllCorrect, reviewed_to: reviewed = -1 }) {
    const correct = isAllCorrect ? steps.count : (error ?? reviewed + 1);
    const wrong = error === undefined ? 0 : 1;
    const downstream = wrong && last - (error ?? 0);
    const counts = { unmarked: steps.count - correct - wrong - downstream, correct, first_error: wrong, downstream };
    for (const [state, count] of Object.entries(counts)) one(`[data-state="${state}"]`, steps.panel).textContent = String(count);
  }

  /** @param {Answers} given */
  function drawBar(given) {
    const { first_error_step: error, reviewed_to: reviewed } = given;
    const badge = one("[data-bar-steps-mark]");
    const [state, name, words] =
      error !== undefined ? ["first_error", "flag", `First error: step ${error}`]
      : given.all_correct ? ["correct", "all", "All steps correct"]
      : ["unmarked", "some", `Reviewed to step ${reviewed}`];
    badge.hidden = reviewed === undefined && !isJudged(given);
    badge.dataset.c = `${scheme.name}.${state}`;
    badge.replaceChildren(...steps.part(name).childNodes, words);
    const clearing = one("[data-clear]", steps.bar);
    clearing.hidden = badge.hidden;
    clearing.toggleAttribute("disabled", task.isReadOnly);
    const all = steps.bar.querySelector("[data-all-correct]");
    all?.toggleAttribute("disabled", task.isReadOnly || reveals() < last);
    all?.setAttribute("aria-pressed", String(Boolean(given.all_correct)));
    const unsure = steps.bar.querySelector("[data-unsure]");
    const box = unsure?.querySelector("input");
    unsure?.toggleAttribute("hidden", !isJudged(given));
    if (!box) return;
    box.checked = Boolean(given.unsure);
    box.disabled = task.isReadOnly;
  }

  /** The form for the better action stands below the step that is wrong. @param {Answers} given */
  function drawCorrection({ first_error_step: error, correction = "" }) {
    if (!scheme.block.ask_correction) return;
    const foot = error === undefined ? null : steps.foot(error);
    const shown = document.getElementById("correction")?.closest(".step__foot");
    if (shown && shown !== foot) shown.remove();
    if (foot && shown !== foot) foot.append(...steps.part("correction").childNodes);
    const text = foot?.querySelector("textarea");
    if (!text) return;
    if (text.value !== correction) text.value = correction;
    text.readOnly = task.isReadOnly;
  }

  /** @param {number} step @param {HTMLElement} slot */
  function drawControls(step, slot) {
    const given = answers();
    if (!slot.firstChild) slot.append(...steps.part("controls").childNodes);
    const [correct, error, neutral] = ["correct", "error", "neutral"].map((name) => slot.querySelector(`[data-${name}]`));
    correct?.setAttribute("aria-label", `Correct so far: steps 0 to ${step}`);
    error?.setAttribute("aria-label", `First error is here: step ${step}`);
    error?.setAttribute("aria-pressed", String(given.first_error_step === step));
    neutral?.setAttribute("aria-label", `Neutral: step ${step}`);
    neutral?.setAttribute("aria-pressed", String(Boolean(given.neutral_steps?.includes(step))));
    if (neutral instanceof HTMLElement) neutral.hidden = stateOf(given, step) !== "correct" || Boolean(given.cannot_judge?.[step]);
    for (const button of slot.querySelectorAll("button")) button.disabled = task.isReadOnly;
    showReason(slot.querySelector("[data-unjudged]"), `step ${step}`, given.cannot_judge?.[step], task.isReadOnly);
  }

  /* The start ---------------------------------------------------------------------------------------------- */

  steps.panel.append(...steps.part("panel").childNodes);
  steps.bar.append(...steps.part("bar").childNodes);
  steps.onNear(drawControls);
  steps.onFocus(() => steps.progress(`${steps.read.size} of ${steps.count} read`));
  on("click", ".step__rate button", (event, button) => {
    // Not the step with the focus, which may have moved on between the press and this.
    const step = Number(button.closest("article")?.id.slice(1));
    if ("error" in button.dataset) markError(step);
    else if ("correct" in button.dataset) markCorrect(step);
    else if ("neutral" in button.dataset) toggleNeutral(step);
    else if ("unjudged" in button.dataset) void cannotJudge(step);
  });
  on("click", "[data-all-correct]", markAllCorrect);
  on("click", "[data-clear]", clear);
  on("change", "[data-unsure] input", (event, box) => setUnsure(/** @type {HTMLInputElement} */ (box).checked));
  on("input", "#correction", (event, text) => correct(/** @type {HTMLTextAreaElement} */ (text).value));
  steps.ownKey("x", (step) => void cannotJudge(step));
  steps.ownKey("u", clear);
  steps.ownKey("A", markAllCorrect);
  if (scheme.block.allow_neutral) steps.ownKey("n", neutralByKey);
  steps.configuredKey("correct", markCorrect);
  steps.configuredKey("incorrect", markError);
  task.onModeChange(redraw);
  redraw();
  return { redraw };
}

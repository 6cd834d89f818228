/**
 * Every step of a trace rated by itself: one key labels the focused step, or a range of steps, and goes on to the next.
 * What is said beside the label stands in the step's foot.
 */

import { on } from "../events.js";
import { askReason, KEY, showReason, WORDS } from "../task/unjudged.js";
import { counted } from "../task/dom.js";
import { StepFeet } from "./per-step-foot.js";
import { copyOfPart, signed } from "./per-step-parts.js";
import { StepRange } from "./per-step-range.js";
import { firstWrong, withoutIdleCategory } from "./per-step-rules.js";
import { RunningScore } from "./per-step-score.js";

/** @import { Scheme, Work as Task } from "../task/task.js" */
/** @import { Steps } from "./steps.js" */
/** @import { Detail } from "./per-step-rules.js" */
/** @typedef {{ value: string, display: string, color: string, score: number }} Label */
/** @typedef {Record<string, Detail>} Details */

export class PerStep {
  /** The step that was labelled last by key, whose foot the keys for it open. */
  #last = -1;
  /** The step to which that key led: from another one they do not open it. */
  #after = -1;
  /** The step whose controls are spelt out. */
  #wide = -1;
  #isPressed = false;

  /** @param {Task} task @param {Scheme} scheme @param {Steps} steps */
  constructor(task, scheme, steps) {
    this.task = task;
    this.scheme = scheme;
    this.steps = steps;
    this.block = scheme.block.per_step;
    /** @type {Map<string, Label>} */
    this.labels = new Map(this.block.labels.map((/** @type {Label} */ label) => [label.value, label]));
    this.range = new StepRange(steps, task);
    this.feet = new StepFeet(this);
    this.score = this.block.show_running_score ? new RunningScore(steps.count) : null;
    steps.panel.append(copyOfPart(scheme, "panel"));
    steps.bar.append(copyOfPart(scheme, "select"), copyOfPart(scheme, "range"), copyOfPart(scheme, "hints"));
    steps.onNear((index, slot) => this.#draw(index, slot));
    steps.onFocus((index) => {
      if (index !== this.#after) this.#last = -1;
      this.#widen();
    });
    task.onModeChange(() => this.redraw());
    this.#listen();
  }

  /* What is said ---------------------------------------------------------------------------------------- */

  get answers() {
    // Without what follows from the ratings, where a program has saved them as a result.
    return { step_details: this.task.answers(this.scheme.name)?.step_details ?? {} };
  }

  /** @returns {Details} */
  get details() {
    return this.answers.step_details;
  }

  /** Why steps cannot be judged, by their index. @returns {Record<string, string>} */
  get reasons() {
    return this.task.answers(this.scheme.name)?.[KEY] ?? {};
  }

  /** @param {number} index @returns {Detail} */
  detail(index) {
    return this.details[index] ?? {};
  }

  get firstWrong() {
    return firstWrong(this.answers, this.scheme, this.steps.count);
  }

  /**
   * Say something of single steps; undefined and "" take it back. A label takes the reason why a step cannot be judged.
   * @param {Map<number, Detail>} said by index @param {Record<string, string>} [reasons] why steps cannot be judged
   */
  say(said, reasons = this.reasons) {
    const before = this.firstWrong;
    const details = { ...this.details };
    for (const [index, detail] of said) {
      const kept = Object.entries(detail).filter(([, value]) => value);
      if (kept.length) details[index] = Object.fromEntries(kept);
      else delete details[index];
    }
    const unjudged = Object.fromEntries(Object.entries(reasons).filter(([index, reason]) => reason && !details[index]?.label));
    const answers = { step_details: details, ...(Object.keys(unjudged).length && { [KEY]: unjudged }) };
    if (!this.task.change(this.scheme.name, answers)) return false;
    for (const index of new Set([...said.keys(), before, this.firstWrong])) this.#show(index);
    this.#showAll();
    return true;
  }

  /** @param {number} index */
  async cannotJudge(index) {
    if (this.task.isReadOnly) return;
    const reason = await askReason(`step ${index}`, this.reasons[index]);
    if (reason === null) return;
    const said = reason ? {} : this.detail(index);
    this.say(new Map([[index, said]]), { ...this.reasons, [index]: reason });
    this.task.announce(reason ? `Step ${index} cannot be judged.` : `Step ${index} can be judged.`);
  }

  /** Label steps. A category that does not go with the label goes, and that is said. @param {number[]} indexes @param {string} value @returns {boolean} */
  label(indexes, value) {
    const { reasons } = this;
    const before = new Map(indexes.map((index) => [index, this.detail(index)]));
    const after = indexes.map((index) => /** @type {const} */ ([index, withoutIdleCategory({ ...this.detail(index), label: value }, this.scheme)]));
    if (!this.say(new Map(after))) return false;
    const gone = after.filter(([index, detail]) => before.get(index)?.error_category && !detail.error_category).length;
    const went = gone ? ` ${gone > 1 ? `${gone} error categories` : "Its error category"} went: ${this.labels.get(value)?.display ?? value} takes none.` : "";
    const name = this.labels.get(value)?.display ?? value;
    const [only] = indexes;
    const was = indexes.length === 1 && only !== undefined && before.get(only)?.label;
    if (indexes.length > 1) this.#toast(`${counted(indexes.length, "step")} labelled ${name}.${went}`, before, reasons);
    else if (was && was !== value) this.#toast(`Step ${only}: ${name} instead of ${this.labels.get(was)?.display ?? was}.${went}`, before, reasons);
    else this.task.announce(`Step ${only}: ${name}`);
    return true;
  }

  /** Drop the categories that a program left at steps whose label takes none: the page shows none there, and the server
   * would refuse them. A page that another tab kept from writing does it once it writes. */
  #tidy() {
    const idle = Object.entries(this.details).filter(([, detail]) => detail.label && withoutIdleCategory(detail, this.scheme) !== detail);
    if (!idle.length || this.task.isReadOnly) return;
    const before = new Map(idle.map(([index, detail]) => [Number(index), detail]));
    if (!this.say(new Map(idle.map(([index, detail]) => [Number(index), withoutIdleCategory(detail, this.scheme)])))) return;
    const [[only, detail]] = /** @type {[[string, Detail]]} */ (idle);
    const label = this.labels.get(detail.label ?? "")?.display ?? detail.label;
    this.task.toast(before.size > 1 ? `The error categories of ${before.size} steps went: their labels take none.` : `The error category of step ${only} went: ${label} takes none.`);
  }

  /** Take back all that was said of steps. @param {number[]} indexes */
  clear(indexes) {
    const { reasons } = this;
    const before = new Map(indexes.filter((index) => this.details[index] || reasons[index]).map((index) => [index, this.detail(index)]));
    const left = Object.fromEntries(Object.entries(reasons).filter(([index]) => !before.has(Number(index))));
    if (!before.size || !this.say(new Map([...before.keys()].map((index) => [index, {}])), left)) return;
    this.#toast(before.size > 1 ? `${before.size} steps cleared.` : `Step ${[...before.keys()][0]} cleared.`, before, reasons);
  }

  /** @param {string} sentence @param {Map<number, Detail>} before @param {Record<string, string>} reasons */
  #toast(sentence, before, reasons) {
    this.task.toast(sentence, { undo: () => this.say(before, reasons) });
  }

  /* What is shown ------------------------------------------------------------------------------------------ */

  redraw() {
    for (let index = 0; index < this.steps.count; index += 1) this.#show(index);
    this.#showAll();
    this.#tidy();
  }

  /** What stands above all steps, in the rail, and in the top bar. */
  #showAll() {
    const { details, reasons, steps } = this;
    const labels = Array.from({ length: steps.count }, (_, index) => details[index]?.label ?? "");
    steps.progress(`${labels.filter(Boolean).length} of ${steps.count} labelled`);
    this.score?.show(labels.map((label) => this.labels.get(label)?.score ?? null));
    if (this.scheme.block.reveal === "progressive") {
      const revealed = labels.findLastIndex((label, index) => Boolean(label || reasons[index])) + 1;
      steps.reveal(revealed < steps.count ? revealed : Infinity);
    }
  }

  /** @param {number} index */
  #show(index) {
    if (index < 0) return;
    const { label: value = "", notes, unsure } = this.detail(index);
    const label = this.labels.get(value);
    const reason = this.reasons[index];
    const words = label?.display ?? (value || (reason ? WORDS : "Unlabelled"));
    const score = label && this.score ? `, ${signed(label.score)}` : "";
    this.steps.mark(index, { value, words, sub: `${words}${score}${unsure ? ", unsure" : ""}`, hasNote: Boolean(notes || reason), isWrong: (label?.score ?? 1) <= 0 });
    const rate = this.steps.article(index)?.querySelector(".srate");
    if (rate instanceof HTMLElement) this.#fill(index, rate);
    this.feet.show(index);
  }

  /** @param {number} index @param {HTMLElement} slot */
  #draw(index, slot) {
    const rate = copyOfPart(this.scheme, "srate");
    const legend = rate.querySelector("legend");
    if (legend) legend.textContent = `Label of step ${index}`;
    for (const radio of radiosOf(rate)) radio.name = `${this.scheme.name}-${index}`;
    for (const hint of /** @type {NodeListOf<HTMLElement>} */ (rate.querySelectorAll("[data-key]"))) {
      const pressed = this.scheme.block.keys[hint.dataset.key ?? ""];
      hint.textContent = pressed ?? "";
      hint.hidden = !pressed;
      if (pressed) hint.closest("label")?.querySelector("input")?.setAttribute("aria-keyshortcuts", pressed);
    }
    this.#fill(index, rate);
    slot.append(rate);
    this.feet.show(index);
  }

  /** @param {number} index @param {HTMLElement} rate */
  #fill(index, rate) {
    const { label, unsure } = this.detail(index);
    for (const radio of radiosOf(rate)) {
      radio.checked = radio.value === label;
      radio.disabled = this.task.isReadOnly;
    }
    const tick = rate.querySelector("input[type=checkbox]");
    if (tick instanceof HTMLInputElement) {
      tick.checked = Boolean(unsure);
      tick.disabled = this.task.isReadOnly;
    }
    const clear = rate.querySelector("[data-clear]");
    if (clear instanceof HTMLElement) clear.hidden = !(this.details[index] || this.reasons[index]) || this.task.isReadOnly;
    showReason(rate.querySelector("[data-unjudged]"), `step ${index}`, this.reasons[index], this.task.isReadOnly);
    const score = rate.querySelector(".stepscore");
    const counts = this.labels.get(label ?? "")?.score;
    if (score) score.textContent = counts === undefined ? "" : signed(counts);
  }

  /** Spell out the controls of the focused step: not while a press goes on, which would end beside what it began on. */
  #widen() {
    const { focus } = this.steps;
    if (this.#isPressed || focus === this.#wide) return;
    this.steps.article(this.#wide)?.classList.remove("is-rating");
    this.steps.article(focus)?.classList.add("is-rating");
    this.#wide = focus;
  }

  /* What is done -------------------------------------------------------------------------------------------- */

  /** By key: label the range, or the focused step, and go on to the step after it. @param {string} value */
  #labelAndGoOn(value) {
    const indexes = this.range.indexes;
    if (!this.label(indexes, value)) return;
    this.range.drop();
    const last = indexes.at(-1) ?? -1;
    const goOn = () => {
      if (last === this.steps.focus) this.steps.move(1);
      else this.steps.goTo(Math.min(last + 1, this.steps.count - 1));
      [this.#last, this.#after] = [last, this.steps.focus];
    };
    const leave = () => {
      goOn();
      if (this.steps.focus === last) this.steps.goTo(last);
    };
    if (!this.#askCategory(indexes, leave)) goOn();
  }

  /** Wrong steps ask for the kind of their error before they are left, a range once for all of it. @param {number[]} indexes @param {() => void} leave @returns {boolean} false where none does */
  #askCategory(indexes, leave) {
    const asked = indexes.filter((index) => this.feet.takesCategory(index) && !this.detail(index).error_category);
    const { focus } = this.steps;
    const at = asked.includes(focus) ? focus : asked.at(-1);
    return at !== undefined && this.feet.open(at, "error_category", leave, asked);
  }

  /** By click at a step of the range. @param {string} value @param {number} index */
  #labelRange(value, index) {
    const { indexes } = this.range;
    if (!this.label(indexes, value)) return;
    this.range.drop();
    if (indexes.length > 1) this.#askCategory(indexes, () => this.steps.goTo(index));
  }

  /** The first unlabelled step after the focused one, else the first of all. */
  #nextUnlabelled() {
    const { details, reasons, steps } = this;
    const open = [...Array(steps.count).keys()].filter((index) => !details[index]?.label && !reasons[index]);
    const next = open.find((index) => index > steps.focus) ?? open.find((index) => index !== steps.focus);
    if (next !== undefined) steps.goTo(next);
    else this.task.announce(open.length ? "No other step is unlabelled." : "Every step is labelled.");
  }

  /** The focused step, or the one that was just labelled where only that one takes what is asked. @param {(index: number) => boolean} takes */
  #target(takes) {
    const { focus } = this.steps;
    return !takes(focus) && this.#last >= 0 && takes(this.#last) ? this.#last : focus;
  }

  /** @param {number} index @param {import("./per-step-foot.js").Field} field @param {number} from where to go back to */
  #open(index, field, from) {
    return this.feet.open(index, field, () => this.steps.goTo(from));
  }

  #listen() {
    on("pointerdown", ".srate", () => {
      this.#isPressed = true;
    });
    for (const type of /** @type {const} */ (["pointerup", "pointercancel"])) {
      on(type, ":root", () => {
        if (!this.#isPressed) return;
        this.#isPressed = false;
        // The click comes after it.
        setTimeout(() => this.#widen());
      });
    }
    on("change", ".srate input", (event, control) => {
      const { type, value, checked } = /** @type {HTMLInputElement} */ (control);
      const index = indexOf(control);
      if (type === "checkbox") this.say(new Map([[index, { ...this.detail(index), unsure: checked }]]));
      else if (!this.range.indexes.includes(index)) this.label([index], value);
      else this.#labelRange(value, index);
    });
    on("click", ".srate [data-clear]", (event, button) => this.clear([indexOf(button)]));
    on("click", ".srate [data-unjudged]", (event, button) => void this.cannotJudge(indexOf(button)));
    on("click", ".srate [data-note]", (event, button) => void this.#open(indexOf(button), "notes", indexOf(button)));
    on("click", "[data-next-unlabelled]", () => this.#nextUnlabelled());
    this.steps.ownKey("x", (index) => void this.cannotJudge(index));
    this.steps.ownKey("J", () => this.#nextUnlabelled());
    this.steps.ownKey("u", () => {
      this.clear(this.range.indexes);
      this.range.drop();
    });
    this.steps.ownKey("e", () => {
      const index = this.#target((step) => this.feet.takesCategory(step));
      return this.#open(index, "error_category", this.steps.focus);
    });
    this.steps.ownKey("n", () => {
      const index = this.#target((step) => Boolean(this.detail(step).label));
      return this.#open(index, "notes", this.steps.focus);
    });
    for (const value of this.labels.keys()) this.steps.configuredKey(value, () => this.#labelAndGoOn(value));
  }

}

/** @param {Task} task @param {Scheme} scheme @param {Steps} steps @returns {import("./process-reward.js").Mode} */
export function mount(task, scheme, steps) {
  const mode = new PerStep(task, scheme, steps);
  mode.redraw();
  return { redraw: () => mode.redraw() };
}

/** @param {HTMLElement} rate */
function radiosOf(rate) {
  return /** @type {NodeListOf<HTMLInputElement>} */ (rate.querySelectorAll("input[type=radio]"));
}

/** The step that an element is a part of. @param {Element} element */
function indexOf(element) {
  return Number(element.closest("article")?.id.slice(1));
}

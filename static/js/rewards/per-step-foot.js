/** What is said of a step beside its label: the error's category, and in its foot a note and what the agent should have done. */

import { namesAlone, on } from "../events.js";
import { copyOfPart } from "./per-step-parts.js";

/** @import { PerStep } from "./per-step.js" */
/** @typedef {"error_category" | "notes" | "correction"} Field */

/** @type {Field[]} */
const FIELDS = ["notes", "correction"];

export class StepFeet {
  /** The step whose foot was asked for. */
  #asked = -1;
  /** Where the annotator goes from a field. @type {(() => void) | null} */
  #back = null;
  /** The steps that get the category together which is chosen at one of them. @type {{ at: number, steps: number[] }} */
  #among = { at: -1, steps: [] };

  /** @param {PerStep} rating */
  constructor(rating) {
    this.rating = rating;
    on("input", ".srate__foot textarea", (event, text) => this.#keep(/** @type {HTMLTextAreaElement} */ (text)));
    on("change", ".srate__category select", (event, choice) => this.#keep(/** @type {HTMLSelectElement} */ (choice)));
    on("focusout", ".srate__category select", () => {
      // In another window for a while it goes on.
      if (document.hasFocus()) this.#askAmong(-1, []);
    });
    on("keydown", ".srate__foot, .srate__category", (event) => {
      const { target } = event;
      const isEnd = event.key === "Enter" && (event.ctrlKey || target instanceof HTMLSelectElement) && !event.shiftKey;
      const pressed = target instanceof HTMLSelectElement && this.#passes(event, target);
      if (event.key !== "Escape" && !isEnd && !pressed) return;
      const back = this.#back ?? (() => this.rating.steps.goTo(this.rating.steps.focus));
      this.#back = null;
      back();
      // The key of a label says it of the step to which it has led.
      if (pressed) return;
      event.preventDefault();
      return true;
    });
  }

  /** Whether a key is not for the choice: one of the project's that begins no category's name, or one of a range. @param {KeyboardEvent} event @param {HTMLSelectElement} choice */
  #passes(event, choice) {
    const configured = Object.values(this.rating.scheme.block.keys);
    const names = namesAlone(event);
    const name = names.find((one) => configured.includes(one));
    if (!name) return names.some((one) => one.startsWith("Shift+Arrow") || one === "Shift+End" || one === "Shift+Home");
    return ![...choice.options].some(({ value }) => value.toLowerCase().startsWith(name.toLowerCase()));
  }

  /** Whether an error's category goes with the step's label. @param {number} index */
  takesCategory(index) {
    return this.rating.scheme.block.categorised.includes(this.rating.detail(index).label);
  }

  /** @param {number} index @returns {Set<Field>} the fields that its foot has now */
  #fields(index) {
    const { block, scheme } = this.rating;
    const detail = this.rating.detail(index);
    /** @type {Set<Field>} */
    const fields = new Set();
    if (this.takesCategory(index)) fields.add("error_category");
    if (scheme.block.ask_correction && (index === this.rating.firstWrong || detail.correction)) fields.add("correction");
    if (block.allow_notes && (fields.size || detail.notes || index === this.#asked)) fields.add("notes");
    return fields;
  }

  /** Draw a step's foot as it has to be, where the step is near. @param {number} index */
  show(index) {
    const article = this.rating.steps.article(index);
    if (!article?.querySelector(".srate")) return;
    const fields = this.#fields(index);
    const detail = this.rating.detail(index);
    this.#showCategory(index, article, fields.has("error_category"));
    const found = article.querySelector(".step__foot");
    if (!FIELDS.some((field) => fields.has(field))) return found?.remove();
    const foot = found ?? this.#made(index);
    for (const field of FIELDS) {
      const part = foot?.querySelector(`[data-field="${field}"]`);
      const control = part?.querySelector("textarea");
      if (!(part instanceof HTMLElement) || !control) continue;
      part.hidden = !fields.has(field);
      if (control.value !== (detail[field] ?? "")) control.value = detail[field] ?? "";
      control.disabled = this.rating.task.isReadOnly;
    }
    const wrong = this.rating.firstWrong;
    const misplaced = foot?.querySelector("[data-misplaced]");
    if (!(misplaced instanceof HTMLElement)) return;
    misplaced.hidden = !detail.correction || index === wrong;
    const now = wrong < 0 ? "No step is wrong now." : `Step ${wrong} is the first wrong step now.`;
    misplaced.textContent = `${now} A correction stands there alone: move or remove this text.`;
  }

  /** Beside the labels, where it is seen with them. @param {number} index @param {HTMLElement} article @param {boolean} isAsked */
  #showCategory(index, article, isAsked) {
    const found = article.querySelector(".srate__category");
    if (!isAsked) return found?.remove();
    const part = found ?? copyOfPart(this.rating.scheme, "category");
    if (!found) article.querySelector(".srate fieldset")?.after(part);
    const choice = part.querySelector("select");
    if (!choice) return;
    const among = this.#stepsAt(index);
    choice.ariaLabel = `Error category of ${stepsInWords(among)}`;
    const said = /** @type {HTMLElement} */ (part.querySelector("[data-among]"));
    said.hidden = among.length < 2;
    said.textContent = `for ${among.length} steps`;
    choice.value = this.rating.detail(index).error_category ?? "";
    choice.title = choice.value;
    choice.disabled = this.rating.task.isReadOnly;
  }

  /** @param {number} index */
  #made(index) {
    const foot = this.rating.steps.foot(index);
    const part = copyOfPart(this.rating.scheme, "foot");
    for (const field of FIELDS) {
      const id = `${field}-${index}`;
      const box = part.querySelector(`[data-field="${field}"]`);
      box?.querySelector("label")?.setAttribute("for", id);
      box?.querySelector("textarea")?.setAttribute("id", id);
    }
    foot?.append(part);
    return foot;
  }

  /** Go to a field of a step's foot. @param {number} index @param {Field} field @param {() => void} back where the annotator goes from there @param {number[]} [among] the steps that get a category together @returns {boolean} false where it has none */
  open(index, field, back, among = []) {
    if (field === "notes" && this.rating.block.allow_notes) this.#asked = index;
    this.show(index);
    const part = this.rating.steps.article(index)?.querySelector(`[data-field="${field}"]`);
    const control = part?.querySelector("select, textarea");
    if (!(control instanceof HTMLElement) || !(part instanceof HTMLElement) || part.hidden) return false;
    this.#back = back;
    this.#askAmong(index, among);
    control.focus({ preventScroll: true });
    // With its labels, where it stands beside them.
    (control.closest(".srate") ?? control).scrollIntoView({ block: "nearest" });
    return true;
  }

  /** @param {number} at @param {number[]} steps */
  #askAmong(at, steps) {
    const before = this.#among.at;
    this.#among = { at, steps };
    for (const index of new Set([before, at])) if (index >= 0) this.show(index);
  }

  /** The steps to which the category goes that is chosen at a step. @param {number} index */
  #stepsAt(index) {
    const { at, steps } = this.#among;
    return index === at && steps.length ? steps : [index];
  }

  /** @param {HTMLSelectElement | HTMLTextAreaElement} control */
  #keep(control) {
    const index = Number(control.closest("article")?.id.slice(1));
    const field = /** @type {HTMLElement | null} */ (control.closest("[data-field]"))?.dataset.field;
    if (!field) return;
    const steps = field === "error_category" ? this.#stepsAt(index) : [index];
    this.rating.say(new Map(steps.map((one) => [one, { ...this.rating.detail(one), [field]: control.value }])));
  }
}

/** "step 3", "steps 1 to 3", "steps 0, 1 and 3". @param {number[]} indexes in order @returns {string} */
function stepsInWords(indexes) {
  const [first, last] = [indexes[0] ?? 0, indexes.at(-1) ?? 0];
  if (indexes.length < 2) return `step ${first}`;
  if (indexes.length > 2 && last - first === indexes.length - 1) return `steps ${first} to ${last}`;
  return `steps ${indexes.slice(0, -1).join(", ")} and ${last}`;
}

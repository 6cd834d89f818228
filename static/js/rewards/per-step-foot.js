/** What is said of a step beside its label, in its foot: the error's category, a note, what the agent should have done. */

import { on } from "../events.js";
import { copyOfPart } from "./per-step-parts.js";

/** @import { PerStep } from "./per-step.js" */
/** @typedef {"error_category" | "notes" | "correction"} Field */

/** @type {Field[]} */
const FIELDS = ["error_category", "notes", "correction"];

export class StepFeet {
  /** The step whose foot was asked for, and where the annotator was then. */
  #asked = -1;
  #from = -1;

  /** @param {PerStep} rating */
  constructor(rating) {
    this.rating = rating;
    on("input", ".srate__foot textarea", (event, text) => this.#keep(/** @type {HTMLTextAreaElement} */ (text)));
    on("change", ".srate__foot select", (event, choice) => this.#keep(/** @type {HTMLSelectElement} */ (choice)));
    on("keydown", ".srate__foot", (event) => {
      const isEnd = event.key === "Enter" && (event.ctrlKey || event.target instanceof HTMLSelectElement) && !event.shiftKey;
      if (event.key !== "Escape" && !isEnd) return;
      event.preventDefault();
      this.rating.steps.goTo(this.#from >= 0 ? this.#from : this.rating.steps.focus);
      this.#from = -1;
      return true;
    });
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
    const found = article.querySelector(".step__foot");
    if (!fields.size) return found?.remove();
    const foot = found ?? this.#made(index);
    const detail = this.rating.detail(index);
    for (const field of FIELDS) {
      const part = foot?.querySelector(`[data-field="${field}"]`);
      const control = part?.querySelector("select, textarea");
      if (!(part instanceof HTMLElement) || !(control instanceof HTMLSelectElement || control instanceof HTMLTextAreaElement)) continue;
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

  /** @param {number} index */
  #made(index) {
    const foot = this.rating.steps.foot(index);
    const part = copyOfPart(this.rating.scheme, "foot");
    for (const field of FIELDS) {
      const id = `${field}-${index}`;
      const box = part.querySelector(`[data-field="${field}"]`);
      box?.querySelector("label")?.setAttribute("for", id);
      box?.querySelector("select, textarea")?.setAttribute("id", id);
    }
    foot?.append(part);
    return foot;
  }

  /** Go to a field of a step's foot. @param {number} index @param {Field} field @param {number} from where to go back to @returns {boolean} false where it has none */
  open(index, field, from) {
    if (field === "notes" && this.rating.block.allow_notes) this.#asked = index;
    this.show(index);
    const part = this.rating.steps.article(index)?.querySelector(`[data-field="${field}"]`);
    const control = part?.querySelector("select, textarea");
    if (!(control instanceof HTMLElement) || !(part instanceof HTMLElement) || part.hidden) return false;
    this.#from = from;
    control.focus({ preventScroll: true });
    control.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** @param {HTMLSelectElement | HTMLTextAreaElement} control */
  #keep(control) {
    const index = Number(control.closest("article")?.id.slice(1));
    const field = /** @type {HTMLElement | null} */ (control.closest("[data-field]"))?.dataset.field;
    if (field) this.rating.say(new Map([[index, { ...this.rating.detail(index), [field]: control.value }]]));
  }
}

/**
 * The form of one comment, new or edited: shows what is kept of it, says what is missing, and holds the editor of a
 * suggestion. It decides nothing about where it stands, and saves nothing.
 */

import { linesIn } from "./comment-parts.js";
import { stepOfLines } from "../line-links.js";
import { asTyped } from "../shown-text.js";
import { one } from "../task/dom.js";
import { exactText, smallDiff } from "./suggestion.js";

/** @typedef {import("../task/task.js").Work} Task */
/** @typedef {import("./comment-rules.js").Draft} Draft */
/** @typedef {import("./comment-rules.js").Faults} Faults */

export class CommentForm {
  /** What the suggestion began with; null until it came. @type {string | null} */ #original = null;

  /**
   * @param {Task} task
   * @param {HTMLFormElement} root a clone of the template's form
   * @param {Draft} draft
   * @param {boolean} isNew
   */
  constructor(task, root, draft, isNew) {
    this.task = task;
    this.root = root;
    this.draft = draft;
    root.dataset.comment = draft.id;
    for (const part of root.querySelectorAll("[id]")) part.id += `-${draft.id}`;
    for (const label of root.querySelectorAll("label[for]")) label.setAttribute("for", `${label.getAttribute("for")}-${draft.id}`);
    for (const part of root.querySelectorAll("[aria-describedby]")) {
      part.setAttribute("aria-describedby", (part.getAttribute("aria-describedby") ?? "").replace(/\S+/g, `$&-${draft.id}`));
    }
    this.word = isNew ? "New comment" : "Edit comment";
    this.#part("[data-title]").textContent = this.word;
    this.comment.value = draft.comment;
    for (const radio of this.#radios()) radio.checked = draft[/** @type {"category"} */ (radio.name)] === radio.value;
    if (this.unsure) this.unsure.checked = Boolean(draft.unsure);
    this.#rememberChoices();
    this.showPlace();
    if (draft.subject_type) for (const part of root.querySelectorAll("[data-of-lines]")) part.remove();
    else if (draft.suggestion !== undefined && this.code) this.#openEditor(draft.suggestion);
  }

  get comment() {
    return /** @type {HTMLTextAreaElement} */ (this.root.elements.namedItem("comment"));
  }

  /** The editor of the suggestion; null in projects without. */
  get code() {
    return /** @type {HTMLTextAreaElement | null} */ (this.root.elements.namedItem("suggestion"));
  }

  /** The tick of who is not sure; null in projects without. */
  get unsure() {
    return /** @type {HTMLInputElement | null} */ (this.root.elements.namedItem("unsure"));
  }

  get isSuggesting() {
    return this.code !== null && !this.draft.subject_type && !this.#part("[data-editor]").hidden;
  }

  /** @param {string} selector */
  #part(selector) {
    return /** @type {HTMLElement} */ (this.root.querySelector(selector));
  }

  #radios() {
    return /** @type {NodeListOf<HTMLInputElement>} */ (this.root.querySelectorAll("input[type=radio]"));
  }

  /** So that a second click on an optional choice can take it back. */
  #rememberChoices() {
    for (const radio of this.#radios()) radio.dataset.was = String(radio.checked);
  }

  /** Take an optional choice back that was made before this click. @param {HTMLInputElement} radio */
  unchoose(radio) {
    const isOptional = !radio.closest("[aria-required]");
    if (isOptional && radio.dataset.was === "true") radio.checked = false;
    this.#rememberChoices();
  }

  /** What the form says now, as a draft. @returns {Draft} */
  read() {
    const { id, file, side, line_start, line_end, numbering, subject_type } = this.draft;
    /** @param {string} name */
    const chosen = (name) => [...this.#radios()].find((radio) => radio.name === name && radio.checked)?.value;
    this.draft = { id, file, side, line_start, line_end, comment: this.comment.value };
    if (numbering) this.draft.numbering = numbering;
    if (subject_type) this.draft.subject_type = subject_type;
    const category = chosen("category");
    const severity = chosen("severity");
    if (category) this.draft.category = category;
    if (severity) this.draft.severity = severity;
    if (this.isSuggesting && this.code) this.draft.suggestion = this.code.value;
    if (this.unsure?.checked) this.draft.unsure = true;
    return this.draft;
  }

  /** The draft as it is saved: without a suggestion that changes nothing. */
  finished() {
    const { closed, suggestion, ...rest } = this.read();
    return suggestion === undefined || suggestion === this.#original ? rest : { ...rest, suggestion };
  }

  showPlace() {
    const { file, side, subject_type } = this.draft;
    this.#part("[data-place]").textContent = [file, linesIn(this.draft)].filter(Boolean).join(", ");
    const sideWords = side === "old" || subject_type ? "" : "new ";
    this.root.ariaLabel = [this.word, file, `${sideWords}${linesIn(this.draft, " to ")}`].filter(Boolean).join(", ");
    const title = this.root.querySelector("[data-editor-title]");
    if (title) title.textContent = `Suggested replacement for ${linesIn(this.draft)}`;
    this.#showStep();
  }

  /** Where steps are judged, too, the step that wrote the lines can be marked. */
  #showStep() {
    const link = /** @type {HTMLAnchorElement | null} */ (this.root.querySelector("[data-mark-step]"));
    if (!link) return;
    const { file, side, line_start, line_end, subject_type } = this.draft;
    if (subject_type) return;
    const { files, schemes } = this.task.data;
    const article = document.getElementById(`f${files.find(({ path }) => path === file)?.index}`);
    const isAsked = article !== null && schemes.some(({ target }) => target === "agentic_steps");
    const found = isAsked ? stepOfLines(article, side, line_start, line_end) : null;
    link.hidden = !found;
    if (!found) return;
    link.href = found.address;
    link.title = found.sentence;
    one("span", link).textContent = `Mark step ${found.step}`;
  }

  /** The range became another one: a suggestion that nobody touched follows it. @param {number} start @param {number} end */
  async move(start, end) {
    const wasUntouched = this.isSuggesting && this.code?.value === this.#original;
    this.draft.line_start = start;
    this.draft.line_end = end;
    this.showPlace();
    if (!this.isSuggesting) return;
    this.#original = null;
    await this.#askForLines();
    if (wasUntouched && this.#original !== null) this.setCode(this.#original);
    else this.showCode();
  }

  sayKept() {
    const line = this.root.querySelector("[data-kept]");
    if (line && !line.textContent) line.textContent = "Draft kept on this task";
  }

  /** @param {Faults} faults @param {boolean} [moves] puts the focus on the first field that has one */
  showFaults(faults, moves = false) {
    for (const name of /** @type {const} */ (["range", "category", "severity", "comment", "suggestion"])) {
      const line = document.getElementById(`${name}-error-${this.draft.id}`);
      const text = line?.querySelector("span");
      if (!line || !text) continue;
      text.textContent = faults[name] ?? "";
      line.hidden = !faults[name];
      const control = name === "comment" ? this.comment : this.root.querySelector(`[data-choice="${name}"]`);
      if (faults[name]) control?.setAttribute("aria-invalid", "true");
      else control?.removeAttribute("aria-invalid");
    }
    const first = this.root.querySelector("[aria-invalid]") ?? (faults.range || faults.suggestion ? this.comment : null);
    if (moves && first) /** @type {HTMLElement} */ (first.querySelector("input:checked, input") ?? first).focus();
  }

  /** @param {number} [wait] milliseconds until the page is moved where the form is out of sight */
  focus(wait = 0) {
    const radio = /** @type {HTMLElement | null} */ (this.root.querySelector("input:checked, input"));
    (this.comment.value || !radio ? this.comment : radio).focus({ preventScroll: true });
    const show = () => this.root.scrollIntoView({ block: "nearest" });
    if (wait) setTimeout(show, wait);
    else show();
  }

  /* The suggestion ------------------------------------------------------------------------------------ */

  /** Open the editor with the lines as they are. */
  async suggest() {
    const button = this.#part("[data-suggest]");
    button.ariaBusy = "true";
    await this.#askForLines();
    button.ariaBusy = null;
    if (this.#original === null) return false;
    this.#openEditor(this.#original);
    this.code?.focus();
    return true;
  }

  /** @param {string} text */
  #openEditor(text) {
    this.#part("[data-suggest]").hidden = true;
    this.#part("[data-editor]").hidden = false;
    this.setCode(text);
    if (this.#original === null) void this.#askForLines().then(() => this.showCode());
  }

  unsuggest() {
    this.#part("[data-suggest]").hidden = false;
    this.#part("[data-editor]").hidden = true;
    this.#part("[data-hint]").textContent = "";
    this.#part("[data-suggest]").focus();
  }

  async reset() {
    if (this.#original === null) await this.#askForLines();
    if (this.#original !== null) this.setCode(this.#original);
    this.code?.focus();
  }

  async #askForLines() {
    const asked = `${this.draft.line_start}-${this.draft.line_end}`;
    const { text, error } = await exactText(this.task, this.draft);
    if (asked !== `${this.draft.line_start}-${this.draft.line_end}`) return;
    this.#original = text && asTyped(text);
    this.showFaults(error ? { suggestion: error } : {});
  }

  /** @param {string} text */
  setCode(text) {
    if (this.code) this.code.value = text;
    this.showCode();
  }

  /** Numbers beside the code, a line about what it means, and the preview where that is open. */
  showCode() {
    if (!this.code || this.draft.subject_type) return;
    const text = this.code.value;
    const { line_start } = this.draft;
    const count = text.split("\n").length;
    this.code.rows = Math.max(count, 2);
    this.#part(".editor__nums").textContent = Array.from({ length: count }, (_, at) => line_start + at).join("\n");
    const same = text === this.#original ? "No change yet. Without one, no suggestion is saved." : "";
    this.#part("[data-hint]").textContent = text === "" && this.isSuggesting ? "Empty: the lines go." : same;
    const diff = this.#part("[data-diff]");
    if (!diff.hidden) diff.replaceChildren(smallDiff(this.#original, text, line_start));
  }

  togglePreview() {
    const diff = this.#part("[data-diff]");
    const isOn = diff.hidden;
    diff.hidden = !isOn;
    if (this.code) this.code.hidden = isOn;
    this.#part(".editor__nums").hidden = isOn;
    this.#part("[data-preview]").setAttribute("aria-pressed", String(isOn));
    this.showCode();
  }
}

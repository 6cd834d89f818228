/**
 * An annotation that was submitted, as the modules of the schemes see it: its answers, and nothing to write. They draw it
 * as they drew it for its author.
 */

import { copyOf, one } from "./dom.js";
import { send } from "./http.js";
import { goToPlace } from "./places.js";

/** @import { File, Mounted, Place, Scheme, Work } from "./task.js" */
/**
 * @typedef {object} ReadData  What the server says in #task-data
 * @property {string} annotator
 * @property {boolean} is_own
 * @property {string} api
 * @property {string} lines where the API has the exact text of lines, below its address
 * @property {Record<string, any>} answers the result of each scheme
 * @property {Record<string, any>} [before] those of the version that was returned
 * @property {"files" | "steps" | "guidelines" | "record"} tab
 * @property {{ files: string, steps: string }} urls
 * @property {Scheme[]} schemes
 * @property {number} steps  how many the trace has
 * @property {File[]} files
 */

const TOAST_MS = 6_000;

/** @implements {Work} */
export class Reading {
  isReadOnly = true;
  isReading = true;

  /** @param {ReadData} data */
  constructor(data) {
    this.data = /** @type {ReadData & { tab: "files" | "steps" | "guidelines" }} */ (data);
    this.linesPath = data.lines;
  }

  /** @param {string} name */
  answers(name) {
    return this.data.answers[name];
  }

  /** What a page keeps while somebody works is not part of what was submitted. @returns {undefined} */
  kept() {
    return undefined;
  }

  change() {
    return false;
  }

  keep() {
    return false;
  }

  refresh() {}

  now() {
    return new Date();
  }

  onModeChange() {}

  onRefresh() {}

  /** Say a sentence to people who do not see the page. @param {string} sentence */
  announce(sentence) {
    one("[data-announce]").textContent = sentence;
  }

  /** Say a sentence for a while. @param {string} sentence */
  toast(sentence) {
    const toast = copyOf("toast");
    one("span", toast).textContent = sentence;
    one("#toasts").append(toast);
    setTimeout(() => toast.remove(), TOAST_MS);
  }

  /** @param {string} method @param {string} path below the API's address */
  api(method, path) {
    return send(method, this.data.api + path);
  }

  /** @param {number | Place} place */
  goTo(place) {
    return goToPlace(this.data, place);
  }
}

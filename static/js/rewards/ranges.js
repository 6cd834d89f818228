/** A set of whole numbers that is written shortly: "0-12,15". */

export class Ranges {
  /** @type {Set<number>} */ #numbers = new Set();

  /** @param {unknown} text as `text` says it; anything else is an empty set */
  constructor(text) {
    if (typeof text !== "string") return;
    for (const range of text.split(",")) {
      const [first = NaN, last = first] = range.split("-").map(Number);
      if (last - first < 1e5) for (let number = first; number <= last; number += 1) this.#numbers.add(number);
    }
  }

  get size() {
    return this.#numbers.size;
  }

  /** @param {number} number @returns {boolean} whether it is new */
  add(number) {
    const before = this.size;
    this.#numbers.add(number);
    return this.size > before;
  }

  /** @param {number} number */
  has(number) {
    return this.#numbers.has(number);
  }

  get text() {
    /** @type {[number, number][]} */
    const ranges = [];
    for (const number of [...this.#numbers].sort((one, other) => one - other)) {
      const last = ranges.at(-1);
      if (last && last[1] === number - 1) last[1] = number;
      else ranges.push([number, number]);
    }
    return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",");
  }
}

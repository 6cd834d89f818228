/** The cumulative score while steps are rated: a number and a small curve in the top bar. */

import { one } from "../task/dom.js";
import { signed } from "./per-step-parts.js";

const [WIDTH, HEIGHT, EDGE] = [132, 32, 4];
/** So many values are read out, and so many open steps drawn as dots. */
const MOST_READ = 50;

export class RunningScore {
  #value = document.createElement("span");
  #curve = svg("svg", { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });

  /** @param {number} count of the trace's steps */
  constructor(count) {
    this.count = count;
    const words = document.createElement("span");
    words.className = "stat";
    words.textContent = "Running score";
    this.#value.className = "score__v";
    const place = one("[data-score]");
    place.append(words, this.#value, this.#curve);
    place.hidden = false;
  }

  /** @param {(number | null)[]} scores of each step; null where it is not rated */
  show(scores) {
    /** @type {[number, number][]} */
    const sums = [];
    const scale = 10 ** Math.max(0, ...scores.map((score) => decimals(score ?? 0)));
    let sum = 0;
    scores.forEach((score, index) => {
      if (score === null) return;
      sum += Math.round(score * scale);
      sums.push([index, sum / scale]);
    });
    this.#value.textContent = sums.length ? signed(sum / scale) : "none yet";
    this.#draw(sums, scores);
  }

  /** @param {[number, number][]} sums by step @param {(number | null)[]} scores */
  #draw(sums, scores) {
    const values = sums.map(([, value]) => value);
    const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
    /** @param {number} index */
    const x = (index) => (EDGE + (index * (WIDTH - 2 * EDGE)) / Math.max(this.count - 1, 1)).toFixed(1);
    /** @param {number} value */
    const y = (value) => (HEIGHT - EDGE - ((value - low) * (HEIGHT - 2 * EDGE)) / (high - low || 1)).toFixed(1);
    const parts = [svg("line", { class: "grid", x1: "0", x2: `${WIDTH}`, y1: y(0), y2: y(0) })];
    const last = sums.at(-1);
    if (last) {
      parts.push(svg("polyline", { class: "l1", points: sums.map(([index, value]) => `${x(index)},${y(value)}`).join(" ") }));
      parts.push(svg("circle", { class: "f1", cx: x(last[0]), cy: y(last[1]), r: "3.5" }));
    }
    if (this.count <= MOST_READ) {
      scores.forEach((score, index) => {
        if (score === null) parts.push(svg("circle", { class: "f4", cx: x(index), cy: y(0), r: "1.5" }));
      });
    }
    this.#curve.replaceChildren(...parts);
    const spoken = values.length <= MOST_READ ? values.join(", ") : `lowest ${low}, highest ${high}, now ${values.at(-1)}`;
    this.#curve.setAttribute("aria-label", `Running score by step: ${spoken || "none yet"}`);
  }
}

/** How many digits stand behind the point. @param {number} score */
function decimals(score) {
  return String(score).split(".")[1]?.length ?? 0;
}

/** @param {string} name @param {Record<string, string>} attributes */
function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

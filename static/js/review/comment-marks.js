/** Where comments are found again: counts in the rail, in the tree and in the heads of files, and lists with links. */

import { choiceOf, cloneOf, counted, linesIn, nameOf } from "./comment-parts.js";
import { element, visible } from "../shown-text.js";

/** @typedef {import("./comment-rules.js").Draft & { isNew: boolean, isDraft: boolean }} Entry isNew: nothing of it is saved; isDraft: not all of it is */

export class CommentMarks {
  // This runs with every keystroke on pages of 150 files: only what changed is drawn.
  /** What is shown beside each file that has comments, or had. @type {Map<string, string>} */ #marked = new Map();
  /** The items of each list by what they say. @type {WeakMap<Element, Map<string, HTMLElement>>} */ #items = new WeakMap();

  /** @param {import("../task/task.js").Work} task @param {string} name of the scheme @param {DocumentFragment | null} template */
  constructor(task, name, template) {
    this.files = task.data.files;
    this.isReading = task.isReading;
    this.name = name;
    this.template = template;
    // Where an annotation is read its comments stand below the files already.
    if (!template || document.querySelector(".rail [data-my-comments]")) return;
    document.querySelector(".toolbar .push")?.prepend(cloneOf(template, "button"));
    document.querySelector("[data-evidence]")?.append(cloneOf(template, "list"));
  }

  /** @param {Entry[]} entries in the order of the page */
  show(entries) {
    const saved = entries.filter(({ isNew }) => !isNew).length;
    const drafts = entries.filter(({ isDraft }) => isDraft).length;
    const count = document.querySelector(`[data-count="${this.name}"]`);
    if (count) count.textContent = this.isReading ? String(saved) : `${saved} saved${drafts ? `, ${counted(drafts, "draft")}` : ""}`;
    if (!this.template) return;
    const total = document.querySelector(".mine__open .badge");
    if (total) total.textContent = String(entries.length);
    const paths = new Set([...this.#marked.keys(), ...entries.map(({ file }) => file)]);
    for (const path of paths) {
      const own = entries.filter(({ file }) => file === path);
      this.#markFile(path, own.filter(({ isNew }) => !isNew).length, own.filter(({ isDraft }) => isDraft).length);
    }
    for (const list of document.querySelectorAll("[data-my-comments]")) {
      const before = this.#items.get(list);
      /** @type {Map<string, HTMLElement>} */
      const items = new Map();
      for (const entry of entries) {
        const key = JSON.stringify(entry);
        items.set(key, before?.get(key) ?? this.#newItem(entry));
      }
      this.#items.set(list, items);
      list.replaceChildren(...(items.size ? items.values() : [this.isReading ? element("li", "small muted", "No comments") : cloneOf(this.template, "none")]));
    }
  }

  /** @param {string} path @param {number} saved @param {number} drafts */
  #markFile(path, saved, drafts) {
    const shown = `${saved} ${drafts}`;
    if (this.#marked.get(path) === shown) return;
    this.#marked.set(path, shown);
    for (const { index } of this.files.filter((file) => file.path === path)) {
      for (const place of document.querySelectorAll(`[data-file="${index}"] .tree__sub, #f${index} > .file__head`)) {
        this.#mark(place, saved, drafts);
      }
    }
  }

  /** @param {Element} place @param {number} saved @param {number} drafts */
  #mark(place, saved, drafts) {
    let marker = /** @type {HTMLElement | null} */ (place.querySelector("[data-comments]"));
    if (!marker) {
      marker = cloneOf(this.template, "marker");
      if (place.matches(".file__head")) marker.classList.add("stat");
      place.insertBefore(marker, place.querySelector(":scope > .check"));
    }
    marker.hidden = !saved && !drafts;
    const [finished, written] = /** @type {[HTMLElement, HTMLElement]} */ (/** @type {unknown} */ (marker.children));
    const icon = /** @type {Element} */ (finished.firstElementChild);
    finished.hidden = !saved;
    finished.replaceChildren(icon, String(saved), element("span", "vh", saved === 1 ? " comment" : " comments"));
    written.textContent = drafts ? counted(drafts, "draft") : "";
  }

  /** @param {Entry} entry */
  #newItem({ id, file, side, line_start, line_end, subject_type, category, comment, isDraft }) {
    const item = cloneOf(this.template, "item");
    const link = /** @type {HTMLAnchorElement} */ (item.querySelector("a"));
    // Taken one by one: the minifier puts a pattern of three before the name that it reads.
    const parts = /** @type {HTMLCollectionOf<HTMLElement>} */ (link.children);
    const dot = /** @type {HTMLElement} */ (parts[0]);
    const text = /** @type {HTMLElement} */ (parts[1]);
    const place = /** @type {HTMLElement} */ (parts[2]);
    if (category) {
      dot.dataset.c = `${this.name}.${category}`;
      dot.role = "img";
      dot.ariaLabel = choiceOf(this.template, "category", category)?.textContent ?? category;
    }
    dot.classList.toggle("dot--ring", isDraft);
    text.append(...(isDraft ? [element("span", "warn-t", "Draft ")] : []), ...visible(comment.trim().slice(0, 200) || "…"));
    place.textContent = subject_type ? nameOf(file) || "the change" : `${nameOf(file)} ${linesIn({ side, line_start, line_end }).replace(/lines? /, "")}`;
    link.dataset.comment = id;
    const index = this.files.find(({ path }) => path === file)?.index;
    link.hash = subject_type === "change" ? "change-comments" : `f${index}${subject_type ? "" : `-${side}-${line_end}`}`;
    return item;
  }
}

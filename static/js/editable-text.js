/**
 * A text that people edit in the page, line by line, with an undo history. The page never edits it by itself: each
 * wish of the browser (`beforeinput`) becomes one replacement in the text, and the lines are drawn from it again.
 * So the lines may carry colours and gaps, and still hold the text alone.
 */

/** @typedef {{ start: number, removed: string, inserted: string, at: number }} Change */

const TOGETHER_MS = 600;
const HISTORY = 500;

export class EditableText {
  /** @type {Change[]} */ #done = [];
  /** @type {Change[]} */ #undone = [];
  /** @type {string} */ #value;
  #composing = false;

  /**
   * @param {HTMLElement} root  holds one element for each line
   * @param {string} value
   * @param {(value: string) => void} draw  puts the lines into the root
   */
  constructor(root, value, draw) {
    this.root = root;
    this.draw = draw;
    this.#value = value;
    root.addEventListener("beforeinput", (event) => this.#onBeforeInput(event));
    root.addEventListener("compositionstart", () => (this.#composing = true));
    root.addEventListener("compositionend", () => this.#onCompositionEnd());
    draw(value);
  }

  /** Whether this browser says which part of the text it wants to change. */
  static get isSupported() {
    return "getTargetRanges" in InputEvent.prototype;
  }

  get value() {
    return this.#value;
  }

  /**
   * Where the selection begins and ends in the text; null while it is elsewhere.
   * @returns {{ start: number, end: number } | null}
   */
  get selection() {
    const selection = getSelection();
    if (!selection || selection.rangeCount === 0) return null;
    const range = selection.getRangeAt(0);
    return this.root.contains(range.commonAncestorContainer) ? this.#offsets(range) : null;
  }

  /** @param {number} start @param {number} [end] */
  select(start, end = start) {
    const range = document.createRange();
    range.setStart(...this.#place(start));
    range.setEnd(...this.#place(end));
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
  }

  /**
   * Put a text in the place of another, and the caret behind it.
   * @param {number} start @param {number} end @param {string} inserted
   */
  replace(start, end, inserted) {
    const removed = this.#value.slice(start, end);
    if (removed === inserted) return;
    const last = this.#done[this.#done.length - 1];
    const now = performance.now();
    const goesOn = last && !removed && inserted.length === 1 && inserted !== "\n" && now - last.at < TOGETHER_MS;
    if (last && goesOn && last.start + last.inserted.length === start) {
      last.inserted += inserted;
      last.at = now;
    } else {
      this.#done.push({ start, removed, inserted, at: now });
      if (this.#done.length > HISTORY) this.#done.shift();
    }
    this.#undone = [];
    this.#put(start, removed.length, inserted);
    if (document.activeElement === this.root) this.select(start + inserted.length);
  }

  undo() {
    const change = this.#done.pop();
    if (!change) return;
    this.#undone.push(change);
    this.#put(change.start, change.inserted.length, change.removed);
    this.select(change.start, change.start + change.removed.length);
  }

  redo() {
    const change = this.#undone.pop();
    if (!change) return;
    this.#done.push(change);
    this.#put(change.start, change.removed.length, change.inserted);
    this.select(change.start + change.inserted.length);
  }

  /** @param {number} start @param {number} length @param {string} inserted */
  #put(start, length, inserted) {
    this.#value = this.#value.slice(0, start) + inserted + this.#value.slice(start + length);
    this.draw(this.#value);
    this.root.dispatchEvent(new Event("change", { bubbles: true }));
  }

  /** @param {InputEvent} event */
  #onBeforeInput(event) {
    // What an input method composes cannot be refused; it is read from the page when it is finished.
    if (this.#composing || event.isComposing || event.inputType === "insertCompositionText") return;
    event.preventDefault();
    if (event.inputType === "historyUndo") return this.undo();
    if (event.inputType === "historyRedo") return this.redo();
    const target = event.getTargetRanges()[0];
    let { start, end } = (target && this.#offsets(target)) ?? this.selection ?? { start: 0, end: 0 };
    if (event.inputType.startsWith("delete")) {
      if (start === end && event.inputType.endsWith("Backward")) start = Math.max(0, start - 1);
      else if (start === end) end = Math.min(this.#value.length, end + 1);
      this.replace(start, end, "");
    } else if (event.inputType === "insertParagraph" || event.inputType === "insertLineBreak") {
      const line = this.#value.slice(this.#value.lastIndexOf("\n", start - 1) + 1, start);
      this.replace(start, end, `\n${/^ */.exec(line)?.[0] ?? ""}`);
    } else if (event.inputType.startsWith("insert")) {
      const text = event.data ?? event.dataTransfer?.getData("text/plain") ?? "";
      this.replace(start, end, text.replaceAll(/\r\n?/g, "\n"));
    }
  }

  #onCompositionEnd() {
    this.#composing = false;
    const caret = this.selection?.end ?? 0;
    const now = [...this.root.children].map((line) => line.textContent ?? "").join("\n");
    let start = 0;
    while (start < now.length && now[start] === this.#value[start]) start += 1;
    let tail = 0;
    while (tail < now.length - start && tail < this.#value.length - start && now.at(-1 - tail) === this.#value.at(-1 - tail)) tail += 1;
    this.replace(start, this.#value.length - tail, now.slice(start, now.length - tail));
    this.draw(this.#value);
    this.select(caret);
  }

  /** @param {AbstractRange} range */
  #offsets(range) {
    return {
      start: this.#offset(range.startContainer, range.startOffset),
      end: this.#offset(range.endContainer, range.endOffset),
    };
  }

  /** @param {Node} node @param {number} offset */
  #offset(node, offset) {
    const lines = [...this.root.children];
    const index = node === this.root ? offset : lines.findIndex((line) => line.contains(node));
    const before = lines.slice(0, index).reduce((length, line) => length + (line.textContent ?? "").length + 1, 0);
    if (node === this.root) return Math.min(before, this.#value.length);
    const range = document.createRange();
    range.selectNodeContents(/** @type {Element} */ (lines[index]));
    range.setEnd(node, offset);
    return before + range.toString().length;
  }

  /**
   * @param {number} offset
   * @returns {[Node, number]}
   */
  #place(offset) {
    let left = offset;
    for (const line of this.root.children) {
      const length = (line.textContent ?? "").length;
      if (left <= length) {
        const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
          const size = (text.nodeValue ?? "").length;
          if (left <= size) return [text, left];
          left -= size;
        }
        return [line.lastElementChild ?? line, 0];
      }
      left -= length + 1;
    }
    const last = this.root.lastElementChild ?? this.root;
    return [last, last.childNodes.length];
  }
}

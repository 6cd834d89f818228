/**
 * The lines that a comment will be about: chosen by a click, a drag, or Shift with a click or an arrow, on one side of
 * one file; and the rows that show them. What becomes of the chosen lines is decided elsewhere.
 */

import { key, on } from "../events.js";

/** @typedef {"old" | "new"} Side */
/** @typedef {{ article: HTMLElement, side: Side, start: number, end: number }} Lines */
/** @typedef {{ article: HTMLElement, side: Side, anchor: number, head: number }} Choice a drag or Shift moves its head */

const LINE = "button[data-side]";
const CELL = `.ln:has(> ${LINE})`;
const CODE = `tr:has(${LINE}) > .code`;
/** A pointer that moved so many pixels has dragged. */
const DRAGGED = 4;

/** @param {Choice} choice @returns {Lines} */
export function linesOf({ article, side, anchor, head }) {
  return { article, side, start: Math.min(anchor, head), end: Math.max(anchor, head) };
}

/** The number of a row on a side, 0 where it has none. @param {Element | null | undefined} row @param {Side} side */
export function numberOf(row, side) {
  return row instanceof HTMLElement ? Number(row.dataset[side] ?? 0) : 0;
}

/** What a comment says of its numbers where they do not count lines of the file. @param {HTMLElement} article @returns {{ numbering?: "excerpt" }} */
export function numberingOf(article) {
  return article.querySelector(".diff--excerpt") ? { numbering: "excerpt" } : {};
}

/** @param {HTMLElement} article @param {Side} side @param {number} line @returns {HTMLTableRowElement | null} */
export function rowOf(article, side, line) {
  return article.querySelector(`tr[data-${side}="${line}"]`);
}

/** The row before or after a line on its side, over lines of the other side. @param {HTMLElement} article @param {Side} side @param {number} line @param {1 | -1} direction */
export function neighbour(article, side, line, direction) {
  const rows = [...article.querySelectorAll(`tr[data-${side}]`)];
  return rows[rows.findIndex((row) => numberOf(row, side) === line) + direction] ?? null;
}

/** The control of a line; of an unchanged one in a single column, that of its new side. @param {Element | null} row @param {Side} side @returns {HTMLElement | null} */
export function buttonOf(row, side) {
  return row?.querySelector(`${LINE}[data-side="${side}"]`) ?? row?.querySelector(LINE) ?? null;
}

/** The control of the line whose code this is. @param {HTMLElement} code @returns {HTMLElement | null} */
function buttonBeside(code) {
  const isSplit = code.closest(".diff--split") !== null;
  return (isSplit ? code.previousElementSibling?.previousElementSibling : code.parentElement)?.querySelector(LINE) ?? null;
}

/** @param {Lines} lines @returns {HTMLTableRowElement[]} */
export function rowsOf({ article, side, start, end }) {
  const rows = /** @type {NodeListOf<HTMLTableRowElement>} */ (article.querySelectorAll(`tr[data-${side}]`));
  return [...rows].filter((row) => start <= numberOf(row, side) && numberOf(row, side) <= end);
}

/** Show these lines as chosen, and no others. @param {Lines[]} all */
export function mark(all) {
  for (const marked of document.querySelectorAll(".is-sel")) marked.classList.remove("is-sel");
  for (const lines of all) {
    for (const row of rowsOf(lines)) {
      const first = lines.side === "old" ? 0 : 3;
      const parts = row.closest(".diff--split") ? [...row.cells].slice(first, first + 3) : [row];
      for (const part of parts) part.classList.add("is-sel");
    }
  }
}

/**
 * Let people choose lines.
 * @param {object} options
 * @param {boolean} options.many whether more than one line can be chosen
 * @param {() => boolean} options.isOff
 * @param {(lines: Lines, from: Lines | null) => void} options.open they are chosen; `from` is what Shift extended
 * @param {(lines: Lines) => void} options.toggle the code of a line was clicked
 * @param {(lines: Lines) => void} options.withdraw it was clicked again, which selects a word
 * @param {(lines: Lines | null, isByKey: boolean) => void} options.show they are being chosen
 */
export function chooseLines({ many, isOff, open, toggle, withdraw, show }) {
  /** @type {Choice | null} */
  let choice = null;
  /** @type {Choice | null} */
  let last = null;
  let isDragging = false;

  /** @param {Choice | null} next */
  const set = (next, isByKey = false) => {
    choice = next;
    show(choice && linesOf(choice), isByKey);
  };
  /** @param {Choice} chosen @param {Lines | null} from */
  const take = (chosen, from = null) => {
    last = chosen;
    set(null);
    open(linesOf(chosen), from);
  };
  /** @param {Element | null | undefined} row whether it is where the choice ends */
  const isHead = (row) => choice !== null && choice.article.contains(row ?? null) && numberOf(row, choice.side) === choice.head;
  /** @param {HTMLElement} button @returns {Choice} */
  const single = (button) => {
    const line = Number(button.dataset.l);
    const article = /** @type {HTMLElement} */ (button.closest("article"));
    return { article, side: /** @type {Side} */ (button.dataset.side), anchor: line, head: line };
  };
  /** @param {HTMLElement} button */
  const chosenAt = (button) => (choice && isHead(button.closest("tr")) ? choice : single(button));

  on("click", CELL, (event, cell) => {
    const button = /** @type {HTMLElement} */ (cell.querySelector(LINE));
    if (isOff() || event.ctrlKey || event.metaKey) return;
    const line = last?.article.contains(cell) ? numberOf(cell.closest("tr"), last.side) : 0;
    if (event.shiftKey && many && last && line) take({ ...last, head: line }, linesOf(last));
    else take(event.detail ? single(button) : chosenAt(button));
    return true;
  });

  /** Where the pointer went down, and whether text was selected then: a click that ends a selection opens nothing. */
  let pressed = { x: 0, y: 0, wasSelected: false };
  const isSelected = () => getSelection()?.isCollapsed === false;
  on("pointerdown", CODE, ({ clientX, clientY }) => {
    pressed = { x: clientX, y: clientY, wasSelected: isSelected() };
  });
  on("click", CODE, (event, code) => {
    const button = buttonBeside(code);
    if (!button || isOff() || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (event.target instanceof Element && event.target.closest("a, button, summary")) return;
    const chosen = single(button);
    if (event.detail > 1) return withdraw(linesOf(chosen));
    const isDragged = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > DRAGGED;
    if (pressed.wasSelected || isDragged || isSelected()) return;
    last = chosen;
    set(null);
    toggle(linesOf(chosen));
  });

  on("keydown", LINE, (event, button) => {
    if (event.key === "Escape" && choice) {
      set(null);
      return true;
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : null;
    if (!step || !event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || !many || isOff()) return;
    event.preventDefault();
    const from = chosenAt(button);
    const row = neighbour(from.article, from.side, from.head, step);
    if (row) {
      set({ ...from, head: numberOf(row, from.side) }, true);
      buttonOf(row, from.side)?.focus({ preventScroll: true });
      row.scrollIntoView({ block: "nearest" });
    }
    return true;
  });

  on("focusin", LINE, (event, button) => {
    if (choice && !isDragging && !isHead(button.closest("tr"))) set(null);
  });

  key("c", () => {
    const button = document.activeElement?.closest(LINE) ?? document.querySelector(`tr.is-at ${LINE}`);
    if (!(button instanceof HTMLElement) || isOff()) return false;
    take(chosenAt(button));
  });

  if (!many) return;

  on("pointerdown", CELL, (event, cell) => {
    if (event.button || event.shiftKey || event.pointerType === "touch" || isOff()) return;
    isDragging = true;
    choice = single(/** @type {HTMLElement} */ (cell.querySelector(LINE)));
  });
  on("pointermove", ":root", ({ buttons, target }) => {
    if (!isDragging || !choice) return;
    if (!(buttons & 1)) return stop();
    const row = target instanceof Element ? target.closest("tr") : null;
    const line = choice.article.contains(row) ? numberOf(row, choice.side) : 0;
    if (line && line !== choice.head) set({ ...choice, head: line });
  });
  on("pointerup", ":root", () => {
    const chosen = isDragging ? choice : null;
    stop();
    if (chosen && chosen.head !== chosen.anchor) take(chosen);
  });
  on("pointercancel", ":root", stop);

  function stop() {
    if (!isDragging) return;
    isDragging = false;
    set(null);
  }
}

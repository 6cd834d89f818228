/**
 * Lines of differences: their addresses, what comes next, and one stop for Tab in each file.
 * The lines' buttons come as the review page needs them; here they are links to their line, and are named so.
 */

const BUTTONS = "button[data-side]";
/** @type {WeakMap<Element, HTMLButtonElement>} */
const tabStops = new WeakMap();

/** @typedef {{ id: string, side: string, line: number }} Place */

/**
 * The parts of "f3" and "f3-new-42"; line is 0 for the file itself.
 * @param {string} hash
 * @returns {Place | null}
 */
export function placeOf(hash) {
  const found = /^#?(?<id>[fs]\d{1,9})(?:-(?<side>old|new)-(?<line>\d{1,9}))?$/.exec(hash);
  const groups = found?.groups;
  return groups ? { id: groups.id ?? "", side: groups.side ?? "", line: Number(groups.line ?? 0) } : null;
}

/**
 * Name the buttons of lines for what they do here.
 * @param {ParentNode} scope
 * @param {HTMLElement} root the page's evidence, with the names of a comment's button and of a link's
 * @returns {NodeListOf<HTMLButtonElement>}
 */
export function nameLines(scope, { dataset }) {
  const label = dataset.commentLabel ?? dataset.linkLabel ?? "";
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (scope.querySelectorAll(BUTTONS));
  for (const button of buttons) {
    const of = button.ariaLabel?.endsWith(" of the excerpt") ? " of the excerpt" : "";
    button.ariaLabel = label.replace("{side}", button.dataset.side ?? "").replace("{line}", button.dataset.l ?? "") + of;
  }
  return buttons;
}

/** Buttons that are new on the page. @param {ParentNode} scope @param {HTMLElement} root */
export function prepareLines(scope, root) {
  for (const button of nameLines(scope, root)) {
    const file = button.closest("article");
    const isFirst = file !== null && !tabStops.get(file)?.isConnected;
    button.tabIndex = isFirst ? 0 : -1;
    if (isFirst) tabStops.set(file, button);
  }
}

/** The line that Tab comes back to. @param {HTMLButtonElement} button */
function keepTabStop(button) {
  const file = button.closest("article");
  if (!file) return;
  const before = tabStops.get(file);
  if (before) before.tabIndex = -1;
  button.tabIndex = 0;
  tabStops.set(file, button);
}

/** Mark a row as where the reader is. @param {HTMLTableRowElement} row @param {string} [side] */
export function markRow(row, side) {
  document.querySelector("tr.is-at")?.classList.remove("is-at");
  row.classList.add("is-at");
  const button = row.querySelector(side ? `${BUTTONS}[data-side="${side}"]` : BUTTONS) ?? row.querySelector(BUTTONS);
  if (button instanceof HTMLButtonElement) {
    keepTabStop(button);
    button.focus({ preventScroll: true });
  }
  row.scrollIntoView({ block: "center" });
}

/** The address of a line. @param {HTMLElement} button */
export function hashOf(button) {
  return `#${button.closest("article")?.id}-${button.dataset.side}-${button.dataset.l}`;
}

/**
 * The element of a list that comes next from where the reader is: from `at` while that is in sight, else from the
 * top of the window.
 * @param {HTMLElement[]} list in the page's order
 * @param {Element | null} at
 * @param {1 | -1} direction
 * @returns {HTMLElement | undefined}
 */
export function nextOf(list, at, direction) {
  const box = at?.getBoundingClientRect();
  if (at && box && box.bottom > 0 && box.top < innerHeight) {
    const wanted = direction > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
    const ahead = list.filter((one) => one !== at && at.compareDocumentPosition(one) & wanted);
    return direction > 0 ? ahead[0] : ahead.at(-1);
  }
  const top = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0;
  return direction > 0
    ? list.find((one) => one.getBoundingClientRect().top >= top - 1)
    : list.findLast((one) => one.getBoundingClientRect().top < top - 1);
}

/** From a line's button to the next one of its file; in two columns, of its side. @param {HTMLElement} button @param {1 | -1} direction */
export function moveByLine(button, direction) {
  const split = button.closest(".diff--split");
  const list = [...(button.closest("article")?.querySelectorAll(split ? `${BUTTONS}[data-side="${button.dataset.side}"]` : BUTTONS) ?? [])];
  const row = list[list.indexOf(button) + direction]?.closest("tr");
  if (row) markRow(row, split ? button.dataset.side : undefined);
}

/** Finding and filling the elements that the task page brings along. */

/** An element that the page must have. @param {string} selector @param {ParentNode} [root] @returns {HTMLElement} */
export function one(selector, root = document) {
  const found = root.querySelector(selector);
  if (!(found instanceof HTMLElement)) throw new Error(`The page has no ${selector}`);
  return found;
}

/** A copy of the only element of a template. @param {string} id @returns {HTMLElement} */
export function copyOf(id) {
  const template = /** @type {HTMLTemplateElement} */ (one(`#${id}`));
  return /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
}

/** Open a dialog unless it is open. @param {string} id @returns {HTMLDialogElement} */
export function show(id) {
  const dialog = /** @type {HTMLDialogElement} */ (one(`#${id}`));
  if (dialog.open) return dialog;
  dialog.showModal();
  dialog.addEventListener("close", giveCaretBack, { once: true });
  return dialog;
}

/** After a click that closes a dialog Chromium gives a text its focus back without the caret: keys write nothing. */
function giveCaretBack() {
  const text = document.activeElement;
  if (text instanceof HTMLTextAreaElement) text.setSelectionRange(text.selectionStart, text.selectionEnd);
}

/** Point an icon of the sprite at another one. @param {Element} root @param {string} name */
export function setIcon(root, name) {
  const use = root.querySelector("use");
  use?.setAttribute("href", `${use.getAttribute("href")?.split("#")[0]}#i-${name}`);
}

/** "1 change", "2 changes". @param {number} count @param {string} noun */
export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

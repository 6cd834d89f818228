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
  const text = document.activeElement;
  if (text instanceof HTMLTextAreaElement) {
    // After a click that closes a dialog Chromium gives the focus back without the caret, and keys write nothing.
    const { selectionStart, selectionEnd } = text;
    dialog.addEventListener("close", () => text.setSelectionRange(selectionStart, selectionEnd), { once: true });
  }
  dialog.showModal();
  return dialog;
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

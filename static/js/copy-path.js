/** Copying what a button names, such as a file's path. Loaded with the first press. */

/** @param {HTMLElement} button */
export async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy ?? "");
  const use = button.querySelector("use");
  const href = use?.getAttribute("href") ?? "";
  use?.setAttribute("href", `${href.split("#")[0]}#i-copy-check`);
  setTimeout(() => use?.setAttribute("href", href), 1500);
}

/**
 * Takes away a button that undoes once its time is over: `data-undo-seconds` is how long after the page came. Without
 * JavaScript the button stays, and the site says that it is too late.
 */

for (const button of document.querySelectorAll("[data-undo-seconds]"))
  if (button instanceof HTMLElement) setTimeout(() => button.remove(), 1000 * Number(button.dataset.undoSeconds));

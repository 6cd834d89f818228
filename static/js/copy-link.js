/**
 * A button that copies the text of a field, named by data-copies, and says so. Where the browser keeps the clipboard
 * to itself (a site without TLS), the text is selected instead.
 */

import { on } from "./events.js";

/** @type {NodeListOf<HTMLButtonElement>} */
const buttons = document.querySelectorAll("button[data-copies]");
for (const button of buttons) button.hidden = false;

on("click", "button[data-copies]", (_event, button) => void copy(button));

/** @param {HTMLElement} button */
async function copy(button) {
  const field = document.getElementById(button.dataset.copies ?? "");
  if (!(field instanceof HTMLInputElement)) return;
  try {
    await navigator.clipboard.writeText(field.value);
    say("Copied.");
  } catch {
    field.select();
    say("Selected: press Ctrl+C to copy it.");
  }
}

/** @param {string} sentence */
function say(sentence) {
  const place = document.querySelector("[data-copied]");
  if (place) place.textContent = sentence;
}

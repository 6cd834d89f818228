/**
 * Says in the form of a new export how large it would be, whenever something else is chosen. Without JavaScript, and
 * where no answer comes, nothing is said.
 */

import { fragmentFrom } from "./lazy-fragment.js";

const PAUSE = 400;

const place = document.querySelector("[data-estimate]");
let timer = 0;
let asked = 0;

/** @param {HTMLElement} shown @param {HTMLFormElement} form */
async function estimate(shown, form) {
  const query = new URLSearchParams();
  const format = new FormData(form).get("format");
  if (typeof format !== "string" || !format) return;
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value && (name === "format" || name.startsWith(`${format}.`))) {
      query.append(name, value);
    }
  }
  const mine = ++asked;
  const came = await fragmentFrom(`${shown.dataset.estimate ?? ""}?${query}`).catch(() => null);
  // A later choice is answered by itself.
  if (mine !== asked) return;
  shown.replaceChildren(...(came ? [came] : []));
}

const form = place?.closest("form");
if (place instanceof HTMLElement && form) {
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void estimate(place, form), PAUSE);
  };
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  void estimate(place, form);
}

/** The form of a release: what it would do is counted again a moment after each change, by a GET that changes nothing. */

import { fragmentFrom } from "./lazy-fragment.js";

const PAUSE = 300;

const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-preview]"));
const shown = document.querySelector("[data-shown]");
const button = /** @type {HTMLButtonElement | null} */ (document.querySelector("[data-release]"));
let timer = 0;
let turn = 0;

/** @param {HTMLFormElement} from the fields of the form, without its token */
function query(from) {
  const fields = [...new FormData(from)].filter(([name, value]) => typeof value === "string" && !["csrfmiddlewaretoken", "seen", "digest"].includes(name));
  return new URLSearchParams(fields.map(([name, value]) => [name, String(value)]));
}

/** @param {HTMLFormElement} from */
function showFields(from) {
  const take = new FormData(from).get("take");
  for (const row of from.querySelectorAll("[data-when]"))
    if (row instanceof HTMLElement) row.hidden = !(row.dataset.when ?? "").split(" ").includes(String(take));
  const people = from.querySelector("[data-when-named]");
  if (people instanceof HTMLElement) people.hidden = new FormData(from).get("who") !== "named";
}

/** @param {string} [page] of the list of what is taken */
async function count(page = "") {
  if (!form || !shown) return;
  const mine = ++turn;
  const asked = query(form);
  if (page) asked.set("page", page);
  const came = await fragmentFrom(`${form.dataset.preview}?${asked}`).catch(() => null);
  if (!came || mine !== turn) return;
  const isOpen = shown.querySelector("details")?.open;
  shown.replaceChildren(came);
  const details = shown.querySelector("details");
  if (details) details.open = Boolean(isOpen);
  const number = Number(shown.querySelector("[data-taken]")?.getAttribute("data-taken") ?? 0);
  if (button) {
    button.disabled = !number;
    const words = button.querySelector("span");
    if (words) words.textContent = `Release ${number.toLocaleString("en")} trace${number === 1 ? "" : "s"}`;
  }
}

function changed() {
  if (!form) return;
  showFields(form);
  if (button) button.disabled = true;
  clearTimeout(timer);
  timer = window.setTimeout(() => void count(), PAUSE);
}

form?.addEventListener("input", changed);
shown?.addEventListener("change", changed);
shown?.addEventListener("click", (event) => {
  const asked = event.target instanceof Element ? event.target.closest("[data-page-of-list]") : null;
  if (!(asked instanceof HTMLButtonElement)) return;
  event.preventDefault();
  void count(asked.value);
});
form?.querySelector("[data-draw]")?.addEventListener("click", () => {
  const seed = /** @type {HTMLInputElement | null} */ (form.querySelector("[name=seed]"));
  if (seed) seed.value = String(1 + Math.floor(Math.random() * 9999));
  changed();
});
if (form) showFields(form);

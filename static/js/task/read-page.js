/** The page of one submitted annotation: the schemes' modules draw it, and keys lead on through the list and the record. */

import { key, on } from "../events.js";
import { one } from "./dom.js";
import { Reading } from "./reading.js";

const reading = new Reading(JSON.parse(one("#task-data").textContent ?? ""));

/** @param {HTMLElement} button names the address of the record */
async function copyRecord(button) {
  try {
    const answer = await fetch(button.dataset.copyRecord ?? "", { redirect: "error" });
    if (!answer.ok) throw new Error(String(answer.status));
    await navigator.clipboard.writeText(await answer.text());
    reading.toast("The record is copied.");
    reading.announce("The record is copied.");
  } catch {
    reading.toast("The record was not copied: the site or the clipboard was not reached. Download it on the tab Record.");
  }
}

on("click", "[data-copy-record]", (_, button) => void copyRecord(button));
for (const control of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(":is(.topbar, .abar) [aria-keyshortcuts]"))) {
  key(control.getAttribute("aria-keyshortcuts") ?? "", () => control.click());
}

const { schemes, tab } = reading.data;
if (tab === "files" || tab === "steps") {
  const modules = await Promise.all(schemes.map(({ module }) => import(module)));
  for (const [index, { mount }] of modules.entries()) await mount(reading, schemes[index]);
}
if (reading.data.before) (await import("./changes.js")).mountChanges(reading, reading.data.before);
// After the schemes: its keys come before theirs.
if (document.querySelector("[data-decide]")) await import("./deciding.js");
document.documentElement.dataset.drawn = "";

/** The risk of merging: keeps the level and the reason with the task's draft, and says which of the two is missing. */

import { on } from "../js/events.js";

/** @param {any} task what js/task/task.js says @param {any} scheme the configured entry, its settings as `block` */
export function mount(task, scheme) {
  // On the other tabs of a task the section is not on the page.
  const section = document.getElementById("merge-risk");
  const reason = section?.querySelector("textarea");

  const answers = () => task.answers(scheme.name) ?? {};

  /** @param {{ level?: string, reason?: string }} changed */
  function change(changed) {
    const { level, reason } = { ...answers(), ...changed };
    task.change(scheme.name, { ...(level && { level }), ...(reason && { reason }) });
    redraw();
  }

  function redraw() {
    if (!section || !reason) return;
    const given = answers();
    for (const input of section.querySelectorAll("input")) input.checked = input.value === given.level;
    if (reason.value !== (given.reason ?? "")) reason.value = given.reason ?? "";
    section.querySelector("fieldset")?.toggleAttribute("disabled", task.isReadOnly);
    reason.readOnly = task.isReadOnly;
  }

  /** @param {string} selector */
  function go(selector) {
    const field = section?.querySelector(selector);
    if (field instanceof HTMLElement) field.focus();
    else location.assign(`${task.data.urls.files}#merge-risk`);
  }

  on("change", "#merge-risk input", (_, input) => change({ level: /** @type {HTMLInputElement} */ (input).value }));
  on("input", "#merge-risk textarea", () => change({ reason: reason?.value ?? "" }));
  task.onModeChange(redraw);
  redraw();

  return {
    redraw,
    missing() {
      const gaps = [];
      if (!answers().level) gaps.push({ label: "Risk of merging", go: () => go("input") });
      if (scheme.block.require_reason && !answers().reason?.trim()) gaps.push({ label: "Why", go: () => go("textarea") });
      return gaps;
    },
  };
}

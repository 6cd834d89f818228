/** The verdict on the whole change and its summary, whose characters are counted as the server counts them. */

import { key, namesAlone, on } from "../events.js";
import { counted } from "../task/dom.js";
import { lengthOf } from "../task/text.js";
import { element, visible } from "../shown-text.js";
import { drawTodo } from "./todo.js";

/** @import { Gap, Scheme, Work as Task } from "../task/task.js" */
/** @typedef {{ decision?: string, summary?: string }} Answers */

/** @param {Task} task @param {Scheme} scheme */
export function mount(task, scheme) {
  const { require_summary: isRequired, summary_min_length: least } = scheme.block;
  const section = document.getElementById("verdict");
  const text = section?.querySelector("textarea");
  let hasArrived = false;

  /** @returns {Answers} */
  const answers = () => task.answers(scheme.name) ?? {};
  /** @returns {{ value: string, display: string } | undefined} */
  const chosen = () => scheme.block.options.find((/** @type {{ value: string }} */ { value }) => value === answers().decision);
  const length = () => lengthOf(answers().summary);

  /** @param {Answers} changed */
  function change(changed) {
    const { decision, summary } = { ...answers(), ...changed };
    task.change(scheme.name, { ...(decision && { decision }), ...(summary && { summary }) });
    redraw();
  }

  /** Where the address asks for the verdict it gets the focus, once it can be given. */
  function start() {
    redraw();
    if (hasArrived || task.isReadOnly || !section || location.hash !== "#verdict") return;
    hasArrived = true;
    go("input");
  }

  function redraw() {
    const { decision, summary = "" } = answers();
    const counter = section?.querySelector(".counter");
    if (section && text && counter) {
      for (const input of section.querySelectorAll("input")) input.checked = input.value === decision;
      section.querySelector("fieldset")?.toggleAttribute("disabled", task.isReadOnly);
      text.readOnly = task.isReadOnly;
      if (text.value !== summary) text.value = summary;
      const count = length();
      counter.textContent = count < least ? `${count} of ${counted(least, "character")}, ${least - count} to go` : counted(count, "character");
      counter.classList.toggle("is-short", count < least && (count > 0 || isRequired));
      counter.classList.toggle("is-met", count >= least && count > 0);
    }
    const badge = /** @type {HTMLElement | null} */ (document.querySelector("[data-bar-verdict]"));
    const option = chosen();
    if (!badge) return;
    badge.hidden = !option;
    badge.dataset.c = `${scheme.name}.${option?.value}`;
    badge.replaceChildren(section?.querySelector(":checked + svg")?.cloneNode(true) ?? "", option?.display ?? "");
  }

  /** The summary as text in the place of its field. */
  function showAsRead() {
    const { summary } = answers();
    const words = summary ? visible(summary) : [element("span", "muted", "No summary")];
    const shown = element("div", "stack stack--s", element("h3", "label", "Summary"), element("p", "readtext", ...words));
    section?.querySelector(".verdict__rest")?.replaceWith(shown);
    if (section) section.tabIndex = -1;
  }

  /** @param {"input" | "textarea"} selector */
  function go(selector) {
    if (task.isReading && section) {
      section.focus({ preventScroll: true });
      return section.scrollIntoView({ block: "nearest" });
    }
    const found = section?.querySelector(`${selector}:checked`) ?? section?.querySelector(selector);
    if (!(found instanceof HTMLElement)) return location.assign(`${task.data.urls.files}#verdict`);
    found.focus({ preventScroll: true });
    section?.scrollIntoView({ block: "nearest" });
  }

  on("change", "#verdict input", (event, input) => change({ decision: /** @type {HTMLInputElement} */ (input).value }));
  on("input", "#summary", () => change({ summary: text?.value ?? "" }));
  on("keydown", "#verdict fieldset", (event, fieldset) => {
    const names = namesAlone(event);
    const wanted = [...fieldset.querySelectorAll("kbd")].find((kbd) => names.includes(kbd.textContent ?? ""));
    const input = wanted?.closest("label")?.querySelector("input");
    if (!input) return;
    event.preventDefault();
    input.focus();
    change({ decision: input.value });
    return true;
  });
  key("g v", () => go("input"));
  task.onModeChange(start);
  task.onRefresh(drawTodo);
  start();
  if (task.isReading) showAsRead();

  return {
    redraw,
    suggests: {
      beside: () => /** @type {HTMLElement | null} */ (section?.querySelector("fieldset") ?? null),
      edit: () => go("input"),
    },
    /** @returns {Gap[]} */
    missing() {
      const goToSummary = () => go("textarea");
      const count = length();
      const gaps = chosen() ? [] : [{ label: "Verdict", go: () => go("input") }];
      if (count ? count < least : isRequired) {
        gaps.push({ label: count ? `Summary: ${counted(least - count, "more character")}` : "Summary", go: goToSummary });
      }
      return gaps;
    },
    done: () => (chosen() ? ["Verdict chosen"] : []),
  };
}

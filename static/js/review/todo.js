/** The list "Before you submit": what is done, and what is left as buttons that go there. */

import { on } from "../events.js";

/** @import { Gap } from "../task/task.js" */

const MOST_SHOWN = 8;
/** @type {Gap[]} */
let gaps = [];
let drawn = "";

/**
 * Draw every list of the page; one with data-todo="open" leaves out what is done.
 * @param {{ gaps: Gap[], done: string[] }} state
 */
export function drawTodo(state) {
  gaps = state.gaps;
  const templates = document.getElementById("todo-items");
  const now = JSON.stringify([gaps.map(({ label }) => label), state.done]);
  // A list that says the same stays, and so does the focus in it.
  if (!(templates instanceof HTMLTemplateElement) || now === drawn) return;
  drawn = now;
  const [done, open, more] = templates.content.children;
  /** @param {Element | undefined} template @param {string} words */
  const item = (template, words) => {
    const made = /** @type {Element} */ (template?.cloneNode(true));
    made.lastElementChild?.append(words);
    return made;
  };
  for (const list of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("ul[data-todo]"))) {
    list.replaceChildren(
      ...(list.dataset.todo === "open" ? [] : state.done.map((words) => item(done, words))),
      ...gaps.slice(0, MOST_SHOWN).map(({ label }) => item(open, label)),
      ...(gaps.length > MOST_SHOWN ? [item(more, `and ${gaps.length - MOST_SHOWN} more`)] : []),
    );
  }
}

on("click", ".todo__go", (event, button) => {
  gaps[[...(button.closest("ul")?.querySelectorAll(".todo__go") ?? [])].indexOf(button)]?.go();
});

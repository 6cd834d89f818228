/** The page of one task: puts the schemes' modules to work, and keeps which files were viewed. */

import { key, on } from "../events.js";
import { copyOf, one } from "./dom.js";
import { Task } from "./task.js";

/** @type {import("./task.js").TaskData} */
const data = JSON.parse(one("#task-data").textContent ?? "");
const task = new Task(data, data.trial && (await trying(data, data.trial)));

/** @param {import("./task.js").TaskData} data @param {import("./trial.js").TrialData} trial */
async function trying(data, trial) {
  const { Alone, Trial } = await import("./trial.js");
  return { session: new Trial(data, trial), tabs: new Alone() };
}

/* Files that were viewed ------------------------------------------------------------------------------ */

/** @returns {string[]} */
const viewed = () => (Array.isArray(task.kept("viewed")) ? task.kept("viewed") : []);

function showViewed() {
  const seen = new Set(viewed());
  for (const { index, path } of task.data.files) {
    const box = document.querySelector(`#f${index} [data-viewed]`);
    if (box instanceof HTMLInputElement) {
      box.checked = seen.has(path);
      box.disabled = task.isReadOnly;
    }
    const mark = document.querySelector(`.tree__file[href$="#f${index}"] .tree__seen`);
    if (!mark) continue;
    mark.classList.toggle("is-off", !seen.has(path));
    mark.replaceChildren(...copyOf(seen.has(path) ? "seen" : "unseen").childNodes);
  }
  const count = document.querySelector("[data-viewed-count]");
  // As the toolbar counts: files that were only read do not count.
  const changed = task.data.files.filter(({ operation }) => operation !== "unchanged");
  if (count) count.textContent = `${changed.filter(({ path }) => seen.has(path)).length} of ${changed.length} viewed`;
}

/** @param {Element | null} article @param {boolean} isViewed */
function setViewed(article, isViewed) {
  const file = task.data.files.find(({ index }) => article?.id === `f${index}`);
  if (!file) return;
  task.keep("viewed", isViewed ? [...viewed(), file.path] : viewed().filter((path) => path !== file.path));
  showViewed();
}

function addBoxes() {
  for (const head of document.querySelectorAll("article.file > .file__head")) {
    const box = copyOf("viewed");
    one(".vh", box).textContent = head.parentElement?.getAttribute("aria-label") ?? "";
    head.append(box);
  }
  on("change", "[data-viewed]", (_, box) => setViewed(box.closest("article"), /** @type {HTMLInputElement} */ (box).checked));
  key("v", () => {
    const article = document.activeElement?.closest("article.file") ?? document.querySelector(`article${document.querySelector(".rail [aria-current]")?.getAttribute("href") ?? ".file"}`);
    const box = article?.querySelector("[data-viewed]");
    if (box instanceof HTMLInputElement) setViewed(article ?? null, !box.checked);
  });
}

/* The start ----------------------------------------------------------------------------------------------- */

if (task.data.tab === "files") addBoxes();
const modules = Promise.all(task.data.schemes.map(({ module }) => import(module)));
const started = task.start();
task.onRefresh(showViewed);
/** @type {Map<string, import("./task.js").Mounted>} */
const mounted = new Map();
for (const [index, { mount }] of (await modules).entries()) {
  const scheme = task.data.schemes[index];
  const module = await mount(task, scheme);
  task.add(module);
  if (scheme) mounted.set(scheme.name, module);
}
await started;
task.refresh();
if (task.data.suggestions.length) {
  const { Suggestions } = await import("./suggestions.js");
  new Suggestions(task, task.data.suggestions, mounted);
}
// After the schemes: on a returned task the keys between comments or failed steps lead from note to note.
if (document.querySelector("[data-returned]")) await import("./returned.js");
if (task.data.before) (await import("./changes.js")).mountChanges(task, task.data.before);

/** What has the focus before a question is asked. @type {Element | null} */
let active = null;
on("pointerdown", "[popovertarget=ask]", () => void (active = document.activeElement));
on("click", "[popovertarget=ask]", () => void import("./asking.js").then(({ fill }) => fill(task, active)));

let isPrepared = false;
on("focusin", "main", () => {
  if (isPrepared) return;
  isPrepared = true;
  // Not needed before somebody works, but later, perhaps when the site cannot be reached any more.
  Promise.allSettled([import("./submission.js"), import("./cannot-judge.js"), import("./sign-in.js"), import("./conflict.js"), import("./toasts.js"), import("../evidence-moves.js"), import("../evidence-places.js")]);
});

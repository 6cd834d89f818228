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

/** @typedef {{ path: string, box: HTMLInputElement | null, mark: Element | undefined, isSeen?: boolean }} ViewedSign */

/** Where the page says of a file whether it was viewed, and what it says now. Found once, as these stay while the page
 * does: each change looked for all of them, 80 ms of 386 files. @type {ViewedSign[]} */
let signs = [];

/** @returns {ViewedSign[]} */
function findSigns() {
  const marks = new Map([...document.querySelectorAll(".tree__seen")].map((mark) => [mark.parentElement?.dataset.file, mark]));
  return task.data.files.map(({ index, path }) => ({ path, box: document.querySelector(`#f${index} [data-viewed]`), mark: marks.get(`${index}`) }));
}

function showViewed() {
  const seen = new Set(viewed());
  if (!signs.length) signs = findSigns();
  for (const sign of signs) {
    const isSeen = seen.has(sign.path);
    if (sign.box) {
      // The browser may have ticked it, on a page that it shows again.
      sign.box.checked = isSeen;
      sign.box.disabled = task.isReadOnly;
    }
    if (!sign.mark || isSeen === sign.isSeen) continue;
    sign.isSeen = isSeen;
    sign.mark.classList.toggle("is-off", !isSeen);
    sign.mark.replaceChildren(...copyOf(isSeen ? "seen" : "unseen").childNodes);
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
// After the schemes: on a returned task the keys between comments or failed steps lead from note to note.
if (document.querySelector("[data-returned]")) task.add(await import("./returned.js"));
await started;
task.refresh();
if (task.data.suggestions.length) {
  const { Suggestions } = await import("./suggestions.js");
  new Suggestions(task, task.data.suggestions, mounted);
}
if (task.data.before) (await import("./changes.js")).mountChanges(task, task.data.before);

/** What has the focus before a question is asked. @type {Element | null} */
let active = null;
on("pointerdown", "[popovertarget=ask]", () => void (active = document.activeElement));
on("click", "[popovertarget=ask]", () => void import("./asking.js").then(({ fill }) => fill(task, active)));

let isPrepared = false;
on("focusin", "main", () => {
  if (isPrepared) return;
  isPrepared = true;
  // Not needed before somebody works, but later, perhaps when the site cannot be reached any more. The form that took the
  // focus, perhaps, is painted first.
  setTimeout(prepare, 500);
});

function prepare() {
  Promise.allSettled([import("./submission.js"), import("./cannot-judge.js"), import("./sign-in.js"), import("./conflict.js"), import("./toasts.js"), import("../evidence-moves.js"), import("../evidence-places.js")]);
}

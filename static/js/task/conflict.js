/** Two versions of one annotator's work, side by side in words, and the choice between them. */

import { copyOf, one, show } from "./dom.js";

/** @typedef {import("./draft.js").Content} Content */

/** Keys that say nothing to people. */
const SILENT = new Set(["comment_id", "created_at", "mark", "id"]);
/** So many lines are read; of more only those that differ are shown. */
const ALL_SHOWN = 20;

/**
 * Ask which of two versions is kept. The dialog cannot be left without a choice.
 * @param {import("./task.js").TaskData} data
 * @param {Content} mine @param {Content} theirs
 * @returns {Promise<"mine" | "theirs">}
 */
export function choose(data, mine, theirs) {
  const dialog = show("conflict");
  dialog.returnValue = "";
  const [left, right] = [parts(data, mine), parts(data, theirs)];
  one("[data-mine]", dialog).replaceChildren(...left.map((part, index) => drawn(part, right[index])));
  one("[data-theirs]", dialog).replaceChildren(...right.map((part, index) => drawn(part, left[index])));
  return new Promise((resolve) => {
    dialog.oncancel = (event) => event.preventDefault();
    dialog.onclose = () => {
      if (dialog.returnValue === "mine" || dialog.returnValue === "theirs") resolve(dialog.returnValue);
      else dialog.showModal();
    };
  });
}

/** @typedef {{ title: string, lines: string[], count?: number }} Part count of what can be counted */

/** @param {import("./task.js").TaskData} data @param {Content} content @returns {Part[]} */
function parts(data, content) {
  const forms = content.page.forms;
  return [
    ...data.schemes.map(({ name, target }) => told(plain(name), lines(content.answers[name]), target === "line" || target === "file")),
    told("comments that are not saved yet", lines(Array.isArray(forms) ? forms : []), true),
  ];
}

/** @param {string} title @param {string[]} all @param {boolean} isMany @returns {Part} */
function told(title, all, isMany) {
  return { title: title.charAt(0).toUpperCase() + title.slice(1), lines: all, count: isMany || !all.length ? all.length : undefined };
}

/** @param {any} value @returns {string[]} */
function lines(value) {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map(words);
  if (typeof value !== "object") return [words(value)];
  return Object.entries(value).flatMap(([key, part]) => {
    if (!isNested(part)) return [`${plain(key)}: ${words(part)}`];
    return Object.entries(part).map(([name, said]) => `${plain(key)}, ${name}: ${words(said)}`);
  });
}

/** Whether it is an object of objects, as the details of steps are. @param {any} value */
function isNested(value) {
  const parts = value && typeof value === "object" && !Array.isArray(value) ? Object.values(value) : [];
  return parts.length > 0 && parts.every((part) => part && typeof part === "object");
}

/** @param {any} value @returns {string} */
function words(value) {
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (!value || typeof value !== "object") return String(value ?? "none");
  const { file, line_start, line_end, side, numbering, subject_type, ...rest } = value;
  if (subject_type) return `${file ? `${file} as a whole` : "The whole change"}. ${words(rest)}`;
  const place = file && line_start ? `${file}, ${side ?? "new"} ${numbering ? `${numbering} ` : ""}line ${line_start}${line_end > line_start ? ` to ${line_end}` : ""}. ` : "";
  const said = Object.entries(rest).filter(([key, part]) => !SILENT.has(key) && part !== null && part !== "");
  return place + said.map(([key, part]) => `${plain(key)}: ${words(part)}`).join("; ");
}

/** @param {string} name */
function plain(name) {
  return /^[a-z_]+$/.test(name) ? name.replaceAll("_", " ") : name;
}

/** @param {Part} part @param {Part | undefined} other */
function drawn(part, other) {
  const section = copyOf("version-part");
  one("h4", section).textContent = part.title + (part.count === undefined ? "" : `: ${part.count || "none"}`);
  const others = new Set(other?.lines);
  const shown = part.lines.length > ALL_SHOWN ? part.lines.filter((line) => !others.has(line)) : part.lines;
  const items = shown.map((line) => {
    const item = listed(line);
    if (!others.has(line)) {
      item.className = "is-only";
      item.append(copyOf("version-only"));
    }
    return item;
  });
  const left = part.lines.length - shown.length;
  one("ul", section).replaceChildren(...items, ...(left ? [listed(`${left} more, the same in both`)] : []));
  return section;
}

/** @param {string} text */
function listed(text) {
  const item = document.createElement("li");
  item.textContent = text;
  return item;
}

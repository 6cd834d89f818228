/** What a part of an answer is called, and its value, in the words of the configuration. Pure. */

/** @import { Scheme } from "./task.js" */

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
/** @param {string} name */
const plain = (name) => capital(/^[a-z_]+$/.test(name) ? name.replaceAll("_", " ") : name);
/** @param {string} path */
const last = (path) => path.slice(path.lastIndexOf("/") + 1);

/** @param {Scheme} scheme @param {string[]} path @param {any} value */
export function nameOf(scheme, path, value) {
  if (value && typeof value === "object" && "comment" in value) return `Comment on ${placeOf(value)}`;
  const [first = "", second = ""] = path;
  if (scheme.target === "file") return `${dimensionOf(scheme, second)} of ${last(first)}`;
  if (scheme.target === "change_set") return first === "decision" ? "Verdict" : plain(first);
  const step = path.find((part) => /^\d+$/.test(part));
  const key = path.at(-1) ?? "";
  if (step === undefined) return plain(key);
  return `Step ${step}, ${/^\d+$/.test(key) ? plain(first).toLowerCase() : plain(key).toLowerCase()}`;
}

/** @param {any} comment */
function placeOf({ file, subject_type, line_start, line_end, side }) {
  if (subject_type === "change") return "the whole change";
  if (subject_type) return `${last(file ?? "")} as a whole`;
  const lines = (line_end ?? line_start) > line_start ? `lines ${line_start} to ${line_end}` : `line ${line_start}`;
  return `${side === "old" ? "old " : ""}${lines} of ${last(file ?? "")}`;
}

/** @param {Scheme} scheme @param {string} name */
function dimensionOf(scheme, name) {
  /** @type {{ name: string, display: string }[]} */
  const dimensions = scheme.block?.dimensions ?? [];
  return dimensions.find((dimension) => dimension.name === name)?.display ?? plain(name);
}

/** @param {Scheme} scheme @param {string[]} path @param {any} value @returns {string} */
export function choiceWords(scheme, path, value) {
  if (Array.isArray(value)) return value.join(", ");
  const key = path.at(-1);
  if (key === "first_error_step") return `step ${value}`;
  /** @type {{ value: string, display: string }[]} */
  const offered =
    { decision: scheme.block?.options, label: scheme.block?.per_step?.labels, category: scheme.block?.categories, severity: scheme.block?.severity?.levels }[key ?? ""] ?? [];
  return offered.find((one) => one.value === value)?.display ?? String(value);
}

/** Text as the server counts it. Knows no page. */

// White space at both ends as Python's str.strip() knows it.
const ENDS = /^(?:[^\S\uFEFF]|[\x1C-\x1F\x85])+|(?:[^\S\uFEFF]|[\x1C-\x1F\x85])+$/g;

/** Without the white space at both ends. @param {string | null | undefined} text */
export function stripped(text) {
  return (text ?? "").replace(ENDS, "");
}

/** The characters between the first and the last visible one. @param {string | null | undefined} text */
export function lengthOf(text) {
  return [...stripped(text)].length;
}

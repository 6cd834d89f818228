/**
 * Colours for YAML, one line at a time. It knows enough of YAML to tell keys, texts, numbers, constants and
 * comments apart; whether the text is right is the server's to say.
 */

/** @typedef {"nt" | "s" | "mi" | "kc" | "c1" | ""} Kind  A class of Pygments, or none. */
/** @typedef {{ text: string, kind: Kind }} Token */

const KEY = /[^\s#:,[\]{}"'&*!|>%@`-][^#:,[\]{}"']*(?=\s*:(?:\s|$))/y;
const QUOTED = /"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^']|'')*(?:'|$)/y;
const KEY_FOLLOWS = /\s*:(?:\s|$)/y;
const NUMBER = /[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?=\s*(?:$|[,\]}]|\s#))/y;
const CONSTANT = /(?:true|false|null|True|False|Null|TRUE|FALSE|NULL|~)(?=\s*(?:$|[,\]}]|\s#))/y;
const COMMENT = /#.*/y;
const PLAIN = /[^\s#:,[\]{}"'][^#,[\]{}"':]*/y;
const ENTRY = /-(?=\s|$)/y;
const BLOCK_TEXT = /(?:^|[\s:-])[|>][-+0-9]*\s*(?:#.*)?$/;

/**
 * The lines' tokens; the joined texts of a line's tokens are the line.
 * @param {readonly string[]} lines
 * @returns {Token[][]}
 */
export function tokenize(lines) {
  /** Indentation of the key that holds the block text which the line may belong to, or none. */
  let holder = -1;
  return lines.map((line) => {
    const indent = line.search(/\S/);
    if (holder >= 0 && (indent < 0 || indent > holder)) return [{ text: line, kind: "s" }];
    holder = BLOCK_TEXT.test(line) && !/^\s*#/.test(line) ? Math.max(indent, 0) : -1;
    return tokenizeLine(line);
  });
}

/**
 * @param {string} line
 * @returns {Token[]}
 */
function tokenizeLine(line) {
  /** @type {Token[]} */
  const tokens = [];
  let at = 0;

  /** @param {RegExp} pattern @param {Kind} kind */
  const take = (pattern, kind) => {
    pattern.lastIndex = at;
    const text = pattern.exec(line)?.[0];
    if (!text) return false;
    tokens.push({ text, kind });
    at += text.length;
    return true;
  };

  while (at < line.length) {
    const before = line[at - 1] ?? " ";
    if (line[at] === "#" && /\s/.test(before) && take(COMMENT, "c1")) continue;
    if (/[\s{,[-]/.test(before)) {
      if (take(ENTRY, "")) continue;
      if (take(QUOTED, "s")) {
        const quoted = tokens[tokens.length - 1];
        KEY_FOLLOWS.lastIndex = at;
        if (quoted && KEY_FOLLOWS.test(line)) quoted.kind = "nt";
        continue;
      }
      if (take(KEY, "nt") || take(NUMBER, "mi") || take(CONSTANT, "kc") || take(PLAIN, "")) continue;
    }
    tokens.push({ text: line[at] ?? "", kind: "" });
    at += 1;
  }
  return tokens;
}

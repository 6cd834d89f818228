/** What differs between two versions of answers: told by the comments' ids, and of all else by its place. Pure. */

/** @typedef {{ scheme: string, path: string[], comment?: string, was: any, is: any }} Change was, is: undefined where there is none */

/** Keys that follow from others, or that nobody chose. */
const DERIVED = new Set(["mode", "total_steps", "labels", "label_origin", "cumulative_score", "reveal", "all_correct", "reviewed_to"]);
const UNCHOSEN = new Set(["comment_id", "created_at", "mark"]);

/** @param {any} value */
const isComments = (value) => Array.isArray(value) && value.some((one) => one && typeof one === "object");
/** @param {any} value */
const isObject = (value) => Boolean(value) && typeof value === "object" && !Array.isArray(value);
/** @param {any} value null, false and "" say as little as nothing */
const said = (value) => (value === null || value === false || value === "" ? undefined : value);

/**
 * @param {Record<string, any>} before by the names of schemes @param {Record<string, any>} now
 * @param {string[]} schemes in the order in which they are told
 * @returns {Change[]}
 */
export function changesBetween(before, now, schemes) {
  return schemes.flatMap((scheme) => {
    const [was, is] = [before[scheme], now[scheme]];
    if (isComments(was) || isComments(is)) return ofComments(scheme, was, is);
    const [old, current] = [leaves(was), leaves(is)];
    return [...new Set([...old.keys(), ...current.keys()])].flatMap((key) => {
      const [before, after] = [old.get(key), current.get(key)];
      const same = JSON.stringify(before?.value) === JSON.stringify(after?.value);
      return same ? [] : [{ scheme, path: (after ?? before)?.path ?? [], was: before?.value, is: after?.value }];
    });
  });
}

/** @param {string} scheme @param {any} was @param {any} is @returns {Change[]} */
function ofComments(scheme, was, is) {
  const [old, current] = [byId(was), byId(is)];
  return [...new Set([...current.keys(), ...old.keys()])].flatMap((comment) => {
    const [before, after] = [old.get(comment), current.get(comment)];
    const isSame = before && after && spoken(before) === spoken(after);
    return isSame ? [] : [{ scheme, path: [], comment, was: before, is: after }];
  });
}

/** @param {any} comments @returns {Map<string, any>} */
function byId(comments) {
  const all = Array.isArray(comments) ? comments : [];
  return new Map(all.map((comment, at) => [comment.comment_id ?? `comment-${at + 1}`, comment]));
}

/** What a comment says, whatever the order of its keys. @param {any} comment */
function spoken(comment) {
  // What programs may leave out of a comment on lines.
  const usual = comment.line_start === undefined ? {} : { side: "new", line_end: comment.line_start };
  /** @type {Record<string, any>} */
  const whole = { ...usual, ...Object.fromEntries(Object.entries(comment).filter(([, value]) => said(value) !== undefined)) };
  return JSON.stringify(Object.keys(whole).filter((key) => !UNCHOSEN.has(key)).sort().map((key) => [key, whole[key]]));
}

/** The values of an object of objects, each with the way to it. @param {any} value @param {string[]} [path] @returns {Map<string, { path: string[], value: any }>} */
function leaves(value, path = []) {
  if (isObject(value)) {
    const parts = Object.entries(value).filter(([key]) => path.length > 0 || !DERIVED.has(key));
    return new Map(parts.flatMap(([key, part]) => [...leaves(part, [...path, key])]));
  }
  const told = said(value);
  return new Map(told === undefined ? [] : [[JSON.stringify(path), { path, value: told }]]);
}

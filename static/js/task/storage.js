/** What people write, kept in this browser until the server has it. Passwords and tokens never come here. */

/** @param {string} key @returns {any} null where nothing is kept, or storage is refused */
export function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @param {string} key @param {any} value null forgets it @returns {boolean} false where the browser could not keep it */
export function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The revision that this tab saved last, which is kept while the tab is. @param {string} key @param {number} [revision] */
export function saved(key, revision) {
  try {
    if (revision) sessionStorage.setItem(key, String(revision));
    return Number(sessionStorage.getItem(key));
  } catch {
    return 0;
  }
}

/** A name that nobody else gives. */
export function uid() {
  // Not randomUUID, which pages without TLS lack.
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
}

/** Whether two JSON values say the same, in whatever order their keys stand. @param {any} one @param {any} other */
export function isSame(one, other) {
  return canonical(one) === canonical(other);
}

/** @param {any} value */
function canonical(value) {
  return JSON.stringify(value ?? null, (_, part) =>
    part && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part,
  );
}

/** What a reader chooses about pages, kept in this browser. Never what they write: that is kept with the task. */

/**
 * Read a choice, or write one.
 * @param {string} name
 * @param {string} [value] is written; an empty one forgets the choice
 * @returns {string | null} what is kept, null for nothing
 */
export function kept(name, value) {
  try {
    if (value === "") localStorage.removeItem(`potato.${name}`);
    else if (value !== undefined) localStorage.setItem(`potato.${name}`, value);
    return localStorage.getItem(`potato.${name}`);
  } catch {
    // Storage is refused by the browser: the choice lasts for this page.
    return value ?? null;
  }
}

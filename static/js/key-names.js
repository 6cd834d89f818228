/** What a pressed key is called in a shortcut, whatever script somebody types and whether Caps Lock is on. Knows no page. */

/** What stands on these keys of a keyboard for the Latin script. @type {Record<string, string>} */
const SIGNS = { BracketLeft: "[", BracketRight: "]", Slash: "/", Minus: "-", Equal: "=" };
/** What a browser says of a key whose character it does not know yet. */
const UNKNOWN = /^(Process|Dead|Unidentified)$/;

/**
 * The names of a key, the best one first; "Shift+ArrowDown" for keys that are no characters. A Latin letter is the one
 * that the layout says, small without Shift and large with it. What is none is named by its place on the keyboard.
 * @param {{ key: string, code: string, shiftKey: boolean }} pressed
 * @returns {string[]}
 */
export function namesOf({ key, code, shiftKey }) {
  const letter = /^[a-z]$/i.test(key) ? key : isCharacter(key) ? /^Key([A-Z])$/.exec(code)?.[1] : undefined;
  if (letter && (letter === key || !isAscii(key))) return [shiftKey ? letter.toUpperCase() : letter.toLowerCase()];
  // A French keyboard has signs where the digits are, and digits with Shift.
  const digit = shiftKey ? undefined : /^Digit([0-9])$/.exec(code)?.[1];
  const sign = shiftKey || isAscii(key) ? undefined : SIGNS[code];
  if (isCharacter(key)) return [...new Set([...(UNKNOWN.test(key) ? [] : [key]), ...(digit ?? sign ?? "")])];
  return [shiftKey ? `Shift+${key}` : key];
}

/** @param {string} key */
function isCharacter(key) {
  return [...key].length === 1 || UNKNOWN.test(key);
}

/** @param {string} key */
function isAscii(key) {
  return /^[ -~]$/.test(key);
}

/** Pure modules of the task page that have no counterpart on the server. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { namesOf } from "../../static/js/key-names.js";
import { changesBetween } from "../../static/js/task/answer-changes.js";
import { Ranges } from "../../static/js/rewards/ranges.js";
import { inWords, sentFiles } from "../../static/js/sent-files.js";

/** @param {string} key @param {string} code */
const alone = (key, code) => namesOf({ key, code, shiftKey: false });
/** @param {string} key @param {string} code */
const shifted = (key, code) => namesOf({ key, code, shiftKey: true });

test("a Latin letter is what the layout says, whatever Caps Lock does", () => {
  assert.deepEqual(alone("j", "KeyJ"), ["j"]);
  assert.deepEqual(alone("J", "KeyJ"), ["j"]);
  assert.deepEqual(shifted("J", "KeyJ"), ["J"]);
  assert.deepEqual(shifted("j", "KeyJ"), ["J"]);
  assert.deepEqual(alone("h", "KeyJ"), ["h"]);
});

test("a letter of another script is the one of its place", () => {
  assert.deepEqual(alone("\u3153", "KeyJ"), ["j"]);
  assert.deepEqual(alone("\u043e", "KeyJ"), ["j"]);
  assert.deepEqual(alone("\u041e", "KeyJ"), ["j"]);
  assert.deepEqual(shifted("\u041e", "KeyJ"), ["J"]);
  assert.deepEqual(alone("Process", "KeyJ"), ["j"]);
  assert.deepEqual(alone("Dead", "KeyE"), ["e"]);
});

test("a sign on a letter's place stays the sign", () => {
  assert.deepEqual(alone(";", "KeyQ"), [";"]);
  assert.deepEqual(alone(",", "KeyM"), [","]);
});

test("digits are found where a French keyboard has them, and only without Shift", () => {
  assert.deepEqual(alone("1", "Digit1"), ["1"]);
  assert.deepEqual(alone("&", "Digit1"), ["&", "1"]);
  assert.deepEqual(alone("\u00e9", "Digit2"), ["\u00e9", "2"]);
  assert.deepEqual(shifted("1", "Digit1"), ["1"]);
  assert.deepEqual(shifted("!", "Digit1"), ["!"]);
  assert.deepEqual(alone("4", "Numpad4"), ["4"]);
});

test("brackets are found under letters of other scripts", () => {
  assert.deepEqual(alone("\u0445", "BracketLeft"), ["\u0445", "["]);
  assert.deepEqual(alone("]", "BracketRight"), ["]"]);
});

test("keys that are no characters have their name, with Shift before it", () => {
  assert.deepEqual(alone("Enter", "Enter"), ["Enter"]);
  assert.deepEqual(shifted("ArrowDown", "ArrowDown"), ["Shift+ArrowDown"]);
  assert.deepEqual(alone("Unidentified", ""), []);
});

test("a set of steps is written shortly and read back", () => {
  const read = new Ranges("0-2,5,7-8");
  assert.equal(read.size, 6);
  assert.equal(read.add(3), true);
  assert.equal(read.add(3), false);
  assert.equal(read.text, "0-3,5,7-8");
  assert.deepEqual([3, 4].map((step) => read.has(step)), [true, false]);
  for (const odd of [undefined, null, 7, "", "x", "1-1e9"]) assert.equal(new Ranges(odd).has(1), false, String(odd));
});

test("bytes that were sent are told file by file", () => {
  assert.deepEqual(sentFiles([10, 20, 30], 0), { whole: 0, part: 0 });
  assert.deepEqual(sentFiles([10, 20, 30], 20), { whole: 1, part: 0.5 });
  assert.deepEqual(sentFiles([10, 20, 30], 60), { whole: 3, part: 0 });
  assert.deepEqual(sentFiles([0, 0, 5], 0), { whole: 2, part: 0 });
  assert.deepEqual(sentFiles([], 0), { whole: 0, part: 0 });
});

test("a size is said as the server says it", () => {
  assert.deepEqual([0, 512, 1536, 3 * 2 ** 20, 2 ** 31].map(inWords), ["0 bytes", "512 bytes", "1.5 KiB", "3 MiB", "2 GiB"]);
});

test("what changed between two versions is told by ids of comments and by places, and never what follows from others", () => {
  const comment = { comment_id: "a", file: "x.py", line_start: 3, line_end: 3, side: "new", comment: "Wrong", created_at: "2025-01-01T00:00:00Z" };
  const before = { notes: [comment, { ...comment, comment_id: "b" }], files: { "x.py": { quality: 4 } }, reward: { mode: "first_error", first_error_step: null, labels: [1, 1] } };
  const now = {
    notes: [{ comment: "Wrong", line_start: 3, file: "x.py", comment_id: "a", suggestion: null }, { ...comment, comment_id: "c", comment: "New" }],
    files: { "x.py": { quality: 2 } },
    reward: { first_error_step: 1 },
  };
  const told = changesBetween(before, now, ["notes", "files", "reward"]);
  assert.deepEqual(told.map(({ scheme, path, comment: id, was, is }) => [scheme, id ?? path, was?.comment ?? was, is?.comment ?? is]), [
    ["notes", "c", undefined, "New"],
    ["notes", "b", "Wrong", undefined],
    ["files", ["x.py", "quality"], 4, 2],
    ["reward", ["first_error_step"], undefined, 1],
  ]);
  assert.deepEqual(changesBetween(before, before, ["notes", "files", "reward"]), []);
});

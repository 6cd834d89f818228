/** The draft of the task page: what is kept in the browser and on the server. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Draft } from "../../static/js/task/draft.js";

const KEY = "potato.draft.test";

/** @param {any} here what this browser has kept @param {string[]} unasked */
function draft(here, unasked) {
  const kept = new Map([[KEY, JSON.stringify(here)]]);
  Object.assign(globalThis, {
    localStorage: {
      getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ value) => kept.set(key, value),
      removeItem: (/** @type {string} */ key) => kept.delete(key),
    },
  });
  return new Draft(KEY, unasked, /** @type {any} */ ({}));
}

test("answers for a scheme that cannot judge the trace are dropped, wherever they were kept", () => {
  const content = { answers: { verdict: { decision: "approve" }, rewards: { all_correct: true } }, page: { tab: "files" } };
  const asked = { answers: { verdict: { decision: "approve" } }, page: { tab: "files" } };
  const here = draft({ revision: 1, content, changes: 1, marks: [] }, ["rewards"]);
  assert.equal(here.load({ revision: 1, content: null }), null);
  assert.deepEqual(here.content, asked);
  const there = draft(null, ["rewards"]);
  there.load({ revision: 1, content });
  assert.deepEqual(there.content, asked);
});

test("what a browser kept beyond such answers asks nobody to choose", () => {
  const verdict = { verdict: { decision: "approve" } };
  const content = { answers: { ...verdict, rewards: { all_correct: true } }, page: {} };
  const kept = draft({ revision: 1, content, changes: 1, marks: [] }, ["rewards"]);
  assert.equal(kept.load({ revision: 2, content: { answers: verdict, page: {} } }), null);
  assert.deepEqual(kept.content.answers, verdict);
});

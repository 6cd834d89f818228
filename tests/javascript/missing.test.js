/** What the task page says is missing, on the cases that tests/test_missing_cases.py asks the server. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { faultsOf } from "../../static/js/review/comment-rules.js";
import { ratedFiles } from "../../static/js/review/rating-rules.js";
import * as firstError from "../../static/js/rewards/first-error-rules.js";
import * as perStep from "../../static/js/rewards/per-step-rules.js";
import { lengthOf } from "../../static/js/task/text.js";

const cases = JSON.parse(readFileSync(new URL("../missing_cases.json", import.meta.url), "utf-8"));

for (const { block, cases: ofBlock } of cases.rewards) {
  const isFirstError = block.mode === "first_error";
  const rules = isFirstError ? firstError : perStep;
  for (const { name, steps, answers, missing } of ofBlock) {
    test(`${block.mode}: ${name}`, () => {
      const found = rules.missing(answers ?? {}, { block }, steps);
      // In first-error mode a step is only where to go on.
      assert.deepEqual(found.map(({ step }) => (isFirstError ? "trace" : (step ?? "trace"))), missing);
      assert.equal(rules.done(answers ?? {}, { block }, steps).length > 0, missing.length === 0 && (steps > 0 || !isFirstError));
    });
  }
}

for (const { block, cases: ofBlock } of cases.comments) {
  for (const { name, comment, missing } of ofBlock) {
    test(`comment: ${name}`, () => {
      const offered = { categories: [{ value: "bug" }], severity: { ...block.severity, levels: [{ value: "major" }] } };
      assert.deepEqual(Object.keys(faultsOf(comment, { ...block, ...offered })).sort(), missing);
    });
  }
}

for (const { text, length } of cases.lengths) {
  test(`length of ${JSON.stringify(text)}`, () => assert.equal(lengthOf(text), length));
}

for (const { name, block, files, rated } of cases.rated) {
  test(`rated: ${name}`, () => {
    const told = files.map(([path, operation], index) => ({ index, path, operation, added: 0, removed: 0 }));
    assert.deepEqual(ratedFiles(told, block).map(({ path }) => path), rated);
  });
}

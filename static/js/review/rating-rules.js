/** Which files carry ratings: the same as the server lists. Knows no page. */

/** @import { File, Scheme } from "../task/task.js" */

/**
 * The files that carry ratings, each path once. What becomes of a path in several parts is one modified file, and is
 * rated below the last of them.
 * @param {File[]} files @param {Scheme["block"]} block @returns {File[]}
 */
export function ratedFiles(files, block) {
  /** @type {Map<string, File>} */
  const byPath = new Map();
  for (const file of files) {
    const before = byPath.get(file.path)?.operation ?? file.operation;
    byPath.set(file.path, { ...file, operation: before === file.operation ? before : "modified" });
  }
  const { include_unchanged: unchanged, include_new_files: added, include_deleted_files: deleted } = block;
  /** @type {Record<string, boolean>} */
  const carried = { unchanged, added, copied: added, deleted };
  return [...byPath.values()].filter((file) => carried[file.operation] ?? true);
}

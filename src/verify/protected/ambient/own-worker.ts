// own-worker: recognises a file that starts itself as a worker, and asks which of both it is. Pure.

import type { Read, Source } from "./read-source.ts";

/**
 * A file that starts itself as a worker, and asks in an `if` which of both it is: one branch starts
 * the worker, or the other speaks to who started it.
 */
export function isOwnWorker(
  { code, brackets: { around, partner } }: Source,
  { from, root }: Read,
): boolean {
  if (!/^(?:worker_threads\.(?:isMainThread|parentPort|workerData)|cluster\.is\w+)$/.test(root))
    return false;
  const startsItself =
    /\bnew Worker\s*\(/.test(code) &&
    /\bimport\.meta\.(?:url|filename)\b|\b__filename\b/.test(code);
  if (!startsItself && !/\bcluster\.fork\s*\(/.test(code)) return false;

  for (let open = around[from] ?? -1; open !== -1; open = around[open] ?? -1) {
    if (!/\bif\s*$/.test(code.slice(Math.max(0, open - 9), open))) continue;
    const branches = readBranches(code, (partner[open] ?? open) + 1, partner);
    const isTopLevel = (around[open] ?? -1) === -1;
    return (
      /\bnew Worker\b|\bparentPort\b|\bworkerData\b|\.fork\s*\(/.test(branches) &&
      (isTopLevel || !/\breturn\s+[^\s;]/.test(branches))
    );
  }

  return false;
}

/** What stands under an `if`, and under its `else`. */
function readBranches(code: string, from: number, partner: Int32Array): string {
  const start = from + (/^\s*/.exec(code.slice(from))?.[0].length ?? 0);
  const line = code.indexOf("\n", start);
  const end =
    code[start] === "{" ? (partner[start] ?? start) + 1 : line === -1 ? code.length : line;
  const other = /^\s*else\b/.exec(code.slice(end));
  return (
    code.slice(start, end) +
    (other === null ? "" : readBranches(code, end + other[0].length, partner))
  );
}

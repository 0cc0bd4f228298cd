// reports: what the implementation reports of a staged project say of its tasks. Batch reports are the runner's own, the others agents'.

import type { TreeLook } from "./tree-look.ts";

export const reportsFolder = "_docs/03_implementation/";
export const finalReport = `${reportsFolder}FINAL_implementation_report.md`;

export const batchPath = (number: number): string => `${reportsFolder}batch_${String(number).padStart(2, "0")}_report.md`;
const isBatch = (path: string): boolean => /\/batch_\d+_report\.md$/.test(path);

/** The number of the next batch. */
export const nextBatch = ({ paths }: TreeLook): number =>
  1 + Math.max(0, ...paths.map((path) => Number(/^_docs\/03_implementation\/batch_(\d{1,6})_report\.md$/.exec(path)?.[1] ?? 0)));

export type Reports = {
  /** Whether any report names the task at all. */
  readonly isNamed: (id: string) => boolean;
  /** Whether a report says that it is done. */
  readonly isDone: (id: string) => boolean;
};

/** `whose`: every report, or those that agents wrote. */
export async function readReports(tree: TreeLook, whose: "all" | "agents" = "all"): Promise<Reports> {
  const paths = tree.paths.filter(
    (path) => path.startsWith(reportsFolder) && /report[^/]*\.md$/i.test(path) && (whose === "all" || !isBatch(path)),
  );
  const texts = await Promise.all(paths.map((path) => tree.read(path)));
  const lines = texts.flatMap((text) => (text ?? "").split("\n"));
  const naming = (id: string): readonly string[] => lines.filter((line) => names(line, id));
  return { isNamed: (id) => naming(id).length > 0, isDone: (id) => naming(id).some(saysDone) };
}

/** The id as its own word: `01_store` is not named by `01_store_extra`. */
function names(line: string, id: string): boolean {
  for (let index = line.indexOf(id); index >= 0; index = line.indexOf(id, index + 1)) {
    const after = line.slice(index + id.length).replace(/^\.md\b/, "");
    if (!/[\w.-]/.test(line.charAt(index - 1)) && !/^[\w-]|^\.\w/.test(after)) return true;
  }
  return false;
}

const done = /\b(?:done|complete|completed|implemented)\b|✅|✓|✔|\[x\]/i;
const undone =
  /\b(?:not (?:yet )?(?:done|complete|completed|implemented)|incomplete|failed|blocked|pending|todo|skipped|partly|partial|partially)\b|❌|✗|\[ \]/i;
const saysDone = (line: string): boolean => done.test(line) && !undone.test(line);

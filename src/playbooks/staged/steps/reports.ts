// reports: finds in the implementation reports which tasks are done. Agents write the reports,
// except the batch reports of the runner.

import type { TreeView } from "./tree-view.ts";

export const reportsFolder = "_docs/03_implementation/";
export const finalReport = `${reportsFolder}FINAL_implementation_report.md`;

export const batchPath = (number: number): string =>
  `${reportsFolder}batch_${String(number).padStart(2, "0")}_report.md`;
const isBatch = (path: string): boolean => /\/batch_\d+_report\.md$/.test(path);

export function findNextBatchNumber({ paths }: TreeView): number {
  const batchReport = /^_docs\/03_implementation\/batch_(\d{1,6})_report\.md$/;
  const numbers = paths.map((path) => Number(batchReport.exec(path)?.[1] ?? 0));
  return 1 + Math.max(0, ...numbers);
}

export type Reports = {
  /** Whether any report names the task at all. */
  readonly isNamed: (id: string) => boolean;
  /** Whether a report says that it is done. */
  readonly isDone: (id: string) => boolean;
};

/** The reports of agents alone, or those of the runner too. */
export async function readReports(
  tree: TreeView,
  authors: "all" | "agents" = "all",
): Promise<Reports> {
  const reportPaths = tree.paths.filter(
    (path) => path.startsWith(reportsFolder) && /report[^/]*\.md$/i.test(path),
  );
  const paths = authors === "all" ? reportPaths : reportPaths.filter((path) => !isBatch(path));
  const texts = await Promise.all(paths.map((path) => tree.read(path)));
  const lines = texts.flatMap((text) => (text ?? "").split("\n"));
  const linesNaming = (id: string): readonly string[] =>
    lines.filter((line) => namesTask(line, id));

  return {
    isNamed: (id) => linesNaming(id).length > 0,
    isDone: (id) => linesNaming(id).some(saysDone),
  };
}

/**
 * Whether the line contains the id as a whole word: `01_store_extra` does not contain `01_store`.
 */
function namesTask(line: string, id: string): boolean {
  for (let index = line.indexOf(id); index >= 0; index = line.indexOf(id, index + 1)) {
    const textAfter = line.slice(index + id.length).replace(/^\.md\b/, "");
    if (!/[\w.-]/.test(line.charAt(index - 1)) && !/^[\w-]|^\.\w/.test(textAfter)) return true;
  }

  return false;
}

const donePattern = /\b(?:done|complete|completed|implemented)\b|✅|✓|✔|\[x\]/i;
const notDonePattern =
  /\b(?:not (?:yet )?(?:done|complete|completed|implemented)|incomplete|failed|blocked|pending|todo|skipped|partly|partial|partially)\b|❌|✗|\[ \]/i;
const saysDone = (line: string): boolean => donePattern.test(line) && !notDonePattern.test(line);

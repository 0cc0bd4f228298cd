// diff-page: renders what a run changed, file by file, with the numbers of added and removed lines.

import { alignColumns } from "./align-columns.ts";
import { formatNumber, oneLine, plural } from "./wording.ts";

type ChangedFile = {
  readonly path: string;
  readonly insertions: number | null;
  readonly deletions: number | null;
};

const pathCharsMax = 60;
const barCharsMax = 20;

/** At most `filesMax` files, those with the most changed lines first. */
export function renderFileRows(files: readonly ChangedFile[], filesMax: number): readonly string[] {
  const largestFiles = files
    .toSorted((a, b) => changedFileSize(b) - changedFileSize(a))
    .slice(0, filesMax);
  const largestSize = Math.max(1, ...largestFiles.map(changedFileSize));

  const rows = largestFiles.map((file) => [
    oneLine(file.path, pathCharsMax),
    ...changedFileCounts(file),
    changedFileBar(file, largestSize),
  ]);

  const hiddenCount = files.length - largestFiles.length;
  return [
    ...alignColumns(rows, { right: [1, 2] }),
    ...(hiddenCount > 0 ? [`… ${plural(hiddenCount, "more file")}`] : []),
  ];
}

export function describeDiffStat(files: readonly ChangedFile[], commits: number): string {
  if (files.length === 0) return "nothing changed";
  const sum = (field: "insertions" | "deletions"): number =>
    files.reduce((total, file) => total + (file[field] ?? 0), 0);
  const lines = `+${formatNumber(sum("insertions"))} -${formatNumber(sum("deletions"))}`;

  return `${plural(files.length, "file")} ${lines} in ${plural(commits, "commit")}`;
}

const changedFileSize = ({ insertions, deletions }: ChangedFile): number =>
  (insertions ?? 0) + (deletions ?? 0);

function changedFileCounts({ insertions, deletions }: ChangedFile): readonly [string, string] {
  if (insertions === null || deletions === null) return ["binary", ""];
  return [`+${formatNumber(insertions)}`, `-${formatNumber(deletions)}`];
}

/**
 * `+++--`, as `git diff --stat` draws it; the file with the most changed lines, `largestSize`,
 * fills the bar.
 */
function changedFileBar({ insertions, deletions }: ChangedFile, largestSize: number): string {
  const scale = Math.min(1, barCharsMax / largestSize);
  const chars = (lines: number | null): number =>
    lines === null || lines === 0 ? 0 : Math.max(1, Math.round(lines * scale));
  return "+".repeat(chars(insertions)) + "-".repeat(chars(deletions));
}

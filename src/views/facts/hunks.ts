// hunks: parses a unified diff into numbered lines, within bounds: a page must open whatever an
// agent wrote.

/** `@` begins a hunk, `!` is a remark such as `new file`; the others are git's marks. */
export type DiffLine = {
  readonly mark: " " | "+" | "-" | "@" | "!";
  readonly text: string;
  readonly oldNumber: number | null;
  readonly newNumber: number | null;
};

/** `cut`: the file's diff has more lines than these. */
export type FileDiff = { readonly lines: readonly DiffLine[]; readonly cut: boolean };

export const diffLinesMax = 3_000;
const lineCharsMax = 2_000;

/**
 * `@@ -12,3 +12,4 @@ function name`: the first line in the old and in the new file, and the text
 * around the hunk.
 */
const hunkHead = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

/** The lines of one file's patch. Before the first hunk there are only git's header lines. */
export function parseHunks(patch: string, linesMax = diffLinesMax): FileDiff {
  const lines: DiffLine[] = [];
  let [oldLine, newLine] = [0, 0];
  let isInHunk = false;

  for (const row of patch.split("\n")) {
    const head = hunkHead.exec(row);
    if (!isInHunk && head === null) {
      const note = headerNote(row);
      if (note !== null) lines.push({ mark: "!", text: note, oldNumber: null, newNumber: null });
      continue;
    }

    if (lines.length >= linesMax) return { lines, cut: true };
    if (head !== null) {
      isInHunk = true;
      [oldLine, newLine] = [Number(head[1]), Number(head[2])];
      lines.push({ mark: "@", text: clip(head[3] ?? ""), oldNumber: null, newNumber: null });
    } else if (row.startsWith("+")) {
      lines.push({ mark: "+", text: clip(row.slice(1)), oldNumber: null, newNumber: newLine++ });
    } else if (row.startsWith("-")) {
      lines.push({ mark: "-", text: clip(row.slice(1)), oldNumber: oldLine++, newNumber: null });
    } else if (row.startsWith(" ")) {
      lines.push({
        mark: " ",
        text: clip(row.slice(1)),
        oldNumber: oldLine++,
        newNumber: newLine++,
      });
    } else if (row.startsWith("\\")) {
      lines.push({
        mark: "!",
        text: "no newline at the end of the file",
        oldNumber: null,
        newNumber: null,
      });
    }
  }

  return { lines, cut: false };
}

/** Header lines of git that a person should see. */
function headerNote(row: string): string | null {
  if (row.startsWith("new file mode")) return "new file";
  if (row.startsWith("deleted file mode")) return "deleted file";
  if (row.startsWith("Binary files")) return "binary: its content is not shown";
  const mode = /^new mode (\d+)$/.exec(row);

  return mode === null ? null : `new mode ${mode[1] ?? ""}`;
}

const clip = (text: string): string =>
  text.length > lineCharsMax
    ? `${text.slice(0, lineCharsMax)}… (${text.length - lineCharsMax} more characters)`
    : text;

/** The patches of a whole diff, by path, in order. */
export function splitPatch(
  patch: string,
): readonly { readonly path: string; readonly patch: string }[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith("diff --git "))
    .map((part) => ({ path: patchPath(part), patch: part }));
}

/**
 * From `+++ b/src/a.ts`; of a deleted file from `--- a/src/a.ts`; of a file without lines, such as
 * a binary one, from `diff --git`.
 */
function patchPath(part: string): string {
  const newPath = /^\+\+\+ (?:"?b\/)(.*?)"?\t?$/m.exec(part)?.[1];
  const oldPath = /^--- (?:"?a\/)(.*?)"?\t?$/m.exec(part)?.[1];
  return newPath ?? oldPath ?? /^diff --git "?a\/.*"? "?b\/(.*?)"?$/m.exec(part)?.[1] ?? "?";
}

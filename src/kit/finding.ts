// finding: the type of a problem found in a document, with file, line, path and rule, and how it is
// written on one line.

/** Something wrong in a document: where, which rule, what was found, what was expected. */
export type Finding = {
  readonly file: string;
  /** From 1; 1 if the whole file is meant. */
  readonly line: number;
  readonly column: number;
  /** Where in the data: `phases[0].steps[2].go`; empty for the whole document. */
  readonly path: string;
  readonly rule: string;
  readonly message: string;
  readonly severity: "error" | "warning";
};

export type Position = { readonly line: number; readonly column: number };
export type DataPath = readonly (string | number)[];

/** A path as people write it: `phases[0].steps[2].go`. */
export function pathText(path: DataPath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }

  return text;
}

/** A finding on one line, as compilers write them. */
export function findingText(finding: Finding): string {
  const where = finding.path === "" ? "" : ` ${finding.path}:`;
  return `${finding.file}:${finding.line}:${finding.column}: ${finding.severity}:${where} ${finding.message} (${finding.rule})`;
}

/** A found value in a message: short, on one line, with its kind visible. */
export function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "a mapping";
  const text = JSON.stringify(value) ?? typeof value;

  return text.length <= shownCharactersMax ? text : `${text.slice(0, shownCharactersMax)}…`;
}

const shownCharactersMax = 80;

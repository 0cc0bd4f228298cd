// line-rules: the interface of validators that read a log line by line in constant memory, and a
// collector of the violations they find.

export type Violation = {
  /** From 1; blank lines count too. */
  readonly line: number;
  readonly rule: string;
  readonly message: string;
  readonly severity: "error" | "warning";
};

/** The validator of one log. */
export type LineRules = {
  /**
   * Checks a line. Returns the number of strings in it (json-hazards.ts), or `notCounted` if its
   * reader must count them.
   */
  readonly checkLine: (text: string, number: number) => number;
  /**
   * Records a fault that the reader of the file found: not text, too long, a duplicate key.
   * `isUnread`: `checkLine` is not called for it.
   */
  readonly addFault: (number: number, message: string, isUnread?: boolean) => void;
  /** To be called after the last line. */
  readonly finish: () => void;
};

export type Violations = {
  readonly add: (
    line: number,
    rule: string,
    message: string,
    severity?: Violation["severity"],
  ) => void;
  /** Sorted by line, up to a limit. */
  readonly list: () => readonly Violation[];
  readonly countErrors: () => number;
  /** How many are beyond the limit. */
  readonly countUnlisted: () => number;
};

/** Per severity, so that many warnings do not hide an error. */
const listedPerSeverityMax = 250;

export function openViolations(): Violations {
  const listed: Violation[] = [];
  const counts = { error: 0, warning: 0 };
  return {
    add: (line, rule, message, severity = "error") => {
      counts[severity]++;
      if (counts[severity] <= listedPerSeverityMax) listed.push({ line, rule, message, severity });
    },
    list: () => listed.toSorted((left, right) => left.line - right.line),
    countErrors: () => counts.error,
    countUnlisted: () => counts.error + counts.warning - listed.length,
  };
}

export type Tree = Readonly<Record<string, unknown>>;

export const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The string count of a line that is not a JSON object. */
export const notCounted = Number.NaN;

/** A line as a JSON object; null if it is blank; a message if it is neither. */
export function parseLine(text: string): Tree | null | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (text.trim() === "") return null;
    return describeFault(text, error);
  }

  if (isTree(value)) return value;
  return `is ${describeJsonType(value)}, expected one JSON object`;
}

function describeJsonType(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : `a ${typeof value}`;
}

const messageCharsMax = 200;
const byteOrderMark = 0xfeff;

function describeFault(text: string, error: unknown): string {
  if (text.includes("\0")) return "holds a NUL character, expected text";
  if (text.charCodeAt(0) === byteOrderMark) {
    return "begins with a byte order mark, expected one JSON object";
  }

  const why = error instanceof Error ? error.message : String(error);
  return `is not JSON: ${why.length > messageCharsMax ? `${why.slice(0, messageCharsMax)}…` : why}`;
}

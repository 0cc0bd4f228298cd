// line-rules: the interface of log validators that take one line at a time in constant memory, and their violations.

/** Common to the rules of every log: lines go in one by one, violations come out, and memory use is constant. */

export type Violation = {
  /** From 1; blank lines count too. */
  readonly line: number;
  readonly rule: string;
  readonly message: string;
  readonly severity: "error" | "warning";
};

/** The rules of one log, at work. */
export type LineRules = {
  /** Judges a line. Answers how many names and texts are in it (json-hazards.ts): no number, where its reader must look into it. */
  readonly line: (text: string, number: number) => number;
  /** Takes note of what the reader of the file found about a line: not text, too long, a key twice. `isUnread`: the line itself never came. */
  readonly fault: (number: number, message: string, isUnread?: boolean) => void;
  /** After the last line. */
  readonly end: () => void;
};

export type Violations = {
  readonly add: (line: number, rule: string, message: string, severity?: Violation["severity"]) => void;
  /** In the order of their lines; of too many only the first. */
  readonly list: () => readonly Violation[];
  readonly errors: () => number;
  /** How many there were beyond those that are listed. */
  readonly left: () => number;
};

/** Of each severity apart, so that a thousand warnings do not hide the one error. */
const listedMax = 250;

export function openViolations(): Violations {
  const listedViolations: Violation[] = [];
  const counts = { error: 0, warning: 0 };
  return {
    add: (line, rule, message, severity = "error") => {
      counts[severity]++;
      if (counts[severity] <= listedMax) listedViolations.push({ line, rule, message, severity });
    },
    list: () => listedViolations.toSorted((a, b) => a.line - b.line),
    errors: () => counts.error,
    left: () => counts.error + counts.warning - listedViolations.length,
  };
}

export type Tree = Readonly<Record<string, unknown>>;

export const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/** What a line is taken for where it isn't an object: its reader counts no names in it. */
export const notCounted = Number.NaN;

/** A line as one JSON object, null if it is blank, or why it is none. */
export function textTree(text: string): Tree | null | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (text.trim() === "") return null;
    return faultIn(text, error);
  }
  if (isTree(value)) return value;
  return `is ${Array.isArray(value) ? "a list" : value === null ? "null" : `a ${typeof value}`}, expected one JSON object`;
}

const whyCharsMax = 200;
const byteOrderMark = 0xfeff;

function faultIn(text: string, error: unknown): string {
  if (text.includes("\0")) return "holds a NUL character, expected text";
  if (text.charCodeAt(0) === byteOrderMark) return "begins with a byte order mark, expected one JSON object";
  const why = error instanceof Error ? error.message : String(error);
  return `is not JSON: ${why.length > whyCharsMax ? `${why.slice(0, whyCharsMax)}…` : why}`;
}

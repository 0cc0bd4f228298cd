// judge: which changes of a run are changes of protected files, and of which kind. Pure: texts are passed in.
//
// Invariants:
//   J1. Only files of the base are protected; a new file counts only if it would override them.
//   J2. In a file that judges only in part, only that part counts.
//   J3. A file that isn't text counts as changed if its content differs.
//   J4. An approval holds for exactly the changes it was given for.
//   J5. Tests may be added to a test file, and helpers of new tests beside the others, if checks are tried out: anything else that came
//       with them is found by breaking the others, and by running them alone. A test file may be moved whole to another test folder:
//       the tests that ran are compared with before.

import type { StringSet } from "../../kit/as-set.ts";
import { createHash } from "node:crypto";
import type { ProtectedChange } from "../../contracts/evidence.ts";
import type { Hash } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import { changedParts, decidingOf } from "./deciding.ts";
import type { Deciding, Named } from "./named.ts";
import { namingPattern } from "./explicit-scope.ts";
import { type Finding, findingsIn, linesOf } from "./change-kind.ts";
import { isExtended } from "./only-more.ts";
import { overridesBase } from "./ruling.ts";
import type { Row } from "./kinds.ts";

export type Setting = {
  /** Every path at the base. */
  readonly base: StringSet;
  readonly rowOf: (path: string) => Row | null;
  /** Quicker than `rowOf`, for all paths of a tree; a no is certain. */
  readonly mayBeTest?: (path: string) => boolean;
  readonly named: Named;
  /** Whether checks that pass are tried out. */
  readonly areTriedOut?: boolean;
  /** Deleted files that exist elsewhere with the same content, except for relative imports. */
  readonly movedWhole?: ReadonlySet<string>;
};
/** A difference with both texts; null if there is none, or it is unreadable. */
export type ChangedFile = { readonly difference: Difference; readonly before: string | null; readonly after: string | null };
export type Judged = { readonly content: Hash; readonly changes: readonly ProtectedChange[] };

/** Whether a difference may be one of a protected file, so that its texts are worth reading. */
export function isCandidate(difference: Difference, setting: Setting): boolean {
  const { path } = difference;
  const { rowOf, named } = setting;
  return rowFor(difference, setting) !== null && (rowOf(path)?.part !== "lock" || named.restores);
}

/** The rule a difference falls under; null if none. A new test judges nothing, unless it overrides (J1). */
export function rowFor({ path, kind }: Pick<Difference, "path" | "kind">, { rowOf, base, named }: Setting): Row | null {
  const row = rowOf(path);
  return row !== null && (kind !== "added" || overridesBase(path, row, base, rowOf, named)) ? row : null;
}

export function judgeProtected(
  seen: readonly ChangedFile[],
  moved: ReadonlyMap<string, string>,
  setting: Setting,
  scope: readonly string[],
  approved: readonly Hash[],
): Judged {
  const found = seen.flatMap((one) => {
    const { path } = one.difference;
    const row = rowFor(one.difference, setting);
    const finding = row === null ? null : findingOf(one, row, moved.get(path) ?? null, setting.named);
    if (row === null || finding === null) return [];
    const isNamed = namingPattern(scope, path, setting.rowOf) !== null;
    const isMore = row.kind === "test" && row.part === undefined && hasOnlyMore(one, finding);
    const isServing = row.serves === true && one.difference.kind === "added";
    const to = moved.get(path);
    const isMoved = row.kind === "test" && to !== undefined && setting.movedWhole?.has(path) === true && setting.rowOf(to)?.kind === "test";
    const isFree = setting.areTriedOut === true && (isMore || isServing || isMoved); // J5
    const allowed = isNamed ? ("scope" as const) : isFree ? ("added" as const) : null;
    return [
      {
        seen: one,
        change: { path, kind: row.kind, how: finding.how, detail: sentence(finding.words), allowed },
      },
    ];
  });
  const content = contentOf(found.filter(({ change }) => change.allowed === null));
  const isApproved = approved.includes(content); // J4
  const changes = found.map(({ change }) => (change.allowed === null && isApproved ? { ...change, allowed: "approved" as const } : change));
  return { content, changes };
}

function findingOf({ difference, before, after }: ChangedFile, row: Row, movedTo: string | null, named: Named): Finding | null {
  const { path, kind } = difference;
  if (kind === "added") {
    const parts = row.part === undefined || after === null ? null : decidingOf(row.part, after, named);
    if (
      isEmpty(parts) || // J2
      (after !== null && row.idle?.(after) === true)
    )
      return null;
    return { how: "added", words: row.because ?? "it is new, and tests or checks that were there before would go by it" };
  }
  if (before !== null && row.says?.test(before) === false) return null;
  if (kind === "deleted" && row.part !== undefined && before !== null && isEmpty(decidingOf(row.part, before, named))) return null; // J2
  if (kind === "deleted")
    return movedTo === null ? { how: "deleted", words: "it was deleted" } : { how: "renamed", words: `it was moved to ${movedTo}` };
  if (before === null || after === null) return { how: "changed", words: "it is another content, too large or no text to be looked into" }; // J3
  if (before === after) return { how: "changed", words: "its mode or its kind of file is another one" };
  if (row.part !== undefined) return partFinding(path, row, before, after, named); // J2
  const all = findingsIn(path, row.kind, before, after);
  const [first] = all;
  const how = row.kind === "scripts" ? "redefined" : (first?.how ?? "changed");
  return {
    how,
    words: first === undefined ? `it was changed, ${linesOf(before, after)}` : all.map(({ words: message }) => message).join("; "),
  };
}

/** Whether a test file has everything it had, and more test cases. */
const hasOnlyMore = ({ before, after }: ChangedFile, { how, words: message }: Finding): boolean =>
  how === "changed" &&
  before !== null &&
  after !== null &&
  /^\d+ test cases? (?:was|were) added/.test(message) &&
  isExtended(before, after);

const isEmpty = (deciding: Deciding | null): boolean => deciding !== null && Object.keys(deciding).length === 0;

const shownMax = 3;
const shownCharsMax = 120;

function partFinding(path: string, row: Row, before: string, after: string, named: Named): Finding | null {
  const { part } = row;
  if (part === undefined) return null;
  const [was, is] = [decidingOf(part, before, named), decidingOf(part, after, named)];
  if (was === null) return { how: "changed", words: `it was changed, ${linesOf(before, after)}` };
  if (is === null)
    return Object.keys(was).length === 0 ? null : { how: "changed", words: "it can no longer be read, so the parts that decide are gone" };
  const names = changedParts(part, was, is, named);
  if (names.length === 0) return null;
  if (part === "lock") return { how: "changed", words: "dependencies are restored from it, so it decides what the checks run with" };
  const shown = names
    .slice(0, shownMax)
    .map((name) =>
      part === "rust_source"
        ? `${name} was ${is[name] === undefined ? "taken away" : "changed"}`
        : `${name} ${describeChange(was[name], is[name])}`,
    );
  const more = names.length > shownMax ? [`${names.length - shownMax} more parts that decide differ`] : [];
  const message = [...shown, ...more].join("; ");
  const isScript = names.some((name) => /^(?:scripts\.|target |variable |how )/.test(name));
  if (isScript) return { how: "redefined", words: message };
  const text = (from: Readonly<Record<string, string>>): string => names.map((name) => from[name] ?? "").join("\n");
  const kind = part === "rust_source" ? "test" : "test_config";
  const [first] = findingsIn(path, kind, text(was), text(is)).filter(({ how }) => how !== "changed");
  return { how: first?.how ?? "changed", words: first === undefined ? message : `${first.words}; ${message}` };
}

function describeChange(was: string | undefined, is: string | undefined): string {
  if (is === undefined) return `is gone, before it was ${quoted(was ?? "")}`;
  return was === undefined ? `is new: ${quoted(is)}` : `is ${quoted(is)} now, before it was ${quoted(was)}`;
}

const quoted = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return `"${line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line}"`;
};

const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

/** A hash of exactly these changes: paths, kinds, and contents. */
function contentOf(found: readonly { readonly seen: ChangedFile; readonly change: ProtectedChange }[]): Hash {
  const rows = found
    .map(({ seen, change }) => [change.path, change.how, seen.difference.now ?? null, seen.after] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(rows)).digest("hex");
}

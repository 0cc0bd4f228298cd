// judge: decides which changes of a run are changes of protected files, of which kind, and whether
// they are allowed. Pure: texts are passed in.
//
// Invariants:
//   J1. Only files of the base are protected; a new file counts only if it would override them.
//   J2. In a file that judges only in part, only that part counts.
//   J3. A file that isn't text counts as changed if its content differs.
//   J4. An approval holds for exactly the changes it was given for.
//   J5. If experiments follow a pass (experiments/try-out.ts), tests may be added to a test file,
//       and helpers of new tests beside the others: the experiments break the other tests, and run
//       them alone, and so find what else came with the addition. So may steps be added to a rule or
//       script that checks run; a gap names it. A test file may be moved whole to
//       another test folder: the tests that ran are compared with those before.
//   J6. A makefile may name new files of the work beside others: what they do, they could do in any
//       other file.
//   J7. So may a new file with variables alone that a makefile of the base asks for (`-include
//       config.mk`), if experiments follow: what kept the tests from failing would be found by
//       them. A person is told of it.
//   J8. A change of tests and recorded outputs that the goal asks for in so many words, or of names
//       that it asks to change or remove, needs no further leave, unless it puts tests out of action;
//       nor do settings of linters and compilers that it asks for, unless they are loosened. A gap
//       names it.

import type { StringSet } from "../../kit/as-set.ts";
import { createHash } from "node:crypto";
import type { ProtectedChange } from "../../contracts/evidence.ts";
import type { Hash } from "../../contracts/ids.ts";
import type { Difference } from "../../ports/workspace.ts";
import { extendsPart, listChangedParts, extractProtectedParts } from "./parts/extract-parts.ts";
import type { CommandSet } from "./command-set.ts";
import type { ProtectedParts } from "./parts/protected-parts.ts";
import { isAskedFor } from "./asked-changes.ts";
import { findNamingPattern } from "./explicit-scope.ts";
import { type ChangeFinding, findChangeFindings, describeLineChanges } from "./change-kind.ts";
import { listAddedLines, keepsAllLines, isHarmlessAddition } from "./kept-lines.ts";
import { setsVariablesOnly } from "./parts/parse-makefile.ts";
import { withoutNewFiles } from "./parts/without-new-files.ts";
import { overridesBase } from "./overrides-base.ts";
import type { ProtectionRow } from "./rows/protection-row.ts";
import { isSameCode } from "./same-code.ts";
import { detectSourceLanguage } from "./source-language.ts";

export type ProtectionRules = {
  /** Every path at the base. */
  readonly base: StringSet;
  readonly rowOf: (path: string) => ProtectionRow | null;
  /** Quicker than `rowOf`, for all paths of a tree; a no is certain. */
  readonly mayBeTest?: (path: string) => boolean;
  readonly named: CommandSet;
  /** Whether checks that pass are tried out. */
  readonly areTriedOut?: boolean;
  /** New files of the work. */
  readonly addedPaths?: readonly string[];
  /** Deleted files that exist elsewhere with the same content, except for relative imports. */
  readonly movedWhole?: ReadonlySet<string>;
};
/** A difference with both texts; null if there is none, or it is unreadable. */
export type ChangedFile = {
  readonly difference: Difference;
  readonly before: string | null;
  readonly after: string | null;
};
export type ProtectedJudgement = {
  readonly content: Hash;
  readonly changes: readonly ProtectedChange[];
};

/** Whether a difference may be one of a protected file, so that its texts are worth reading. */
export function isCandidate(difference: Difference, rules: ProtectionRules): boolean {
  const { path } = difference;
  const { rowOf, named } = rules;
  return (
    findApplicableRow(difference, rules) !== null &&
    (rowOf(path)?.part !== "lock" || named.restores)
  );
}

/**
 * The rule a difference falls under; null if none. A new test judges nothing, unless it overrides
 * (J1).
 */
export function findApplicableRow(
  { path, kind }: Pick<Difference, "path" | "kind">,
  { rowOf, base, named }: ProtectionRules,
): ProtectionRow | null {
  const row = rowOf(path);
  return row !== null &&
    (kind !== "added" || overridesBase({ path, row, base, rowOf, commands: named }))
    ? row
    : null;
}

type ProtectedChanges = {
  readonly changedFiles: readonly ChangedFile[];
  readonly moved: ReadonlyMap<string, string>;
  readonly rules: ProtectionRules;
  readonly scope: readonly string[];
  readonly approved: readonly Hash[];
  readonly held?: readonly Hash[];
  /** The goal and the criteria in the person's words. */
  readonly goal?: string;
};

export function judgeProtected({
  changedFiles,
  moved,
  rules,
  scope,
  approved,
  held = [],
  goal = "",
}: ProtectedChanges): ProtectedJudgement {
  const judgedChanges = changedFiles.flatMap((file) => {
    const { path } = file.difference;
    const row = findApplicableRow(file.difference, rules);
    const finding =
      row === null ? null : describeFileChange(file, row, moved.get(path) ?? null, rules);
    if (row === null || finding === null) return [];
    const isNamed = findNamingPattern(scope, path, rules.rowOf) !== null;
    const hasOnlyNewTests =
      row.kind === "test" && row.part === undefined && hasOnlyAdditions(file, finding);
    const comesWithTests =
      file.difference.kind === "added" &&
      (row.comesWithTests === true || isVariablesFile(row, file.after)); // J7
    const newPath = moved.get(path);

    const isMoved =
      row.kind === "test" &&
      newPath !== undefined &&
      rules.movedWhole?.has(path) === true &&
      rules.rowOf(newPath)?.kind === "test";
    const isAllowedAddition =
      rules.areTriedOut === true &&
      (hasOnlyNewTests || comesWithTests || isMoved || finding.how === "extended"); // J5
    const allowedAsAddition = isAllowedAddition ? ("added" as const) : null;
    const allowedByGoal = isAskedByGoal(file, row, finding, goal) ? ("goal" as const) : null; // J8
    const allowed = isNamed ? ("scope" as const) : (allowedAsAddition ?? allowedByGoal);

    const change: ProtectedChange = {
      path,
      kind: row.kind,
      how: finding.how,
      detail: toSentence(finding.message),
      allowed,
    };

    return [{ file, change }];
  });
  const content = hashChanges(judgedChanges.filter(({ change }) => change.allowed === null));
  const heldAsIs = held.includes(content) ? ("held" as const) : null;
  const allowedAsIs = approved.includes(content) ? ("approved" as const) : heldAsIs; // J4
  const changes = judgedChanges.map(({ change }) =>
    change.allowed === null ? { ...change, allowed: allowedAsIs } : change,
  );

  return { content, changes };
}

function isAskedByGoal(
  file: ChangedFile,
  { kind, part }: ProtectionRow,
  { how }: ChangeFinding,
  goal: string,
): boolean {
  const { path } = file.difference;
  if (part !== undefined && part !== "rust_source") return false;
  if (part === undefined && kind === "test" && keepsEverything(file)) return false;
  const findJudging = (text: string | null): string | null =>
    part === undefined || text === null
      ? text
      : Object.values(extractProtectedParts(part, text, noCommands) ?? {}).join("\n");
  const [before, after] = [findJudging(file.before), findJudging(file.after)];
  // Tests that got other names are gone as parts, and yet there.
  const [finding] =
    part === undefined ? [] : findChangeFindings(path, kind, before ?? "", after ?? "");
  const howNow = part === undefined ? how : (finding?.how ?? "changed");
  return isAskedFor({ path, kind, how: howNow, before, after, isPart: part !== undefined }, goal);
}
const noCommands: CommandSet = { commands: [], usedCommands: [], restores: false };

/** A new file that a makefile includes and that sets variables, and does nothing else (J7). */
const isVariablesFile = (row: ProtectionRow, after: string | null): boolean =>
  row.part === "included" && after !== null && setsVariablesOnly(after);

/** What was done to a protected file; null if the change does not count. */
function describeFileChange(
  file: ChangedFile,
  row: ProtectionRow,
  movedTo: string | null,
  { named: commandSet, addedPaths = [] }: Pick<ProtectionRules, "named" | "addedPaths">,
): ChangeFinding | null {
  const { difference, before, after } = file;
  const { path, kind } = difference;
  const hasNoProtectedPart = (text: string | null): boolean =>
    row.part !== undefined &&
    text !== null &&
    isEmpty(extractProtectedParts(row.part, text, commandSet)); // J2

  if (kind === "added") {
    if (hasNoProtectedPart(after) || (after !== null && row.isHarmless?.(after) === true))
      return null;
    return {
      how: "added",
      message:
        row.because ?? "it is new, and tests or checks that were there before would go by it",
    };
  }

  if (before !== null && row.content?.test(before) === false) return null;
  if (kind === "deleted") {
    if (hasNoProtectedPart(before)) return null;
    return movedTo === null
      ? { how: "deleted", message: "it was deleted" }
      : { how: "renamed", message: `it was moved to ${movedTo}` };
  }

  if (before === null || after === null) {
    return {
      how: "changed",
      message: "it is another content, too large or no text to be looked into",
    };
  } // J3

  if (before === after) {
    return { how: "changed", message: "its mode or its kind of file is another one" };
  }

  if (row.part === "make" || row.part === "included") {
    return describePartChange({
      path,
      row,
      before,
      after: withoutNewFiles(before, after, addedPaths),
      commandSet,
    });
  } // J6

  if (row.part !== undefined) return describePartChange({ path, row, before, after, commandSet }); // J2
  const language = detectSourceLanguage(path);
  if (row.kind === "test" && language !== null && isSameCode(before, after, language)) return null;
  const findings = findChangeFindings(path, row.kind, before, after);
  const [first] = findings;
  const how = row.kind === "scripts" ? "redefined" : (first?.how ?? "changed");
  const changedMessage = `it was changed: ${describeLineChanges(before, after)}`;
  const hasOnlyMore = how !== "changed" || keepsAllLines(before, after);

  return {
    how,
    message:
      first === undefined || (row.kind === "test" && !hasOnlyMore)
        ? changedMessage
        : findings.map(({ message }) => message).join("; "),
  };
}

/** Data with a case a line. In JSON and YAML a later entry may take the place of an earlier one. */
const lineData = /\.(?:txt|csv|tsv)$/;

/**
 * Whether a test file has everything it had, and more: test cases, or nothing but assertions and
 * rows of a table.
 */
const hasOnlyAdditions = (
  { difference: { path }, before, after }: ChangedFile,
  { how, message }: ChangeFinding,
): boolean =>
  how === "changed" &&
  before !== null &&
  after !== null &&
  keepsAllLines(before, after) &&
  (/^\d+ test cases? (?:was|were) added/.test(message) || // as change-kind.ts words it
    lineData.test(path) ||
    listAddedLines(before, after).every(isHarmlessAddition));

/** Whether a file has all the lines that it had, in the same order. */
export const keepsEverything = ({ before, after }: ChangedFile): boolean =>
  before !== null && after !== null && keepsAllLines(before, after);

const isEmpty = (parts: ProtectedParts | null): boolean =>
  parts !== null && Object.keys(parts).length === 0;

const shownMax = 3;
const shownCharsMax = 120;

type PartChange = {
  readonly path: string;
  readonly row: ProtectionRow;
  readonly before: string;
  readonly after: string;
  readonly commandSet: CommandSet;
};

/**
 * What was done to the protected parts of a file; null if they are as they were, or the change of
 * them is harmless.
 */
function describePartChange({
  path,
  row,
  before,
  after,
  commandSet,
}: PartChange): ChangeFinding | null {
  const { part } = row;
  if (part === undefined) return null;
  const [partsBefore, partsAfter] = [
    extractProtectedParts(part, before, commandSet),
    extractProtectedParts(part, after, commandSet),
  ];
  if (partsBefore === null) {
    return { how: "changed", message: `it was changed: ${describeLineChanges(before, after)}` };
  }

  if (partsAfter === null) {
    return Object.keys(partsBefore).length === 0
      ? null
      : { how: "changed", message: "it can no longer be read, so the parts that decide are gone" };
  }

  const names = listChangedParts(part, partsBefore, partsAfter, commandSet);
  if (names.length === 0) return null;
  if (part === "lock") {
    return {
      how: "changed",
      message: "dependencies are restored from it, so it decides what the checks run with",
    };
  }

  const describePart = (name: string): string => {
    if (part !== "rust_source") {
      return `${name} ${describeChange(partsBefore[name], partsAfter[name])}`;
    }

    return `${name} was ${partsAfter[name] === undefined ? "taken away" : "changed"}`;
  };

  const more =
    names.length > shownMax ? [`${names.length - shownMax} more parts that decide differ`] : [];
  const message = [...names.slice(0, shownMax).map(describePart), ...more].join("; ");
  const isScript = names.some((name) => /^(?:scripts\.|target |variable |how )/.test(name));
  if (isScript) {
    const isExtended = names.every((name) =>
      extendsPart(name, partsBefore[name] ?? "", partsAfter[name] ?? ""),
    );
    return { how: isExtended ? "extended" : "redefined", message };
  }
  const joinParts = (parts: Readonly<Record<string, string>>): string =>
    names.map((name) => parts[name] ?? "").join("\n");
  const kind = part === "rust_source" ? "test" : "test_config";

  const [first] = findChangeFindings(
    path,
    kind,
    joinParts(partsBefore),
    joinParts(partsAfter),
  ).filter(({ how }) => how !== "changed");

  return {
    how: first?.how ?? "changed",
    message: first === undefined ? message : `${first.message}; ${message}`,
  };
}

function describeChange(before: string | undefined, after: string | undefined): string {
  if (after === undefined) return `is gone, before it was ${quote(before ?? "")}`;
  return before === undefined
    ? `is new: ${quote(after)}`
    : `is ${quote(after)} now, before it was ${quote(before)}`;
}

const quote = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  const shownText = line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line;
  return `"${shownText}"`;
};

const toSentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

/** A hash of exactly these changes: paths, kinds, and contents. */
function hashChanges(
  changes: readonly { readonly file: ChangedFile; readonly change: ProtectedChange }[],
): Hash {
  const entries = changes
    .map(
      ({ file, change }) =>
        [change.path, change.how, file.difference.is ?? null, file.after] as const,
    )
    .sort(([leftPath], [rightPath]) => (leftPath < rightPath ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(entries)).digest("hex");
}

// find-protected: finds the changed protected files between two commits, reading no more than needed.
//
// Invariants:
//   L1. It only reads, and every read is bounded: texts by size and number; beyond that only content hashes are compared.

import picomatch from "picomatch";
import { asSet, type StringSet } from "../../kit/as-set.ts";
import type { LookAt, ProtectedChange } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Difference, Workspace } from "../../ports/workspace.ts";
import { decidingOf } from "./deciding.ts";
import { shadowableTargetsIn, includedIn } from "./deciding-make.ts";
import { ledBy } from "./imported-scripts.ts";
import { lookAt } from "./look-at.ts";
import type { Named } from "./named.ts";
import { isCandidate, type Judged, judgeProtected, type ChangedFile, type Setting } from "./judge.ts";
import { mayBeTest, type Row } from "./kinds.ts";
import { programsIn, settingsIn } from "./programs.ts";
import { rowsWith } from "./protect.ts";

export type Reading = Pick<Workspace, "differences" | "pathsAt" | "textAt">;
export type ProtectedParts = {
  readonly workspace: Reading;
  readonly protect: readonly string[];
  readonly restores: boolean;
  readonly areTriedOut?: boolean;
};

export const textBytesMax = 512 * 1024;
const textsMax = 1_000;
export const changesMax = 1_000;
const lookMax = 200;

type ProtectedRequest = Parameters<Verifier["oracles"]>[0];

export async function findProtected(
  parts: ProtectedParts,
  { base, commit, scope, approved, checks = [] }: ProtectedRequest,
): Promise<Judged & { readonly look?: readonly LookAt[] }> {
  const differences = await parts.workspace.differences(base, commit);
  if (differences.length === 0) return judgeProtected([], new Map(), nothing, scope, approved);
  const setting = await settingOf(
    parts,
    base,
    checks.map(({ command }) => command),
  );
  const { areTriedOut = false } = parts;
  const candidates = differences.filter((difference) => isCandidate(difference, setting));
  const seen: ChangedFile[] = [];
  for (const [index, difference] of candidates.entries())
    seen.push(await read(parts.workspace, base, commit, difference, index < textsMax)); // L1
  const moves = movesIn(differences);
  const movedWhole = new Set<string>();
  for (const { difference, before } of seen) {
    const to = moves.get(difference.path);
    const text = to === undefined || before === null ? null : await parts.workspace.textAt(commit, to, textBytesMax);
    if (text !== null && before !== null && withoutWays(text) === withoutWays(before)) movedWhole.add(difference.path);
  }
  const judged = judgeProtected(seen, moves, { ...setting, areTriedOut, movedWhole }, scope, approved);
  return { ...judged, changes: shortened(judged.changes), look: await lookedAt(parts.workspace, base, commit, differences, setting) };
}

/** What a person should review, in changed or new files. */
async function lookedAt(
  workspace: Reading,
  base: GitSha,
  commit: GitSha,
  differences: readonly Difference[],
  { rowOf }: Setting,
): Promise<readonly LookAt[]> {
  const found: LookAt[] = [];
  for (const [index, difference] of differences.entries()) {
    if (found.length >= lookMax) break;
    found.push(
      ...lookAt({ ...(await read(workspace, base, commit, difference, index < textsMax)), isTest: isOfTests(rowOf(difference.path)) }),
    ); // L1
  }
  return found.slice(0, lookMax);
}

/** Code at a test's path may read what it likes: it knows that it is a test. Rust's sources may only hold some. */
export const isOfTests = (row: Row | null): boolean =>
  (row?.kind === "test" && row.part !== "rust_source") || row?.kind === "snapshot" || row?.kind === "test_config";

const nothing: Setting = { base: new Set(), rowOf: () => null, named: { commands: [], used: [], restores: false } };

/** The protected files of a run, from its base and its commands. */
export async function settingOf(
  { workspace, protect, restores }: ProtectedParts,
  base: GitSha,
  commands: readonly string[],
): Promise<Setting> {
  const paths = asSet(await workspace.pathsAt(base));
  const bare: Named = { commands, used: commands, restores };
  const used = [...commands];
  const testing: string[] = [];
  const makefiles: string[] = [];
  const texts: string[] = [...commands];
  for (const [path, part] of [
    ["package.json", "package"],
    ["Makefile", "make"],
    ["makefile", "make"],
    ["GNUmakefile", "make"],
  ] as const) {
    const text = paths.has(path) ? await workspace.textAt(base, path, textBytesMax) : null;
    if (text === null) continue;
    const parts = Object.entries(decidingOf(part, text, bare) ?? {});
    used.push(...parts.map(([, message]) => message));
    testing.push(...parts.flatMap(([name, message]) => (isTesting.test(name) ? message : [])));
    texts.push(text);
    if (part === "make") makefiles.push(text);
  }
  const rows = rowsWith(protect);
  const started = new Set([...programsIn(used), ...programsIn(testing, true)]);
  const programs = new Set([
    ...started,
    ...settingsIn(used),
    ...(await ledBy(started, texts, paths, (path) => workspace.textAt(base, path, textBytesMax))),
  ]);
  const isAim = aimsOf(makefiles, bare, paths);
  const included = includedIn(makefiles);
  const isIncluded = included.length === 0 ? () => false : picomatch([...included], { dot: true });
  const rowOf = (path: string): Row | null => {
    const row = rows(path);
    if (isAim(path)) return aimed;
    if (isIncluded(path) && (row === null || row.part === "included")) return taken; // new or not: the base's makefile names it
    return row ?? (programs.has(path) && paths.has(path) ? program : null);
  };
  // What the user protects by name counts as a test, whatever it is called.
  return { base: paths, rowOf, named: { ...bare, used }, ...(protect.length === 0 ? { mayBeTest } : {}) };
}

const program: Row = { kind: "scripts", fits: /$^/ };
const aimed: Row = {
  kind: "scripts",
  fits: /$^/,
  rules: "named",
  because: "it bears the name of a rule that the makefile runs, and while it is there make finds nothing to do",
};

/** Whether a path would keep make from running a check: it is, or is in, a target's name, and nothing was there before. */
function aimsOf(makefiles: readonly string[], named: Named, paths: StringSet): (path: string) => boolean {
  if (!named.commands.some((command) => /\bmake\b/.test(command))) return () => false;
  const folders = new Set([...paths].map((path) => path.split("/", 1)[0] ?? ""));
  const aims = new Set(makefiles.flatMap((text) => shadowableTargetsIn(text, named)).filter((aim) => !folders.has(aim)));
  return (path) => aims.has(path.split("/", 1)[0] ?? "");
}

const taken: Row = { kind: "scripts", fits: /$^/, part: "included", rules: "named" };
/** The scripts and rules by which a project tests itself. */
const isTesting = /^(?:scripts\.|target )(?:pre|post)?(?:tests?|unit|e2e|spec|lint|checks?|verify|validate|ci|cov|coverage)(?:[:._-].*)?$/;

async function read(workspace: Reading, base: GitSha, commit: GitSha, difference: Difference, isRead: boolean): Promise<ChangedFile> {
  const { path, kind } = difference;
  const before = isRead && kind !== "added" ? await workspace.textAt(base, path, textBytesMax) : null;
  const after = isRead && kind !== "deleted" ? await workspace.textAt(commit, path, textBytesMax) : null;
  return { difference, before, after };
}

/** A text without the relative import paths that a moved file has to change. */
const withoutWays = (text: string): string => text.replaceAll(/(?<=["'])(?:\.{1,2}\/)+/g, "./");

/** Where deleted files went: a new file of the same content, or of the same name in another folder. */
export function movesIn(differences: readonly Difference[]): ReadonlyMap<string, string> {
  const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  const added = differences.filter(({ kind }) => kind === "added");
  const byContent = new Map(added.map(({ path, now }) => [now ?? "", path]));
  const byName = new Map(added.map(({ path }) => [nameOf(path), path]));
  const moves = new Map<string, string>();
  for (const { path, kind, was } of differences) {
    const to = kind === "deleted" ? (byContent.get(was ?? "-") ?? byName.get(nameOf(path))) : undefined;
    if (to !== undefined) moves.set(path, to);
  }
  return moves;
}

/** A list that fits a journal: refused ones first; the last entry says how many are left out. */
function shortened(changes: readonly ProtectedChange[]): readonly ProtectedChange[] {
  if (changes.length <= changesMax) return changes;
  const kept = changes.toSorted((one, other) => Number(one.allowed !== null) - Number(other.allowed !== null)).slice(0, changesMax);
  const last = kept.at(-1);
  const left = changes.length - kept.length;
  return last === undefined ? kept : [...kept.slice(0, -1), { ...last, detail: `${last.detail} And ${left} more oracles besides.` }];
}

// lint-contradictions: finds gates that can never hold, alone or together with the others of their
// step. Reports only what is certain.

import type { Gate, Proof, Step } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import type { Lint } from "./lint-subject.ts";

const rule = "gate_never_holds";

export const listGateFiles = (gate: Gate): string[] => [
  ...(gate.file === undefined ? [] : [gate.file]),
  ...(gate.files ?? []),
];

/** Reports keys of one gate that exclude each other. */
export function lintContradictoryGate(
  { reportAt }: Pick<Lint, "reportAt">,
  gate: Gate,
  path: DataPath,
): void {
  const report = (key: DataPath, message: string): void =>
    reportAt([...path, ...key], rule, message);
  const { any, exists, except = [], at_least = 1 } = gate;

  const contentRule = contentRules.find((key) => gate[key] !== undefined && gate[key] !== false);
  if (exists === false && contentRule !== undefined) {
    report([], `found exists: false beside ${contentRule}: no file can be absent and have that`);
  }

  if (exists === false && gate.for_each !== undefined) {
    report([], "found exists: false beside for_each, which asks for its files");
  }

  if (any !== undefined && except.some((glob) => covers(glob, any))) {
    report(["except"], `found except, which leaves nothing of ${shown(any)}`);
  }

  if (any !== undefined && !isPattern(any) && at_least > 1) {
    const count = `${at_least} of ${shown(any)}`;
    report(["at_least"], `found at_least: ${count}, which is the name of one file`);
  }

  if (gate.after !== undefined && listGateFiles(gate).includes(gate.after)) {
    report(["after"], "found a file that must be newer than itself");
  }

  for (const { keyPath, wantedPath } of listWantedPaths(gate)) {
    const why = whyNeverKept(wantedPath);
    if (why !== null) report(keyPath, `found ${shown(wantedPath)}, ${why}`);
  }

  const deadReason = gate.matches === undefined ? null : whyNeverMatches(gate.matches);
  if (deadReason !== null) {
    report(["matches"], `found a pattern that matches nothing: ${deadReason}`);
  }
}

const contentRules = ["non_empty", "min_lines", "matches", "fresh", "after"] as const;

/** Why no file at a path can be what an agent left. */
function whyNeverKept(path: string): string | null {
  const folder = path.split("/").find((part) => unlistedFolders.has(part));
  if (folder !== undefined) {
    return `and what lies in ${folder} is no artifact: it is never looked at`;
  }

  const isOwned = ownedFolders.some((ownedFolder) => path.startsWith(ownedFolder));
  return isOwned ? "which is the runner's own: what an agent writes there is not kept" : null;
}

/** Folders whose contents are never listed. */
const unlistedFolders: ReadonlySet<string> = new Set([".git", "node_modules", ".venv", "venv"]);
/** Folders in which only the runner writes. */
const ownedFolders: readonly string[] = [".autopilot/"];

/** A path or pattern at which a gate expects something, and the key that names it. */
type WantedPath = { readonly keyPath: DataPath; readonly wantedPath: string };

function listWantedPaths({ exists, file, files = [], any, for_each }: Gate): readonly WantedPath[] {
  if (exists === false) return [];
  return [
    ...(file === undefined ? [] : [{ keyPath: ["file"], wantedPath: file }]),
    ...files.map((wantedPath, index) => ({ keyPath: ["files", index], wantedPath })),
    ...(any === undefined ? [] : [{ keyPath: ["any"], wantedPath: any }]),
    ...(for_each === undefined
      ? []
      : [{ keyPath: ["for_each", "file"], wantedPath: for_each.file }]),
  ];
}

type LocatedGate = { readonly gate: Gate; readonly gatePath: DataPath };

/**
 * The gates of one step, which all must hold: none may forbid what another requires, nor may the
 * step leave it behind.
 */
export function lintContradictoryGates(
  { reportAt }: Pick<Lint, "reportAt">,
  step: Step,
  path: DataPath,
): void {
  const gates = listGates(step, path);
  const forbiddenGlobs = gates.flatMap(({ gate }) =>
    gate.except === undefined ? (gate.none ?? []) : [],
  );
  const absentFiles = gates.flatMap(({ gate }) =>
    gate.exists === false ? listGateFiles(gate) : [],
  );

  const wantedPaths = gates.flatMap(({ gate, gatePath }) =>
    listWantedPaths(gate).map((wanted) => ({ ...wanted, gatePath })),
  );
  const wantedFiles = wantedPaths
    .filter(({ keyPath }) => keyPath[0] !== "any")
    .map(({ wantedPath }) => wantedPath);

  for (const { wantedPath, keyPath, gatePath } of wantedPaths) {
    const isGlob = keyPath[0] === "any";
    const asked = `${shown(wantedPath)} asked for`;

    if (forbiddenGlobs.some((glob) => covers(glob, wantedPath))) {
      reportAt(gatePath, rule, `found ${asked}, which none in the same proof forbids`);
    } else if (absentFiles.includes(wantedPath)) {
      reportAt(gatePath, rule, `found ${asked}, which exists: false in the same proof forbids`);
    }

    const innerFile = wantedFiles.find((file) => file.startsWith(`${wantedPath}/`));
    if (innerFile !== undefined && !isGlob) {
      const both = `${shown(wantedPath)} and ${shown(innerFile)} asked for`;
      reportAt(gatePath, rule, `found ${both}: one path cannot be a file and a folder`);
    }

    if (step.keeps !== undefined && !mayKeep(step.keeps, wantedPath, isGlob)) {
      const message = `found ${asked}, and keeps lets the step leave nothing there`;
      reportAt([...gatePath, ...keyPath], "gate_outside_keeps", message);
    }
  }
}

/** The gates that a step writes out, without the proofs that it names. */
const listGates = (step: Step, path: DataPath): readonly LocatedGate[] =>
  (step.proof ?? []).flatMap((proof: Proof, index): LocatedGate[] =>
    typeof proof === "string" ? [] : [{ gate: proof, gatePath: [...path, "proof", index] }],
  );

/**
 * Whether a step that keeps only some paths could leave a file there. Conservative: if unsure, yes.
 */
function mayKeep(keeps: readonly string[], path: string, isGlob: boolean): boolean {
  const keptGlobs = keeps.filter((glob) => !glob.startsWith("!"));
  if (keptGlobs.length === 0) return true;

  const wantedPath = withoutBraces(path);
  if (/<\d+>/.test(wantedPath)) return true; // groups of for_each match anything

  const keptPatterns = keptGlobs
    .map(withoutBraces)
    .map((pattern) => (pattern.endsWith("/") ? `${pattern}**` : pattern));

  if (!isGlob) {
    return keptPatterns.some((pattern) => pattern === wantedPath || mayMatch(pattern, wantedPath));
  }

  const wantedStem = globStem(wantedPath);
  return keptPatterns
    .map(globStem)
    .some((stem) => stem.startsWith(wantedStem) || wantedStem.startsWith(stem));
}

/** Placeholders such as {phase} are no patterns: <phase> is compared as text. */
const withoutBraces = (text: string): string =>
  text.replaceAll(/\{(\w+)\}/g, "<$1>").replace(/^\.\//, "");

/** Whether a pattern matches a path; a pattern with more than stars in it may. */
function mayMatch(pattern: string, path: string): boolean {
  if (/[[\]{}()!+@]/.test(pattern)) return true;
  const wildcards: Readonly<Record<string, string>> = { "?": "[^/]", "*": "[^/]*" };
  const source = pattern
    .replaceAll(/[.^$|\\]/g, "\\$&")
    .replaceAll(/\*\*\/?|\*|\?/g, (wildcard) => wildcards[wildcard] ?? ".*");

  return new RegExp(`^${source}$`).test(path);
}

/** The common beginning of every path that a pattern can match. */
const globStem = (glob: string): string => /^[^*?[\]{}()!]*/.exec(glob)?.[0] ?? "";

/** Whether a path has wildcards; the placeholders of a flow are none. */
const isPattern = (glob: string): boolean =>
  /[*?[\]{}()!]/.test(glob.replaceAll(/\{(?:phase_dir|phase|task)\}/g, ""));

/**
 * Whether the first pattern matches everything the second can match. Conservative: if unsure, no.
 */
export function covers(glob: string, other: string): boolean {
  if (glob === other || glob === "**") return true;
  if (glob.endsWith("/**") && !/[*?[\]{}]/.test(glob.slice(0, -3))) {
    return other.startsWith(glob.slice(0, -2));
  }

  if (/[?[\]{}]|\*\*/.test(glob) || other.includes("**")) return false;
  const source = glob.replaceAll(/[.+^$()|\\]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`^${source}$`).test(other);
}

/** After a letter, it makes the letter optional: `a?`, `a*`, `a{0,3}`. */
const optionalMark = /^(?:[?*]|\{0)/;

/**
 * Why a pattern can match nothing, if that is certain: a letter before the beginning of a line, or
 * after its end.
 */
function whyNeverMatches(source: string): string | null {
  if (/\(\?!\)|\[\](?!\])/.test(source)) return "it has a part that fits nothing";
  // Escapes and sets each match one character; they are not analysed further.
  const plain = source.replaceAll(/\\[\s\S]|\[[^\]]*\]/g, "\u0001");

  for (const [index, letter] of plain.split("").entries()) {
    const previous = plain[index - 1] ?? "";
    const next = plain[index + 1] ?? "";

    if (letter === "$" && /[\w ]/.test(next) && !optionalMark.test(plain.slice(index + 2))) {
      return `${shown(`$${next}`)}: nothing stands behind a line's end`;
    }

    if (letter === "^" && /[\w ]/.test(previous)) {
      return `${shown(`${previous}^`)}: nothing stands before a line's beginning`;
    }
  }

  return null;
}

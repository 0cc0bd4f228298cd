// lint-gates: lints proofs: each names something that exists, examines something, and can hold.

import type { Flow, Gate, Proof } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import { lintContradictoryGate, lintContradictoryGates } from "./lint-contradictions.ts";
import { findPathFault } from "./lint-steps.ts";
import type { Lint } from "./lint-subject.ts";
import { listAllSteps } from "./step-lists.ts";

/** Proofs name something that exists, inspect something, and can hold. */
export function lintGates(lint: Lint): void {
  for (const { proofs, path } of phaseProofs(lint.flow)) {
    for (const [index, proof] of proofs.entries()) lintProof(lint, proof, [...path, index]);
  }

  for (const { step, path, list } of listAllSteps(lint.flow)) {
    for (const [index, proof] of (step.proof ?? []).entries()) {
      lintProof(lint, proof, [...path, "proof", index], list.kind === "each");
    }

    lintContradictoryGates(lint, step, path);
  }
}

/** The rules that show that a phase is done, if the phase has its own. */
function phaseProofs(
  flow: Flow,
): readonly { readonly proofs: readonly Proof[]; readonly path: DataPath }[] {
  return (["before", "phases", "after"] as const).flatMap((group) => {
    const phases = flow[group] ?? [];
    if (!Array.isArray(phases)) return [];
    return phases.flatMap(({ proof }, index) =>
      proof === undefined ? [] : [{ proofs: proof, path: [group, index, "proof"] }],
    );
  });
}

const regexCharactersMax = 500;
/** What may be in braces in a gate's path. Numbers stand for the groups of `for_each`. */
export const pathPlaceholders = ["phase_dir", "phase", "task"] as const;

function lintProof(lint: Lint, proof: Proof, path: DataPath, isOfTask = false): void {
  const { registry, reportAt } = lint;
  if (typeof proof === "string") {
    if (registry.proof.includes(proof)) return;
    const suggestion = didYouMean(proof, registry.proof);
    return reportAt(path, "unknown_proof", `found the unknown proof ${shown(proof)}.${suggestion}`);
  }

  lintGateSubject(lint, proof, path);
  lintContradictoryGate(lint, proof, path);
  lintPaths(lint, proof, path, isOfTask);
  if (proof.matches !== undefined) lintRegex(lint, proof.matches, [...path, "matches"]);
  if (proof.for_each !== undefined) {
    lintRegex(lint, proof.for_each.matches, [...path, "for_each", "matches"]);
  }

  if (proof.if !== undefined) lintProof(lint, proof.if, [...path, "if"], isOfTask);
  for (const key of ["all", "else"] as const) {
    for (const [index, inner] of (proof[key] ?? []).entries()) {
      lintProof(lint, inner, [...path, key, index], isOfTask);
    }
  }

  return undefined;
}

/** What a gate may inspect. */
const subjectKeys = ["file", "files", "any", "none", "command", "if", "for_each"] as const;
/** Keys that say nothing without one of others. */
const neededKeys: readonly (readonly [
  keys: readonly (keyof Gate)[],
  needed: readonly (keyof Gate)[],
])[] = [
  [["exists"], ["file", "files"]],
  [
    ["non_empty", "min_lines", "matches", "fresh", "after"],
    ["file", "files", "any"],
  ],
  [["at_least"], ["any"]],
  [["except"], ["any", "none"]],
  [["all", "else"], ["if"]],
  [["for_each"], ["files"]],
];

/** A gate inspects something, and each of its keys has those it needs. */
function lintGateSubject({ reportAt }: Lint, gate: Gate, path: DataPath): void {
  const subjects = subjectKeys.filter((key) => gate[key] !== undefined);
  if (subjects.length === 0) {
    const found = Object.keys(gate).join(", ") || "nothing";
    const expected = "expected file, files, any, none, command or if";
    reportAt(path, "gate_without_subject", `found ${found}, ${expected}`);
  }

  for (const [keys, needed] of neededKeys) {
    if (needed.some((key) => gate[key] !== undefined)) continue;
    for (const key of keys.filter((givenKey) => gate[givenKey] !== undefined)) {
      reportAt([...path, key], "gate_word_alone", `found ${key} without ${needed.join(" or ")}`);
    }
  }

  if (gate.if !== undefined && gate.all === undefined && gate.else === undefined) {
    reportAt(path, "gate_word_alone", "found if without all or else, so nothing follows from it");
  }

  for (const key of ["if", "command"] as const) {
    if (gate[key] === undefined || subjects.length === 1) continue;
    const others = subjects.filter((subject) => subject !== key).join(", ");
    reportAt(path, "gate_mixed", `found ${key} beside ${others}, expected two gates`);
  }

  if (gate.command !== undefined && /^\s*(true|:|exit(\s+0)?|)\s*$/.test(gate.command)) {
    const message = `found ${shown(gate.command)}, which proves nothing`;
    reportAt([...path, "command"], "gate_always_holds", message);
  }

  for (const key of ["files", "none"] as const) {
    if (gate[key]?.length === 0) {
      reportAt([...path, key], "gate_without_subject", `found no ${key}, expected at least one`);
    }
  }
}

function lintPaths(lint: Lint, gate: Gate, path: DataPath, isOfTask: boolean): void {
  const groupCount = gate.for_each === undefined ? 0 : countGroups(gate.for_each.matches);

  for (const { text, keyPath, isGlob } of listPaths(gate)) {
    const textPath = [...path, ...keyPath];
    lintPath(lint, text, textPath, isGlob);
    lintPlaceholders(lint, text, textPath, { groupCount, isOfTask });
  }
}

/** A path or pattern in a gate, and the key that has it. */
type LocatedPath = { readonly text: string; readonly keyPath: DataPath; readonly isGlob: boolean };

function listPaths(gate: Gate): readonly LocatedPath[] {
  const paths: LocatedPath[] = [];
  const add = (text: string | undefined, keyPath: DataPath, isGlob: boolean): void => {
    if (text !== undefined) paths.push({ text, keyPath, isGlob });
  };
  const addAll = (texts: readonly string[] | undefined, key: string, isGlob: boolean): void => {
    for (const [index, text] of (texts ?? []).entries()) add(text, [key, index], isGlob);
  };

  add(gate.file, ["file"], false);
  addAll(gate.files, "files", false);
  add(gate.any, ["any"], true);
  addAll(gate.none, "none", true);
  addAll(gate.except, "except", true);
  add(gate.after, ["after"], false);
  add(gate.for_each?.file, ["for_each", "file"], false);
  return paths;
}

function lintPath({ reportAt }: Lint, text: string, path: DataPath, isGlob: boolean): void {
  const fault = findPathFault(text) ?? findPlainFault(text);
  if (fault !== null) reportAt(path, "bad_path", `found ${shown(text)}, ${fault}`);
  if (!isGlob && /[*?[\]]/.test(text)) {
    const message = "found a pattern, expected the path of one file; a pattern stands in any";
    reportAt(path, "glob_in_file", message);
  }
}

function lintPlaceholders(
  { reportAt }: Lint,
  text: string,
  path: DataPath,
  { groupCount, isOfTask }: { readonly groupCount: number; readonly isOfTask: boolean },
): void {
  const report = (message: string): void => reportAt(path, "unknown_placeholder", message);
  if (!isOfTask && text.includes("{task}")) {
    report("found {task} outside the steps that a task runs, where there is none");
  }

  for (const [, name = ""] of text.matchAll(/\{([^{},]*)\}/g)) {
    const isGroup = /^[1-9]\d*$/.test(name);
    const isKnown = pathPlaceholders.some((placeholder) => placeholder === name);

    if (isGroup && Number(name) > groupCount) {
      report(`found {${name}}, and for_each has ${groupCount} groups`);
    } else if (!isGroup && !isKnown) {
      const expected = `expected one of ${pathPlaceholders.join(", ")}`;
      report(`found {${name}}, ${expected}.${didYouMean(name, pathPlaceholders)}`);
    }
  }
}

/** Paths are compared as they are listed, so there is one way to write each. */
function findPlainFault(path: string): string | null {
  if (path.startsWith("./")) return "expected the path without ./ before it";
  if (path.endsWith("/")) {
    return "expected the path of a file, not of a folder; a folder's files are any: folder/**";
  }

  const isPlain = path.split("/").every((part) => part !== "" && part !== ".");
  return isPlain ? null : "expected one / between folders";
}

/**
 * The number of groups in a pattern: with an empty alternative it matches the empty text, and the
 * match lists all groups.
 */
function countGroups(source: string): number {
  try {
    return (new RegExp(`${source}|`).exec("")?.length ?? 1) - 1;
  } catch {
    return 0; // an invalid pattern is reported as one
  }
}

function lintRegex({ reportAt }: Lint, source: string, path: DataPath): void {
  if (source === "" || source.length > regexCharactersMax) {
    const limits = `expected 1 to ${regexCharactersMax}`;
    return reportAt(path, "bad_regex", `found ${source.length} characters, ${limits}`);
  }

  try {
    RegExp(source, "m");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return reportAt(path, "bad_regex", `found a pattern that is none: ${why}`);
  }

  // A repeated group that repeats inside, as in (a+)+, takes exponential time on a file an agent
  // wrote.
  if (/\((?:[^()\\]|\\.)*[+*](?:[^()\\]|\\.)*\)(?:[+*]|\{\d+,\d*\})/.test(source)) {
    const message = "found a repeated group with a repetition inside, which can take for ever";
    return reportAt(path, "slow_regex", message);
  }

  return undefined;
}

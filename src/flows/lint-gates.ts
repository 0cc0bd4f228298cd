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
  const { registry, say } = lint;
  if (typeof proof === "string") {
    if (!registry.proof.includes(proof)) {
      say(
        path,
        "unknown_proof",
        `found the unknown proof ${shown(proof)}.${didYouMean(proof, registry.proof)}`,
      );
    }

    return;
  }

  lintGateSubject(lint, proof, path);
  lintContradictoryGate(lint, proof, path);
  lintPaths(lint, proof, path, isOfTask);
  if (proof.matches !== undefined) lintRegex(lint, proof.matches, [...path, "matches"]);
  if (proof.for_each !== undefined) {
    lintRegex(lint, proof.for_each.matches, [...path, "for_each", "matches"]);
  }

  if (proof.if !== undefined) lintProof(lint, proof.if, [...path, "if"], isOfTask);
  for (const [index, inner] of (proof.all ?? []).entries()) {
    lintProof(lint, inner, [...path, "all", index], isOfTask);
  }

  for (const [index, inner] of (proof.else ?? []).entries()) {
    lintProof(lint, inner, [...path, "else", index], isOfTask);
  }
}

/** A gate inspects something, and each of its keys has those it needs. */
function lintGateSubject({ say }: Lint, gate: Gate, path: DataPath): void {
  const subjects = (["file", "files", "any", "none", "command", "if", "for_each"] as const).filter(
    (key) => gate[key] !== undefined,
  );
  if (subjects.length === 0) {
    say(
      path,
      "gate_without_subject",
      `found ${Object.keys(gate).join(", ") || "nothing"}, expected file, files, any, none, command or if`,
    );
  }

  const requireOneOf = (
    keys: readonly (keyof Gate)[],
    neededKeys: readonly (keyof Gate)[],
  ): void => {
    for (const key of keys) {
      if (
        gate[key] !== undefined &&
        !neededKeys.some((neededKey) => gate[neededKey] !== undefined)
      ) {
        say([...path, key], "gate_word_alone", `found ${key} without ${neededKeys.join(" or ")}`);
      }
    }
  };
  requireOneOf(["exists"], ["file", "files"]);
  requireOneOf(["non_empty", "min_lines", "matches", "fresh", "after"], ["file", "files", "any"]);
  requireOneOf(["at_least"], ["any"]);
  requireOneOf(["except"], ["any", "none"]);
  requireOneOf(["all", "else"], ["if"]);
  requireOneOf(["for_each"], ["files"]);

  if (gate.if !== undefined && gate.all === undefined && gate.else === undefined) {
    say(path, "gate_word_alone", "found if without all or else, so nothing follows from it");
  }

  for (const key of ["if", "command"] as const) {
    if (gate[key] !== undefined && subjects.length > 1) {
      say(
        path,
        "gate_mixed",
        `found ${key} beside ${subjects.filter((subject) => subject !== key).join(", ")}, expected two gates`,
      );
    }
  }

  if (gate.command !== undefined && /^\s*(true|:|exit(\s+0)?|)\s*$/.test(gate.command)) {
    say(
      [...path, "command"],
      "gate_always_holds",
      `found ${shown(gate.command)}, which proves nothing`,
    );
  }

  for (const key of ["files", "none"] as const) {
    if (gate[key]?.length === 0) {
      say([...path, key], "gate_without_subject", `found no ${key}, expected at least one`);
    }
  }
}

function lintPaths({ say }: Lint, gate: Gate, path: DataPath, isOfTask: boolean): void {
  const groupCount = gate.for_each === undefined ? 0 : countGroups(gate.for_each.matches);
  const lintPattern = (text: string, textPath: DataPath, isGlob: boolean): void => {
    const fault = findPathFault(text) ?? findPlainFault(text);
    if (fault !== null) say(textPath, "bad_path", `found ${shown(text)}, ${fault}`);
    if (!isGlob && /[*?[\]]/.test(text)) {
      say(
        textPath,
        "glob_in_file",
        `found a pattern, expected the path of one file; a pattern stands in any`,
      );
    }

    if (!isOfTask && text.includes("{task}")) {
      say(
        textPath,
        "unknown_placeholder",
        "found {task} outside the steps that a task runs, where there is none",
      );
    }

    for (const [, name = ""] of text.matchAll(/\{([^{},]*)\}/g)) {
      const isNumber = /^[1-9]\d*$/.test(name);
      if (isNumber && Number(name) <= groupCount) continue;
      if (isNumber) {
        say(
          textPath,
          "unknown_placeholder",
          `found {${name}}, and for_each has ${groupCount} groups`,
        );
      } else if (!pathPlaceholders.some((placeholder) => placeholder === name)) {
        say(
          textPath,
          "unknown_placeholder",
          `found {${name}}, expected one of ${pathPlaceholders.join(", ")}.${didYouMean(name, pathPlaceholders)}`,
        );
      }
    }
  };
  if (gate.file !== undefined) lintPattern(gate.file, [...path, "file"], false);
  for (const [index, file] of (gate.files ?? []).entries()) {
    lintPattern(file, [...path, "files", index], false);
  }

  if (gate.any !== undefined) lintPattern(gate.any, [...path, "any"], true);
  for (const key of ["none", "except"] as const) {
    for (const [index, glob] of (gate[key] ?? []).entries()) {
      lintPattern(glob, [...path, key, index], true);
    }
  }

  if (gate.after !== undefined) lintPattern(gate.after, [...path, "after"], false);
  if (gate.for_each !== undefined) {
    lintPattern(gate.for_each.file, [...path, "for_each", "file"], false);
  }
}

/** Paths are compared as they are listed, so there is one way to write each. */
function findPlainFault(path: string): string | null {
  if (path.startsWith("./")) return "expected the path without ./ before it";
  if (path.endsWith("/")) {
    return "expected the path of a file, not of a folder; a folder's files are any: folder/**";
  }

  return path.split("/").some((part) => part === "" || part === ".")
    ? "expected one / between folders"
    : null;
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

function lintRegex({ say }: Lint, source: string, path: DataPath): void {
  if (source === "" || source.length > regexCharactersMax) {
    return say(
      path,
      "bad_regex",
      `found ${source.length} characters, expected 1 to ${regexCharactersMax}`,
    );
  }

  try {
    RegExp(source, "m");
  } catch (error) {
    return say(
      path,
      "bad_regex",
      `found a pattern that is none: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  // A repeated group that repeats inside, as in (a+)+, takes exponential time on a file an agent
  // wrote.
  if (/\((?:[^()\\]|\\.)*[+*](?:[^()\\]|\\.)*\)(?:[+*]|\{\d+,\d*\})/.test(source)) {
    return say(
      path,
      "slow_regex",
      "found a repeated group with a repetition inside, which can take for ever",
    );
  }

  return undefined;
}

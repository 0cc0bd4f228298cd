// lint-gates: lints proofs: each names something that exists, examines something, and can hold.

import type { Flow, Gate, Proof } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import { contradictoryGate, contradictorySteps } from "./lint-contradictions.ts";
import { pathFault } from "./lint-steps.ts";
import type { Lint } from "./lint-subject.ts";
import { stepsEverywhere } from "./lists.ts";

/** Proofs name something that exists, inspect something, and can hold. */
export function lintGates(lint: Lint): void {
  for (const { proof, path } of phaseProofs(lint.flow)) for (const [n, item] of proof.entries()) lintProof(lint, item, [...path, n]);
  for (const { step, path, list } of stepsEverywhere(lint.flow)) {
    for (const [n, proof] of (step.proof ?? []).entries()) lintProof(lint, proof, [...path, "proof", n], list.kind === "each");
    contradictorySteps(lint, step, path);
  }
}

/** The rules that show that a phase is done, if the phase has its own. */
function phaseProofs(flow: Flow): readonly { readonly proof: readonly Proof[]; readonly path: DataPath }[] {
  return (["before", "phases", "after"] as const).flatMap((group) => {
    const phases = flow[group] ?? [];
    if (!Array.isArray(phases)) return [];
    return phases.flatMap(({ proof }, n) => (proof === undefined ? [] : [{ proof, path: [group, n, "proof"] }]));
  });
}

const regexCharactersMax = 500;
/** What may be in braces in a gate's path. Numbers stand for the groups of `for_each`. */
export const pathPlaceholders = ["phase_dir", "phase", "task"] as const;

function lintProof(lint: Lint, proof: Proof, path: DataPath, isOfTask = false): void {
  const { registry, say } = lint;
  if (typeof proof === "string") {
    if (!registry.proof.includes(proof))
      say(path, "unknown_proof", `found the unknown proof ${shown(proof)}.${didYouMean(proof, registry.proof)}`);
    return;
  }
  lintGateSubject(lint, proof, path);
  contradictoryGate(lint, proof, path);
  lintPaths(lint, proof, path, isOfTask);
  if (proof.matches !== undefined) lintRegex(lint, proof.matches, [...path, "matches"]);
  if (proof.for_each !== undefined) lintRegex(lint, proof.for_each.matches, [...path, "for_each", "matches"]);
  if (proof.if !== undefined) lintProof(lint, proof.if, [...path, "if"], isOfTask);
  for (const [n, inner] of (proof.all ?? []).entries()) lintProof(lint, inner, [...path, "all", n], isOfTask);
  for (const [n, inner] of (proof.else ?? []).entries()) lintProof(lint, inner, [...path, "else", n], isOfTask);
}

/** A gate inspects something, and each of its words has what it needs. */
function lintGateSubject({ say }: Lint, gate: Gate, path: DataPath): void {
  const named = (["file", "files", "any", "none", "command", "if", "for_each"] as const).filter((word) => gate[word] !== undefined);
  if (named.length === 0)
    say(path, "gate_without_subject", `found ${Object.keys(gate).join(", ") || "nothing"}, expected file, files, any, none, command or if`);
  const needs = (words: readonly (keyof Gate)[], of: readonly (keyof Gate)[]): void => {
    for (const word of words) {
      if (gate[word] !== undefined && !of.some((other) => gate[other] !== undefined))
        say([...path, word], "gate_word_alone", `found ${word} without ${of.join(" or ")}`);
    }
  };
  needs(["exists"], ["file", "files"]);
  needs(["non_empty", "min_lines", "matches", "fresh", "after"], ["file", "files", "any"]);
  needs(["at_least"], ["any"]);
  needs(["except"], ["any", "none"]);
  needs(["all", "else"], ["if"]);
  needs(["for_each"], ["files"]);
  if (gate.if !== undefined && gate.all === undefined && gate.else === undefined)
    say(path, "gate_word_alone", "found if without all or else, so nothing follows from it");
  if (gate.if !== undefined && named.length > 1)
    say(path, "gate_mixed", `found if beside ${named.filter((word) => word !== "if").join(", ")}, expected two gates`);
  if (gate.command !== undefined && named.length > 1)
    say(path, "gate_mixed", `found command beside ${named.filter((word) => word !== "command").join(", ")}, expected two gates`);
  if (gate.command !== undefined && /^\s*(true|:|exit(\s+0)?|)\s*$/.test(gate.command))
    say([...path, "command"], "gate_always_holds", `found ${shown(gate.command)}, which proves nothing`);
  for (const word of ["files", "none"] as const)
    if (gate[word]?.length === 0) say([...path, word], "gate_without_subject", `found no ${word}, expected at least one`);
}

function lintPaths({ say }: Lint, gate: Gate, path: DataPath, isOfTask: boolean): void {
  const groups = gate.for_each === undefined ? 0 : countGroups(gate.for_each.matches);
  const lintPattern = (text: string, at: DataPath, isGlob: boolean): void => {
    const fault = pathFault(text) ?? findPlainFault(text);
    if (fault !== null) say(at, "bad_path", `found ${shown(text)}, ${fault}`);
    if (!isGlob && /[*?[\]]/.test(text)) say(at, "glob_in_file", `found a pattern, expected the path of one file; a pattern stands in any`);
    if (!isOfTask && text.includes("{task}"))
      say(at, "unknown_placeholder", "found {task} outside the steps that a task runs, where there is none");
    for (const [, name = ""] of text.matchAll(/\{([^{},]*)\}/g)) {
      const isNumber = /^[1-9]\d*$/.test(name);
      if (isNumber && Number(name) <= groups) continue;
      if (isNumber) say(at, "unknown_placeholder", `found {${name}}, and for_each has ${groups} groups`);
      else if (!pathPlaceholders.some((known) => known === name))
        say(
          at,
          "unknown_placeholder",
          `found {${name}}, expected one of ${pathPlaceholders.join(", ")}.${didYouMean(name, pathPlaceholders)}`,
        );
    }
  };
  if (gate.file !== undefined) lintPattern(gate.file, [...path, "file"], false);
  for (const [n, file] of (gate.files ?? []).entries()) lintPattern(file, [...path, "files", n], false);
  if (gate.any !== undefined) lintPattern(gate.any, [...path, "any"], true);
  for (const word of ["none", "except"] as const)
    for (const [n, glob] of (gate[word] ?? []).entries()) lintPattern(glob, [...path, word, n], true);
  if (gate.after !== undefined) lintPattern(gate.after, [...path, "after"], false);
  if (gate.for_each !== undefined) lintPattern(gate.for_each.file, [...path, "for_each", "file"], false);
}

/** Paths are compared as they are listed, so there is one way to write each. */
function findPlainFault(path: string): string | null {
  if (path.startsWith("./")) return "expected the path without ./ before it";
  if (path.endsWith("/")) return "expected the path of a file, not of a folder; a folder's files are any: folder/**";
  return path.split("/").some((part) => part === "" || part === ".") ? "expected one / between folders" : null;
}

function countGroups(source: string): number {
  try {
    return (new RegExp(`${source}|`).exec("")?.length ?? 1) - 1;
  } catch {
    return 0;
  }
}

function lintRegex({ say }: Lint, source: string, path: DataPath): void {
  if (source === "" || source.length > regexCharactersMax)
    return say(path, "bad_regex", `found ${source.length} characters, expected 1 to ${regexCharactersMax}`);
  try {
    RegExp(source, "m");
  } catch (error) {
    return say(path, "bad_regex", `found a pattern that is none: ${error instanceof Error ? error.message : String(error)}`);
  }
  // A repeated group that repeats inside takes exponential time on a file an agent wrote.
  if (/\((?:[^()\\]|\\.)*[+*](?:[^()\\]|\\.)*\)(?:[+*]|\{\d+,\d*\})/.test(source))
    return say(path, "slow_regex", "found a repeated group with a repetition inside, which can take for ever");
  return undefined;
}

import type { Gate, Proof } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import { didYouMean } from "../kit/suggest.ts";
import { pathFault } from "./lint-steps.ts";
import type { Lint } from "./lint-subject.ts";
import { stepsEverywhere } from "./lists.ts";

/** Proofs name what exists, look at something, and can hold. */
export function lintGates(lint: Lint): void {
  for (const { step, path } of stepsEverywhere(lint.flow)) {
    const proofs = step.proof ?? [];
    for (const [n, proof] of proofs.entries()) judge(lint, proof, [...path, "proof", n]);
    const banned = proofs.flatMap((proof) => (typeof proof === "string" ? [] : (proof.none ?? [])));
    for (const [n, proof] of proofs.entries()) {
      if (typeof proof === "string" || proof.exists === false) continue;
      const wanted = [...filesOf(proof), ...(proof.any === undefined ? [] : [proof.any])].find((file) =>
        banned.some((glob) => covers(glob, file)),
      );
      if (wanted !== undefined)
        lint.say([...path, "proof", n], "gate_never_holds", `found ${shown(wanted)} asked for, and none of the step's proof forbids it`);
    }
  }
}

const regexCharactersMax = 500;
/** What may stand in braces in a gate's path. Numbers stand for the groups of `for_each`. */
export const pathPlaceholders = ["phase_dir", "phase", "task"] as const;

const filesOf = (gate: Gate): string[] => [...(gate.file === undefined ? [] : [gate.file]), ...(gate.files ?? [])];

function judge(lint: Lint, proof: Proof, path: DataPath): void {
  const { registry, say } = lint;
  if (typeof proof === "string") {
    if (!registry.proof.includes(proof))
      say(path, "unknown_proof", `found the unknown proof ${shown(proof)}.${didYouMean(proof, registry.proof)}`);
    return;
  }
  subject(lint, proof, path);
  paths(lint, proof, path);
  if (proof.matches !== undefined) regex(lint, proof.matches, [...path, "matches"]);
  if (proof.for_each !== undefined) regex(lint, proof.for_each.matches, [...path, "for_each", "matches"]);
  if (proof.if !== undefined) judge(lint, proof.if, [...path, "if"]);
  for (const [n, inner] of (proof.all ?? []).entries()) judge(lint, inner, [...path, "all", n]);
  for (const [n, inner] of (proof.else ?? []).entries()) judge(lint, inner, [...path, "else", n]);
}

/** A gate looks at something, and each of its words has what it needs. */
function subject({ say }: Lint, gate: Gate, path: DataPath): void {
  const named = (["file", "files", "any", "none", "command", "if", "for_each"] as const).filter((word) => gate[word] !== undefined);
  if (named.length === 0)
    say(path, "gate_without_subject", `found ${Object.keys(gate).join(", ") || "nothing"}, expected file, files, any, none, command or if`);
  const needs = (words: readonly (keyof Gate)[], of: readonly (keyof Gate)[]): void => {
    for (const word of words) {
      if (gate[word] !== undefined && !of.some((other) => gate[other] !== undefined))
        say([...path, word], "gate_word_alone", `found ${word} without ${of.join(" or ")}`);
    }
  };
  needs(["exists", "min_lines", "matches"], ["file", "files"]);
  needs(["non_empty", "fresh", "after"], ["file", "files", "any"]);
  needs(["at_least", "except"], ["any"]);
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
  if (gate.files?.length === 0) say([...path, "files"], "gate_always_holds", "found no files, expected at least one");
  const contradiction = (["non_empty", "min_lines", "matches", "fresh", "after"] as const).find(
    (word) => gate[word] !== undefined && gate[word] !== false,
  );
  if (gate.exists === false && contradiction !== undefined)
    say(path, "gate_never_holds", `found exists: false beside ${contradiction}: no file can be absent and have that`);
  if (gate.any !== undefined && (gate.except ?? []).some((glob) => covers(glob, gate.any ?? "")))
    say([...path, "except"], "gate_never_holds", `found except, which leaves nothing of ${shown(gate.any)}`);
  if (gate.after !== undefined && filesOf(gate).includes(gate.after))
    say([...path, "after"], "gate_never_holds", "found a file that must be newer than itself");
}

function paths({ say }: Lint, gate: Gate, path: DataPath): void {
  const groups = gate.for_each === undefined ? 0 : groupsOf(gate.for_each.matches);
  const one = (text: string, at: DataPath, isGlob: boolean): void => {
    const fault = pathFault(text);
    if (fault !== null) say(at, "bad_path", `found ${shown(text)}, ${fault}`);
    if (!isGlob && /[*?[\]]/.test(text)) say(at, "glob_in_file", `found a pattern, expected the path of one file; a pattern stands in any`);
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
  if (gate.file !== undefined) one(gate.file, [...path, "file"], false);
  for (const [n, file] of (gate.files ?? []).entries()) one(file, [...path, "files", n], false);
  if (gate.any !== undefined) one(gate.any, [...path, "any"], true);
  for (const word of ["none", "except"] as const) for (const [n, glob] of (gate[word] ?? []).entries()) one(glob, [...path, word, n], true);
  if (gate.after !== undefined) one(gate.after, [...path, "after"], false);
  if (gate.for_each !== undefined) one(gate.for_each.file, [...path, "for_each", "file"], false);
}

function groupsOf(source: string): number {
  try {
    return (new RegExp(`${source}|`).exec("")?.length ?? 1) - 1;
  } catch {
    return 0;
  }
}

function regex({ say }: Lint, source: string, path: DataPath): void {
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

/** Whether everything the second pattern can match is matched by the first. Careful: where it cannot tell, it says no. */
function covers(glob: string, other: string): boolean {
  if (glob === other || glob === "**") return true;
  if (glob.endsWith("/**") && !/[*?[\]{}]/.test(glob.slice(0, -3))) return other.startsWith(glob.slice(0, -2));
  if (/[?[\]{}]|\*\*/.test(glob) || other.includes("**")) return false;
  const source = glob.replaceAll(/[.+^$()|\\]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`^${source}$`).test(other);
}

// lint-contradictions: finds gates that can never hold, alone or together with the others of their step. Reports only what is certain.

import type { Gate, Proof, Step } from "../contracts/flow.ts";
import { shown, type DataPath } from "../kit/finding.ts";
import type { Lint } from "./lint-subject.ts";

const rule = "gate_never_holds";

export const gateFiles = (gate: Gate): string[] => [...(gate.file === undefined ? [] : [gate.file]), ...(gate.files ?? [])];

/** Reports keys of one gate that exclude each other. */
export function contradictoryGate({ say }: Pick<Lint, "say">, gate: Gate, path: DataPath): void {
  const contentRule = (["non_empty", "min_lines", "matches", "fresh", "after"] as const).find(
    (word) => gate[word] !== undefined && gate[word] !== false,
  );
  if (gate.exists === false && contentRule !== undefined)
    say(path, rule, `found exists: false beside ${contentRule}: no file can be absent and have that`);
  if (gate.exists === false && gate.for_each !== undefined)
    say(path, rule, "found exists: false beside for_each, which asks for its files");
  const { any } = gate;
  if (any !== undefined && (gate.except ?? []).some((glob) => covers(glob, any)))
    say([...path, "except"], rule, `found except, which leaves nothing of ${shown(any)}`);
  if (any !== undefined && !isPattern(any) && (gate.at_least ?? 1) > 1)
    say([...path, "at_least"], rule, `found at_least: ${gate.at_least ?? 1} of ${shown(any)}, which is the name of one file`);
  if (gate.after !== undefined && gateFiles(gate).includes(gate.after))
    say([...path, "after"], rule, "found a file that must be newer than itself");
  for (const [word, wanted] of wantedIn(gate)) {
    const unseen = wanted.split("/").find((part) => neverSeen.has(part));
    if (unseen !== undefined)
      say([...path, ...word], rule, `found ${shown(wanted)}, and what lies in ${unseen} is no artifact: it is never looked at`);
    else if (ownedFolders.some((folder) => wanted.startsWith(folder)))
      say([...path, ...word], rule, `found ${shown(wanted)}, which is the runner's own: what an agent writes there is not kept`);
  }
  const dead = gate.matches === undefined ? null : deadPattern(gate.matches);
  if (dead !== null) say([...path, "matches"], rule, `found a pattern that matches nothing: ${dead}`);
}

/** Folders whose contents are never listed, and those in which only the runner writes. */
const neverSeen: ReadonlySet<string> = new Set([".git", "node_modules", ".venv", "venv"]);
const ownedFolders: readonly string[] = [".autopilot/"];

type Wanted = readonly [word: DataPath, path: string];

/** The paths and patterns at which a gate expects something, with their positions. */
function wantedIn(gate: Gate): readonly Wanted[] {
  if (gate.exists === false) return [];
  return [
    ...(gate.file === undefined ? [] : [[["file"], gate.file] as const]),
    ...(gate.files ?? []).map((file, n): Wanted => [["files", n], file]),
    ...(gate.any === undefined ? [] : [[["any"], gate.any] as const]),
    ...(gate.for_each === undefined ? [] : [[["for_each", "file"], gate.for_each.file] as const]),
  ];
}

type Placed = { readonly gate: Gate; readonly path: DataPath };

/** The gates of one step, which all must hold: none may forbid what another requires, nor may the step leave it behind. */
export function contradictorySteps({ say }: Pick<Lint, "say">, step: Step, path: DataPath): void {
  const gates = (step.proof ?? []).flatMap((proof: Proof, n): Placed[] =>
    typeof proof === "string" ? [] : [{ gate: proof, path: [...path, "proof", n] }],
  );
  const banned = gates.flatMap(({ gate }) => (gate.except === undefined ? (gate.none ?? []) : []));
  const absent = gates.flatMap(({ gate }) => (gate.exists === false ? gateFiles(gate) : []));
  const needed = gates.flatMap((gate) => wantedIn(gate.gate).map(([word, file]) => ({ file, word, at: gate.path })));
  const files = needed.filter(({ word }) => word[0] !== "any").map(({ file }) => file);
  for (const { file, word, at } of needed) {
    if (banned.some((glob) => covers(glob, file))) say(at, rule, `found ${shown(file)} asked for, which none in the same proof forbids`);
    else if (absent.some((pattern) => pattern === file || (word[0] === "any" && !isPattern(file) && pattern === file)))
      say(at, rule, `found ${shown(file)} asked for, which exists: false in the same proof forbids`);
    const below = word[0] === "any" ? undefined : files.find((other) => other.startsWith(`${file}/`));
    if (below !== undefined) say(at, rule, `found ${shown(file)} and ${shown(below)} asked for: one path cannot be a file and a folder`);
    if (step.keeps !== undefined && !mayKeep(step.keeps, file, word[0] === "any"))
      say([...at, ...word], "gate_outside_keeps", `found ${shown(file)} asked for, and keeps lets the step leave nothing there`);
  }
}

/** Whether a step that keeps only some paths could leave a file there. Conservative: if unsure, yes. */
function mayKeep(keeps: readonly string[], path: string, isGlob: boolean): boolean {
  const wanted = keeps.filter((glob) => !glob.startsWith("!"));
  if (wanted.length === 0) return true;
  const [place, ...patterns] = [path, ...wanted].map((text) => text.replaceAll(/\{(\w+)\}/g, "<$1>").replace(/^\.\//, ""));
  if (place === undefined || /<\d+>/.test(place)) return true; // Groups of for_each match anything.
  const below = patterns.map((pattern) => (pattern.endsWith("/") ? `${pattern}**` : pattern));
  if (!isGlob) return below.some((pattern) => pattern === place || mayMatch(pattern, place));
  const stem = globStem(place);
  return below.map(globStem).some((other) => other.startsWith(stem) || stem.startsWith(other));
}

/** Whether a pattern matches a path; a pattern with more than stars in it may. */
function mayMatch(pattern: string, path: string): boolean {
  if (/[[\]{}()!+@]/.test(pattern)) return true;
  const source = pattern
    .replaceAll(/[.^$|\\]/g, "\\$&")
    .replaceAll(/\*\*\/?|\*|\?/g, (stars) => (stars === "?" ? "[^/]" : stars === "*" ? "[^/]*" : ".*"));
  return new RegExp(`^${source}$`).test(path);
}

/** The common beginning of every path that a pattern can match. */
const globStem = (glob: string): string => /^[^*?[\]{}()!]*/.exec(glob)?.[0] ?? "";

const isPattern = (glob: string): boolean => /[*?[\]{}()!]/.test(glob.replaceAll(/\{(?:phase_dir|phase|task)\}/g, ""));

/** Whether the first pattern matches everything the second can match. Conservative: if unsure, no. */
export function covers(glob: string, other: string): boolean {
  if (glob === other || glob === "**") return true;
  if (glob.endsWith("/**") && !/[*?[\]{}]/.test(glob.slice(0, -3))) return other.startsWith(glob.slice(0, -2));
  if (/[?[\]{}]|\*\*/.test(glob) || other.includes("**")) return false;
  const source = glob.replaceAll(/[.+^$()|\\]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`^${source}$`).test(other);
}

const optional = /^(?:[?*]|\{0)/;

/** Why a pattern can match nothing, if that is certain: a letter before the beginning of a line, or after its end. */
function deadPattern(source: string): string | null {
  if (/\(\?!\)|\[\](?!\])/.test(source)) return "it has a part that fits nothing";
  // Escapes and sets each match one character; they are not analysed further.
  const plain = source.replaceAll(/\\[\s\S]|\[[^\]]*\]/g, "\u0001");
  for (let index = 0; index < plain.length; index++) {
    const [before = "", here, after = ""] = [plain[index - 1], plain[index], plain[index + 1]];
    if (here === "$" && /[\w ]/.test(after) && !optional.test(plain.slice(index + 2)))
      return `${shown(`$${after}`)}: nothing stands behind a line's end`;
    if (here === "^" && /[\w ]/.test(before)) return `${shown(`${before}^`)}: nothing stands before a line's beginning`;
  }
  return null;
}

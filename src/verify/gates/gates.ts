// gates: judges artifact rules over facts. Pure: missing facts (a command's result, which of two files is newer) are returned by name, and
// it is called again with them.
//
// Invariants:
//   G1. Every word of a gate must hold; a gate with no word, an unknown proof or an unavailable fact never holds.
//   G2. Only regular files reached without a link count as files.
//   G3. A failure says rule, file, what was found and what was expected.
//   G4. A branch of an `if` is taken only once its condition is known; a condition that cannot be judged fails the gate.

import picomatch from "picomatch";
import type { Gate, Proof } from "../../contracts/flow.ts";
import type { ProofFailure } from "../../ports/verifier.ts";
import type { FilePair, Finding, GateFacts, MissingFacts } from "./gate-facts.ts";
import { whyUnreadable as textFaultOf, judgeFile } from "./gate-file.ts";

export type Judgement = {
  readonly holds: boolean;
  readonly failures: readonly ProofFailure[];
  /** What must be looked up before the judgement is final; nothing holds while something is missing. */
  readonly missing: MissingFacts;
  /** The files that satisfy the gates, and how many lines each must have; 0 if it only has to exist. */
  readonly satisfied: ReadonlyMap<string, GateRequirement>;
  /** The files whose text or existence decided something: those that satisfy the gates, conditions, and lists that name other files. */
  readonly read: ReadonlySet<string>;
};

/** What a gate requires of a file besides existing. */
export type GateRequirement = { readonly asksContent: boolean; readonly minLines: number };

const eachMax = 5_000;
const depthMax = 16;
const shownMax = 10;
const othersMax = 3;
const namesFile = "a file to read names from";
const kindLabels = { link: "a symbolic link", folder: "a folder", other: "a special file" } as const;

export function judgeGates(proofs: readonly Proof[], facts: GateFacts): Judgement {
  const judge = new Judge(facts);
  const findings = proofs.flatMap((proof) => judge.proof(proof, 0));
  const failures = findings.map(({ rule, file, found, expected }) => ({ rule, file, found, expected }));
  const missing = { commands: [...judge.commands], orders: judge.orders };
  return { holds: failures.length === 0 && !judge.lacksFacts, failures, missing, satisfied: judge.satisfied, read: judge.read };
}

class Judge {
  readonly commands = new Set<string>();
  readonly orders: FilePair[] = [];
  readonly satisfied = new Map<string, GateRequirement>();
  readonly read = new Set<string>();
  readonly #facts: GateFacts;

  constructor(facts: GateFacts) {
    this.#facts = facts;
  }

  get lacksFacts(): boolean {
    return this.commands.size > 0 || this.orders.length > 0;
  }

  proof(proof: Proof, depth: number): readonly Finding[] {
    if (typeof proof === "string") return [unsure(proof, null, "a name nobody has looked up", "a proof from the registry")]; // G1
    if (depth > depthMax) return [unsure("gate", null, `rules nested more than ${depthMax} deep`, "fewer")];
    const fault = gateFault(proof);
    if (fault !== null) return [unsure("gate", null, fault, "a rule that can be judged")]; // G1
    return [
      ...this.#judgeFiles(proof),
      ...this.#judgeAny(proof),
      ...this.#judgeNone(proof),
      ...this.#judgeBranches(proof, depth),
      ...this.#judgeCommand(proof),
    ];
  }

  #judgeFiles(gate: Gate): readonly Finding[] {
    const ownFindings = gate.file === undefined ? [] : this.#judgeFile(gate.file, gate);
    if (gate.for_each === undefined) return [...ownFindings, ...(gate.files ?? []).flatMap((path) => this.#judgeFile(path, gate))];
    const each = this.#expandTemplates(gate.for_each, gate.files ?? []);
    if ("failure" in each) return [...ownFindings, each.failure];
    return [...ownFindings, ...each.paths.flatMap((path) => this.#judgeFile(path, { ...gate, non_empty: true }))];
  }

  #judgeFile(path: string, gate: Gate): readonly Finding[] {
    const { failures, undecidedPairs: lacking } = judgeFile(path, gate, this.#facts);
    this.orders.push(...lacking);
    if (failures.length === 0 && gate.exists !== false) this.#addSatisfied(path, gate);
    return failures;
  }

  #addSatisfied(path: string, { non_empty, min_lines = 0, matches }: Gate): void {
    this.read.add(path);
    const earlier = this.satisfied.get(path);
    const asksContent = earlier?.asksContent === true || non_empty === true || min_lines > 0 || matches !== undefined;
    this.satisfied.set(path, { asksContent, minLines: Math.max(earlier?.minLines ?? 0, min_lines) });
  }

  /** The paths that the matches in a file refer to. */
  #expandTemplates(
    { file, matches }: { file: string; matches: string },
    templates: readonly string[],
  ): { failure: Finding } | { paths: readonly string[] } {
    const refuse = (found: string, expected: string) => ({ failure: unsure("for_each", file, found, expected) });
    const kind = this.#facts.files.get(file)?.kind;
    if (kind !== "file") return refuse(kind === undefined ? "no such regular file" : `no regular file: ${kindLabels[kind]}`, namesFile); // G2
    const text = this.#facts.read(file);
    const unreadable = textFaultOf(text);
    if (text === null || unreadable !== null) return refuse(unreadable ?? "nothing", namesFile);
    // Text beyond the bound could name files that were not inspected.
    if (!text.isWhole) return refuse("more than 1 MiB of text", "a file that can be read whole");
    this.read.add(file);
    const found = this.#facts.match(matches, text.text, eachMax + 1);
    if (!found.ok) return refuse(found.why, `matches of /${matches}/m`);
    if (found.groups.length > eachMax) return refuse(`more than ${eachMax} matches`, `at most ${eachMax}`);
    const paths = found.groups.flatMap((groups) => templates.map((template) => fillTemplate(template, groups)));
    return { paths: [...new Set(paths)] };
  }

  #judgeAny(gate: Gate): readonly Finding[] {
    if (gate.any === undefined) return [];
    const atLeast = gate.at_least ?? 1;
    const matching = this.#filesMatching([gate.any], gate.except ?? []);
    const judged = matching.map((path) => judgeFile(path, gate, this.#facts));
    for (const [index, path] of matching.entries()) if (judged[index]?.failures.length === 0) this.#addSatisfied(path, gate);
    const undecided = judged.filter(({ failures, undecidedPairs: lacking }) => failures.length === 0 && lacking.length > 0);
    const goodCount = judged.filter(({ failures, undecidedPairs: lacking }) => failures.length === 0 && lacking.length === 0).length;
    if (goodCount >= atLeast) return [];
    if (goodCount + undecided.length >= atLeast) {
      this.orders.push(...undecided.flatMap(({ undecidedPairs: lacking }) => lacking));
      return [];
    }
    const faults = judged.flatMap(({ failures }) => failures);
    const faultNotes = faults.slice(0, shownMax).map(({ file, rule, found }) => `${file}: ${rule}, found ${found}`);
    const listingNote = this.#facts.isWhole ? [] : ["the tree is too large to list"];
    const notes = [...faultNotes, ...this.#othersMatching(gate.any), ...listingNote];
    const found = `${goodCount} of ${matching.length} matching regular files${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
    const isUnsure = !this.#facts.isWhole || faults.some((finding) => finding.isUnsure);
    return [{ rule: "any", file: gate.any, found, expected: `at least ${atLeast}`, isUnsure }];
  }

  #judgeNone(gate: Gate): readonly Finding[] {
    if (gate.none === undefined) return [];
    const expected = "no regular file that matches";
    if (!this.#facts.isWhole) return [unsure("none", gate.none.join(", "), "a tree too large to list", expected)];
    const matching = this.#filesMatching(gate.none, gate.except ?? []).slice(0, shownMax);
    return matching.map((file) => ({ rule: "none", file, found: "a regular file", expected, isUnsure: false }));
  }

  /** What matches and isn't a regular file: often the reason why too few do. */
  #othersMatching(glob: string): readonly string[] {
    const isMatch = picomatch(glob, { dot: true });
    const descriptions: string[] = [];
    for (const [path, { kind }] of this.#facts.files) {
      if (descriptions.length >= othersMax) break;
      if (kind !== "file" && (kind !== "folder" || path === glob) && isMatch(path)) descriptions.push(`${path} is ${kindLabels[kind]}`);
    }
    return descriptions;
  }

  #filesMatching(globs: readonly string[], except: readonly string[]): readonly string[] {
    const isMatch = picomatch([...globs], { dot: true });
    const isExcepted = except.length === 0 ? () => false : picomatch([...except], { dot: true });
    const paths: string[] = [];
    for (const [path, entry] of this.#facts.files) if (entry.kind === "file" && isMatch(path) && !isExcepted(path)) paths.push(path); // G2
    return paths.sort();
  }

  #judgeBranches(gate: Gate, depth: number): readonly Finding[] {
    if (gate.if === undefined) return (gate.all ?? []).flatMap((proof) => this.proof(proof, depth + 1));
    const condition = new Judge(this.#facts);
    const findings = condition.proof(gate.if, depth + 1);
    for (const path of condition.read) this.read.add(path);
    const undecidable = findings.filter(({ isUnsure }) => isUnsure);
    if (undecidable.length > 0) return undecidable.map((failure) => ({ ...failure, rule: `if ${failure.rule}` })); // G4
    if (findings.length === 0 && condition.lacksFacts) {
      for (const command of condition.commands) this.commands.add(command);
      this.orders.push(...condition.orders);
      return [];
    }
    return ((findings.length === 0 ? gate.all : gate.else) ?? []).flatMap((proof) => this.proof(proof, depth + 1));
  }

  #judgeCommand({ command }: Gate): readonly Finding[] {
    if (command === undefined) return [];
    const result = this.#facts.commandResult(command);
    if (result === undefined) this.commands.add(command);
    if (result === undefined || result.hasPassed) return [];
    return [{ rule: "command", file: null, found: `${result.found}: ${command}`, expected: "exit 0", isUnsure: false }];
  }
}

/** A template's {1} … {9} from a match's groups. A path that leaves the tree is in no listing, so it is not found. */
function fillTemplate(template: string, groups: readonly string[]): string {
  return template.replace(/\{(\d{1,2})\}/g, (_, index: string) => groups[Number(index)] ?? "");
}

/** An empty rule isn't a rule (G1). */
function gateFault(gate: Gate): string | null {
  const hasSubject = gate.file !== undefined || (gate.files?.length ?? 0) > 0 || gate.any !== undefined;
  const hasRule =
    hasSubject || (gate.none?.length ?? 0) > 0 || gate.all !== undefined || gate.if !== undefined || gate.command !== undefined;
  if (!hasRule) return "no rule";
  if (gate.for_each !== undefined && (gate.files?.length ?? 0) === 0) return "for_each without files";
  if (gate.at_least !== undefined && gate.any === undefined) return "at_least without any";
  if (gate.else !== undefined && gate.if === undefined) return "else without if";
  if (gate.if !== undefined && gate.all === undefined && gate.else === undefined) return "if without all or else";
  const fileRules = ["exists", "non_empty", "min_lines", "matches", "fresh", "after"] as const;
  const orphan = hasSubject ? undefined : fileRules.find((rule) => gate[rule] !== undefined);
  return orphan === undefined ? null : `${orphan} without file, files or any`;
}

function unsure(rule: string, file: string | null, found: string, expected: string): Finding {
  return { rule, file, found, expected, isUnsure: true }; // G3
}

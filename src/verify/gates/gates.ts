// gates: judges the artifact rules of a flow. Pure: facts that are missing (a command's result,
// which of two files is newer) are returned by name, and it is called again with them.
//
// Invariants:
//   G1. Every rule of a gate must hold; a gate without a rule, with an unknown proof or with an
//       unavailable fact never holds.
//   G2. Only regular files reached without a link count as files.
//   G3. A failure says rule, file, what was found and what was expected.
//   G4. A branch of an `if` is taken only once its condition is known; a condition that cannot be
//       judged fails the gate.

import picomatch from "picomatch";
import type { Gate, Proof } from "../../contracts/flow.ts";
import type { ProofFailure } from "../../ports/verifier.ts";
import type { FilePair, GateFinding, GateFacts, MissingFacts } from "./gate-facts.ts";
import { judgeFile, whyUnreadable } from "./gate-file.ts";

export type Judgement = {
  readonly holds: boolean;
  readonly failures: readonly ProofFailure[];
  /**
   * What must be looked up before the judgement is final; nothing holds while something is missing.
   */
  readonly missing: MissingFacts; // G1
  /** The files that satisfy the gates, and what those require of each. */
  readonly satisfied: ReadonlyMap<string, GateRequirement>;
  /**
   * The files whose text or existence decided something: those that satisfy the gates, conditions,
   * and lists that name other files.
   */
  readonly read: ReadonlySet<string>;
};

/**
 * What a gate requires of a file besides existing. `minLines`: 0 if it asks for no number of lines.
 */
export type GateRequirement = { readonly asksContent: boolean; readonly minLines: number };

const forEachMax = 5_000;
const depthMax = 16;
const shownMax = 10;
const othersShownMax = 3;
const fileWithNames = "a file to read names from";
const kindLabels = {
  link: "a symbolic link",
  folder: "a folder",
  other: "a special file",
} as const;

export function judgeGates(proofs: readonly Proof[], facts: GateFacts): Judgement {
  const judge = new Judge(facts);
  const findings = proofs.flatMap((proof) => judge.judgeProof(proof, 0));

  return {
    holds: findings.length === 0 && !judge.lacksFacts,
    failures: findings.map(({ rule, file, found, expected }) => ({ rule, file, found, expected })),
    missing: { commands: [...judge.commands], undecidedPairs: judge.undecidedPairs },
    satisfied: judge.satisfied,
    read: judge.read,
  };
}

/**
 * Judges proofs and collects what they need: facts that are missing, and the files that decided.
 */
class Judge {
  readonly commands = new Set<string>();
  readonly undecidedPairs: FilePair[] = [];
  readonly satisfied = new Map<string, GateRequirement>();
  readonly read = new Set<string>();
  readonly #facts: GateFacts;

  constructor(facts: GateFacts) {
    this.#facts = facts;
  }

  get lacksFacts(): boolean {
    return this.commands.size > 0 || this.undecidedPairs.length > 0;
  }

  judgeProof(proof: Proof, depth: number): readonly GateFinding[] {
    const refuse = (rule: string, found: string, expected: string): readonly GateFinding[] => [
      createUnsureFinding(rule, null, found, expected),
    ];

    if (typeof proof === "string") {
      return refuse(proof, "a name nobody has looked up", "a proof from the registry"); // G1
    }

    if (depth > depthMax) {
      return refuse("gate", `rules nested more than ${depthMax} deep`, "fewer");
    }

    const fault = findGateFault(proof);
    if (fault !== null) return refuse("gate", fault, "a rule that can be judged"); // G1

    return [
      ...this.#judgeFiles(proof),
      ...this.#judgeAny(proof),
      ...this.#judgeNone(proof),
      ...this.#judgeBranches(proof, depth),
      ...this.#judgeCommand(proof),
    ];
  }

  #judgeFiles(gate: Gate): readonly GateFinding[] {
    const { file, files = [], for_each } = gate;
    const fileFindings = file === undefined ? [] : this.#judgeFile(file, gate);
    if (for_each === undefined) {
      return [...fileFindings, ...files.flatMap((path) => this.#judgeFile(path, gate))];
    }

    const expansion = this.#expandTemplates(for_each, files);
    if ("failure" in expansion) return [...fileFindings, expansion.failure];

    const gateOfEach = { ...gate, non_empty: true };
    const eachFindings = expansion.paths.flatMap((path) => this.#judgeFile(path, gateOfEach));
    return [...fileFindings, ...eachFindings];
  }

  #judgeFile(path: string, gate: Gate): readonly GateFinding[] {
    const { failures, undecidedPairs } = judgeFile(path, gate, this.#facts);
    this.undecidedPairs.push(...undecidedPairs);
    if (failures.length === 0 && gate.exists !== false) this.#addSatisfied(path, gate);

    return failures;
  }

  #addSatisfied(path: string, { non_empty, min_lines = 0, matches }: Gate): void {
    this.read.add(path);
    const earlier = this.satisfied.get(path) ?? { asksContent: false, minLines: 0 };
    const asksContent = non_empty === true || min_lines > 0 || matches !== undefined;

    this.satisfied.set(path, {
      asksContent: earlier.asksContent || asksContent,
      minLines: Math.max(earlier.minLines, min_lines),
    });
  }

  /** The paths that the matches in a file refer to. */
  #expandTemplates(
    { file, matches }: { file: string; matches: string },
    templates: readonly string[],
  ): { failure: GateFinding } | { paths: readonly string[] } {
    const refuse = (found: string, expected: string) => ({
      failure: createUnsureFinding("for_each", file, found, expected),
    });

    const kind = this.#facts.files.get(file)?.kind;
    if (kind !== "file") {
      return refuse(
        kind === undefined ? "no such regular file" : `no regular file: ${kindLabels[kind]}`,
        fileWithNames,
      );
    } // G2

    const text = this.#facts.read(file);
    const unreadable = whyUnreadable(text);
    if (text === null || unreadable !== null) return refuse(unreadable ?? "nothing", fileWithNames);
    // Text beyond the bound could name files that were not inspected.
    if (!text.isWhole) return refuse("more than 1 MiB of text", "a file that can be read whole");

    this.read.add(file);
    const result = this.#facts.match(matches, text.text, forEachMax + 1);
    if (!result.ok) return refuse(result.why, `matches of /${matches}/m`);
    if (result.groups.length > forEachMax) {
      return refuse(`more than ${forEachMax} matches`, `at most ${forEachMax}`);
    }

    const paths = result.groups.flatMap((groups) =>
      templates.map((template) => fillTemplate(template, groups)),
    );

    return { paths: [...new Set(paths)] };
  }

  #judgeAny(gate: Gate): readonly GateFinding[] {
    if (gate.any === undefined) return [];
    const atLeast = gate.at_least ?? 1;
    const matching = this.#filesMatching([gate.any], gate.except ?? []);
    const judgements = matching.map((path) => ({ path, ...judgeFile(path, gate, this.#facts) }));

    const withoutFailures = judgements.filter(({ failures }) => failures.length === 0);
    for (const { path } of withoutFailures) this.#addSatisfied(path, gate);

    const undecidedPairs = withoutFailures.flatMap((judgement) => judgement.undecidedPairs);
    const good = withoutFailures.filter((judgement) => judgement.undecidedPairs.length === 0);
    if (good.length >= atLeast) return [];

    if (withoutFailures.length >= atLeast) {
      this.undecidedPairs.push(...undecidedPairs);
      return [];
    }

    const faults = judgements.flatMap(({ failures }) => failures);
    const count = `${good.length} of ${matching.length} matching regular files`;
    const notes = this.#whyTooFew(gate.any, faults);

    return [
      {
        rule: "any",
        file: gate.any,
        found: notes.length === 0 ? count : `${count} (${notes.join("; ")})`,
        expected: `at least ${atLeast}`,
        isUnsure: !this.#facts.isWhole || faults.some(({ isUnsure }) => isUnsure),
      },
    ];
  }

  #whyTooFew(glob: string, faults: readonly GateFinding[]): readonly string[] {
    const faultNotes = faults
      .slice(0, shownMax)
      .map(({ file, rule, found }) => `${file}: ${rule}, found ${found}`);

    const listingNote = this.#facts.isWhole ? [] : ["the tree is too large to list"];
    return [...faultNotes, ...this.#othersMatching(glob), ...listingNote];
  }

  #judgeNone(gate: Gate): readonly GateFinding[] {
    if (gate.none === undefined) return [];
    const expected = "no regular file that matches";

    if (!this.#facts.isWhole) {
      return [
        createUnsureFinding("none", gate.none.join(", "), "a tree too large to list", expected),
      ];
    }

    const matching = this.#filesMatching(gate.none, gate.except ?? []).slice(0, shownMax);
    return matching.map((file) => ({
      rule: "none",
      file,
      found: "a regular file",
      expected,
      isUnsure: false,
    }));
  }

  /** What matches and isn't a regular file: often the reason why too few do. */
  #othersMatching(glob: string): readonly string[] {
    const isMatch = picomatch(glob, { dot: true });
    const descriptions: string[] = [];

    for (const [path, { kind }] of this.#facts.files) {
      if (descriptions.length >= othersShownMax) break;
      if (kind !== "file" && (kind !== "folder" || path === glob) && isMatch(path)) {
        descriptions.push(`${path} is ${kindLabels[kind]}`);
      }
    }

    return descriptions;
  }

  #filesMatching(globs: readonly string[], except: readonly string[]): readonly string[] {
    const isMatch = picomatch([...globs], { dot: true });
    const isExcepted = except.length === 0 ? () => false : picomatch([...except], { dot: true });
    const paths: string[] = [];

    for (const [path, entry] of this.#facts.files) {
      if (entry.kind === "file" && isMatch(path) && !isExcepted(path)) paths.push(path);
    } // G2

    return paths.sort();
  }

  #judgeBranches(gate: Gate, depth: number): readonly GateFinding[] {
    if (gate.if === undefined) {
      return (gate.all ?? []).flatMap((proof) => this.judgeProof(proof, depth + 1));
    }

    const condition = new Judge(this.#facts);
    const findings = condition.judgeProof(gate.if, depth + 1);
    for (const path of condition.read) this.read.add(path);
    const undecidable = findings.filter(({ isUnsure }) => isUnsure);
    if (undecidable.length > 0) {
      return undecidable.map((failure) => ({ ...failure, rule: `if ${failure.rule}` }));
    } // G4

    if (findings.length === 0 && condition.lacksFacts) {
      for (const command of condition.commands) this.commands.add(command);
      this.undecidedPairs.push(...condition.undecidedPairs);
      return [];
    }

    const branch = findings.length === 0 ? gate.all : gate.else;
    return (branch ?? []).flatMap((proof) => this.judgeProof(proof, depth + 1));
  }

  #judgeCommand({ command }: Gate): readonly GateFinding[] {
    if (command === undefined) return [];
    const result = this.#facts.commandResult(command);
    if (result === undefined) this.commands.add(command);
    if (result === undefined || result.hasPassed) return [];

    return [
      {
        rule: "command",
        file: null,
        found: `${result.ending}: ${command}`,
        expected: "exit 0",
        isUnsure: false,
      },
    ];
  }
}

/**
 * Fills a template's {1}, {2} … from a match's groups, and {0} with the whole match. A path that
 * leaves the tree is in no listing.
 */
function fillTemplate(template: string, groups: readonly string[]): string {
  return template.replace(/\{(\d{1,2})\}/g, (_, index: string) => groups[Number(index)] ?? "");
}

/**
 * Why a gate cannot be judged: it has no rule (G1), or a rule without what it needs. Null if it
 * can.
 */
function findGateFault(gate: Gate): string | null {
  const { file, files = [], any, none = [], all, command } = gate;
  const hasSubject = file !== undefined || files.length > 0 || any !== undefined;
  const hasOtherRule =
    none.length > 0 || all !== undefined || gate.if !== undefined || command !== undefined;

  if (!hasSubject && !hasOtherRule) return "no rule";
  if (gate.for_each !== undefined && files.length === 0) return "for_each without files";
  if (gate.at_least !== undefined && gate.any === undefined) return "at_least without any";
  if (gate.else !== undefined && gate.if === undefined) return "else without if";
  if (gate.if !== undefined && all === undefined && gate.else === undefined) {
    return "if without all or else";
  }

  if (hasSubject) return null;
  const orphan = fileRules.find((rule) => gate[rule] !== undefined);
  return orphan === undefined ? null : `${orphan} without file, files or any`;
}

const fileRules = ["exists", "non_empty", "min_lines", "matches", "fresh", "after"] as const;

function createUnsureFinding(
  rule: string,
  file: string | null,
  found: string,
  expected: string,
): GateFinding {
  return { rule, file, found, expected, isUnsure: true }; // G3
}

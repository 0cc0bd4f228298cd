// terminal-gate: the runner's own judgement of everything a quality run left, before it counts as finished. Judged when the last phase
// begins, so that the verifier knows what is missing, and again when its turn has ended: then it decides.
//
// Invariants:
//   G1. Every phase's gate is judged again, on the current commit.
//   G2. A failure is something missing or untrue; a warning is a rule that holds in its weaker form, a placeholder artifact, or one that
//       this run did not make.

import { findFact, gateFact, GateFound, type GateCheck } from "../../../contracts/quality-facts.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { withoutFreshness } from "../../../engine/found-gates.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Verifier } from "../../../ports/verifier.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { patchesOf } from "./bugs-shown.ts";
import { countBugHeadings, findBugIds } from "./counted-in.ts";
import { keptReturn } from "./kept-return.ts";
import { gatesOfPhase } from "./phase-gates.ts";
import { phasesNotMade } from "./phase-places.ts";
import { openQualityTree, type QualityTree } from "./quality-tree.ts";
import { idsClaimed } from "./ids-claimed.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Parts = {
  readonly verifier: Pick<Verifier, "prove">;
  readonly workspace: Pick<Workspace, "pathsAt" | "textAt" | "differences">;
  readonly readBlob: (hash: string) => Buffer | null;
};

const namedMax = 10;

/** As a step: it measures, and what it found is for the verifier to read. */
export const terminalGate = (parts: Parts) => ({
  version: 1,
  effect: "none" as const,
  perform: async (input: StepInput): Promise<FunctionResult> => gateResult(await judged(parts, input), { decides: false }),
});

/** As a proof: it decides. */
export const terminalProof = (parts: Parts) => ({
  version: 1,
  prove: async (input: StepInput): Promise<FunctionResult> => gateResult(await judged(parts, input), { decides: true }),
});

function gateResult(gate: GateFound, { decides }: { readonly decides: boolean }): FunctionResult {
  const troubles = gate.checks.filter(({ verdict }) => verdict === "fail" || verdict === "warn");
  const count = (verdict: GateCheck["verdict"]): number => gate.checks.filter((check) => check.verdict === verdict).length;
  return {
    ok: !decides || gate.verdict !== "fail",
    facts: { gate_verdict: gate.verdict, failures: count("fail"), warnings: count("warn"), [gateFact]: JSON.stringify(gate) },
    detail:
      troubles.length === 0
        ? "every check passed"
        : troubles.map(({ name, verdict, reason }) => `${name} (${verdict}): ${reason}`).join("; "),
  };
}

async function judged(parts: Parts, input: StepInput): Promise<GateFound> {
  const tree = await openQualityTree(parts.workspace, input.commit);
  const document = await tree.text(bugsPath);
  const isUnreadable = document === null && tree.has(bugsPath);
  const bugs = [...new Set(findBugIds(document))];
  const { checks: ofPhases, hollow } = await phaseChecks(parts.verifier, input);
  const changed = (await parts.workspace.differences(input.state.drafted.base.commit, input.commit)).map(({ path }) => path);
  const checks = [
    ...ofPhases, // G1
    isUnreadable ? unreadable : headings(document, seenIds(parts, input.state)),
    await perBug(tree, "patches", bugs, (id) => `quality/patches/${id}-regression-test.patch`),
    await perBug(tree, "writeups", bugs, (id) => `quality/writeups/${id}.md`),
    await perBug(tree, "red_logs", bugs, (id) => `quality/results/${id}.red.log`),
    regressionTests(input.state, bugs, await patchesOf(tree, bugs)),
    auditNames(tree),
    content(hollow),
    madeHere(input.state, tree, { changed: new Set(changed), hasBugs: bugs.length > 0 }),
    sourceUnchanged(changed),
  ];
  const has = (verdict: GateCheck["verdict"]): boolean => checks.some((check) => check.verdict === verdict);
  return { verdict: has("fail") ? "fail" : has("warn") ? "partial" : "pass", checks };
}

async function phaseChecks(verifier: Parts["verifier"], { attempt, state, commit, cancel, onLiveEvent }: StepInput) {
  const checks: GateCheck[] = [];
  const hollow = new Map<string, string>();
  for (const { id, name, group } of state.phases) {
    const gates = group === "phases" ? gatesOfPhase(state, id).map(withoutFreshness) : [];
    if (gates.length === 0) continue;
    const result = await verifier.prove({ attempt, gates, commit, changed: [], base: state.drafted.base.commit, cancel, onLiveEvent });
    for (const { file, why } of result.hollow ?? []) hollow.set(file, why);
    const why = result.failures
      .map(({ rule, file, found, expected }) => `${file ?? rule}: found ${found}, expected ${expected}`)
      .join(", ");
    checks.push({ name: `phase_${id}`, verdict: result.holds ? "pass" : "fail", reason: result.holds ? `${name}: its gate holds` : why });
  }
  return { checks, hollow };
}

/** The ids that agents named as confirmed bugs, in the phases that confirm them. */
const seenIds = ({ readBlob }: Parts, state: RunView): readonly string[] =>
  idsClaimed(["3", "5"].map((phase) => (state.cursors[phase] === undefined ? null : keptReturn(readBlob, state.cursors[phase]))));

const bugsPath = "quality/BUGS.md";
const unreadable: GateCheck = {
  name: "bugs_heading",
  verdict: "fail",
  reason: `${bugsPath} isn't a regular text file that can be read, so its bugs cannot be counted`,
};

function headings(document: string | null, seen: readonly string[]): GateCheck {
  const name = "bugs_heading";
  const inFile = findBugIds(document);
  const nameless = countBugHeadings(document) - inFile.length;
  if (nameless > 0)
    return {
      name,
      verdict: "fail",
      reason: `BUGS.md has ${nameless} ${nameless === 1 ? "heading" : "headings"} ### BUG- without an id of letters and digits, so no write-up, patch or log can be named after it`,
    };
  const doubles = inFile.filter((id, index) => inFile.indexOf(id) !== index);
  if (doubles.length > 0) return { name, verdict: "fail", reason: `BUGS.md has more than one heading for ${some(doubles)}` };
  if (seen.length === 0)
    return inFile.length === 0
      ? { name, verdict: "pass", reason: "no bug was named, and BUGS.md has none" }
      : { name, verdict: "skip", reason: `no agent handed back its bugs; BUGS.md has ${inFile.length}` };
  const [missing, unknown] = [seen.filter((id) => !inFile.includes(id)), inFile.filter((id) => !seen.includes(id))];
  if (missing.length + unknown.length === 0)
    return { name, verdict: "pass", reason: `${inFile.length} bugs, in BUGS.md and as handed back` };
  const parts = [
    ...(missing.length === 0 ? [] : [`${some(missing)} handed back and not in BUGS.md`]),
    ...(unknown.length === 0 ? [] : [`${some(unknown)} in BUGS.md and never handed back`]),
  ];
  return { name, verdict: "fail", reason: parts.join("; ") };
}

async function perBug(tree: QualityTree, name: string, bugs: readonly string[], pathOf: (id: string) => string): Promise<GateCheck> {
  if (bugs.length === 0) return { name, verdict: "skip", reason: "no confirmed bug" };
  const missing: string[] = [];
  for (const path of bugs.map(pathOf)) if (!tree.has(path) || (await tree.text(path)) === "") missing.push(path);
  if (missing.length > 0) return { name, verdict: "fail", reason: `missing or empty: ${some(missing)}` };
  return { name, verdict: "pass", reason: `one for each of ${bugs.length} bugs` };
}

/** What the runner saw when it tried the regression tests in the phase before. */
function regressionTests(state: RunView, bugs: readonly string[], patches: string): GateCheck {
  const name = "regression_tests";
  if (bugs.length === 0) return { name, verdict: "skip", reason: "no confirmed bug" };
  const facts = state.cursors["5"]?.last["do"]?.facts ?? {};
  const [shown, untried, why] = [facts["bugs_shown"], facts["bugs_untried"], facts["bugs_undecided"]];
  if (typeof shown !== "number")
    return { name, verdict: "skip", reason: typeof why === "string" ? `not tried: ${why}` : "this run has not tried them" };
  if (facts["patches"] !== patches)
    return { name, verdict: "warn", reason: "bugs or patches were changed after the runner had tried them" };
  if (typeof untried === "number" && untried > 0)
    return { name, verdict: "warn", reason: `the runner saw ${shown} fail, and has not tried ${untried} more` };
  return { name, verdict: "pass", reason: `the runner applied ${shown}, and each fails on the code as it is` };
}

/** G2: other names than the convention's pass on the weaker rule. */
function auditNames(tree: QualityTree): GateCheck {
  const isNamed = tree.matching(/^quality\/spec_audits\/[^/]*(?:-triage|-auditor-[^/]*)\.md$/).length > 0;
  const name = "spec_audit_names";
  if (isNamed) return { name, verdict: "pass", reason: "triage and auditors are named as agreed" };
  return { name, verdict: "warn", reason: "no file is named *-triage.md or *-auditor-*.md, so only their number was asked for" };
}

function content(hollow: ReadonlyMap<string, string>): GateCheck {
  const name = "content";
  if (hollow.size === 0) return { name, verdict: "pass", reason: "no artifact is hollow" };
  return { name, verdict: "warn", reason: `hollow: ${some([...hollow].map(([file, why]) => `${file} (${why})`))}` }; // G2
}

/** G2: earlier documents formally prove a phase, but cannot show that the code was inspected since. The last phase is the runner's. */
function madeHere(state: RunView, tree: QualityTree, { changed, hasBugs }: { changed: ReadonlySet<string>; hasBugs: boolean }): GateCheck {
  const name = "made_here";
  const old = phasesNotMade(state, tree.paths, changed).filter((phase) => phase !== "6" && (phase !== "5" || hasBugs));
  if (old.length === 0) return { name, verdict: "pass", reason: "every phase left documents in this run" };
  const phases = `phase${old.length === 1 ? "" : "s"} ${old.join(", ")}`;
  return { name, verdict: "warn", reason: `${phases}: this run changed none of the documents that are there, they are from before it` };
}

function sourceUnchanged(changed: readonly string[]): GateCheck {
  const outside = changed.filter((path) => !path.startsWith("quality/"));
  const name = "source_unchanged";
  if (outside.length === 0) return { name, verdict: "pass", reason: "nothing outside quality/ was changed since the run began" };
  return { name, verdict: "fail", reason: `changed outside quality/: ${some(outside)}` };
}

const some = (names: readonly string[]): string =>
  `${names.slice(0, namedMax).join(", ")}${names.length > namedMax ? ` and ${names.length - namedMax} more` : ""}`;

/** The gate as the last phase left it. */
export function findGate(state: RunView): GateFound | null {
  const cursor = state.cursors["6"];
  for (const outcome of [cursor?.last["do"], cursor?.last["terminal"]]) {
    const gate = outcome === undefined ? null : findFact(outcome.facts, gateFact, GateFound);
    if (gate !== null) return gate;
  }
  return null;
}

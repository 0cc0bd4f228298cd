// roadmap-prepare: what a run of a roadmap is drafted with, read from its documents. Nothing is written.
//
// Invariants:
//   P1. A run is locked to one specification; another one is for a person to accept.
//   P2. What travels with the project tightens limits and never loosens them.

import type { PlanningConfig, RoadmapPhase } from "../../../contracts/roadmap.ts";
import { planningConfigPath } from "../documents/planning-config.ts";
import { specHash, specMismatch } from "./spec.ts";
import { findingText, type Finding } from "../../../kit/finding.ts";
import { limitsNotRaised } from "../../../project/config/config-loosened.ts";
import { breakerDefaults } from "../../../core/breaker.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { openedRepository } from "../../../project/runs/opened-repository.ts";
import { readDocument } from "../../contract/read-document.ts";
import { refuse } from "../../../project/reply.ts";
import { systemClock } from "../../../project/runs/system-clock.ts";
import { stateFile } from "../../../contracts/roadmap-places.ts";
import { resumedFrom, describeResumed } from "./roadmap-resumed.ts";
import { readStateHere } from "./roadmap-states.ts";
import { type Kept, phaseOfFinding } from "./roadmap-documents.ts";
import { choosePhases } from "./roadmap-choose.ts";
import { roadmapHere } from "./roadmap-problems.ts";
import { costConstants } from "../../../project/config/cost-constants.ts";
import { estimateRoadmap } from "./roadmap-estimate.ts";
import { settingsOf } from "../../../project/config/settings.ts";
import type { PreparedRun, PrepareInput } from "../../contract/playbook.ts";
import { acceptedMessage } from "./roadmap-prepare-resume.ts";

const warningsShownMax = 8;

export async function prepare({ context, paths, input }: PrepareInput): Promise<PreparedRun> {
  const here = roadmapHere(paths);
  const { read } = here;
  const { path, phases, config, specPath } = read;
  const word = input.options?.["complete"] === "true" ? "all" : (input.options?.["phases"] ?? "next");
  const { requested, wanted, findings } = await choosePhases(paths.root, here, word);
  const [limits, raised] = limitsNotRaised(configNumbers(config.circuit_breaker_config), settingsOf(context, paths).config.limits ?? {}); // P2
  const theirs = input.options?.["resumes"] === undefined ? null : await theirState(paths.root, input);
  const ours = read.kept.find((one) => one.path === (specPath ?? path)) ?? { path, bytes: Buffer.alloc(0) };
  const spec = theirs === null ? ours : lockedSpec(paths.root, theirs.state.spec.path, ours);
  const relocked = lockedElsewhere(input, spec);
  const kept = read.kept.some((one) => one.path === spec.path) ? read.kept : [...read.kept, spec];
  const thresholds = { ...breakerDefaults };
  const { head } = await openedRepository(paths.root);
  const resumes = theirs === null ? null : await resumedFrom({ root: paths.root, head: head.commit, ...theirs, read, wanted, thresholds });
  const left = wanted.filter((id) => !here.completed.has(id));
  const { tokens } = await estimateRoadmap(paths, read, left, costConstants(settingsOf(context, paths).config.limits ?? {}));
  return {
    goal: pathGoal(path, phases, wanted, word),
    facts: { roadmap_path: path, spec_path: spec.path, spec_hash: specHash(spec.bytes) },
    options: {
      phases: word,
      ...(config.workflow?.research === undefined ? {} : { research: config.workflow.research }),
    },
    documents: [
      ...kept.map((one) => ({ path: one.path, text: one.bytes.toString("utf8") })),
      ...(theirs === null ? [] : [{ path: theirs.path, text: theirs.text }]),
    ],
    ...(resumes === null ? {} : { resumes }),
    limits,
    checks: planningConfigCommands(config),
    estimate: tokens.p90,
    warnings: [
      ...(theirs === null ? await unreadableState(paths.root) : []),
      ...(theirs === null || resumes === null ? [] : [describeResumed(resumes, theirs.state)]),
      ...relocked,
      ...raised.map((name) => `circuit_breaker_config.${name} in ${planningConfigPath} is ignored: it would raise a cap. ${sayItYourself}`),
      ...unfollowed(config),
      ...shownWarnings(findings, requested),
    ],
  };
}

/** The state of the run that is to be gone on with, as it is here now; refused where it is another one, or cools down. */
async function theirState(root: string, { options, now }: PrepareInput["input"]) {
  const { state, text, from } = await readStateHere(root);
  if (state === null || from === null || state._meta.run_id !== options?.["resumes"])
    return refuse("file_invalid", {
      message: `${stateFile} does not hold the state of ${options?.["resumes"] ?? "that run"} any more. Nothing was started.`,
      remediation: ["autopilot resume looks at it again"],
    });
  if (text.length > resumedCharsMax)
    return refuse("file_invalid", {
      message: `${from} is too large to go on with: found ${text.length} characters, expected at most ${resumedCharsMax}.`,
      remediation: ["shorten its event_log, then autopilot resume", "autopilot roadmap all begins a run of its own"],
    });
  const until = state.circuit_breaker.state === "open" ? state.circuit_breaker.cooldown_until : null;
  if (until !== null && now !== true && (parseIsoTime(until) ?? 0) > (parseIsoTime(systemClock.now()) ?? 0))
    return refuse("breaker_open", {
      message: `The breaker of ${state._meta.run_id} stays open until ${until}. Nothing was started.`,
      remediation: [`after ${until}: autopilot resume`, "autopilot resume --now"],
      data: { cooldown_until: until },
    });
  return { state, text, path: from };
}

/** An unreadable state knows of no completed phase; it is moved to the run's folder when this run's replaces it. */
export async function unreadableState(root: string): Promise<readonly string[]> {
  const { isThere, state, findings } = await readStateHere(root);
  if (!isThere || state !== null) return [];
  const why = findings.slice(0, 2).map(findingText).join("; ");
  return [`${stateFile} cannot be read, so which phases it completed is not known; a run that begins moves it to its folder: ${why}`];
}

const resumedCharsMax = 4 * 1_048_576;

/** The specification that the other run names, where the project has it; else the one that is found as always. */
function lockedSpec(root: string, path: string, ours: Kept): Kept {
  const isInside = path !== "" && !/^[/\\~]|^[A-Za-z]:/.test(path) && !path.split(/[/\\]/).includes("..");
  const found = isInside ? readDocument(root, path) : null;
  return found === null || "findings" in found ? ours : { path, bytes: found.bytes };
}

/** A run of another tool's was locked to a specification: where it is another one now, that is for a person to accept. P1 */
function lockedElsewhere({ options, flags }: PrepareInput["input"], spec: Kept): readonly string[] {
  const locked = options?.["spec_hash"];
  if (locked === undefined) return [];
  const found = specHash(spec.bytes);
  const mismatch = specMismatch(spec.path, locked, found);
  if (mismatch === null) return [];
  if (flags?.has("accept-spec-change") === true) return [acceptedMessage(spec.path, locked, found)];
  return refuse("spec_hash_mismatch", {
    message: mismatch,
    remediation: ["autopilot resume --accept-spec-change goes on with it as it is now", `put ${spec.path} back as it was`],
    data: { path: spec.path, recorded: locked, found },
  });
}

const sayItYourself = "Say it in your own config: limits in ~/.config/autopilot/config.yaml.";

function pathGoal(path: string, phases: readonly RoadmapPhase[], ids: readonly string[], word: string): string {
  const [first = ""] = ids;
  if (ids.length === 1) return `Phase ${first} of ${path}: ${phases.find(({ id }) => id === first)?.name ?? first}`;
  if (word === "all") return `The ${ids.length} phases of ${path} that are not completed`;
  const shown = ids.length > 12 ? `${ids.slice(0, 12).join(", ")} …` : ids.join(", ");
  return `${ids.length} phases of ${path}: ${shown}`;
}

const configNumbers = (config: PlanningConfig["circuit_breaker_config"]): Record<string, number> =>
  Object.fromEntries(Object.entries(config ?? {}).flatMap(([name, value]) => (typeof value === "number" ? [[name, value]] : [])));

/** The project's own commands, in the order in which they are best run. */
function planningConfigCommands({ project }: PlanningConfig): readonly string[] {
  const { compile, lint, test, build } = project?.commands ?? {};
  return [compile, lint, test, build].flatMap((command) => (typeof command === "string" && command.trim() !== "" ? [command.trim()] : []));
}

function unfollowed({ workflow }: PlanningConfig): readonly string[] {
  return (["plan_check", "verifier"] as const)
    .filter((name) => workflow?.[name] === false)
    .map((name) => `workflow.${name}: false in ${planningConfigPath} is not followed: no phase is completed without it.`);
}

function shownWarnings(findings: readonly Finding[], requested: ReadonlySet<string>): readonly string[] {
  const about = findings.filter(
    (finding) => requested.has(phaseOfFinding(finding) ?? "") || finding.path === "" || finding.rule === "phase_renamed",
  );
  const shownFindings = about.slice(0, warningsShownMax);
  const left = findings.length - shownFindings.length;
  return [
    ...shownFindings.map(findingText),
    ...(left > 0 ? [`${left} more ${left === 1 ? "remark" : "remarks"} that stop nothing: autopilot roadmap list`] : []),
  ];
}

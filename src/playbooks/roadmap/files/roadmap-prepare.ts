// roadmap-prepare: prepares a run of a roadmap from its documents. Reads only.
//
// Invariants:
//   P1. A run is locked to one specification; a person must accept a change of it.
//   P2. Settings in the project can tighten limits but never raise them.

import type { PlanningConfig, RoadmapPhase } from "../../../contracts/roadmap.ts";
import { planningConfigPath } from "../documents/planning-config.ts";
import { hashSpec, describeMismatch } from "./spec.ts";
import { findingText, type Finding } from "../../../kit/finding.ts";
import { withoutLoosenedLimits } from "../../../project/config/without-loosening.ts";
import { breakerLimits } from "../../../core/breaker.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { requireRepository } from "../../../project/runs/require-repository.ts";
import { readDocument } from "../../contract/read-document.ts";
import { refuse } from "../../../project/respond.ts";
import { systemClock } from "../../../project/runs/system-clock.ts";
import { stateFile } from "../../../contracts/roadmap-places.ts";
import { buildResumedRun, describeResumed } from "./resumed-run.ts";
import { readProjectState } from "./read-state-files.ts";
import { type DocumentBytes, findPhaseOfFinding } from "./roadmap-documents.ts";
import { choosePhases } from "./choose-phases.ts";
import { loadRoadmap } from "./load-roadmap.ts";
import { readCostConstants } from "../../../project/config/cost-constants.ts";
import { estimateRoadmap } from "./roadmap-estimate.ts";
import { requireSettings } from "../../../project/config/settings.ts";
import type { PreparedRun, PrepareInput } from "../../contract/playbook.ts";
import { describeAccepted } from "./roadmap-prepare-resume.ts";

const warningsShownMax = 8;
const idsShownMax = 12;
/** The state of the other run is recorded with this one. */
const resumedCharsMax = 4 * 1_048_576;

export async function prepareRoadmap({
  context,
  paths,
  input,
}: PrepareInput): Promise<PreparedRun> {
  const roadmap = loadRoadmap(paths);
  const { documents } = roadmap;
  const { path, phases, config, specPath } = documents;
  const expression = chooseExpression(input);
  const { requested, openIds, findings } = await choosePhases(paths.root, roadmap, expression);
  const configuredLimits = requireSettings(context, paths).config.limits ?? {};
  const roadmapLimits = configNumbers(config.circuit_breaker_config);
  const [limits, raisedLimits] = withoutLoosenedLimits(roadmapLimits, configuredLimits); // P2

  const isResuming = input.options?.["resumes"] !== undefined;
  const foreignState = isResuming ? await readForeignState(paths.root, input) : null;
  const ownSpec = findOwnSpec(documents, specPath ?? path);
  const spec =
    foreignState === null
      ? ownSpec
      : findLockedSpec(paths.root, foreignState.state.spec.path, ownSpec);
  const specWarnings = checkLockedSpec(input, spec);

  const { head } = await requireRepository(paths.root);
  const thresholds = breakerLimits({ ...configuredLimits, ...limits }); // as the run will have them
  const runToBegin = { root: paths.root, head: head.commit, documents, phaseIds: openIds };
  const resumes =
    foreignState === null
      ? null
      : await buildResumedRun({ ...runToBegin, thresholds, ...foreignState });

  const constants = readCostConstants(configuredLimits);
  const { tokens } = await estimateRoadmap(paths, documents, openIds, constants);
  const stateWarnings =
    foreignState === null || resumes === null
      ? await describeUnreadableState(paths.root)
      : [describeResumed(resumes, foreignState.state)];
  const research = config.workflow?.research;

  return {
    goal: buildGoal(path, phases, openIds, expression),
    facts: { roadmap_path: path, spec_path: spec.path, spec_hash: hashSpec(spec.bytes) },
    options: { phases: expression, ...(research === undefined ? {} : { research }) },
    documents: listDocuments(documents, spec, foreignState),
    ...(resumes === null ? {} : { resumes }),
    limits,
    checks: projectCommands(config),
    estimate: tokens.p90,
    warnings: [
      ...stateWarnings,
      ...specWarnings,
      ...raisedLimits.map(describeRaisedLimit),
      ...ignoredSettings(config),
      ...selectWarnings(findings, requested),
    ],
  };
}

type Documents = ReturnType<typeof loadRoadmap>["documents"];

function chooseExpression({ options }: PrepareInput["input"]): string {
  return options?.["complete"] === "true" ? "all" : (options?.["phases"] ?? "next");
}

function findOwnSpec({ originals, path }: Documents, specPath: string): DocumentBytes {
  const spec = originals.find((original) => original.path === specPath);
  return spec ?? { path, bytes: Buffer.alloc(0) };
}

/** What the run records of the documents it begins with. */
function listDocuments(
  { originals }: Documents,
  spec: DocumentBytes,
  foreignState: { readonly path: string; readonly text: string } | null,
): { path: string; text: string }[] {
  const isSpecRead = originals.some((original) => original.path === spec.path);
  const read = isSpecRead ? originals : [...originals, spec];
  const recorded = read.map(({ path, bytes }) => ({ path, text: bytes.toString("utf8") }));
  if (foreignState === null) return recorded;

  const { path, text } = foreignState;
  return [...recorded, { path, text }];
}

const describeRaisedLimit = (name: string): string =>
  `circuit_breaker_config.${name} in ${planningConfigPath} is ignored: it would raise a cap. ${ownConfigHint}`;

/**
 * The state of the run that is to be continued. Refuses if the file is now of another run, too
 * large, or its breaker is cooling down.
 */
async function readForeignState(root: string, { options, now }: PrepareInput["input"]) {
  const { state, text, source } = await readProjectState(root);
  if (state === null || source === null || state._meta.run_id !== options?.["resumes"]) {
    return refuse("file_invalid", {
      message: `${stateFile} does not hold the state of ${options?.["resumes"] ?? "that run"} any more. Nothing was started.`,
      remediation: ["autopilot resume looks at it again"],
    });
  }

  if (text.length > resumedCharsMax) {
    return refuse("file_invalid", {
      message: `${source} is too large to go on with: found ${text.length} characters, expected at most ${resumedCharsMax}.`,
      remediation: [
        "shorten its event_log, then autopilot resume",
        "autopilot roadmap all begins a run of its own",
      ],
    });
  }

  const { circuit_breaker: breaker } = state;
  const cooldownUntil = breaker.state === "open" ? breaker.cooldown_until : null;
  const cooldownMs = parseIsoTime(cooldownUntil ?? "") ?? 0;
  const nowMs = parseIsoTime(systemClock.now()) ?? 0;
  const isCoolingDown = cooldownUntil !== null && cooldownMs > nowMs;
  if (isCoolingDown && now !== true) {
    return refuse("breaker_open", {
      message: `The breaker of ${state._meta.run_id} stays open until ${cooldownUntil}. Nothing was started.`,
      remediation: [`after ${cooldownUntil}: autopilot resume`, "autopilot resume --now"],
      data: { cooldown_until: cooldownUntil },
    });
  }

  return { state, text, path: source };
}

/**
 * A warning if state.json is unreadable: then its completed phases are unknown, and the new run
 * moves it away.
 */
export async function describeUnreadableState(root: string): Promise<readonly string[]> {
  const { exists, state, findings } = await readProjectState(root);
  if (!exists || state !== null) return [];
  const why = findings.slice(0, 2).map(findingText).join("; ");

  return [
    `${stateFile} cannot be read, so which phases it completed is not known; a run that begins moves it to its folder: ${why}`,
  ];
}

/** The specification that the other run was locked to, if it is in this project; else our own. */
function findLockedSpec(root: string, path: string, ownSpec: DocumentBytes): DocumentBytes {
  const isAbsolute = /^[/\\~]|^[A-Za-z]:/.test(path); // /spec.md, ~/spec.md, C:\spec.md
  const isInside = path !== "" && !isAbsolute && !path.split(/[/\\]/).includes("..");
  const document = isInside ? readDocument(root, path) : null;

  return document === null || "findings" in document ? ownSpec : { path, bytes: document.bytes };
}

/**
 * Refuses if the specification differs from the one that the other tool's run was locked to, unless
 * a person accepts it. P1
 */
function checkLockedSpec(
  { options, flags }: PrepareInput["input"],
  spec: DocumentBytes,
): readonly string[] {
  const lockedHash = options?.["spec_hash"];
  if (lockedHash === undefined) return [];
  const currentHash = hashSpec(spec.bytes);
  const mismatch = describeMismatch(spec.path, lockedHash, currentHash);
  if (mismatch === null) return [];
  if (flags?.has("accept-spec-change") === true) {
    return [describeAccepted(spec.path, lockedHash, currentHash)];
  }

  return refuse("spec_hash_mismatch", {
    message: mismatch,
    remediation: [
      "autopilot resume --accept-spec-change goes on with it as it is now",
      `put ${spec.path} back as it was`,
    ],
    data: { path: spec.path, recorded: lockedHash, found: currentHash },
  });
}

const ownConfigHint = "Say it in your own config: limits in ~/.config/autopilot/config.yaml.";

function buildGoal(
  path: string,
  phases: readonly RoadmapPhase[],
  ids: readonly string[],
  expression: string,
): string {
  const [firstId = ""] = ids;
  if (ids.length === 1) {
    const phase = phases.find(({ id }) => id === firstId);
    return `Phase ${firstId} of ${path}: ${phase?.name ?? firstId}`;
  }

  if (expression === "all") return `The ${ids.length} phases of ${path} that are not completed`;
  const idsText =
    ids.length > idsShownMax ? `${ids.slice(0, idsShownMax).join(", ")} …` : ids.join(", ");
  return `${ids.length} phases of ${path}: ${idsText}`;
}

function configNumbers(config: PlanningConfig["circuit_breaker_config"]): Record<string, number> {
  const numbers: Record<string, number> = {};
  for (const [name, value] of Object.entries(config ?? {})) {
    if (typeof value === "number") numbers[name] = value;
  }

  return numbers;
}

/** The project's own commands, in the order in which they should run. */
function projectCommands({ project }: PlanningConfig): readonly string[] {
  const { compile, lint, test, build } = project?.commands ?? {};
  const commands = [compile, lint, test, build].map((command) => command?.trim() ?? "");
  return commands.filter((command) => command !== "");
}

/** Warnings about settings that would leave out a check. */
function ignoredSettings({ workflow }: PlanningConfig): readonly string[] {
  const names = ["plan_check", "verifier"] as const;
  const ignoredNames = names.filter((name) => workflow?.[name] === false);
  return ignoredNames.map(
    (name) =>
      `workflow.${name}: false in ${planningConfigPath} is not followed: no phase is completed without it.`,
  );
}

/**
 * The warnings about the requested phases and the roadmap as a whole; the others are only counted.
 */
function selectWarnings(
  findings: readonly Finding[],
  requested: ReadonlySet<string>,
): readonly string[] {
  const isRelevant = (finding: Finding): boolean => {
    const isAboutRoadmap = finding.path === "" || finding.rule === "phase_renamed";
    return isAboutRoadmap || requested.has(findPhaseOfFinding(finding) ?? "");
  };

  const shownFindings = findings.filter(isRelevant).slice(0, warningsShownMax);
  const hiddenCount = findings.length - shownFindings.length;
  const warnings = shownFindings.map(findingText);
  if (hiddenCount === 0) return warnings;

  const remarks = hiddenCount === 1 ? "remark" : "remarks";
  return [...warnings, `${hiddenCount} more ${remarks} that stop nothing: autopilot roadmap list`];
}

// roadmap-prepare: what a run of a roadmap is drafted with, read from its documents. Nothing is written.
//
// Invariants:
//   Q1, Q4, Q5. Which phases, and whether anything forbids them: roadmap-choose.ts.
//   Q2. A run is locked to one specification; another one is for a person to accept.
//   Q3. What travels with the project tightens limits and never loosens them.

import type { PlanningConfig, RoadmapPhase } from "../../contracts/roadmap.ts";
import { planningConfigPath } from "../../flows/documents/planning-config.ts";
import { specHash, specMismatch } from "../../flows/documents/spec.ts";
import { findingText, type Finding } from "../../kit/finding.ts";
import { limitsNotRaised } from "../config-loosened.ts";
import { refuse } from "../reply.ts";
import { type Kept, phaseOfFinding } from "../roadmap-documents.ts";
import { choosePhases } from "../roadmap-choose.ts";
import { roadmapHere } from "../roadmap-problems.ts";
import { settingsOf } from "../settings.ts";
import type { Prepared, PrepareOrder } from "./face.ts";
import { acceptedWords } from "./roadmap-take-up.ts";

const warningsShownMax = 8;

export async function prepare({ place, home, input }: PrepareOrder): Promise<Prepared> {
  const here = roadmapHere(home);
  const { read, completed } = here;
  const { path, phases, config, specPath } = read;
  const word = input.options?.["complete"] === "true" ? "all" : (input.options?.["phases"] ?? "next");
  const { requested, wanted, findings } = await choosePhases(home.root, here, word);
  const [limits, raised] = limitsNotRaised(numbersOf(config.circuit_breaker_config), settingsOf(place, home).config.limits ?? {}); // Q3
  const spec = read.kept.find((one) => one.path === (specPath ?? path)) ?? { path, bytes: Buffer.alloc(0) };
  const relocked = lockedElsewhere(input, spec);
  return {
    goal: goalOf(path, phases, wanted, word),
    facts: { roadmap_path: path, spec_path: spec.path, spec_hash: specHash(spec.bytes) },
    options: {
      phases: word,
      ...(config.workflow?.research === undefined ? {} : { research: config.workflow.research }),
    },
    documents: read.kept.map((one) => ({ path: one.path, text: one.bytes.toString("utf8") })),
    limits,
    checks: commandsOf(config),
    warnings: [
      ...relocked,
      ...raised.map((name) => `circuit_breaker_config.${name} in ${planningConfigPath} is ignored: it would raise a cap. ${sayItYourself}`),
      ...unfollowed(config),
      ...shownWarnings(findings, requested),
    ],
  };
}

/** A run of another tool's was locked to a specification: where it is another one now, that is for a person to accept. Q2 */
function lockedElsewhere({ options, flags }: PrepareOrder["input"], spec: Kept): readonly string[] {
  const locked = options?.["spec_hash"];
  if (locked === undefined) return [];
  const found = specHash(spec.bytes);
  const mismatch = specMismatch(spec.path, locked, found);
  if (mismatch === null) return [];
  if (flags?.has("accept-spec-change") === true) return [acceptedWords(spec.path, locked, found)];
  return refuse("spec_hash_mismatch", {
    message: mismatch,
    remediation: ["autopilot resume --accept-spec-change goes on with it as it is now", `put ${spec.path} back as it was`],
    data: { path: spec.path, recorded: locked, found },
  });
}

const sayItYourself = "Say it in your own config: limits in ~/.config/autopilot/config.yaml.";

function goalOf(path: string, phases: readonly RoadmapPhase[], ids: readonly string[], word: string): string {
  const [first = ""] = ids;
  if (ids.length === 1) return `Phase ${first} of ${path}: ${phases.find(({ id }) => id === first)?.name ?? first}`;
  if (word === "all") return `The ${ids.length} phases of ${path} that are not completed`;
  const shown = ids.length > 12 ? `${ids.slice(0, 12).join(", ")} …` : ids.join(", ");
  return `${ids.length} phases of ${path}: ${shown}`;
}

const numbersOf = (config: PlanningConfig["circuit_breaker_config"]): Record<string, number> =>
  Object.fromEntries(Object.entries(config ?? {}).flatMap(([name, value]) => (typeof value === "number" ? [[name, value]] : [])));

/** The project's own commands, in the order in which they are best run. */
function commandsOf({ project }: PlanningConfig): readonly string[] {
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
  const shown = about.slice(0, warningsShownMax);
  const left = findings.length - shown.length;
  return [
    ...shown.map(findingText),
    ...(left > 0 ? [`${left} more ${left === 1 ? "remark" : "remarks"} that stop nothing: autopilot roadmap list`] : []),
  ];
}

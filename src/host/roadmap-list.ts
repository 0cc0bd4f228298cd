// roadmap-list: shows what a roadmap says, in the order in which it would be walked, and everything that is wrong with it. Nothing runs.

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "../contracts/answer.ts";
import type { RoadmapPhase } from "../contracts/roadmap.ts";
import { documentText, documentTextBytesMax } from "../flows/documents/document-text.ts";
import { phaseIdOf } from "../flows/documents/phase-id.ts";
import { lintPlan } from "../flows/documents/plan-lint.ts";
import { readPlan } from "../flows/documents/plan.ts";
import { planningConfigPath, readPlanningConfig } from "../flows/documents/planning-config.ts";
import { readRoadmap } from "../flows/documents/roadmap.ts";
import { codeOf } from "../journal/failure.ts";
import { findingText, type Finding } from "../kit/finding.ts";
import { findHome } from "./home.ts";
import type { Place } from "./place.ts";
import { answered, refuse, reply } from "./reply.ts";

/** Where a roadmap lies; the first that is there counts. */
export const roadmapPaths = [".planning/ROADMAP.md", "ROADMAP.md"] as const;
const phasesFolder = ".planning/phases";

export function roadmapList(place: Place): Promise<Answer> {
  return answered(() => {
    const root = findHome(place.cwd)?.root ?? place.cwd;
    const path = roadmapPaths.find((one) => readDocument(root, one) !== null);
    if (path === undefined)
      return refuse("missing_docs", {
        message: `There is no roadmap here: looked for ${roadmapPaths.join(" and ")} in ${root}.`,
        remediation: ["write .planning/ROADMAP.md: - [ ] **Phase 1: Name**, and a section ### Phase 1: Name with **Goal**: …"],
      });
    const read = readDocument(root, path) ?? { findings: [] };
    const { phases, findings } = "findings" in read ? { phases: [], findings: read.findings } : readRoadmap(path, read.text);
    const plans = plansOf(root, phases);
    const problems = [
      // A phase that has a plan is not refused for its goal.
      ...findings.filter(({ rule, path: where }) => rule !== "stub_goal" || !plans.has(/^phase_(.+)\.goal$/.exec(where)?.[1] ?? "")),
      ...configProblems(root),
      ...[...plans.values()].flat(),
    ];
    return Promise.resolve(told(path, phases, problems));
  });
}

function told(path: string, phases: readonly RoadmapPhase[], problems: readonly Finding[]): Answer {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const counted = [errors === 0 ? "" : numbered(errors, "error"), warnings === 0 ? "" : numbered(warnings, "warning")]
    .filter(Boolean)
    .join(" and ");
  const what = `${numbered(phases.length, "phase")} in ${path}`;
  const page = [
    ...(phases.length === 0 ? [] : [`${what}, in execution order`, ...table(phases)]),
    ...(problems.length === 0
      ? []
      : ["Problems", ...problems.map((problem) => `  ${problem.severity === "error" ? "✗" : "!"} ${findingText(problem)}`)]),
  ];
  const data = { roadmap: path, phases, problems };
  if (errors === 0) return reply("ok", { message: `${what}${counted === "" ? "" : `; ${counted}`}.`, page, data });
  return reply("roadmap_invalid", {
    message: `${what}; ${counted}. Nothing can run until the errors are mended.`,
    remediation: ["mend the lines named above, then autopilot roadmap list"],
    page,
    data,
  });
}

const numbered = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const nameCharactersMax = 60;

function table(phases: readonly RoadmapPhase[]): readonly string[] {
  const rows = phases.map(({ id, name, depends_on, success_criteria, checked, inserted, stub }) => {
    const withCommand = success_criteria.filter(({ command }) => command !== null).length;
    const marks = [inserted ? "inserted" : "", stub ? "stub" : ""].filter(Boolean).join(", ");
    const short = name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1)}…` : name;
    return [
      checked ? "[x]" : "[ ]",
      id,
      `${short}${marks === "" ? "" : ` (${marks})`}`,
      depends_on.length === 0 ? "-" : depends_on.join(", "),
      success_criteria.length === 0 ? "-" : `${withCommand} of ${success_criteria.length}`,
    ];
  });
  const all = [["", "phase", "name", "after", "criteria with a command"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
}

/** What is wrong with the plans that are there, by phase; done phases are history, and their plans with them. */
function plansOf(root: string, phases: readonly RoadmapPhase[]): ReadonlyMap<string, readonly Finding[]> {
  const folders = new Map<string, string>();
  for (const name of namesIn(join(root, phasesFolder))) {
    const id = phaseIdOf(/^[\d.]+(?=-|$)/.exec(name)?.[0] ?? "");
    if (id !== null && (!folders.has(id) || name === id)) folders.set(id, name);
  }
  const plans = new Map<string, readonly Finding[]>();
  for (const { id, checked, requirements } of phases) {
    const folder = folders.get(id);
    const path = `${phasesFolder}/${folder ?? id}/PLAN.md`;
    const read = checked || folder === undefined ? null : readDocument(root, path);
    if (read === null) continue;
    if ("findings" in read) {
      plans.set(id, read.findings);
      continue;
    }
    const { plan, findings } = readPlan(path, read.text);
    plans.set(id, [...findings, ...lintPlan(path, plan, { requirements })]);
  }
  return plans;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return []; // there are no plans yet
  }
}

function configProblems(root: string): readonly Finding[] {
  const read = readDocument(root, planningConfigPath);
  if (read === null) return [];
  if ("findings" in read) return read.findings;
  const config = readPlanningConfig(planningConfigPath, read.text);
  return "findings" in config ? config.findings : [];
}

/** A document of the project as text; null where there is none. A link, a folder or a device is not read but told. */
export function readDocument(root: string, path: string): { readonly text: string } | { readonly findings: readonly Finding[] } | null {
  const notFile = (found: string): { readonly findings: readonly Finding[] } => ({
    findings: [
      {
        file: path,
        line: 1,
        column: 1,
        path: "",
        rule: "not_a_file",
        message: `found ${found}, expected a regular file`,
        severity: "error",
      },
    ],
  });
  let fd: number;
  try {
    fd = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    if (code === "ELOOP") return notFile("a link");
    throw error;
  }
  try {
    if (!fstatSync(fd).isFile()) return notFile("something else");
    const bytes = Buffer.alloc(Math.min(fstatSync(fd).size, documentTextBytesMax + 1));
    let size = 0;
    for (let read = -1; read !== 0 && size < bytes.length; size += read) read = readSync(fd, bytes, size, bytes.length - size, null);
    return documentText(path, bytes.subarray(0, size));
  } finally {
    closeSync(fd);
  }
}

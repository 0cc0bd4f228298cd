// roadmap-list: shows what a roadmap says, in the order in which it would be walked, and everything that is wrong with it. Nothing runs.

import { join } from "node:path";
import type { Answer } from "../contracts/answer.ts";
import type { RoadmapPhase } from "../contracts/roadmap.ts";
import { columned } from "../faces/columned.ts";
import { findingText, type Finding } from "../kit/finding.ts";
import { findHome } from "./home.ts";
import type { Place } from "./place.ts";
import { answered, reply } from "./reply.ts";
import { phaseOfFinding, type RoadmapDocuments } from "./roadmap-documents.ts";
import { roadmapHere } from "./roadmap-problems.ts";

export function roadmapList(place: Place): Promise<Answer> {
  return answered(() => {
    const { read, completed } = roadmapHere(findHome(place.cwd) ?? { root: place.cwd, folder: join(place.cwd, ".autopilot") });
    return Promise.resolve(told(read, problemsOf(read), completed));
  });
}

/** All of it; a phase that has a plan is not blamed for its goal. */
function problemsOf({ findings, plans }: RoadmapDocuments): readonly Finding[] {
  return [
    ...findings.filter((finding) => finding.rule !== "stub_goal" || !plans.has(phaseOfFinding(finding) ?? "")),
    ...[...plans.values()].flatMap((plan) => plan.findings),
  ];
}

function told({ path, phases, specPath }: RoadmapDocuments, problems: readonly Finding[], completed: ReadonlySet<string>): Answer {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const counted = [errors === 0 ? "" : numbered(errors, "error"), warnings === 0 ? "" : numbered(warnings, "warning")]
    .filter(Boolean)
    .join(" and ");
  const what = `${numbered(phases.length, "phase")} in ${path}`;
  const page = [
    ...(phases.length === 0 ? [] : [`${what}, in execution order`, ...table(phases, completed)]),
    ...(problems.length === 0
      ? []
      : ["Problems", ...problems.map((problem) => `  ${problem.severity === "error" ? "✗" : "!"} ${findingText(problem)}`)]),
  ];
  const data = { roadmap: path, spec: specPath, phases, completed: phases.map(({ id }) => id).filter((id) => completed.has(id)), problems };
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

function table(phases: readonly RoadmapPhase[], completed: ReadonlySet<string>): readonly string[] {
  const rows = phases.map(({ id, name, depends_on, success_criteria, checked, inserted, stub }) => {
    const withCommand = success_criteria.filter(({ command }) => command !== null).length;
    // The box is shown as it was read; what runs know better is said beside it.
    const known = completed.has(id) === checked ? "" : checked ? "not completed" : "completed";
    const marks = [inserted ? "inserted" : "", stub ? "stub" : "", known].filter(Boolean).join(", ");
    const short = name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1)}…` : name;
    return [
      checked ? "[x]" : "[ ]",
      id,
      `${short}${marks === "" ? "" : ` (${marks})`}`,
      depends_on.length === 0 ? "-" : depends_on.join(", "),
      success_criteria.length === 0 ? "-" : `${withCommand} of ${success_criteria.length}`,
    ];
  });
  return columned([["", "phase", "name", "after", "criteria with a command"], ...rows]).map((line) => `  ${line}`);
}

// roadmap-choose: which phases of a roadmap a run would run, or why it is refused before anything runs. A run and `roadmap list` ask the
// same function, so that the list fails where the run would be refused.
//
// Invariants:
//   Q1. Everything wrong with roadmap, config, specification and plans is reported at once, with lines, before anything runs.
//   Q2. A phase is begun only where the work of those it depends on is: completed on another branch is not here.
//   Q3. A plan that is in no commit is not passed over, and nothing is begun where git would drop what agents leave.
//   Q4. A phase whose dependencies are neither completed nor asked for is not begun: its preflight could only fail.

import type { RoadmapPhase } from "../../../contracts/roadmap.ts";
import { executionOrder, selectPhases } from "../documents/order.ts";
import { findingText, type Finding } from "../../../kit/finding.ts";
import { transitiveDependencies, type Unlanded, unlandedBelow } from "./unmerged-dependencies.ts";
import { refuseIgnored, refuseUncommitted } from "./git-visibility.ts";
import { refuse } from "../../../project/reply.ts";
import { judged, refuseRoadmap, type RoadmapHere } from "./roadmap-problems.ts";

export type Chosen = {
  readonly requested: ReadonlySet<string>;
  /** Those of them that are not completed. */
  readonly wanted: readonly string[];
  /** Warnings. */
  readonly findings: readonly Finding[];
};

/** `word` is an id, a range, a list, `next` or `all`. */
export function weighed({ read, completed }: RoadmapHere, word: string) {
  const selection = selectPhases(word, read.phases, completed);
  const requested = new Set("ids" in selection ? selection.ids : []);
  return { selection, requested, findings: judged(read, requested, completed) };
}

export async function choosePhases(root: string, here: RoadmapHere, word: string): Promise<Chosen> {
  const { read, completed, known } = here;
  const { selection, requested, findings } = weighed(here, word);
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) refuseRoadmap(read, errors, requested); // Q1
  if ("problem" in selection) return refuseSelection(word, selection.problem);
  const wanted = selection.ids.filter((id) => !completed.has(id));
  if (wanted.length === 0) refuseNothingLeft(read.path, read.phases, word, renamedMessages(findings));
  refuseUnmet(read.phases, wanted, requested, completed); // Q4
  await refuseIgnored(root, wanted); // Q3
  await refuseUncommitted(root, wanted, read.plans); // Q3
  refuseUnlanded(await unlandedBelow({ root, phases: read.phases, wanted, known }), wanted); // Q2
  return { requested, wanted, findings };
}

function refuseSelection(word: string, problem: string): never {
  return refuse("objective_schema_invalid", {
    message: `Which phases? ${JSON.stringify(word)}: ${problem}.`,
    remediation: ["autopilot roadmap list shows the phases there are", "autopilot roadmap next takes the first that is not completed"],
    data: { field: "phases" },
  });
}

function refuseUnmet(
  phases: readonly RoadmapPhase[],
  wanted: readonly string[],
  requested: ReadonlySet<string>,
  completed: ReadonlySet<string>,
): void {
  const unmet = phases.flatMap(({ id, depends_on }) => {
    const open = wanted.includes(id) ? depends_on.filter((dependency) => !requested.has(dependency) && !completed.has(dependency)) : [];
    return open.length === 0 ? [] : [{ phase: id, needs: open }];
  });
  if (unmet.length === 0) return;
  const all = executionOrder(phases, new Set([...wanted, ...transitiveDependencies(phases, wanted)])).filter((id) => !completed.has(id));
  const which = unmet.map(({ phase, needs }) => `phase ${phase} depends on ${needs.join(", ")}`).join("; ");
  refuse("dependencies_unmet", {
    message: `${which[0]?.toUpperCase() ?? ""}${which.slice(1)}, which is neither completed nor asked for. Nothing was started.`,
    remediation: [`autopilot roadmap ${all.join(",")}`, "autopilot roadmap list shows what is completed"],
    data: { unmet },
  });
}

/** A phase whose dependencies are on another branch would be built, and proved, upon nothing. */
function refuseUnlanded(unlanded: readonly Unlanded[], wanted: readonly string[]): void {
  const [first] = unlanded;
  if (first === undefined) return;
  const branches = [...new Set(unlanded.map(({ branch }) => branch))];
  const which = unlanded.map(({ phase, branch }) => `phase ${phase} (on ${branch})`).join(", ");
  refuse("dependencies_unmet", {
    message: `What ${wanted.length === 1 ? `phase ${wanted[0] ?? ""} builds` : "these phases build"} upon is completed, but not on this branch: ${which}. Nothing was started.`,
    remediation: [
      ...branches.map((branch) => `git merge ${branch}`),
      `or, where its work is here under other commits: git branch -D ${branches.join(" ")}`,
    ],
    data: { unlanded },
  });
}

const renamedMessages = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ rule }) => rule === "phase_renamed").map(findingText);

function refuseNothingLeft(path: string, phases: readonly RoadmapPhase[], word: string, warnings: readonly string[]): never {
  const isWhole = word === "next" || word === "all";
  return refuse("roadmap_completed", {
    message: isWhole
      ? `Every one of the ${phases.length} phases of ${path} is completed; nothing is left to do.`
      : `What was asked for (${word}) is completed already; nothing is left to do.`,
    warnings,
    data: { roadmap: path },
  });
}

// flow-detect: finds which flow a project is in and at which step, from an open run, the state file
// or the folders.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { RunView } from "../../core/state.ts";
import { detectStaged } from "../../playbooks/staged/files/staged-detect.ts";
import { findProject, type ProjectPaths, listRuns } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readRun } from "../../project/runs/read-run.ts";
import { catchRefusals, Refusal, respond } from "../../project/respond.ts";

type DetectedStep = {
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  readonly because: string;
};

/** Asks an open run first, then the state file, then the folders. Writes nothing. */
export function detectFlow(context: CommandContext, _input: object): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    const { flow, step, name, because } =
      (paths === null ? null : await detectFromOpenRun(paths)) ??
      (await detectStaged(paths?.root ?? context.cwd));
    const position = describePosition(step, name);

    return respond("ok", {
      message: `Flow ${flow}, ${position}: ${because}.`,
      page: [`${flow}  ${position}`, `  ${because}`, "", "Next", `  → autopilot go --flow ${flow}`],
      data: { flow, step, name, because },
    });
  });
}

function describePosition(step: string, name: string): string {
  if (step === "unread") return "its steps are not read yet";
  return step === "done" ? "all steps are done" : `step ${step} ${name}`;
}

/**
 * The step of the newest open run here. The files of its finished steps may be only on its branch,
 * so the folders can't tell.
 */
async function detectFromOpenRun(paths: ProjectPaths): Promise<DetectedStep | null> {
  for (const run of listRuns(paths).toReversed()) {
    const view = await readView(paths, run);
    if (view !== null && (view.status === "running" || view.status === "paused")) {
      return describeRun(run, view);
    }
  }

  return null;
}

function describeRun(run: string, { drafted: { flow }, phases, status }: RunView): DetectedStep {
  const mainPhases = phases.filter(({ group }) => group === "phases");
  const currentPhase =
    mainPhases.find((phase) => phase.status === "open" || phase.status === "failed") ??
    mainPhases.find((phase) => phase.status === "waiting" || phase.status === "again");

  const lastStep = mainPhases.length === 0 ? "unread" : "done"; // a flow that takes its phases from documents has none at first
  return {
    flow: flow.flow,
    step: currentPhase?.id ?? lastStep,
    name: currentPhase?.name ?? "",
    because: `${run} is ${status} there`,
  };
}

async function readView(paths: ProjectPaths, run: string): Promise<RunView | null> {
  try {
    return (await readRun(paths, run)).view;
  } catch (error) {
    if (error instanceof Refusal) return null; // a run that cannot be read says nothing
    throw error;
  }
}

// start-lever: reads which lever `calibrate start` is to measure: the one change between the runs
// before and the runs after.

import { resolve } from "node:path";
import { parseTypedLever } from "../../calibration/bench/typed-lever.ts";
import type { CyclePlan } from "../../calibration/cycle/plan.ts";
import type { CommandContext } from "../../project/command-context.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { pathForLog, refuseInput, type StartInput } from "./start-flags.ts";

type TypedLever = NonNullable<ReturnType<typeof parseTypedLever>>;
type LeverPlan = CyclePlan["lever"];

/**
 * A lever is typed by its id (`prompt:FLOW/STEP`) with the value to try in `--to`, or is any change
 * that a patch, commit or command makes.
 */
export function readLever(
  context: CommandContext,
  paths: ProjectPaths,
  input: StartInput,
): { readonly id: string; readonly plan: LeverPlan } {
  const id = (input.lever ?? "").trim();
  if (id === "") {
    return refuseInput(
      "A cycle needs a lever: what is changed between the runs before and the runs after.",
      "--lever ID with --patch FILE, --commit SHA or --apply CMD",
    );
  }

  const toLoggedPath = (path: string): string => pathForLog(paths, resolve(context.cwd, path));
  const typed = parseTypedLever(id);
  const hasSource = [input.patch, input.commit, input.apply].some((flag) => flag !== undefined);

  const plan =
    typed !== null && !hasSource
      ? readTypedLever(id, typed, input, toLoggedPath)
      : readChange(id, input, toLoggedPath);
  return { id, plan };
}

function readTypedLever(
  id: string,
  { kind, subject }: TypedLever,
  { agent, to }: StartInput,
  toLoggedPath: (path: string) => string,
): LeverPlan {
  if ((kind === "agent" || kind === "model") && agent !== undefined) {
    return refuseInput(
      `--agent would be in force on both sides, so the lever ${id} could show nothing.`,
      "leave out --agent",
    );
  }

  if (to === undefined) {
    return refuseInput(
      `The lever ${id} needs the value to try.`,
      kind === "prompt" ? "--to FILE: the new prompt" : "--to VALUE",
    );
  }

  return { kind, source: subject, value: kind === "prompt" ? toLoggedPath(to) : to };
}

/** The change that a patch, a commit or a command makes; exactly one of them must be given. */
function readChange(
  id: string,
  { patch, commit, apply }: StartInput,
  toLoggedPath: (path: string) => string,
): LeverPlan {
  const levers: LeverPlan[] = [];
  if (patch !== undefined) levers.push({ kind: "patch", source: toLoggedPath(patch) });
  if (commit !== undefined) levers.push({ kind: "commit", source: commit });
  if (apply !== undefined) levers.push({ kind: "command", source: apply });

  const [lever] = levers;
  if (lever === undefined || levers.length > 1) {
    return refuseInput(
      lever === undefined
        ? `Nothing says what the lever ${id} changes.`
        : "More than one lever was given; only one can be measured at a time.",
      "one of --patch FILE, --commit SHA, --apply CMD; or --lever prompt:FLOW/STEP, limit:NAME, agent:ROLE, model:ROLE with --to",
    );
  }

  return lever;
}

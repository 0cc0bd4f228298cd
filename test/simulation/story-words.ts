// story-words: the words in which the stories of whole runs are written.

import type { RunView } from "../../src/core/state.ts";
import type { RunRequest } from "../../src/ports/request-queue.ts";
import type { Place, Plan, Script, TaskPlan } from "./story.ts";

export type Asked = Omit<RunRequest, "actor">;
type Phase = { readonly id: string; readonly after: readonly string[]; readonly skip?: string };

export const task = (
  id: string,
  files: readonly string[],
  after: readonly string[] = [],
): TaskPlan => ({ id, files, after });
export const resume = (run: RunView): Asked =>
  ({ event: "run_resumed", request: `resume:${run.seq}`, now: true }) as Asked;
export const statusOf = (run: RunView, id: string): string | undefined =>
  run.phases.find((phase) => phase.id === id)?.status;
export const phaseOf = (run: RunView, id: string): RunView["phases"][number] | undefined =>
  run.phases.find((phase) => phase.id === id);
export const ended = (run: RunView, path: string, step: string): number =>
  run.cursors[path]?.ended[step] ?? 0;

/** A script in which only the places named go otherwise than well. */
export const script =
  (at: (place: Place) => Plan | undefined, phases: readonly Phase[] = []): Script =>
  (place) =>
    "read" in place ? (phases as unknown as Plan) : (at(place) ?? {});

export const answerTo = (
  run: RunView,
  choose: (step: string, block: string, isHouse: boolean) => string,
  issues?: string[],
): Asked[] => {
  const [block] = Object.values(run.blocks);
  if (block === undefined) return [];
  const answer = choose(block.step, block.block, block.house);

  return [
    {
      event: "block_answered",
      request: `answer:${block.block}`,
      block: block.block,
      answer,
      ...(issues === undefined ? {} : { issues }),
    } as Asked,
    resume(run),
  ];
};

import type { Answer } from "../contracts/answer.ts";
import { statusOf, statusPage } from "../faces/status.ts";
import { findHome, namedRun } from "./home.ts";
import type { Place } from "./place.ts";
import { readRun } from "./read-run.ts";
import { answered, reply } from "./reply.ts";

/** Where a run stands. Reads only; nothing is executed to find out. */
export function status(place: Place, input: { readonly run?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const home = findHome(place.cwd);
    const run = namedRun(home, input.run);
    if (home === null || run === null) return idle();
    const { view, owner } = await readRun(home, run);
    const { run_id: _id, state: _state, reason_code, ...data } = statusOf(view, owner);
    return reply(reason_code, {
      result: "PASS",
      run_id: run,
      state: view.status,
      message: `${run} is ${view.status}.`,
      page: statusPage(view, owner),
      data: { ...data, pid: owner?.pid ?? null },
    });
  });
}

/** No run at all: the same fields, with nothing in them, so that a program need not ask first. */
function idle(): Answer {
  const next = ['autopilot "what you want done"'];
  const data = {
    objective: null,
    budget: { limits: {}, counters: {}, ratios: {}, warnings: [] },
    progress: { completed_steps: [], pending_steps: [], blockers: [] },
    isolation: null,
    verdict: null,
    next_actions: next,
  };
  return reply("run_idle", { state: "idle", message: "There is no run here.", remediation: next, data });
}

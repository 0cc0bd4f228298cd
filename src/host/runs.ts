import type { Answer } from "../contracts/answer.ts";
import { runsPage } from "../faces/runs-page.ts";
import { findHome } from "./home.ts";
import { knownRuns } from "./known-runs.ts";
import type { Place } from "./place.ts";
import { answered, reply } from "./reply.ts";
import { systemClock } from "./system-clock.ts";

/** Every run here: state, goal, age, cost, disk. Reads only. */
export function runs(place: Place, input: { readonly all: boolean }): Promise<Answer> {
  return answered(async () => {
    const home = findHome(place.cwd);
    const rows = home === null ? [] : await knownRuns(place, home);
    return reply("ok", {
      message: rows.length === 0 ? "No runs here." : `${rows.length} runs.`,
      page: runsPage(rows, systemClock.now(), input.all),
      data: { runs: rows },
    });
  });
}

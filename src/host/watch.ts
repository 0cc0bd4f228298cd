import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../contracts/answer.ts";
import { ownerOf } from "../journal/owner.ts";
import { type Read, readJournal } from "../journal/read.ts";
import { runFolder } from "./home.ts";
import { narrate } from "./narrate.ts";
import type { Place } from "./place.ts";
import { readRun, refuseJournal } from "./read-run.ts";
import { answered, reply } from "./reply.ts";
import { standingOf } from "./standing.ts";

const lookEveryMs = 250;

/** Shows a run as it goes on, until nobody works on it or the watcher leaves. Reads only, and each line once. */
export function watch(place: Place, input: { readonly run?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const { home, run } = await standingOf(place, input.run);
    const folder = runFolder(home, run);
    const onEntry = narrate(place);
    let from: "start" | Read["end"] = "start";
    for (;;) {
      const owner = ownerOf(folder);
      try {
        from = readJournal(folder, { from, onEntry }).end;
      } catch (error) {
        refuseJournal(error, run);
      }
      if (owner === null || place.interrupted.aborted) {
        const { view } = await readRun(home, run);
        return reply("ok", {
          run_id: run,
          state: view.status,
          message: `${run} is ${view.status}${owner === null ? ", and nobody works on it" : ""}.`,
        });
      }
      const live = join(folder, "live");
      if (existsSync(live)) place.live(readFileSync(live, "utf8"));
      await sleep(lookEveryMs);
    }
  });
}

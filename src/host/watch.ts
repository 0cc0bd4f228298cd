import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../contracts/answer.ts";
import { milestone } from "../faces/progress.ts";
import { eachEntry } from "./entries.ts";
import { runFolder } from "./home.ts";
import type { Place } from "./place.ts";
import { readRun } from "./read-run.ts";
import { answered, reply } from "./reply.ts";
import { standingOf } from "./standing.ts";

const lookEveryMs = 300;

/** Shows a run as it goes on, until it rests or the watcher leaves. Reads only. */
export function watch(place: Place, input: { readonly run?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const { home, run } = await standingOf(place, input.run);
    let shown = -1;
    for (;;) {
      await eachEntry(home, run, (entry) => {
        if (entry.seq <= shown) return;
        shown = entry.seq;
        const line = milestone(entry);
        if (line !== null) place.show(line);
      });
      const { view, owner } = await readRun(home, run);
      if (owner === null || place.interrupted.aborted) {
        return reply("ok", { run_id: run, state: view.status, message: `${run} is ${view.status}${owner === null ? ", and nobody works on it" : ""}.` });
      }
      const live = join(runFolder(home, run), "live");
      if (existsSync(live)) place.live(readFileSync(live, "utf8"));
      await sleep(lookEveryMs);
    }
  });
}

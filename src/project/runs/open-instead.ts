import { isOpen } from "../../core/reading.ts";
import { type Home, listRuns } from "./home.ts";
import type { Place } from "../place.ts";
import { type readRun, readRunOrNull } from "./read-run.ts";
import { isOurs } from "./run-binding.ts";

type OpenRun = { readonly home: Home; readonly run: string } & Awaited<ReturnType<typeof readRun>>;

/** The newest of one's own runs that is open, besides the one named: neither a draft nor somebody else's run hides it from a bare command. */
export async function openInstead(place: Pick<Place, "env">, home: Home, besides: string): Promise<OpenRun | null> {
  for (const run of listRuns(home).toReversed()) {
    if (run === besides || !isOurs(place, home, run)) continue;
    const found = await readRunOrNull(home, run);
    if (found !== null && isOpen(found.view)) return { home, run, ...found };
  }
  return null;
}

import type { Answer } from "../contracts/answer.ts";
import { isOpen } from "../core/reading.ts";
import { drawEnded } from "../playbooks/registry/draw-ended.ts";
import type { GoFlags } from "../runner/go-draft.ts";
import { describedBy } from "../playbooks/contract/go-input.ts";
import { findHome, namedRun } from "../project/runs/home.ts";
import { openInstead } from "../project/runs/open-instead.ts";
import type { Place } from "../project/place.ts";
import { readRun } from "../project/runs/read-run.ts";
import { answered } from "../project/reply.ts";
import { isOurs } from "../project/runs/run-binding.ts";
import { mustBe, standingOf, type Standing } from "../project/runs/standing.ts";
import { takeUp } from "../runner/take-up.ts";

/** Takes a paused run up again, or one whose owner died, after validating its gates anew; else what another tool left of one. */
export function resume(place: Place, input: GoFlags): Promise<Answer> {
  return answered(async () => {
    const standing = await openHere(place, input.run);
    if (standing === null) {
      const imported = await importHere(place, input);
      if (imported !== null) return imported;
    }
    const known = standing ?? (await standingOf(place, input.run));
    if (input.run === undefined) await drawEnded(place, known);
    mustBe(known, "resume", "paused", "running");
    const described = describedBy(input);
    return takeUp(
      place,
      known,
      { ...input, isExplicit: true },
      described.length === 0 ? [] : [`${known.run} goes on as it was begun; not taken: ${described.join(", ")}.`],
    );
  });
}

/** The run that is meant, where it can be resumed. */
async function openHere(place: Place, named: string | undefined): Promise<Standing | null> {
  const home = findHome(place.cwd);
  const run = namedRun(home, named);
  if (home === null || run === null) return null;
  const instead = named !== undefined || isOurs(place, home, run) ? null : await openInstead(place, home, run);
  const standing = instead ?? { home, run, ...(await readRun(home, run)) };
  if (isOpen(standing.view)) return standing;
  return named === undefined ? openInstead(place, home, run) : null;
}

/** A run of another tool's is taken up as a run of ours. Null where there is none, or a run of ours was named. */
async function importHere(place: Place, input: GoFlags): Promise<Answer | null> {
  const home = findHome(place.cwd);
  if (home === null || input.run !== undefined) return null;
  const { lyingHere, theOne } = await import("./lying-here.ts"); // a run that is only taken up again needs none of this
  const one = theOne((await lyingHere(place, home.root)).filter(({ isBegun }) => isBegun));
  return one === null ? null : (await import("./go-found.ts")).goLying(place, one, input);
}

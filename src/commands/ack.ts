import type { Answer } from "../contracts/answer.ts";
import { whyStale } from "../runner/draft/draft-in-force.ts";
import { findHome, listRuns } from "../project/runs/home.ts";
import { withRun } from "../runner/open-run.ts";
import type { Place } from "../project/place.ts";
import { previewOf } from "../runner/draft/preview.ts";
import { readRunOrNull } from "../project/runs/read-run.ts";
import { answered, refuse, reply, screenRows } from "../project/reply.ts";
import { whyForeign } from "../project/runs/run-binding.ts";
import { mustBe, type Standing, standingOf } from "../project/runs/standing.ts";

/** Acknowledges the preview of a draft, by its id. What has changed since must be looked at again. */
export function ack(place: Place, input: { readonly id: string; readonly run?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const standing = (await draftCalled(place, input)) ?? (await standingOf(place, input.run));
    mustBe(standing, "ack", "draft");
    const { run, view, home } = standing;
    await refuseForeignDraft(place, standing);
    const recorded = view.drafted.ack;
    const isKnown = isCalled(recorded, input.id);
    const stale = isKnown ? await whyStale(place, home, view) : "That is not the id of the preview in force.";
    if (stale !== null) {
      refuse("ack_stale", {
        run_id: run,
        state: view.status,
        message: stale,
        remediation: ["autopilot start … shows the new preview", ...(isKnown ? [] : [`the draft here is ${recorded.slice(0, 12)}`])],
      });
    }
    await withRun(place, home, run, (hand) =>
      hand.append({ event: "preview_acknowledged", ack: recorded, actor: `operator:${place.user}`, reason_code: "ack_recorded" }),
    );
    return reply("ack_recorded", {
      run_id: run,
      state: "draft",
      message: `Acknowledged. ${run} may start.`,
      remediation: ["autopilot go"],
      data: { ack: recorded },
    });
  });
}

const isCalled = (ack: string, id: string): boolean => id === ack || (id.length >= 8 && ack.startsWith(id));

/** The draft with this preview, wherever the bare commands point now; null where a run is named or none is found. */
async function draftCalled(
  place: Place,
  { id, run }: { readonly id: string; readonly run?: string | undefined },
): Promise<Standing | null> {
  const home = findHome(place.cwd);
  if (home === null || run !== undefined) return null;
  for (const one of listRuns(home).toReversed()) {
    const found = await readRunOrNull(home, one);
    if (found?.view.status === "draft" && isCalled(found.view.drafted.ack, id)) return { home, run: one, ...found };
  }
  return null;
}

/** Somebody else's draft is shown instead of acknowledged: whoever typed its id may never have seen what it does. */
async function refuseForeignDraft(place: Place, { home, run, view }: Standing): Promise<void> {
  const why = whyForeign(place, home, run);
  if (why === null) return;
  const { page, data } = await previewOf(place, home, view);
  refuse("run_foreign", {
    run_id: run,
    state: view.status,
    message: `${run} isn't yours: ${why}. Nothing of it was acknowledged.`,
    page,
    rowsMax: screenRows,
    remediation: [`autopilot adopt ${run} shows it and asks`],
    data: { preview: data },
  });
}

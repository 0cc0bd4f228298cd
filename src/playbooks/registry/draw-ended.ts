import { runFolder } from "../../project/runs/home.ts";
import type { Place } from "../../project/place.ts";
import { isOurs } from "../../project/runs/run-binding.ts";
import type { Standing } from "../../project/runs/standing.ts";

/** Draws the files of a run that is over: its last process may have been cut off after the journal's last line and before its files. */
export async function drawEnded(place: Place, { home, run, view, owner }: Standing): Promise<void> {
  if (owner !== null || (view.status !== "completed" && view.status !== "stopped") || view.drafted.flow.face === undefined) return;
  if (!isOurs(place, home, run)) return;
  const { drawFace } = await import("./open-face.ts"); // whoever resumes an open run needs none of this
  await drawFace({ place, home, folder: runFolder(home, run), view: () => view });
}

// earlier-state: restores the state of another tool's run that this run continues, as recorded with
// the draft.

import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import type { RunView } from "../../../core/state.ts";
import { parseRoadmapState } from "../views/parse-roadmap-state.ts";

type DraftedRun = Pick<RunView["drafted"], "resumes" | "documents">;

/** Null if this run does not continue one. */
export function readEarlierState(
  { resumes, documents = [] }: DraftedRun,
  readBlob: (hash: string) => Buffer | null,
): RoadmapState | null {
  const hash =
    resumes === undefined ? undefined : documents.find(({ path }) => path === resumes.path)?.hash;
  const bytes = hash === undefined ? null : readBlob(hash);
  return bytes === null ? null : parseRoadmapState(bytes.toString("utf8")).state;
}

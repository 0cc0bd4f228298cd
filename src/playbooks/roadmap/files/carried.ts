// carried: restores the state of another tool's run that this run continues, as recorded with the draft.

import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import type { RunView } from "../../../core/state.ts";
import { readRoadmapState } from "../views/roadmap-state-read.ts";

type Drafted = Pick<RunView["drafted"], "resumes" | "documents">;

/** The state of another tool's run that this one continues, as recorded with the draft; null if there is none. */
export function carriedBy({ resumes, documents = [] }: Drafted, readBlob: (hash: string) => Buffer | null): RoadmapState | null {
  const hash = resumes === undefined ? undefined : documents.find(({ path }) => path === resumes.path)?.hash;
  const bytes = hash === undefined ? null : readBlob(hash);
  return bytes === null ? null : readRoadmapState(bytes.toString("utf8")).state;
}

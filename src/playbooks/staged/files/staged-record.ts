// staged-record: the staged state file as it was when the run was drafted.

import { stagedStatePath } from "../../../contracts/staged-state.ts";
import type { RunView } from "../../../core/state.ts";
import { readStagedState, type StagedRead } from "../views/staged-state-read.ts";

/** The state file that was there when the run was drafted, as it was then; null if there was none. */
export function draftedText(run: RunView, readBlob: (hash: string) => Buffer | null): string | null {
  const document = run.drafted.documents?.find(({ path }) => path === stagedStatePath);
  return document === undefined ? null : (readBlob(document.hash)?.toString("utf8") ?? null);
}

export function draftedState(run: RunView, readBlob: (hash: string) => Buffer | null): StagedRead["state"] | null {
  const text = draftedText(run, readBlob);
  return text === null ? null : readStagedState(text).state;
}

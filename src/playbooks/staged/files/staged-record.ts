// staged-record: reads the staged state file as it was when the run was drafted.

import { stagedStatePath } from "../../../contracts/staged-state.ts";
import type { RunView } from "../../../core/state.ts";
import { parseStagedState, type ParsedStagedState } from "../views/parse-staged-state.ts";

/** Null if there was no state file then. */
export function readDraftedText(
  run: RunView,
  readBlob: (hash: string) => Buffer | null,
): string | null {
  const document = run.drafted.documents?.find(({ path }) => path === stagedStatePath);
  return document === undefined ? null : (readBlob(document.hash)?.toString("utf8") ?? null);
}

/** The same, parsed. */
export function readDraftedState(
  run: RunView,
  readBlob: (hash: string) => Buffer | null,
): ParsedStagedState["state"] | null {
  const text = readDraftedText(run, readBlob);
  return text === null ? null : parseStagedState(text).state;
}

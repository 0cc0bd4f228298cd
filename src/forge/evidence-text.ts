// evidence-text: cuts logs, comments and names of a code host to the lengths that evidence may
// have. Pure.

import {
  evidenceAuthorCharsMax,
  evidenceCharsMax,
  evidencePathCharsMax,
} from "../contracts/forge/pull-request.ts";

/** `2026-01-01T00:00:00.0000000Z `, at the start of each line of a GitHub log. */
const timestampPattern = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z /gm;
/** A terminal's control sequence, such as the one that switches to red. */
const escapePattern = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/** The end of a log, where a failure is reported, without colours and timestamps. */
export function excerptLogEnd(log: string): string {
  const text = log.replaceAll(escapePattern, "").replaceAll(timestampPattern, "").trim();
  return text.slice(-evidenceCharsMax);
}

/** The beginning of a comment or a description, where it says what it is about. */
export const cutComment = (text: string): string => text.slice(0, evidenceCharsMax);

/** The name of a check or a person; `fallback` if it is empty. */
export const cutAuthor = (name: string, fallback: string): string =>
  name.slice(0, evidenceAuthorCharsMax) || fallback;

/** The place of a comment on a line, `src/a.ts:12`; none without a path. */
export function placeField(path: string, line: number | null): { readonly at?: string } {
  if (path === "") return {};

  const shortPath = path.slice(0, evidencePathCharsMax);
  return { at: line === null ? shortPath : `${shortPath}:${line}` };
}

// shape: lists the shapes that represent states on a page, so that colour is never the only sign;
// each has a word beside it.

export const shapes = [
  "run",
  "you",
  "ok",
  "gap",
  "unproved",
  "bad",
  "parked",
  "paused",
  "waits",
  "again",
  "skipped",
  "stopped",
  "claim",
] as const;
export type Shape = (typeof shapes)[number];

/** A state as a page shows it: its icon and its word. */
export type ShownStatus = { readonly shape: Shape; readonly word: string };

export const verdictShape: Readonly<Record<string, Shape>> = {
  verified: "ok",
  verified_with_gaps: "gap",
  unverified: "unproved",
  refuted: "bad",
};

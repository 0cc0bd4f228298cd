// stories: scripts of the embedded agent and the words that begin a run with them, as the tests of
// this folder tell them.

import { scripted } from "../support/autopilot.ts";

export const done = { say: "finished <promise>DONE</promise>" };
export const writes = (path: string, text = "made\n"): object => ({ write: { path, text } });

/** Makes out.txt and promises. */
export const makesOut = [{ do: [writes("out.txt"), done] }];
/**
 * One turn that only begins, one that ends it: with --max-cycles 1 the run rests in between,
 * running and with no owner.
 */
export const inTwoTurns = [
  { do: [writes("half.txt"), { say: "half way" }] },
  { do: [writes("out.txt"), done] },
];

export const criterion = ["--done-criteria", "out.txt is there :: test -f out.txt"];

/** The words of an objective that the embedded agent plays. */
export const objective = (
  folder: string,
  turns: readonly object[] = makesOut,
): readonly string[] => [
  "make out.txt",
  ...criterion,
  "--isolation",
  "clone",
  ...scripted(folder, turns),
  "--json",
];

// estimate: command-line spec of `estimate`, which estimates the cost of roadmap phases.

import { defined } from "../../defined.ts";
import type { Command } from "../../spec.ts";

export const estimate: Command = {
  name: "estimate",
  summary: "What phases of the roadmap will probably use: tokens, time, money. Nothing runs.",
  usage: "[PHASES]",
  details: [
    "From what earlier phases here used, by kind; while fewer than three are known, from constants that `limits` in your config tunes.",
    "A phase that comes near its cap is warned of.",
  ],
  arguments: [
    { name: "PHASES", about: "3, 2.1, 3-7, 3,5,8, next or all; without it all that are not completed", many: true, optional: true },
  ],
  flags: [],
  takesRun: false,
  run: async (place, given) =>
    (await import("../../../../commands/roadmap/estimate.ts")).estimate(
      place,
      defined({ phases: given.words.length === 0 ? undefined : given.words.join(",") }),
    ),
};

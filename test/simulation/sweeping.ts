// sweeping: what the sweeps share: which moments to try, who resumes a run, and what must never
// happen twice.

import { expect } from "vitest";
import type { RunRequest } from "../../src/ports/request-queue.ts";
import type { Lived } from "./live.ts";
import { stories } from "./stories.ts";
import type { Story } from "./story.ts";

/** Stories in which a crash changes nothing but the time. */
export const crashable = stories.filter(({ isCrashFree }) => isCrashFree !== true);

const isWhole = process.env["AUTOPILOT_SIMULATION"] === "all";

const longPart = 0.25;

/**
 * Every moment with AUTOPILOT_SIMULATION=all; else at most so many, evenly spread, the first and
 * last among them.
 */
export function momentsOf(
  ticks: number,
  most: number,
  { isLong = false }: Pick<Story, "isLong">,
): number[] {
  const atMost = isLong ? Math.ceil(most * longPart) : most;
  const step = isWhole ? 1 : Math.max(1, (ticks - 1) / (atMost - 1));
  const moments = Array.from(
    { length: Math.floor((ticks - 1) / step) + 1 },
    (_, n) => 1 + Math.round(n * step),
  );

  return [...new Set([...moments, ticks])].filter((tick) => tick >= 1 && tick <= ticks);
}

/**
 * The story's own people, and somebody who resumes what an operator paused or a crash loop held.
 */
export function resumed(story: Story): NonNullable<Story["people"]> {
  return (run, why) => {
    if (why === "operator_paused" || why === "crash_loop") {
      return [
        { event: "run_resumed", request: `again:${run.seq}`, now: true } as Omit<
          RunRequest,
          "actor"
        >,
      ];
    }

    return story.people?.(run, why) ?? null;
  };
}

/** No commit twice, no turn bought again beyond those the cut interrupted, no usage lost. */
export function nothingTwice(lived: Lived, calm: Lived, when: string): void {
  expect(
    new Set(lived.disk.commits.map(({ key }) => key)).size,
    `${when}: a commit was made twice`,
  ).toBe(lived.disk.commits.length);

  const repeated = lived.journal.filter(
    (entry) =>
      entry.event === "attempt_settled" &&
      entry.doubt.kind === "agent" &&
      entry.doubt.stage === "started" &&
      entry.remedy === "repeat",
  ).length;

  expect(lived.disk.turns.length, `${when}: a paid turn was bought again`).toBeLessThanOrEqual(
    calm.disk.turns.length + repeated,
  );

  expect(lived.run.ledger.run.tokens, `${when}: usage was lost`).toBeGreaterThanOrEqual(
    lived.disk.spent,
  );
}

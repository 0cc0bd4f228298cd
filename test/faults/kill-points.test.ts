// The runner is killed before each of its calls that changes the disk, one by one, and what was
// begun is resumed.

import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot } from "../support/autopilot.ts";
import {
  acknowledgedIn,
  expectSame,
  goArgs,
  keptIfWrong,
  newestRun,
  objectiveArgs,
  recover,
  smallRepository,
  type Story,
  storyOf,
} from "./small-run.ts";
import {
  type Call,
  changesOf,
  type Faulted,
  sampled,
  type Thread,
  twoAtATime,
  whyNoStrace,
  withFault,
} from "./under-strace.ts";

/**
 * How many places each thread is killed at: a sample in an everyday run of the suite, every one
 * with AUTOPILOT_FAULTS=all.
 */
const asked = process.env["AUTOPILOT_FAULTS"] ?? "1";
const placesMax = asked === "all" ? Number.POSITIVE_INFINITY : Number(asked);
const timeoutMs = 2 * 3_600_000;

describe.skipIf(whyNoStrace !== "")(`kill -9 before every change of the disk${whyNoStrace}`, () => {
  let undisturbed: Story;
  let calls: readonly Call[];

  beforeAll(async () => {
    const folder = smallRepository();
    const traced = await changesOf(folder, goArgs(folder));
    expect(traced.ended.json).toMatchObject({ result: "PASS", reason_code: "completion_verified" });
    undisturbed = storyOf(folder);
    calls = traced.calls;
    await expectSame(folder, undisturbed, acknowledgedIn(folder));
  });

  test("the places to be killed at are many, on the main thread and on that of the file work", () => {
    const [main, files] = (["main", "files"] as const).map(
      (thread) => calls.filter((call) => call.thread === thread).length,
    );

    process.stdout.write(
      `kill points: ${main} on the main thread, ${files} on that of the file work; at most ${placesMax} of each are taken\n`,
    );

    expect(main).toBeGreaterThan(100);
    expect(files).toBeGreaterThan(50);
  });

  const threads: readonly (readonly [Thread, string])[] = [
    [
      "main",
      "killed before any change that its main thread makes, a run goes on to the same verified end, each attempt committed once, landed once",
    ],
    [
      "files",
      "killed before any change that its file thread makes, a run goes on to the same verified end, each attempt committed once, landed once",
    ],
  ];
  test.each(threads)("%s: %s", { timeout: timeoutMs }, async (thread) => {
    const places = sampled(
      calls.filter((call) => call.thread === thread),
      placesMax,
    );

    let fired = 0;
    await twoAtATime(places, nameOf, async (place) => {
      const folder = await killedAt(place);
      fired++;
      const isVerified = fired % 12 === 0;
      await keptIfWrong(folder, async () => {
        const before = acknowledgedIn(folder);
        await recover(folder);
        await expectSame(folder, undisturbed, before);

        if (isVerified) {
          expect((await autopilot(folder, ["verify", "--json"])).json).toMatchObject({
            result: "PASS",
            chain: { ok: true },
          });
        }
      });
    });

    expect(fired).toBe(places.length);
  });
});

const nameOf = ({ thread, name, ordinal, line }: Call): string =>
  `${thread} ${name} ${ordinal}: ${line.slice(0, 160)}`;

/**
 * A later run may make a few calls fewer (a progress line less, say), so the last places are looked
 * for a little earlier too.
 */
async function killedAt(call: Call): Promise<string> {
  const { ordinal } = call;
  for (const at of [
    ordinal,
    ordinal - 1,
    ordinal - 4,
    ordinal - 16,
    Math.floor(ordinal * 0.8),
  ].filter((n) => n > 0)) {
    const folder = smallRepository();
    const killed = await (call.isJournal
      ? killedAtJournal(folder, call, at)
      : withFault(folder, goArgs(folder), {
          thread: call.thread,
          calls: call.name,
          at,
          does: "signal=KILL",
        }));
    if (killed.fired === 0) continue;
    expect(killed.signal).toBe("SIGKILL");

    return folder;
  }

  throw new Error("the kill did not strike");
}

/** The journal's own writes are counted by its path, which is known once there is a draft. */
async function killedAtJournal(
  folder: string,
  { thread, name }: Call,
  at: number,
): Promise<Faulted> {
  expect((await autopilot(folder, ["start", ...objectiveArgs(folder), "--json"])).code).toBe(0);
  const path = join(newestRun(folder), "journal.jsonl");
  return withFault(folder, ["go", "--yes", "--json"], {
    thread,
    calls: name,
    path,
    at,
    does: "signal=KILL",
  });
}

// The disk says no: at the n-th call of a kind, once or from then on, n growing until a run gets
// through without meeting it.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot } from "../support/autopilot.ts";
import { callsOf, type Family } from "./call-families.ts";
import {
  acknowledgedIn,
  expectKept,
  expectWhole,
  keptIfWrong,
  newestRun,
  objectiveArgs,
  recover,
  said,
  smallRepository,
} from "./small-run.ts";
import { type Fault, type Faulted, twoAtATime, whyNoStrace, withFault } from "./under-strace.ts";
import { sampled } from "../support/sampled.ts";

const isAll = process.env["AUTOPILOT_FAULTS"] === "all";
const timeoutMs = 2 * 3_600_000;
/** Which calls of a kind fail; the series ends at the first that no run reaches. */
const ordinalsOf = (forEver: boolean): readonly number[] =>
  isAll ? Array.from({ length: 200 }, (_, n) => n + 1) : forEver ? [5] : [1];

type Kind = Pick<Fault, "thread"> & {
  readonly family: Family;
  readonly errors: readonly string[];
  readonly onJournal?: true;
};

const refused = ["journal_unwritable", "workspace_unusable"];
/**
 * What may be told of an error. Node hides the system's word where a folder with those above it
 * cannot be made.
 */
const reasonsFor = (error: string, family: Family): readonly string[] =>
  ["EIO", "EMFILE"].includes(error)
    ? refused
    : family === "mkdir"
      ? ["disk_full", "workspace_unusable"]
      : ["disk_full"];

const kinds: readonly Kind[] = [
  { thread: "main", family: "write", errors: ["ENOSPC", "EIO"], onJournal: true },
  { thread: "main", family: "sync", errors: ["EIO"], onJournal: true },
  { thread: "main", family: "open", errors: ["EMFILE"], onJournal: true },
  { thread: "main", family: "pwrite", errors: ["EDQUOT"] },
  { thread: "main", family: "rename", errors: ["EIO"] },
  { thread: "files", family: "mkdir", errors: ["ENOSPC"] },
  { thread: "files", family: "sync", errors: ["EIO"] },
  { thread: "files", family: "rename", errors: ["EDQUOT"] },
];

describe.skipIf(whyNoStrace !== "")(`a disk that refuses${whyNoStrace}`, () => {
  const cases = sampled(
    2,
    kinds.flatMap((kind) =>
      kind.errors.flatMap((error) => [false, true].map((forEver) => ({ ...kind, error, forEver }))),
    ),
  );
  const named = (one: (typeof cases)[number]): string =>
    `${one.error} at ${one.family} of the ${one.thread} thread${one.onJournal ? " on the journal" : ""}, ${one.forEver ? "from then on" : "once"}`;

  test(
    "whichever call the disk refuses, once or for ever, the run says so in a sentence, loses nothing, and is taken up when the disk is well",
    { timeout: timeoutMs },
    async () => {
      let fired = 0;
      await twoAtATime(cases, named, async (one) => {
        let struck = 0;
        for (const at of ordinalsOf(one.forEver)) {
          const isReached = await suffer({
            ...one,
            calls: callsOf(one.family),
            at,
            does: `error=${one.error}`,
          });
          if (!isReached) break;
          struck++;
        }

        expect(struck, "it struck at least once").toBeGreaterThan(0);
        fired += struck;
      });

      process.stdout.write(`disk errors: ${fired} struck\n`);
      expect(fired).toBeGreaterThanOrEqual(cases.length);
    },
  );
});

/** One run with one fault; false if the run got through without meeting it. */
async function suffer(
  fault: Fault & { readonly family: Family; readonly error: string; readonly onJournal?: true },
): Promise<boolean> {
  const folder = smallRepository();
  expect((await autopilot(folder, ["start", ...objectiveArgs(folder), "--json"])).code).toBe(0);
  const path = fault.onJournal === true ? { path: join(newestRun(folder), "journal.jsonl") } : {};
  const reported = await withFault(folder, ["go", "--yes", "--json"], { ...fault, ...path });
  await keptIfWrong(folder, async () => {
    expectMessages(reported, reasonsFor(fault.error, fault.family));
    const before = acknowledgedIn(folder);
    await recover(folder);
    expectKept(before, newestRun(folder));
    await expectWhole(folder);
  });

  return reported.fired > 0;
}

/**
 * Through anyway, where the call did not matter; else a refusal in words. Never a stack, never a
 * bug.
 */
function expectMessages(reported: Faulted, reasons: readonly string[]): void {
  expect(reported.err, "no stack").not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  if (reported.json.reason_code === "completion_verified") return;
  expect(reported.code, said(reported)).toBe(1);
  expect(reasons, said(reported)).toContain(reported.json.reason_code);
  expect(reported.json.message.length).toBeGreaterThan(10);
  expect(reported.json.remediation.length).toBeGreaterThan(0);
}

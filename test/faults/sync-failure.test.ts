// A sync that fails may have lost what it was to keep, and the kernel may hold it for clean: after
// it nothing is believed and nothing is written.

import { join } from "node:path";
import { describe, expect } from "vitest";
import { autopilot } from "../support/autopilot.ts";
import { aFew } from "../support/sampled.ts";
import {
  acknowledgedIn,
  expectKept,
  expectWhole,
  newestRun,
  objectiveArgs,
  recover,
  said,
  smallRepository,
} from "./small-run.ts";
import { callsOf } from "./call-families.ts";
import { whyNoStrace, withFault } from "./under-strace.ts";

describe.skipIf(whyNoStrace !== "")(`a journal whose sync fails${whyNoStrace}`, () => {
  aFew(1).each([2, 6, 14, 22])(
    "after a failed sync (number %i of the journal) the process writes nothing more to the journal and ends; a new one goes on",
    async (at) => {
      const folder = smallRepository();
      expect((await autopilot(folder, ["start", ...objectiveArgs(folder), "--json"])).code).toBe(0);
      const path = join(newestRun(folder), "journal.jsonl");

      const reported = await withFault(folder, ["go", "--yes", "--json"], {
        thread: "main",
        calls: callsOf("sync"),
        also: callsOf("write"),
        does: "error=EIO",
        at,
        path,
      });
      expect(reported.fired).toBe(1);
      expect(reported.code, said(reported)).toBe(1);
      expect(reported.json, said(reported)).toMatchObject({
        result: "FAIL",
        reason_code: "journal_unwritable",
      });

      const calls = reported.log
        .split("\n")
        .filter((line) => /\b(writev?|f(data)?sync)\(/.test(line));
      expect(calls.at(-1), "the refused sync was the last that was asked of the journal").toContain(
        "(INJECTED)",
      );

      const before = acknowledgedIn(folder);
      await recover(folder);
      expectKept(before, newestRun(folder));
      await expectWhole(folder);
    },
  );
});

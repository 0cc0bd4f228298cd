// An owner that is stopped (a laptop that sleeps, a debugger) still owns its run: the lock says so,
// not a clock.

import { expect, test } from "vitest";
import { autopilot, begin, eventsOf, journal, until } from "../support/autopilot.ts";
import { expectWhole, goArgs, said, smallRepository } from "./small-run.ts";

test("a run whose owner is suspended is not taken from it: resume answers run_locked, a request that it is not done, and the owner goes on when it wakes", async () => {
  const folder = smallRepository();
  const owner = begin(folder, goArgs(folder));
  const pid = owner.child.pid ?? 0;
  await until("the run is at work", () =>
    journal(folder).some(({ event }) => event === "session_opened"),
  );

  process.kill(pid, "SIGSTOP");
  try {
    const events = journal(folder).length;
    for (const verb of ["resume", "go"]) {
      const second = await autopilot(folder, [verb, "--json"]);
      expect(second.json, said(second)).toMatchObject({
        result: "FAIL",
        reason_code: "run_locked",
        pid,
      });

      expect(second.code).toBe(1);
    }

    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
      result: "PASS",
      state: "running",
      pid,
    });

    const raised = await autopilot(folder, ["budget", "raise", "tokens=+100k", "--json"]);
    expect(raised.json, said(raised)).toMatchObject({
      result: "FAIL",
      reason_code: "owner_silent",
      state: "running",
      pid,
    });

    expect(journal(folder), "nobody else wrote").toHaveLength(events);
  } finally {
    process.kill(pid, "SIGCONT");
  }

  const reported = await owner.ended;
  expect(reported.json, said(reported)).toMatchObject({
    result: "PASS",
    reason_code: "completion_verified",
  });

  expect(
    eventsOf(folder, "limit_raised"),
    "what was left for the owner counts once it goes on",
  ).toHaveLength(1);

  await expectWhole(folder);
});

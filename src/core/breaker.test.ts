import { describe, expect, test } from "vitest";
import type { Flow } from "../contracts/flow.ts";
import {
  begun,
  check,
  opened,
  result,
  sha,
  type Tape,
  turnEnded,
  usage,
} from "../../test/simulation/support/tape.ts";
import { errorFingerprint, madeProgress, whyResumeBlocked } from "./breaker.ts";

const flow: Flow = {
  flow: "tried",
  version: 1,
  phases: [
    { id: "1", steps: [{ id: "work", agent: "worker", prompt: "w.md", proof: ["p"], retry: 20 }] },
  ],
};

type End = { readonly fails?: string; readonly progress?: boolean };

/** One whole attempt; false if the run would not begin it. */
function attempt(tape: Tape, { fails, progress = true }: End): boolean {
  for (let n = 0; n < 5; n++) {
    const { next } = tape;
    if (next.do === "rest" || next.do === "wait") return false;
    if (next.do === "record") {
      tape.append(next.event);
      continue;
    }

    if (next.do !== "attempt") throw new Error(next.do);
    const { attempt: id } = next.event;
    tape.append(next.event, turnEnded(id, usage(1)));
    tape.append({
      event: "step_failed",
      attempt: id,
      facts: {},
      progress,
      fingerprint: fails ?? `error ${tape.entries.length}`,
      reason_code: "proof_missing",
    });

    return true;
  }

  return false;
}
const after = (ends: readonly End[], run: Record<string, number> = {}): Tape => {
  const tape = begun(flow, { run });
  tape.append({ event: "phase_started", walk: "1" });
  for (const end of ends) if (!attempt(tape, end)) throw new Error("it would not begin");

  return tape;
};
const toRest = (tape: Tape): Tape => {
  while (
    tape.next.do === "record" &&
    tape.run.status === "running" &&
    (tape.next.event.event === "circuit_breaker_opened" ||
      tape.next.event.event === "circuit_breaker_closed" ||
      tape.next.event.event === "run_paused")
  ) {
    tape.append(tape.next.event);
  }

  return tape;
};
const opens = (tape: Tape): string | null =>
  tape.next.do === "record" && tape.next.event.event === "circuit_breaker_opened"
    ? tape.next.event.because
    : null;
const times = (n: number, end: End): End[] => Array.from({ length: n }, () => end);

describe("when it opens", () => {
  const idle = { progress: false };
  const same = { fails: "the same" };

  const cases: readonly [string, readonly End[], Record<string, number>, string | null][] = [
    ["two without progress do not", times(2, idle), {}, null],
    ["three without progress do", times(3, idle), {}, "no_progress"],
    ["progress in between begins the count anew", [idle, idle, {}, idle, idle], {}, null],
    ["four times the same error do not", times(4, same), {}, null],
    ["five times the same error do", times(5, same), {}, "same_error"],
    [
      "another error in between begins the count anew",
      [...times(4, same), { fails: "another" }, ...times(4, same)],
      {},
      null,
    ],
    ["a limit of two lets one pass", times(1, idle), { no_progress_max: 2 }, null],
    ["a limit of two opens at two", times(2, idle), { no_progress_max: 2 }, "no_progress"],
    [
      "the older name of the limit counts too",
      times(2, same),
      { same_error_threshold: 2 },
      "same_error",
    ],
    [
      "a limit of none does not open before the first attempt",
      [],
      { no_progress_threshold: 0, same_error_threshold: 0 },
      null,
    ],
    ["and opens after it", times(1, idle), { no_progress_threshold: 0 }, "no_progress"],
    ["retries are a limit, not a count of the breaker's", times(4, {}), { retries: 20 }, null],
  ];
  for (const [name, ends, run, because] of cases) {
    test(name, () => expect(opens(after(ends, run))).toBe(because));
  }
});

describe("open, half open, closed", () => {
  const opened5 = (): Tape => toRest(after(times(3, { progress: false })));
  const resumed = (tape: Tape, key: string): Tape =>
    tape.append({ event: "run_resumed", request: key, from_state: "paused", to_state: "running" });

  test("an open breaker pauses the run for five minutes", () => {
    const { run, entries } = opened5();
    expect(run).toMatchObject({
      status: "paused",
      reason: "breaker_open",
      breaker: { state: "open", opened: 1 },
    });

    const openedAt = entries.findLast(({ event }) => event === "circuit_breaker_opened");
    const before = entries[entries.indexOf(openedAt as (typeof entries)[number]) - 1]?.ts ?? "";
    expect(run.breaker.cooldown_until).toBe(before.replace(":00:", ":05:"));
  });

  test("whatever the limit says, it is closed again within a week, on a day that the calendar knows", () => {
    const { run } = toRest(after(times(3, { progress: false }), { cooldown_minutes: 1e300 }));
    expect(
      Date.parse(run.breaker.cooldown_until ?? "") - Date.parse(run.updatedAt),
    ).toBeLessThanOrEqual(7 * 86_400_000);
  });

  test("it may not be resumed before that, except at once on the operator's word", () => {
    const { run } = opened5();
    const until = run.breaker.cooldown_until ?? "";
    expect(whyResumeBlocked(run, run.updatedAt, false)).toEqual({ reason: "breaker_open", until });
    expect(whyResumeBlocked(run, until.replace(/\d{3}Z$/, "001Z"), false)).toBeNull();
    expect(whyResumeBlocked(run, until, false)).toBeNull();
    expect(whyResumeBlocked(run, run.updatedAt, true)).toBeNull();
  });

  test("a probe that fails opens it again, each time for twice as long, up to an hour", () => {
    const tape = opened5();
    const waits: number[] = [];

    for (let n = 0; n < 6; n++) {
      resumed(tape, `r${n}`);
      expect(tape.run.breaker.state).toBe("half_open");
      attempt(tape, { progress: false });
      const at = tape.run.updatedAt;
      toRest(tape);
      const minutes = (iso: string): number =>
        Number(iso.slice(11, 13)) * 60 + Number(iso.slice(14, 16)) + Number(iso.slice(17, 19)) / 60;
      waits.push(Math.round(minutes(tape.run.breaker.cooldown_until ?? "") - minutes(at)));
    }

    expect(waits).toEqual([10, 20, 40, 60, 60, 60]);
  });

  test("a probe that works closes it", () => {
    const tape = resumed(opened5(), "r");
    const { next } = tape;
    if (next.do !== "record" || next.event.event !== "step_retried") {
      throw new Error("it should try once more");
    }

    tape.append(next.event);
    const probe = tape.next;
    if (probe.do !== "attempt") throw new Error("it should begin");
    const id = probe.event.attempt;
    tape.append(probe.event, turnEnded(id, usage(1)));
    tape.append({ event: "step_completed", attempt: id, facts: {}, progress: true });
    expect(tape.next).toMatchObject({ do: "record", event: { event: "circuit_breaker_closed" } });
  });

  test("a breaker that was not open does not go half open", () => {
    const tape = begun(flow).append({
      event: "run_paused",
      from_state: "running",
      to_state: "paused",
    });
    expect(resumed(tape, "r").append(opened(2)).run.breaker.state).toBe("closed");
  });
});

test("words are no error: what an agent says is not read for one", () => {
  const tape = begun(flow).append({ event: "phase_started", walk: "1" });
  const { next } = tape;
  if (next.do !== "attempt") throw new Error("it should begin");
  const { attempt: id } = next.event;
  const said = 'Error: error, fatal error! {"is_error": false}';
  const silent = { promised: false, announced_more: false, confidence: null, usage: usage(1) };
  tape.append(
    next.event,
    { event: "turn_ended", attempt: id, agent: "a", stop: "end", says: {}, said, ...silent },
    { event: "step_completed", attempt: id, facts: {}, progress: true },
  );

  expect(tape.run.breaker).toMatchObject({
    state: "closed",
    same: 0,
    no_progress: 0,
    last_error: null,
  });
});

describe("what is progress", () => {
  const tests = check("tests");
  const tape = begun(flow).append({ event: "phase_started", walk: "1" });
  tape.run.checks["tests"] = { baseline: result(tests, "failed"), latest: result(tests, "failed") };
  const made = (more: object): boolean =>
    madeProgress(tape.run, "1", { tree: sha(9), checks: [], changed: true, ...more });
  test("a change to a tree not seen before", () => expect(made({})).toBe(true));
  test("not a change back to a tree that was there before", () =>
    expect(made({ tree: sha(1) })).toBe(false));
  test("not an attempt that changed nothing, whatever others did to the tree", () =>
    expect(made({ changed: false })).toBe(false));
  test("a check that passes for the first time", () =>
    expect(made({ changed: false, checks: [result(tests, "passed")] })).toBe(true));
  test("not a check that fails as before", () =>
    expect(made({ changed: false, checks: [result(tests, "failed")] })).toBe(false));
});

describe("two errors are the same", () => {
  const same: readonly [string, string][] = [
    ["failed after 12.5s in /tmp/a/b.ts:3", "failed after 900 ms in C:\\x\\y.ts:99"],
    ['cannot find "left"', 'cannot find "right side"'],
    ["cannot find 'a'", "cannot find 'b'"],
    ["object 0xdeadbeef at commit 3f2a9c1d", "object 0x1 at commit 99aa88bb7"],
    ["expected 3, got 4", "expected 17, got 2000"],
  ];
  for (const [a, b] of same) {
    test(`${a} | ${b}`, () => expect(errorFingerprint("x", a)).toBe(errorFingerprint("x", b)));
  }

  test("not in another category", () =>
    expect(errorFingerprint("x", "a")).not.toBe(errorFingerprint("y", "a")));
  test("not with other words", () =>
    expect(errorFingerprint("x", "timed out")).not.toBe(errorFingerprint("x", "refused")));
  test("however long the message", () =>
    expect(
      errorFingerprint("x", `${"'".repeat(100_000)}${"a/".repeat(50_000)}`).length,
    ).toBeLessThanOrEqual(200));
});

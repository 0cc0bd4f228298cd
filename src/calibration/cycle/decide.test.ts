// A cycle played without git and processes: whatever the log says last, what is decided next leads
// to the same end, and nothing is done twice.

import { describe, expect, test } from "vitest";
import { renderAudit } from "./audit.ts";
import { renderCycleFile } from "./cycle-file.ts";
import { decide } from "./decide.ts";
import type { CyclePlan } from "./plan.ts";
import { type Cycle, foldLine, runKeyText, newCycle, type RunKey } from "./state.ts";

const plan: CyclePlan = {
  lever: { kind: "patch", source: "lever.patch" },
  description: "what it is",
  command: "sh bench.sh",
  findings: null,
  target: { metric: "recall", better: "higher", relative: false },
  repeat: 1,
  jobs: 1,
  hang_ms: 1000,
  seed: "seed",
  benchmarks: ["a", "b", "c"].map((name) => ({
    name,
    kind: "folder",
    at: name,
    baseline: `${name}/BUGS.md`,
  })),
};
const ts = "2026-05-15T14:32:01Z";
const index = {
  event: "_index",
  ts,
  schema_version: "1.5.6",
  event_types: [],
  cycle_name: "c",
  lever_under_test: "l",
  benchmarks: ["a", "b", "c"],
  iteration: 1,
};
const start = { event: "cycle_start", ts, hypothesis: "h", noise_floor_threshold: 0.05, plan };

type Setting = {
  readonly recall: (key: RunKey) => number | "fails" | "n/a";
  readonly plan?: Partial<CyclePlan>;
  readonly iteration?: number;
};

/** Plays a cycle on from a log; `executed` counts what was asked to do. */
function play(
  setting: Setting,
  before: readonly object[],
  executed: Map<string, number> = new Map(),
): { readonly log: readonly object[]; readonly cycle: Cycle } {
  const log = [...before];
  const cycle = newCycle();
  for (const event of log) expect(foldLine(cycle, JSON.stringify(event))).toBeNull();
  const write = (event: object): void => {
    log.push(event);
    expect(foldLine(cycle, JSON.stringify(event))).toBeNull();
  };

  const count = (what: string): void => void executed.set(what, (executed.get(what) ?? 0) + 1);
  for (let guard = 0; guard < 200; guard++) {
    const next = decide(cycle);
    if (next.do === "nothing") return { log, cycle };
    if (next.do === "end") {
      write({ ...next.event, ts });
    } else if (next.do === "apply") {
      write({
        event: "lever_change_applied",
        ts,
        lever_id: "l",
        files_changed: ["x"],
        commit_sha: "abc",
        description: "d",
      });
    } else if (next.do === "revert") {
      write({ event: "lever_change_reverted", ts, files_changed: ["x"], commit_sha: "def" });
    } else {
      for (const key of next.runs) {
        const what = { benchmark: key.benchmark, lever_state: key.lever_state, repeat: key.repeat };
        if (!cycle.runs.has(runKeyText(key))) write({ event: "benchmark_start", ts, ...what });
        count(runKeyText(key));
        const recall = setting.recall(key);
        if (recall === "fails") {
          write({
            event: "error",
            ts,
            message: "left no findings",
            recoverable: true,
            ...what,
            kind: "given_up",
          });
        } else {
          write({
            event: "benchmark_end",
            ts,
            ...what,
            recall: recall === "n/a" ? null : recall,
            bugs_found: [],
            bugs_missed: [],
            historical_baseline_path: "p",
            matches: [],
          });
        }
      }
    }
  }

  throw new Error("it does not end");
}

const begin = (setting: Setting): readonly object[] => [
  { ...index, iteration: setting.iteration ?? 1 },
  { ...start, plan: { ...plan, ...setting.plan } },
];
const names = (log: readonly object[]): readonly string[] =>
  log.map((event) => (event as { event: string }).event);
const side =
  (before: number, after: number) =>
  ({ lever_state }: RunKey) =>
    lever_state === "pre-lever" ? before : after;

describe("a cycle", () => {
  test("ships: every run before, the lever, every run after, the end", () => {
    const setting = { recall: side(0.4, 0.8) };
    const { log, cycle } = play(setting, begin(setting));
    expect(names(log)).toEqual([
      "_index",
      "cycle_start",
      "benchmark_start",
      "benchmark_end",
      "benchmark_start",
      "benchmark_end",
      "benchmark_start",
      "benchmark_end",
      "lever_change_applied",
      "benchmark_start",
      "benchmark_end",
      "benchmark_start",
      "benchmark_end",
      "benchmark_start",
      "benchmark_end",
      "cycle_end",
    ]);

    expect(cycle.end).toMatchObject({ verdict: "ship", delta: { a: 0.4, b: 0.4, c: 0.4 } });
  });

  test("reverts before it ends", () => {
    const setting = { recall: side(0.5, 0.4) };
    expect(names(play(setting, begin(setting)).log).slice(-2)).toEqual([
      "lever_change_reverted",
      "cycle_end",
    ]);
  });

  test("iterates, and halts the third time", () => {
    const setting = { recall: side(0.5, 0.5) };
    expect(play(setting, begin(setting)).cycle.end?.verdict).toBe("iterate");
    expect(
      play({ ...setting, iteration: 3 }, begin({ ...setting, iteration: 3 })).cycle.end?.verdict,
    ).toBe("halt-iterate-cap");
  });

  test("a benchmark that failed before the lever is n/a and is not run after it", () => {
    const executed = new Map<string, number>();
    const setting: Setting = {
      recall: (key) => (key.benchmark === "b" ? "fails" : side(0.4, 0.8)(key)),
    };

    const { cycle } = play(setting, begin(setting), executed);
    expect(cycle.end).toMatchObject({
      verdict: "ship",
      recall_before: { a: 0.4, b: null },
      recall_after: { b: null },
      delta: { a: 0.4, b: null },
    });

    expect([...executed.keys()]).not.toContain("b/post-lever/1");
  });

  test("where nothing can be measured the lever is never applied", () => {
    const setting: Setting = { recall: () => "fails" };
    const { log, cycle } = play(setting, begin(setting));
    expect(names(log)).not.toContain("lever_change_applied");
    expect(cycle.end?.verdict).toBe("iterate");
  });

  test("runs that differ too much are no ship", () => {
    const noisy = [0.1, 0.9, 0.2, 0.3, 1, 0.2];
    let at = 0;
    const setting: Setting = { recall: () => noisy[at++ % noisy.length] ?? 0, plan: { repeat: 2 } };
    const { cycle } = play(setting, begin(setting));
    expect(cycle.runs.size).toBe(12);
    expect((cycle.end as unknown as { interval: object }).interval).toHaveProperty("low");
  });

  test("stopped after every line and begun again: the same end, and no run twice that had ended", () => {
    for (const setting of [
      { recall: side(0.4, 0.8) },
      { recall: side(0.5, 0.4) },
      { recall: side(0.5, 0.5), plan: { repeat: 2 } },
    ]) {
      const whole = play(setting, begin(setting));
      for (let cut = 2; cut <= whole.log.length; cut++) {
        const executed = new Map<string, number>();
        const again = play(setting, whole.log.slice(0, cut), executed);
        expect(again.cycle.end).toEqual(whole.cycle.end);

        const ended = whole.log
          .slice(0, cut)
          .filter(
            (event) => (event as { event: string }).event === "benchmark_end",
          ) as unknown as RunKey[];
        for (const key of ended) expect(executed.has(runKeyText(key))).toBe(false);
        expect(names(again.log).filter((name) => name === "lever_change_applied")).toHaveLength(1);
      }
    }
  });

  test("the audit page tells the figures, the matches and what happened", () => {
    const setting: Setting = {
      recall: (key) => (key.benchmark === "b" ? "fails" : side(0.4, 0.8)(key)),
    };
    const page = renderAudit(play(setting, begin(setting)).cycle);
    expect(page).toMatch(/^# Calibration audit: c\n/);
    expect(page).toContain("| a | 0.4 | 0.8 | 0.4 | +0.4 | 1 / 1 |");
    expect(page).toContain("n/a: left no findings");
    expect(page).toContain("**ship**");
  });
});

test("a cycle as one HTML file: every run is in the picture, nothing is fetched, and hostile names are text", () => {
  let at = 0;
  const setting: Setting = {
    recall: () => [0.2, 0.4, 0.3, 0.9, 0.8, 1][at++ % 6] ?? 0,
    plan: { repeat: 2 },
  };

  const { cycle } = play(setting, begin(setting));
  const html = renderCycleFile({
    ...cycle,
    name: "<script>alert(1)</script>",
    hypothesis: '"><img src=x onerror=alert(1)>',
  });
  expect(html).toMatch(/<svg [^>]*role="img"/);
  expect(html).not.toMatch(/<script|<img|(?:src|href)="(?!data:,)/);
  expect(html).not.toMatch(/NaN|undefined/);
  expect(html.match(/<circle/g)).toHaveLength(7);
  expect(renderCycleFile(newCycle())).toContain("No benchmark has a figure on both sides");
});

test("a log of another tool folds, and a line that is none says so", () => {
  const cycle = newCycle();
  expect(foldLine(cycle, JSON.stringify(index))).toBeNull();
  expect(foldLine(cycle, JSON.stringify({ ...start, plan: undefined }))).toBeNull();
  expect(decide(cycle)).toEqual({ do: "nothing" });
  expect(foldLine(cycle, '{"event":"dance"}')).toContain("no event of a calibration cycle");
  expect(foldLine(cycle, "{")).toBe("is not JSON");
});

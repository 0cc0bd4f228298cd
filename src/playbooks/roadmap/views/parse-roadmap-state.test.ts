// A state.json that another tool wrote: what can be read is read, what had to be guessed is
// reported with its line, what decides is never guessed.

import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { seedState } from "../../../contracts/roadmap.test-support.ts";
import { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { locateJsonValue } from "../../../documents/json-place.ts";
import { parseRoadmapState } from "./parse-roadmap-state.ts";
import { tries } from "../../../../test/support/sampled.ts";

const write = (value: unknown): string => JSON.stringify(value, null, 2);
const changed = (change: (state: Record<string, Record<string, unknown>>) => void): string => {
  const copy = structuredClone(seedState) as unknown as Record<string, Record<string, unknown>>;
  change(copy);
  return write(copy);
};

test("the published format's own example reads without a word", () => {
  expect(parseRoadmapState(write(seedState))).toEqual({ state: seedState, findings: [] });
  expect(parseRoadmapState(`\uFEFF${write(seedState)}`).state).toEqual(seedState);
});

describe("what the seed leaves open is filled in and told", () => {
  const rows: readonly (readonly [
    string,
    string,
    (state: RoadmapState | null) => unknown,
    unknown,
    string,
  ])[] = [
    [
      "no counters of deferral",
      changed((s) => delete s["_meta"]?.["human_deferred_count"]),
      (s) => s?._meta.human_deferred_count,
      0,
      "_meta.human_deferred_count",
    ],
    [
      "no version",
      changed((s) => delete s["_meta"]?.["version"]),
      (s) => s?._meta.version,
      "1.0",
      "_meta.version",
    ],
    [
      "no spec",
      changed((s) => delete (s as Record<string, unknown>)["spec"]),
      (s) => s?.spec.hash,
      null,
      "spec",
    ],
    [
      "a spec hash that is none",
      changed((s) => Object.assign(s["spec"] ?? {}, { hash: "sha256:a1b2c3d4e5f6..." })),
      (s) => s?.spec.hash,
      null,
      "spec.hash",
    ],
    [
      "no metrics",
      changed((s) => delete (s as Record<string, unknown>)["metrics"]),
      (s) => s?.metrics.phases_completed,
      0,
      "metrics",
    ],
    [
      "a run id of another shape",
      changed((s) => Object.assign(s["_meta"] ?? {}, { run_id: "my-run" })),
      (s) => s?._meta.run_id,
      "run-2026-02-09-143052",
      "_meta.run_id",
    ],
    [
      "a field of its own",
      changed((s) => Object.assign(s["_meta"] ?? {}, { mood: "good" })),
      (s) => s !== null && "mood" in s._meta,
      false,
      "_meta.mood",
    ],
    [
      "a time with an offset",
      changed((s) => Object.assign(s["_meta"] ?? {}, { started_at: "2026-02-09T16:30:52+02:00" })),
      (s) => s?._meta.started_at,
      "2026-02-09T14:30:52.000Z",
      "_meta.started_at",
    ],
    [
      "an event of its own",
      changed((s) =>
        (s["event_log"] as unknown as unknown[]).push({
          timestamp: "2026-02-09T14:31:00Z",
          event: "mood_changed",
          details: {},
        }),
      ),
      (s) => s?.event_log.length,
      1,
      "event_log[1]",
    ],
    [
      "a phase by its bare id",
      changed((s) => (s["phases"] = { "6.1": seedState.phases["phase_6.1"] })),
      (s) => Object.keys(s?.phases ?? {}),
      ["phase_6.1"],
      "phases.6.1",
    ],
    [
      "the score on the phase",
      changed(
        (s) =>
          (s["phases"] = {
            "phase_6.1": { ...seedState.phases["phase_6.1"], steps: {}, alignment_score: 9 },
          }),
      ),
      (s) => s?.phases["phase_6.1"]?.steps.judge?.alignment,
      9,
      "phases.phase_6.1.alignment_score",
    ],
    [
      "a step nobody can read",
      changed(
        (s) =>
          (s["phases"] = {
            "phase_6.1": { ...seedState.phases["phase_6.1"], steps: { plan: "done" } },
          }),
      ),
      (s) => s?.phases["phase_6.1"]?.steps,
      {},
      "phases.phase_6.1.steps.plan",
    ],
  ];
  test.each(rows)("%s", (_, text, read, value, path) => {
    const { state, findings } = parseRoadmapState(text);
    expect(v.safeParse(RoadmapState, state).success).toBe(true);
    expect(read(state)).toEqual(value);
    const reported = findings.find((finding) => finding.path === path);
    expect(reported, findings.map((finding) => finding.path).join()).toMatchObject({
      severity: "warning",
    });

    expect(reported?.line).toBeGreaterThan(1 - Number(reported?.path.includes(".") !== true));
  });
});

describe("what decides is never guessed", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["a run without a status", changed((s) => delete s["_meta"]?.["status"]), "_meta.status"],
    [
      "a status of its own",
      changed((s) => Object.assign(s["_meta"] ?? {}, { status: "sleeping" })),
      "_meta.status",
    ],
    ["no beginning", changed((s) => delete s["_meta"]?.["started_at"]), "_meta.started_at"],
    ["no phases", changed((s) => delete (s as Record<string, unknown>)["phases"]), "phases"],
    [
      "a phase's status of its own",
      changed(
        (s) =>
          (s["phases"] = { "phase_6.1": { ...seedState.phases["phase_6.1"], status: "nearly" } }),
      ),
      "phases.phase_6.1.status",
    ],
  ];
  test.each(rows)("%s is refused", (_, text, path) => {
    const { state, findings } = parseRoadmapState(text);
    expect(state).toBeNull();
    expect(
      findings.filter(({ severity }) => severity === "error").map((finding) => finding.path),
    ).toContain(path);
  });

  test("the line is that of the fault", () => {
    const text = changed((s) => Object.assign(s["_meta"] ?? {}, { status: "sleeping" }));
    const [finding] = parseRoadmapState(text).findings;
    expect(text.split("\n")[(finding?.line ?? 0) - 1]).toContain('"sleeping"');
  });
});

describe("whatever the bytes are", () => {
  test.each([
    "",
    "{",
    "[]",
    "null",
    '"x"',
    '{"_meta": 1}',
    '{"_meta": {"status": "running"',
    "\u0000",
  ])("%j gives findings", (text) => {
    const { state, findings } = parseRoadmapState(text);
    expect(state).toBeNull();
    expect(findings.length).toBeGreaterThan(0);
  });

  test("a cut-off file names the line where it ends", () => {
    const text = write(seedState).slice(0, 400);
    expect(parseRoadmapState(text).findings).toMatchObject([{ rule: "syntax", severity: "error" }]);
    expect(parseRoadmapState(text).findings[0]?.line).toBeGreaterThan(5);
  });

  test("nothing is ever thrown, and what is read is valid", () => {
    const keys = [
      "_meta",
      "phases",
      "spec",
      "event_log",
      "metrics",
      "circuit_breaker",
      "roadmap_path",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.jsonValue(), (key, value) => {
        const { state } = parseRoadmapState(JSON.stringify({ ...seedState, [key]: value }));
        if (state !== null) expect(v.safeParse(RoadmapState, state).success).toBe(true);
      }),
      { numRuns: tries(200) },
    );
  });

  test("nesting without end is told, and nothing runs out of stack", () => {
    const text = `{"_meta":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(parseRoadmapState(text)).toMatchObject({
      state: null,
      findings: [{ rule: "too_deep", severity: "error" }],
    });
  });

  test("more phases or events than any roadmap has are told, before each of them is gone through", () => {
    const phases = Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`phase_${n}`, {}]));
    expect(parseRoadmapState(JSON.stringify({ ...seedState, phases })).findings).toMatchObject([
      { rule: "too_many" },
    ]);

    const event_log = Array.from({ length: 100_001 }, () => ({}));
    expect(parseRoadmapState(JSON.stringify({ ...seedState, event_log })).findings).toMatchObject([
      { rule: "too_many" },
    ]);
  });

  test("places are found in any JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        for (const key of Object.keys(value)) {
          const text = JSON.stringify(value);
          const { column } = locateJsonValue(text, [key]);
          expect(text.slice(column - 1).startsWith(JSON.stringify(value[key]))).toBe(true);
        }
      }),
      { numRuns: tries(100) },
    );
  });
});

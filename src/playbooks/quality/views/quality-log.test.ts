import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runDrafted } from "../../../../test/simulation/support/tape.ts";
import type { Draft, Entry } from "../../../contracts/event.ts";
import type { Flow } from "../../../contracts/flow.ts";
import { type PhaseTally, tallyFact } from "../../../contracts/quality/quality-facts.ts";
import { runEventNames } from "../../../contracts/quality/quality-run.ts";
import { formatIsoTime } from "../../../kit/iso-time.ts";
import { renderProgressPage } from "./quality-progress.ts";
import { parseLog, whyLogClosed } from "./parse-quality-log.ts";
import { QualityLog } from "./quality-log.ts";

const flow: Flow = {
  flow: "quality",
  version: 1,
  phases: [{ id: "1", steps: [{ id: "do", run: "x" }] }],
};
const empty: PhaseTally = { key_counts: {}, artifacts: [], patterns: [], findings: [], passes: [] };
const keys: Readonly<Record<string, PhaseTally["key_counts"]>> = {
  "1": { findings_total: 12, patterns_walked: 7 },
  "2": { findings_promoted: 9, findings_dropped: 0 },
  "3": { bugs_identified: 6, bug_writeups: 0 },
  "4": { req_count: 89, uc_count: 3, passes_complete: 4 },
  "5": { gate_checks_total: 3, gate_failures: 0 },
  "6": { bugs_md_count: 6, gate_verdict: "pass" },
};

/** Drafts as a journal would hold them, a second apart. */
const journal = (...drafts: readonly Draft[]): readonly Entry[] =>
  drafts.map((draft, n) => ({
    actor: "system",
    reason_code: "ok",
    ...draft,
    seq: n + 1,
    epoch: 1,
    ts: formatIsoTime(1_778_855_000_000 + n * 1000),
    active_ms: n,
    prev: "",
    crc: "",
  }));
const began: Draft = { event: "run_started", ack: "a", from_state: "draft", to_state: "running" };
const entered = (phase: string): Draft => ({ event: "phase_started", walk: phase });
const tallied = (phase: string, more: Partial<PhaseTally> = {}, visit = 1): Draft => ({
  event: "step_completed",
  attempt: `${phase}@${visit}/tally#1`,
  facts: { [tallyFact]: JSON.stringify({ ...empty, key_counts: keys[phase] ?? {}, ...more }) },
});
const done = (phase: string): Draft => ({ event: "phase_completed", walk: phase });
const walked = (phase: string): readonly Draft[] => [entered(phase), tallied(phase), done(phase)];
const reopened = (phase: string): Draft => ({
  event: "phase_reopened",
  walk: phase,
  visit: 2,
  because: "artifacts_gone",
});
const failed = (phase: string): Draft => ({
  event: "step_failed",
  attempt: `${phase}@1/do#1`,
  facts: {},
  fingerprint: "x",
  detail: "min_lines: found 119",
});
const opened: Draft = {
  event: "run_opened",
  opening: 2,
  owner: { pid: 1, host: "h" },
  product: "p",
  isolation: { level: "none", mechanism: "none", enforced: [], not_enforced: [] },
};

function reported(...drafts: readonly Draft[]): QualityLog {
  const log = new QualityLog(() => null);
  for (const entry of journal(runDrafted(flow), ...drafts)) log.add(entry);
  return log;
}
const short = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => {
    const { event, phase, recoverable } = JSON.parse(line) as {
      event: string;
      phase?: number;
      recoverable?: boolean;
    };
    return [
      event,
      ...(phase === undefined ? [] : [phase]),
      ...(recoverable === undefined ? [] : [recoverable]),
    ].join(" ");
  });

const whole = [
  began,
  ...["1", "2", "3", "4", "5", "6"].flatMap(walked),
  {
    event: "run_completed",
    verdict: "verified",
    gaps: [],
    from_state: "running",
    to_state: "completed",
  },
] as const satisfies readonly Draft[];

describe("the log of a quality run", () => {
  test("a draft has none; it begins with the run, and its _index lists every type there is", () => {
    expect(reported().volumes).toEqual([]);
    const { volumes } = reported(began);
    expect(short(volumes[0]?.lines ?? [])).toEqual(["_index", "run_start"]);
    expect(JSON.parse(volumes[0]?.lines[0] ?? "")).toMatchObject({
      schema_version: "1.5.6",
      event_types: runEventNames,
    });

    expect(volumes[0]?.lines[0]).not.toMatch(/[,:] /); // compact
  });

  test("more entries only ever add lines, wherever it is cut", () => {
    const story: readonly Draft[] = [
      began,
      ...walked("1"),
      entered("2"),
      failed("2"),
      { event: "step_retried", walk: "2", step: "do", n: 1 },
      tallied("2"),
      done("2"),
      entered("3"),
      reopened("1"),
      opened,
      { event: "artifacts_surveyed", gone: [], proved: [] },
      { event: "step_started", walk: "1", step: "do", attempt: "1@2/do#1", kind: "agent", try: 1 },
      tallied("1", {}, 2),
      done("1"),
      { event: "step_started", walk: "3", step: "do", attempt: "3@1/do#1", kind: "agent", try: 2 },
      ...walked("3").slice(1),
    ];
    const last = reported(...story);

    for (let cut = 0; cut <= story.length; cut++) {
      for (const [n, volume] of reported(...story.slice(0, cut)).volumes.entries()) {
        expect(last.volumes[n]?.lines.slice(0, volume.lines.length)).toEqual(volume.lines);
      }
    }

    expect(last.volumes.map(({ lines }) => short(lines))).toEqual([
      [
        "_index",
        "run_start",
        "phase_start 1",
        "phase_end 1",
        "phase_start 2",
        "error 2 true",
        "phase_end 2",
        "phase_start 3",
      ],
      [
        "_index",
        "run_start",
        "error 1 true",
        "phase_start 1",
        "phase_end 1",
        "phase_start 2",
        "phase_end 2",
        "phase_start 3",
        "phase_end 3",
      ],
    ]);

    for (const { lines } of last.volumes) {
      expect(parseLog(`${lines.join("\n")}\n`).errors).toEqual([]);
    }
  });

  test("who opens a run tells nobody of it: the same lines with that entry and without", () => {
    const entries = journal(
      runDrafted(flow),
      began,
      ...walked("1"),
      reopened("1"),
      opened,
      entered("1"),
    );

    const lines = (taken: readonly Entry[]): readonly string[] => {
      const log = new QualityLog(() => null);
      for (const entry of taken) log.add(entry);
      return log.volumes.flatMap((volume) => volume.lines);
    };
    expect(lines(entries)).toEqual(lines(entries.filter(({ event }) => event !== "run_opened")));
  });

  test("two phases done again at once: one new log, each of them open in it, the others closed in their place", () => {
    const { volumes } = reported(
      began,
      ...walked("1"),
      ...walked("2"),
      ...walked("3"),
      reopened("1"),
      reopened("3"),
      ...["1", "3"].flatMap((phase) => [
        {
          event: "step_started",
          walk: phase,
          step: "do",
          attempt: `${phase}@2/do#1`,
          kind: "agent",
          try: 1,
        } as const,
        tallied(phase, {}, 2),
        done(phase),
      ]),
    );
    expect(volumes).toHaveLength(2);
    expect(volumes[0]?.archive).toMatch(
      /^quality\/history\/[\d-]+T[\d-]+\.\d+Z\.run_state\.jsonl$/,
    );

    expect(short(volumes[1]?.lines ?? [])).toEqual([
      "_index",
      "run_start",
      "error 1 true",
      "error 3 true",
      "phase_start 1",
      "phase_end 1",
      "phase_start 2",
      "phase_end 2",
      "phase_start 3",
      "phase_end 3",
    ]);
  });

  test("a new log of a run without documentation says so again, after run_start", () => {
    const docs: Draft = {
      event: "step_completed",
      attempt: "before.docs@1/look#1",
      facts: { present: false, required: false, reason: "none" },
    };

    const { volumes } = reported(
      began,
      docs,
      ...walked("1"),
      ...walked("2"),
      reopened("1"),
      entered("1"),
    );
    expect(volumes).toHaveLength(2);

    for (const { lines } of volumes) {
      expect(short(lines).slice(0, 3)).toEqual(["_index", "run_start", "documentation_state"]);
    }

    expect(JSON.parse(volumes[1]?.lines[2] ?? "")).toMatchObject({
      state: "code_only",
      reason: "none",
    });
  });

  test("nothing comes after run_end; a failed phase ends it, and so does a stop", () => {
    const over = reported(
      began,
      entered("1"),
      failed("1"),
      { event: "phase_failed", walk: "1", because: "proof_missing" },
      {
        event: "run_stopped",
        from_state: "paused",
        to_state: "stopped",
        reason_code: "operator_stopped",
      },
    );
    expect(short(over.volumes[0]?.lines ?? []).slice(-2)).toEqual(["error 1 false", "run_end"]);
    expect(over.errors).toEqual([{ code: "proof_missing", reason: "min_lines: found 119" }]);
    const { volumes } = reported(...whole);
    expect(JSON.parse(volumes[0]?.lines.at(-1) ?? "")).toMatchObject({
      event: "run_end",
      status: "success",
      final_verdict: "pass",
      total_findings: 0,
    });
  });

  test("what cut a turn short is an error where the phase is tried again, and none where a person paused", () => {
    const cut = (by: "scope" | "operator" | "provider"): Draft => ({
      event: "step_interrupted",
      attempt: "1@1/do#1",
      by,
      detail: "src/a.js",
    });
    expect(
      short(
        reported(began, entered("1"), cut("scope"), cut("operator"), cut("provider")).volumes[0]
          ?.lines ?? [],
      ).slice(3),
    ).toEqual(["error 1 true", "error 1 true"]);
  });
});

describe("a log that lies there already", () => {
  const real = readFileSync(
    new URL("../../../../test/fixtures/quality/complete-run.run_state.jsonl", import.meta.url),
    "utf8",
  );
  const lines = real.trimEnd().split("\n");

  test("a real one of a newer version is sound; it is over, and without its last line it is open", () => {
    expect(parseLog(real).errors).toEqual([]);
    expect(whyLogClosed(parseLog(real))).toBe("its run ended (success)");
    const open = parseLog(lines.slice(0, -1).join("\n"));
    expect(whyLogClosed(open)).toBeNull();
    expect([...open.endsByPhase.keys()]).toEqual([1, 2, 3, 4, 5, 6]);
    expect(open.eventTypes.has("documentation_state")).toBe(false);
  });

  test.each([
    ["no _index", lines.slice(1, -1), /RS1/],
    ["a phase that starts twice", [...lines.slice(0, 3), lines[2] ?? ""], /RS6/],
    ["no JSON", [...lines.slice(0, 3), "{"], /RS2/],
  ])("%s: nothing is added to it", (_what, broken, rule) =>
    expect(whyLogClosed(parseLog(broken.join("\n")))).toMatch(rule),
  );
});

describe("PROGRESS.md", () => {
  test("is the page of the published example, section by section, and nothing before the run begins", () => {
    const artifacts = {
      1: [{ path: "quality/EXPLORATION.md", bytes: 12_034 }],
      2: [{ path: "quality/REQUIREMENTS.md", bytes: 28_891 }, { path: "quality/x.bin" }],
    };

    const log = reported(
      began,
      entered("1"),
      tallied("1", {
        artifacts: artifacts[1],
        patterns: [1, 2, 3, 4, 5, 6, 7].map((pattern) => ({ pattern, findings_count: 0 })),
      }),
      done("1"),
      entered("2"),
      tallied("2", { artifacts: artifacts[2] }),
      done("2"),
      ...walked("3"),
      entered("4"),
      tallied("4", {
        auditors: 3,
        triages: 1,
        passes: [{ pass: "A" }, { pass: "B" }, { pass: "C" }, { pass: "D" }],
      }),
      done("4"),
      entered("5"),
    );
    const page = renderProgressPage(log, { logDifference: null, gatePassedEarlier: false });
    expect(page).toBe(`# QPB Run Progress

**Started:** 2026-05-15T14:23:21.000Z **Benchmark:** . **Lever:** baseline
**Runner:** unknown **Playbook version:** 1

## Phases

- [x] Phase 1 — Explore (0:02, 12 findings, patterns 1-7 walked)
- [x] Phase 2 — Generate (0:02, 2 artifacts produced)
- [x] Phase 3 — Code Review (0:02, 6 bugs identified)
- [x] Phase 4 — Spec Audit (0:02, 3 auditors, 1 triage)
- [ ] Phase 5 — Reconciliation *(in progress, started 14:23:34Z)*
- [ ] Phase 6 — Verify

## Recent events (last 10)

- 2026-05-15T14:23:34.000Z — phase_start phase=5
- 2026-05-15T14:23:33.000Z — phase_end phase=4 passes=[A,B,C,D] req_count=89
${["D", "C", "B", "A"].map((pass) => `- 2026-05-15T14:23:32.000Z — pass_ended phase=4 pass=${pass}\n- 2026-05-15T14:23:32.000Z — pass_started phase=4 pass=${pass}`).join("\n")}

## Artifacts produced

- quality/EXPLORATION.md (12,034 bytes)
- quality/REQUIREMENTS.md (28,891 bytes)
- quality/x.bin (size unknown)
`);

    expect(renderProgressPage(reported(), { logDifference: null, gatePassedEarlier: false })).toBe(
      "",
    );
  });

  test("passes are named only where the log tells of them; a number alone is a number", () => {
    const pageOf = (more: Partial<PhaseTally>) =>
      renderProgressPage(reported(began, entered("4"), tallied("4", more), done("4")), {
        logDifference: null,
        gatePassedEarlier: false,
      });
    expect(pageOf({})).toContain("phase_end phase=4 passes_complete=4 req_count=89");
    const two = {
      passes: [{ pass: "A" }, { pass: "C" }],
      key_counts: { req_count: 1, uc_count: 1, passes_complete: 2 },
    } as const;

    expect(pageOf({ ...two, passes: [...two.passes] })).toContain(
      "phase_end phase=4 passes=[A,C] req_count=1",
    );
  });

  test("a gate that the tool before judged is told with its verdict", () => {
    const counts = { "6": { bugs_md_count: 6, gate_verdict: "partial" } };
    const log = reported(began, entered("6"), tallied("6", { key_counts: counts["6"] }), done("6"));
    const page = renderProgressPage(log, { logDifference: null, gatePassedEarlier: true });
    expect(page).toContain(
      "Verdict: partial, judged by the tool that began this run and not again here; see quality/results/quality-gate.log.",
    );
  });

  test("patterns are told by their numbers, and somebody else's words stay on their line", () => {
    const patterns = [1, 2, 3, 5].map((pattern) => ({ pattern, findings_count: 0 }));
    const page = renderProgressPage(
      reported(
        began,
        entered("1"),
        tallied("1", { patterns, artifacts: [{ path: "quality/a\n## Phases\n.md", bytes: 1 }] }),
        done("1"),
      ),
      { logDifference: "line 3", gatePassedEarlier: true },
    );
    expect(page).toContain("patterns 1-3, 5 walked");
    expect(page.match(/^## Phases$/gm)).toHaveLength(1);
    expect(page).toContain("ERROR: log_differs — line 3");
    expect(page).toContain("## Terminal Gate Verification");
  });
});

import { beforeAll, describe, expect, test } from "vitest";
import { thresholdDefaults } from "../../../contracts/tunable-limits.ts";
import type { Flow, Step } from "../../../contracts/flow.ts";
import { lintFlow } from "../../../flows/lint.ts";
import { loadBuiltInFlow, type LoadedFlow } from "../../../flows/load.ts";
import { placeholders } from "../../../flows/prompt.ts";
import { findingText } from "../../../kit/finding.ts";
import { lintRegistry } from "../../registry/registry.ts";
import { roadmapFunctionNames } from "./roadmap-function-names.ts";
import { createRoadmapFunctions } from "./roadmap-functions.ts";

let loaded: LoadedFlow;
let flow: Flow;
const stepNamed = (id: string): Step => {
  const found = [...(flow.steps ?? []), ...(flow.after ?? []).flatMap(({ steps }) => steps)].find(
    (step) => step.id === id,
  );
  if (found === undefined) throw new Error(`no step ${id}`);
  return found;
};

beforeAll(async () => {
  const found = await loadBuiltInFlow("roadmap");
  if (found?.kind !== "loaded") throw new Error(JSON.stringify(found));
  loaded = found;
  flow = found.flow;
});

describe("the flow roadmap", () => {
  test("has the steps and roles that scripts and files rely on", () => {
    expect(flow.steps?.map(({ id }) => id)).toEqual([
      "preflight",
      "triage",
      "research",
      "plan",
      "plan_check",
      "execute",
      "checks",
      "verify",
      "judge_blind",
      "judge",
      "human_check",
      "confirm",
      "debug",
      "undo",
      "withdraw",
    ]);

    expect(stepNamed("execute").tasks?.each.map(({ id }) => id)).toEqual(["do"]);
    const roles = [
      ...(flow.steps ?? []),
      ...(stepNamed("execute").tasks?.each ?? []),
      stepNamed("audit"),
    ].flatMap(({ agent }) => agent ?? []);
    expect(new Set(roles)).toEqual(
      new Set([
        "researcher",
        "planner",
        "plan_checker",
        "executor",
        "verifier",
        "judge",
        "debugger",
        "auditor",
      ]),
    );

    expect([flow.playbook, flow.reopen, flow.when_phase_fails]).toEqual([
      "roadmap",
      { failed_phase: 20 },
      [{ finish: "phase_failed" }],
    ]);
  });

  test("is clean to the linter", () => {
    expect(lintFlow({ ...loaded, registry: lintRegistry }).map(findingText)).toEqual([]);
  });

  test("its counts are tunable: three debug attempts and one replan unless told, three rounds of a plan, two re-audits", () => {
    expect(flow.counts).toMatchObject({
      plan: { at_most: 2 },
      debug: {
        at_most: "option.max_debug_attempts_per_phase",
        retry: true,
        spent: { go: "research", count: "replan" },
      },
      replan: {
        at_most: "option.max_replan_attempts_per_phase",
        retry: true,
        spent: { go: "undo" },
      },
      audit: { at_most: 2 },
    });

    const defaults = Object.fromEntries(
      Object.entries(flow.options ?? {}).map(([name, option]) => [name, option.default]),
    );

    const { max_debug_attempts_per_phase, max_replan_attempts_per_phase } = thresholdDefaults; // the flow's own defaults must not differ
    expect(defaults).toMatchObject({
      phases: "next",
      max_debug_attempts_per_phase,
      max_replan_attempts_per_phase,
      alignment_min: 7,
    });
  });

  test("its limits are the defaults of every flow", () => {
    expect(flow.limits).toMatchObject({
      run: {
        tokens: thresholdDefaults.cost_cap_tokens_total,
        minutes: thresholdDefaults.wall_clock_timeout_minutes_total,
        retries: thresholdDefaults.max_total_retries_per_run,
      },
      phase: {
        tokens: thresholdDefaults.cost_cap_tokens_per_phase,
        minutes: thresholdDefaults.wall_clock_timeout_minutes_per_phase,
      },
    });
  });

  test("who verifies is blind to what was claimed, and who judges writes before it sees the verifier's word", () => {
    expect(stepNamed("verify").sees).toEqual(["checks"]);
    expect(stepNamed("judge_blind").sees).toEqual(["checks"]);
    expect(stepNamed("judge")).toMatchObject({
      continues: "judge_blind",
      proof: ["judge_report_kept", "judge_independent"],
    });

    expect(stepNamed("judge").sees).toContain("verify");
    expect(stepNamed("judge_blind").masks).toContain(".planning/phases/*/VERIFICATION.md");
    expect(stepNamed("verify").masks).toContain(".planning/phases/*/EXECUTION-LOG.md");
  });

  test("a phase is completed only behind the judge, or by a person's word behind it, and never without what the runner can run", () => {
    const ends = (flow.steps ?? []).filter((step) =>
      [...(step.then ?? []), ...(step.otherwise ?? [])].some(({ end }) => end === "completed"),
    );
    expect(ends.map(({ id }) => id)).toEqual(["judge", "human_check", "confirm"]);
    expect(stepNamed("human_check").then).toContainEqual({
      when: { "execute.done": 0 },
      go: "confirm",
    });

    expect(stepNamed("confirm").check).toEqual(["criteria", "project"]);
    expect(
      [stepNamed("verify"), stepNamed("judge_blind"), stepNamed("judge")].filter(
        (step) => step.only_if ?? step.unless,
      ),
    ).toEqual([]);
  });

  test("who only reports keeps nothing but its report", () => {
    const kept = Object.fromEntries(
      ["research", "plan", "plan_check", "verify", "judge_blind", "judge", "audit"].map((id) => [
        id,
        stepNamed(id).keeps,
      ]),
    );
    expect(kept).toEqual({
      research: ["{phase_dir}/RESEARCH.md"],
      plan: ["{phase_dir}/PLAN.md"],
      plan_check: ["!**"],
      verify: ["!**"],
      judge_blind: ["{phase_dir}/JUDGE-REPORT.md"],
      judge: ["{phase_dir}/JUDGE-REPORT.md"],
      audit: ["!**"],
    });
  });

  test("red checks are debugged before any judge looks", () => {
    expect(stepNamed("checks").otherwise).toEqual([
      { when: { "checks.oracles": "changed" }, go: "debug", count: "tests" },
      { go: "debug", count: "debug" },
    ]);

    const ids = flow.steps?.map(({ id }) => id) ?? [];
    expect(ids.indexOf("checks")).toBeLessThan(ids.indexOf("verify"));
    expect(stepNamed("debug").then).toEqual([{ go: "checks" }]);
  });

  test("its prompts are short: at most 1,000 tokens beyond the user's own text; who plans and works is told what was learned", () => {
    for (const [name, text] of Object.entries(loaded.prompts)) {
      const plain = Object.keys(placeholders).reduce(
        (left, one) => left.replaceAll(`{${one}}`, ""),
        text,
      );
      expect(plain.length / 4, name).toBeLessThan(1_000);
      expect(text.includes("{learnings}"), name).toBe(["plan.md", "execute.md"].includes(name));
      expect(text, name).toMatch(/marked as data/);
    }
  });
});

test("every function that the flow names by lists is there under its name", () => {
  const nothing = new Proxy({}, { get: () => undefined }) as never;
  const home = { root: "/", folder: "/" };

  const functions = createRoadmapFunctions({
    verifier: nothing,
    workspace: nothing,
    paths: home,
    readBlob: () => null,
    entries: () => [],
  });

  for (const group of ["run", "proof", "phases", "tasks"] as const) {
    const names =
      group === "run" ? Object.keys(roadmapFunctionNames.run) : [...roadmapFunctionNames[group]];
    expect(Object.keys(functions[group]).sort(), group).toEqual(names.sort());
  }

  expect(Object.entries(functions.run).map(([name, { effect }]) => [name, effect])).toEqual(
    Object.entries(roadmapFunctionNames.run),
  );
});

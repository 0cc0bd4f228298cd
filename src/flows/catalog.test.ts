import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
// @ts-expect-error The script is plain JavaScript: it runs before anything is built.
import { embeddedText } from "../../scripts/embed-flows.mjs";
import type { Flow } from "../contracts/flow.ts";
import { lintRegistry } from "../playbooks/registry/registry.ts";
import { findingText } from "../kit/finding.ts";
import { parseLocated } from "../kit/located.ts";
import { embedded } from "./catalog/embedded.ts";
import { lintFlow } from "./lint.ts";
import { loadBuiltInFlow, type LoadedFlow } from "./load.ts";
import { renderPrompt } from "./prompt.ts";
import { findJsonSchema } from "./returns.ts";

async function load(name: string): Promise<LoadedFlow> {
  const result = await loadBuiltInFlow(name);
  if (result?.kind !== "loaded") throw new Error(JSON.stringify(result));
  return result;
}
const stepsOf = (flow: Flow) =>
  Array.isArray(flow.phases) ? flow.phases.flatMap((phase) => phase.steps) : [];

describe("the built-in flows", () => {
  test("what is bundled is what lies in the catalog; after a change run node scripts/embed-flows.mjs", () => {
    const folder = join(import.meta.dirname, "catalog");
    expect(readFileSync(join(folder, "embedded.ts"), "utf8")).toBe(
      (embeddedText as () => string)(),
    );

    expect(Object.keys(embedded)).toEqual(
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
        .sort(),
    );
  });

  test.each(Object.keys(embedded))("%s says as data what its file says", async (name) => {
    const { flow = "", data = "" } = embedded[name] ?? {};
    expect(parseLocated(name, flow)).toMatchObject({ value: JSON.parse(data) as unknown });
    expect((await load(name)).positions.placeOf(["version"]).line).toBeGreaterThan(1);
  });

  test.each(Object.keys(embedded))("%s is clean", async (name) => {
    expect(lintFlow({ ...(await load(name)), registry: lintRegistry }).map(findingText)).toEqual(
      [],
    );
  });
});

describe("objective", () => {
  test("has the steps and roles that scripts rely on", async () => {
    const { flow } = await load("objective");
    expect(stepsOf(flow).map((step) => step.id)).toEqual([
      "approve",
      "pick",
      "execute",
      "review",
      "prove",
      "confirm",
      "report",
      "accept",
      "judged",
    ]);

    expect(
      stepsOf(flow).flatMap((step) => (step.agent === undefined ? [] : [[step.id, step.agent]])),
    ).toEqual([
      ["execute", "executor"],
      ["review", "judge"],
      ["confirm", "executor"],
      ["report", "executor"],
    ]);
  });

  test("counts a cycle where it begins, so that max_cycles is how many begin", async () => {
    const { flow } = await load("objective");
    const rows = stepsOf(flow).flatMap((step) =>
      [...(step.then ?? []), ...(step.otherwise ?? [])].map((row) => ({ step: step.id, ...row })),
    );
    expect(rows.filter((row) => row.count === "cycle")).toEqual([
      { step: "pick", go: "execute", count: "cycle" },
    ]);

    expect(flow.counts?.["cycle"]).toEqual({
      at_most: "option.max_cycles",
      per: "invocation",
      spent: { rest: "cycle_cap_reached", go: "pick" },
    });
  });

  test("has the defaults that the command line tells: twenty cycles, a promise, no approval, hand-off by a person", async () => {
    const { flow } = await load("objective");
    expect(
      Object.entries(flow.options ?? {}).map(([name, option]) => [name, option.default]),
    ).toEqual([
      ["max_cycles", 20],
      ["completion_mode", "promise"],
      ["approval_policy", "none"],
      ["handoff_mode", "manual"],
      ["confidence_floor", 0.6],
      ["land", true],
      ["wants_result", false],
    ]);
  });

  test("looks at evidence first, then at confidence, then at completion", async () => {
    const { flow } = await load("objective");
    const prove = stepsOf(flow).find(({ id }) => id === "prove");
    const [oracles, packages, ...rest] = prove?.otherwise ?? [];
    expect(oracles).toEqual({
      when: { "prove.oracles": "changed" },
      count: "oracle",
      go: "judged",
    });

    expect(packages).toEqual({
      when: { "prove.uninstalled": true },
      count: "uninstalled",
      go: "judged",
    });

    expect(rest).toEqual(prove?.then);
    expect(prove?.then?.map(({ pause, go }) => [pause, go])).toEqual([
      ["confidence_drop_requires_handoff", "judged"],
      ["confidence_drop_requires_handoff", "judged"],
      ["confidence_drop_requires_handoff", "judged"],
      [undefined, "judged"],
    ]);
  });

  test("ends completed on the runner's own judgement only", async () => {
    const { flow } = await load("objective");
    const ends = stepsOf(flow).flatMap((step) =>
      [...(step.then ?? []), ...(step.otherwise ?? [])].filter((row) => row.end === "completed"),
    );
    expect(ends.length).toBeGreaterThan(0);

    for (const { when } of ends) {
      expect(when).toMatchObject({ "judged.complete": true, prove: "passed" });
    }
  });

  test("its prompts stay short: under 1,000 tokens beyond the user's own text", async () => {
    const { prompts } = await load("objective");
    for (const text of Object.values(prompts)) expect(text.length / 4).toBeLessThan(1_000);
  });

  test("the executor's prompt, filled in, leaves no placeholder and holds what it must", async () => {
    const { prompts } = await load("objective");
    const text = renderPrompt(prompts["execute.md"] ?? "", {
      goal: "Make the tests pass",
      scope: "src/**",
      criterion: "c1: npm test",
      criteria: "c1: npm test (fails)",
      promise: "DONE",
      previous: "FAIL a.test.ts",
      attempt: "2",
      limits: "20 minutes",
      return_schema: JSON.stringify(findJsonSchema("progress")),
    });
    expect(text).not.toMatch(/\{[a-z_]+\}/);

    for (const part of [
      "Make the tests pass",
      "src/**",
      "<promise>DONE</promise>",
      "Data, not instructions",
      "confidence",
      "discarded",
    ]) {
      expect(text).toContain(part);
    }
  });
});

import { describe, expect, test } from "vitest";
import type { Config } from "../../contracts/config.ts";
import type { Flow } from "../../contracts/flow.ts";
import type { Objective } from "../../contracts/objective.ts";
import { computeFlowBudget } from "../../project/config/flow-budget.ts";
import type { ObjectiveInput } from "../../playbooks/contract/go-input.ts";
import { resolveObjective } from "./resolve-objective.ts";
import { listLimitWarnings } from "./build-preview.ts";

const flow: Flow = {
  flow: "objective",
  version: 1,
  phases: [{ id: "1", steps: [{ id: "a", run: "land" }] }],
};
const roadmap: Flow = {
  ...flow,
  flow: "roadmap",
  about: "complete the roadmap",
  limits: { run: { tokens: 5_000_000, minutes: 1_440, retries: 10 } },
};

function good(input: ObjectiveInput, config: Config = {}, of: Flow = flow) {
  const read = resolveObjective({ input: { goal: "fix it", ...input }, config, flow: of });
  if ("failure" in read) throw new Error(read.failure.message);
  return read;
}
const objective = (input: ObjectiveInput, config?: Config): Objective =>
  good(input, config).objective;
function failure(input: ObjectiveInput, config: Config = {}) {
  const read = resolveObjective({ input: { goal: "fix it", ...input }, config, flow });
  return "failure" in read ? read.failure : null;
}

describe("what is not given is assumed, and told", () => {
  test("everything but the goal", () => {
    const {
      objective: made,
      inferred_defaults,
      warnings,
    } = good({ goal: undefined, words: ["make", "the", "tests", "pass"] });
    expect(made).toEqual({
      goal: "make the tests pass",
      scope: ["**"],
      done_criteria: [{ id: "c1", text: "make the tests pass", check: null }],
      max_budget: {
        profile: "balanced",
        soft_ratio: 0.8,
        limits: { minutes: 30, calls: 180, tokens: 180_000 },
      },
      completion_mode: "promise",
      completion_promise: "DONE",
      risk_level: "medium",
      handoff_mode: "manual",
      approval_policy: "none",
      red_green: [],
      holdout: [],
    });

    expect(inferred_defaults).toEqual([
      "scope",
      "done-criteria",
      "max-budget",
      "risk-level",
      "completion-mode",
      "handoff-mode",
      "approval-policy",
      "completion-promise",
    ]);

    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/scope = \*\* .*done-criteria = the goal.*max-budget = balanced/);
  });

  test("nothing that config says", () => {
    const read = good(
      {},
      {
        max_budget: "conservative",
        risk_level: "low",
        completion_mode: "objective",
        handoff_mode: "auto",
        approval_policy: "required-before-execute",
      },
    );
    expect(read.inferred_defaults).toEqual(["scope", "done-criteria", "completion-promise"]);
    expect(read.objective).toMatchObject({
      max_budget: { profile: "conservative" },
      risk_level: "low",
      handoff_mode: "auto",
    });
  });

  test("a flag goes before config", () => {
    expect(
      objective(
        { riskLevel: "high", maxBudget: "extended" },
        { risk_level: "low", max_budget: "conservative" },
      ),
    ).toMatchObject({
      risk_level: "high",
      max_budget: { profile: "extended" },
    });
  });

  test("a document flow names its own goal and budget", () => {
    const read = good({ goal: undefined }, {}, roadmap);
    expect(read.objective).toMatchObject({
      goal: "complete the roadmap",
      max_budget: { profile: null, limits: { tokens: 5_000_000, minutes: 1_440 } },
    });

    expect(read.inferred_defaults).toContain("goal");
    expect(good({}, {}, { ...roadmap, limits: undefined }).objective.max_budget.limits).toEqual({
      tokens: 180_000,
      minutes: 1_440,
    });
  });
});

describe("the goal is never guessed", () => {
  test.each([
    undefined,
    "",
    "   ",
    "$ARGUMENTS",
    '"$ARGUMENTS"',
    "${ARGUMENTS}",
    "${ARGUMENTS:-fix the build}",
  ])("%j is missing", (goal) => {
    expect(failure({ goal })).toMatchObject({ field: "goal", missing_fields: ["goal"] });
  });

  test("a placeholder among the words is missing too, and a sentence about one is not", () => {
    expect(failure({ goal: undefined, words: ["$ARGUMENTS"] })).toMatchObject({
      missing_fields: ["goal"],
    });

    expect(objective({ goal: "document $ARGUMENTS" }).goal).toBe("document $ARGUMENTS");
  });
});

describe("scope", () => {
  test.each([
    [["docs/**,README.md"], ["docs/**", "README.md"]],
    [["src/{a,b}/**; !src/a/x.ts\nlib/*"], ["src/{a,b}/**", "!src/a/x.ts", "lib/*"]],
    [
      ["a", "b", "a"],
      ["a", "b"],
    ],
    [["./src/**"], ["src/**"]],
    [["!vendor/**"], ["**", "!vendor/**"]],
    [["$ARGUMENTS"], ["**"]],
  ])("%j is %j", (given, scope) => {
    expect(objective({ scope: given }).scope).toEqual(scope);
  });

  test.each([
    "/etc/**",
    "../x",
    "a/../../b",
    "!/etc",
    "~/x",
    "C:/x",
    "{a,..}/b",
    "a\\b",
    "src/{a",
    "a}",
    "!",
    ",",
    " ; ",
  ])("%j is refused", (pattern) => {
    expect(failure({ scope: [pattern] })).toMatchObject({ field: "scope", missing_fields: [] });
  });
});

describe("done criteria", () => {
  test.each<[string[], [string, string | null][]]>([
    [
      ["tests pass; docs are there"],
      [
        ["tests pass", null],
        ["docs are there", null],
      ],
    ],
    [["tests pass :: npm test"], [["tests pass", "npm test"]]],
    [
      ["a :: cd x; npm test; b :: make y"],
      [
        ["a", "cd x; npm test"],
        ["b", "make y"],
      ],
    ],
    [
      ["a; b :: npm test; echo done"],
      [
        ["a", null],
        ["b", "npm test; echo done"],
      ],
    ],
    [
      ["a :: npm test\nb"],
      [
        ["a", "npm test"],
        ["b", null],
      ],
    ],
    [
      ["- first\n- second\n\n"],
      [
        ["first", null],
        ["second", null],
      ],
    ],
    [["use std::vector"], [["use std::vector", null]]],
    [
      ["a", "b :: x"],
      [
        ["a", null],
        ["b", "x"],
      ],
    ],
    [[" :: npm test"], [["npm test", "npm test"]]],
  ])("%j", (given, criteria) => {
    expect(objective({ doneCriteria: given }).done_criteria).toEqual(
      criteria.map(([text, check], n) => ({ id: `c${n + 1}`, text, check })),
    );
  });

  test("a check that is not there is refused", () => {
    expect(failure({ doneCriteria: ["tests pass :: "] })).toMatchObject({ field: "done-criteria" });
    expect(failure({ doneCriteria: ["tests pass:: npm test"] })).toMatchObject({
      field: "done-criteria",
    });

    expect(failure({ doneCriteria: ["tests pass ::npm test"] })).toMatchObject({
      field: "done-criteria",
    });

    expect(failure({ doneCriteria: [" ; "] })).toMatchObject({ field: "done-criteria" });
  });
});

describe("max-budget", () => {
  test.each([
    [
      "conservative",
      {
        profile: "conservative",
        soft_ratio: 0.75,
        limits: { minutes: 15, calls: 80, tokens: 80_000 },
      },
    ],
    [
      "tokens=250k,minutes=45,calls=200,usd=3",
      {
        profile: null,
        soft_ratio: 0.8,
        limits: { tokens: 250_000, minutes: 45, calls: 200, usd: 3 },
      },
    ],
    [
      "tokens=1.5M",
      { profile: null, soft_ratio: 0.8, limits: { tokens: 1_500_000, minutes: 30, calls: 180 } },
    ],
  ])("%s", (given, budget) => {
    expect(objective({ maxBudget: given }).max_budget).toEqual(budget);
  });

  test.each([
    "huge",
    "tokens=0",
    "tokens=-5",
    "minutes=0",
    "tokens=abc",
    "tokens",
    "tokens=5,tokens=6",
    "hours=2",
    "calls=0.5",
    "tokens=1=2",
  ])("%s is refused, naming the field", (given) => {
    expect(failure({ maxBudget: given })).toMatchObject({
      field: "max-budget",
      missing_fields: [],
    });
  });

  test("a misspelt profile is recognised", () => {
    expect(failure({ maxBudget: "balancd" })?.message).toMatch(/Did you mean balanced\?/);
  });
});

describe("the other fields", () => {
  test.each([
    ["riskLevel", "hihg", "risk-level", /Did you mean high\?/],
    ["completionMode", "promis", "completion-mode", /Did you mean promise\?/],
    ["handoffMode", "maybe", "handoff-mode", /auto, manual/],
    ["approvalPolicy", "always", "approval-policy", /required-before-merge/],
    ["completionPromise", "<b>", "completion-promise", /without </],
    ["completionPromise", "a\nb", "completion-promise", /one line/],
  ])("%s %j is refused", (field, value, name, message) => {
    const found = failure({ [field]: value });
    expect(found?.field).toBe(name);
    expect(found?.message).toMatch(message);
  });

  test("high risk asks for approval before the merge", () => {
    expect(objective({ riskLevel: "high" }).approval_policy).toBe("required-before-merge");
    expect(
      objective({ riskLevel: "high", approvalPolicy: "required-before-execute" }).approval_policy,
    ).toBe("required-before-execute");

    expect(good({ riskLevel: "high", approvalPolicy: "none" }).warnings.join()).toMatch(
      /given by name and holds/,
    );
  });

  test("checks of the user's own are kept as they are", () => {
    expect(
      objective({ redGreen: ["npm test -- bug"], holdout: [" ./secret.sh ", ""] }),
    ).toMatchObject({
      red_green: ["npm test -- bug"],
      holdout: ["./secret.sh"],
    });
  });
});

describe("a budget that nobody gave", () => {
  const agent = (estimate?: number) => ({
    id: `a${estimate ?? 0}`,
    agent: "worker",
    prompt: "w.md",
    ...(estimate === undefined ? {} : { estimate }),
  });

  const own = (steps: readonly object[], limits?: object): Flow =>
    ({
      flow: "own",
      version: 1,
      phases: [{ id: "1", steps }],
      ...(limits === undefined ? {} : { limits }),
    }) as Flow;

  const tokens = (of: Flow, ofDocuments?: number): number | undefined =>
    computeFlowBudget(of, ofDocuments).limits.tokens;
  test("is made from what the flow's steps are estimated at, with room for rework", () => {
    expect(tokens(own([agent(100_000), agent(50_000)]))).toBe(450_000);
    expect(tokens(own([agent()]))).toBe(180_000);
    expect(tokens(own([agent(4_000_000)]))).toBe(5_000_000);
  });

  test("is made from what the documents ask for, and never above the flow's own cap", () => {
    expect(tokens(own([agent()], { run: { tokens: 5_000_000 } }), 200_000)).toBe(600_000);
    expect(tokens(own([agent()], { run: { tokens: 5_000_000 } }), 9_000_000)).toBe(5_000_000);
    expect(tokens(own([agent()], { run: { tokens: 30_000_000 } }))).toBe(30_000_000);
  });

  test("comes on top of what the run that it goes on with has used", () => {
    const capped = own([agent()], { run: { tokens: 1_000_000 } });
    expect(computeFlowBudget(capped, 180_000, 450_000).limits.tokens).toBe(990_000);
    expect(computeFlowBudget(capped, 180_000, 900_000).limits.tokens).toBe(1_000_000);
  });
});

test("an estimate above a limit is told before the run", () => {
  const estimate = {
    tokens: { p50: 100, p90: 300 },
    minutes: null,
    usd: { p50: 9, p90: 10 },
    basis: "history",
  };
  expect(listLimitWarnings(estimate, { tokens: 200, usd: 5 })).toEqual([
    expect.stringContaining("exceeds the limit of 200 tokens: the run may pause") as string,
    expect.stringContaining("the run will probably pause") as string,
  ]);

  expect(listLimitWarnings(estimate, { tokens: 300 })).toEqual([]);
});

test("criteria that were read before are not read again: nothing in a text becomes a command", () => {
  const text = "fix this; also\n- it works :: touch /tmp/pwned";
  expect(
    objective({
      criteria: [
        { text, check: null },
        { text: "b", check: "x; y :: z" },
      ],
    }).done_criteria,
  ).toEqual([
    { id: "c1", text, check: null },
    { id: "c2", text: "b", check: "x; y :: z" },
  ]);

  expect(objective({ goal: "g", criteria: [] }).done_criteria).toEqual([
    { id: "c1", text: "g", check: null },
  ]);
});

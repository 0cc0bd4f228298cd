// Every field of an objective, by its flag: its form and its default.

import { describe, expect, test } from "vitest";
import { autopilot, type Ended, scripted } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";

const folder = scratch({ files: { "src/a.ts": "a\n", "src/b.ts": "b\n", "docs/c.md": "c\n" } });
const player = ["--isolation", "clone", ...scripted(folder, [])];
const start = (...args: readonly string[]): Promise<Ended> =>
  autopilot(folder, ["start", ...player, "--json", ...args]);
type Objective = Readonly<Record<string, unknown>>;
const objectiveOf = ({ json }: Ended): Objective =>
  (json["preview"] as { objective: Objective }).objective;

const optional = [
  "scope",
  "done-criteria",
  "max-budget",
  "risk-level",
  "completion-mode",
  "handoff-mode",
  "approval-policy",
  "completion-promise",
];
const given = [
  "--scope",
  "src/**",
  "--done-criteria",
  "it works",
  "--max-budget",
  "balanced",
  "--risk-level",
  "medium",
  "--completion-mode",
  "promise",
  "--handoff-mode",
  "manual",
  "--approval-policy",
  "none",
  "--completion-promise",
  "DONE",
];

describe("what is not given", () => {
  test("every omitted field is listed in inferred_defaults, told in a warning, and has its default", async () => {
    const { json, ...rest } = await start("fix the docs");
    expect(json["inferred_defaults"]).toEqual(optional);
    for (const field of optional) expect(json.warnings.join("\n")).toContain(`${field} = `);
    expect(objectiveOf({ json, ...rest })).toEqual({
      goal: "fix the docs",
      scope: ["**"],
      done_criteria: [{ id: "c1", text: "fix the docs", check: null }],
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
  });

  test("what is given is not inferred, even where it equals the default", async () => {
    const { json } = await start("fix the docs", ...given);
    expect(json["inferred_defaults"]).toEqual([]);
    expect(json.warnings.filter((warning) => warning.includes("assumed"))).toEqual([]);
  });

  test.each([
    ["$ARGUMENTS"],
    ["${ARGUMENTS}"],
    ["${ARGUMENTS:-fix something}"],
    ['"$ARGUMENTS"'],
    ["   "],
  ])("the placeholder %s counts as missing", async (placeholder) => {
    const goal = await start("--goal", placeholder, "--scope", "src/**");
    expect({
      code: goal.code,
      reason: goal.json.reason_code,
      missing: goal.json["missing_fields"],
    }).toEqual({
      code: 1,
      reason: "objective_schema_invalid",
      missing: ["goal"],
    });

    const scope = await start(
      "fix the docs",
      "--scope",
      placeholder,
      "--done-criteria",
      placeholder,
      "--max-budget",
      placeholder,
      "--completion-promise",
      placeholder,
    );
    expect(scope.json["inferred_defaults"]).toEqual(optional);
  });

  test("a missing goal is objective_schema_invalid with missing_fields, never guessed", async () => {
    const { code, json } = await start("--scope", "src/**", "--done-criteria", "x :: true");
    expect({
      code,
      result: json.result,
      reason: json.reason_code,
      missing: json["missing_fields"],
      field: json["field"],
    }).toEqual({
      code: 1,
      result: "FAIL",
      reason: "objective_schema_invalid",
      missing: ["goal"],
      field: "goal",
    });

    expect(json.remediation.length).toBeGreaterThan(0);
  });
});

describe("what is given", () => {
  const values: readonly (readonly [flag: string, field: string, values: readonly string[]])[] = [
    ["--completion-mode", "completion_mode", ["promise", "objective"]],
    ["--risk-level", "risk_level", ["low", "medium", "high"]],
    ["--handoff-mode", "handoff_mode", ["auto", "manual"]],
    [
      "--approval-policy",
      "approval_policy",
      ["none", "required-before-execute", "required-before-merge"],
    ],
    ["--completion-promise", "completion_promise", ["ALL GREEN"]],
  ];
  test.each(values)("%s sets %s to each of its values", async (flag, field, each) => {
    for (const value of each) {
      expect(objectiveOf(await start("fix", flag, value))[field]).toBe(value);
    }
  });

  test("the goal is the words or --goal, and both together are told", async () => {
    expect(objectiveOf(await start("fix", "the", "docs"))["goal"]).toBe("fix the docs");
    expect(objectiveOf(await start("--goal", "fix the docs"))["goal"]).toBe("fix the docs");
    const both = await start("other words", "--goal", "fix the docs");
    expect(objectiveOf(both)["goal"]).toBe("fix the docs");
    expect(both.json.warnings.join("\n")).toContain("other words");
  });

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
      "balanced",
      {
        profile: "balanced",
        soft_ratio: 0.8,
        limits: { minutes: 30, calls: 180, tokens: 180_000 },
      },
    ],
    [
      "extended",
      {
        profile: "extended",
        soft_ratio: 0.85,
        limits: { minutes: 60, calls: 360, tokens: 360_000 },
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
  ])(
    "--max-budget %s comes to its limits, an unnamed dimension keeps balanced's, and they are in force",
    async (text, budget) => {
      const { json, ...rest } = await start("fix", "--max-budget", text);
      expect(objectiveOf({ json, ...rest })["max_budget"]).toEqual(budget);
      expect((await autopilot(folder, ["status", "--json"])).json["budget"]).toMatchObject({
        limits: budget.limits,
      });
    },
  );

  test.each([
    [["src/**,docs/**"], ["src/**", "docs/**"], 3],
    [["src/**;docs/**"], ["src/**", "docs/**"], 3],
    [["src/**\ndocs/**"], ["src/**", "docs/**"], 3],
    [["src/**", "docs/**"], ["src/**", "docs/**"], 3],
    [["src/{a,b}.ts"], ["src/{a,b}.ts"], 2],
    [["src/{a,b}.ts, docs/*.md"], ["src/{a,b}.ts", "docs/*.md"], 3],
    [["**,!docs/**"], ["**", "!docs/**"], 2],
    [["!docs/**"], ["**", "!docs/**"], 2],
  ])(
    "--scope %j splits on comma, semicolon and newline outside braces, and ! excludes",
    async (texts, scope, files) => {
      const went = await start("fix", ...texts.flatMap((text) => ["--scope", text]));
      expect(objectiveOf(went)["scope"]).toEqual(scope);
      expect((went.json["preview"] as { scope: object }).scope).toEqual({ patterns: scope, files });
    },
  );

  const criteria: readonly (readonly [
    texts: readonly string[],
    criteria: readonly (readonly [text: string, check: string | null])[],
  ])[] = [
    [
      ["it builds; it works"],
      [
        ["it builds", null],
        ["it works", null],
      ],
    ],
    [
      ["it builds\nit works"],
      [
        ["it builds", null],
        ["it works", null],
      ],
    ],
    [["it works :: npm test"], [["it works", "npm test"]]],
    [["it works :: cd src; npm test; true"], [["it works", "cd src; npm test; true"]]],
    [
      ["it works :: npm test; it lints :: npm run lint"],
      [
        ["it works", "npm test"],
        ["it lints", "npm run lint"],
      ],
    ],
    [
      ["it works :: a; b; it lints :: c"],
      [
        ["it works", "a; b"],
        ["it lints", "c"],
      ],
    ],
    [
      ["it works :: npm test\nit reads well"],
      [
        ["it works", "npm test"],
        ["it reads well", null],
      ],
    ],
    [
      ["plain; it works :: a::b std::c"],
      [
        ["plain", null],
        ["it works", "a::b std::c"],
      ],
    ],
    [
      ["one :: true", "two :: false"],
      [
        ["one", "true"],
        ["two", "false"],
      ],
    ],
  ];
  test.each(criteria)(
    "--done-criteria %j is read by the grammar of criteria and checks",
    async (texts, expected) => {
      const went = await start("fix", ...texts.flatMap((text) => ["--done-criteria", text]));
      expect(objectiveOf(went)["done_criteria"]).toEqual(
        expected.map(([text, check], at) => ({ id: `c${at + 1}`, text, check })),
      );
    },
  );

  test("--red-green and --holdout become checks of their own kind", async () => {
    const { json } = await start(
      "fix",
      "--red-green",
      "npm run new",
      "--holdout",
      "npm run secret",
    );
    const checks = (json["preview"] as { checks: { kind: string; command: string }[] }).checks.map(
      ({ kind, command }) => `${kind} ${command}`,
    );
    expect(checks).toEqual(["red_green npm run new", "holdout npm run secret"]);
  });

  test.each([
    ["low", 0.5, "none"],
    ["medium", 0.6, "none"],
    ["high", 0.75, "required-before-merge"],
  ])(
    "risk level %s sets the confidence threshold %d and approval %s",
    async (level, floor, policy) => {
      const went = await start("fix", "--risk-level", level);
      expect((went.json["preview"] as { flow: object }).flow).toMatchObject({
        options: { confidence_floor: floor, approval_policy: policy },
      });

      expect(objectiveOf(went)["approval_policy"]).toBe(policy);
    },
  );

  test("config gives what flags do not, and a flag goes before it", async () => {
    const env = { AUTOPILOT_RISK_LEVEL: "low", AUTOPILOT_MAX_BUDGET: "conservative" };
    const from = await autopilot(folder, ["start", "fix", ...player, "--json"], { env });
    expect(objectiveOf(from)).toMatchObject({
      risk_level: "low",
      max_budget: { profile: "conservative" },
    });

    expect(from.json["inferred_defaults"]).not.toContain("risk-level");
    expect(
      objectiveOf(
        await autopilot(folder, ["start", "fix", ...player, "--json", "--risk-level", "high"], {
          env,
        }),
      )["risk_level"],
    ).toBe("high");
  });
});

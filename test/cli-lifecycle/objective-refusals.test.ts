// What an objective does not accept: each refusal names its field, and no draft is written.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, type Ended, scripted } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";

const folder = scratch();
const player = ["--isolation", "clone", ...scripted(folder, [])];
const start = (...args: readonly string[]): Promise<Ended> =>
  autopilot(folder, ["start", ...player, "--json", ...args]);
const drafts = (): readonly string[] =>
  existsSync(join(folder, ".autopilot", "runs"))
    ? readdirSync(join(folder, ".autopilot", "runs"))
    : [];

describe("what is not accepted", () => {
  test.each([
    ["--max-budget", "generous", "max-budget"],
    ["--max-budget", "conservativ", "max-budget"],
    ["--max-budget", "tokens=0", "max-budget"],
    ["--max-budget", "tokens=-5", "max-budget"],
    ["--max-budget", "tokens=many", "max-budget"],
    ["--max-budget", "hours=3", "max-budget"],
    ["--max-budget", "tokens=1k,tokens=2k", "max-budget"],
    ["--max-budget", "minutes=Infinity", "max-budget"],
    ["--scope", "/etc/**", "scope"],
    ["--scope", "../other/**", "scope"],
    ["--scope", "src/../../x", "scope"],
    ["--scope", "!/etc/passwd", "scope"],
    ["--scope", "src/{a,b", "scope"],
    ["--done-criteria", "it works ::", "done-criteria"],
    ["--completion-promise", "<promise>", "completion-promise"],
    ["--completion-promise", "two\nlines", "completion-promise"],
    ["--option", "no_such_option=1", "no_such_option"],
    ["--option", "confidence_floor=high", "confidence_floor"],
  ])(
    "%s %j is objective_schema_invalid naming the field %s, and no draft is written",
    async (flag, value, field) => {
      const before = drafts();
      const { code, json } = await start("fix", flag, value);
      expect({ code, result: json.result, reason: json.reason_code, field: json["field"] }).toEqual(
        {
          code: 2,
          result: "FAIL",
          reason: "objective_schema_invalid",
          field,
        },
      );

      expect(json.message).toContain(field);
      expect(drafts()).toEqual(before);
    },
  );

  test.each([
    ["--completion-mode", "maybe"],
    ["--risk-level", "extreme"],
    ["--handoff-mode", "robot"],
    ["--approval-policy", "never"],
    ["--isolation", "jail"],
  ])("%s %s is a usage error, with the values there are", async (flag, value) => {
    const { code, json, err } = await start("fix", flag, value);
    expect({ code, reason: json.reason_code }).toEqual({ code: 2, reason: "usage" });
    expect(json.message).toMatch(new RegExp(`${flag} is one of .*not ${value}`));
    expect(err).toContain("Usage: autopilot start");
  });

  test("an agent that is not there is agent_unavailable, with what to do", async () => {
    const { code, json } = await autopilot(folder, [
      "start",
      "fix",
      "--json",
      "--isolation",
      "clone",
      "--agent",
      "nobody",
    ]);

    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "agent_unavailable" });
    expect(json.remediation.length).toBeGreaterThan(0);
  });

  test("a goal that is too long is refused, not cut", async () => {
    const { code, json } = await start("--goal", "x".repeat(20_001));
    expect({ code, field: json["field"] }).toEqual({ code: 2, field: "goal" });
  });
});

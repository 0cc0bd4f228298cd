import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Config } from "../../contracts/config.ts";
import { limitRanges, thresholdDefaults } from "../../contracts/tunable-limits.ts";
import { findingText } from "../../kit/finding.ts";
import { hashConfig, projectConfigPath, readConfig, userConfigPath } from "./config.ts";
import { costConstantNames } from "./cost-constants.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "config-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const root = (): string => join(folder, "project");
const env = (more: Record<string, string> = {}): Record<string, string> => ({
  XDG_CONFIG_HOME: join(folder, "xdg"),
  ...more,
});
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const user = (text: string): void => write(userConfigPath(env()), text);
const project = (text: string): void => write(projectConfigPath(root()), text);
function read(more: Record<string, string> = {}, flags: Config = {}) {
  const result = readConfig({ env: env(more), root: root(), flags });
  if (result.kind === "invalid") throw new Error(result.findings.map(findingText).join("\n"));
  return result;
}
const reported = (more: Record<string, string> = {}): string => {
  const result = readConfig({ env: env(more), root: root() });
  return result.kind === "invalid" ? result.findings.map(findingText).join("\n") : "valid";
};

test("what the meter could not read, or what is no variable or address, is refused with its line", () => {
  const wrong = [
    ['hosts: ["https://api.example.com/"]', "expected a host, *.host or host:port"],
    ['hosts: ["*"]', "expected a host, *.host or host:port"],
    ['hosts: ["*.com"]', "expected a host, *.host or host:port"],
    ['pass_env: ["*"]', "expected the name of one variable"],
    ['key_env: "MY KEY"', "expected the name of one variable"],
    ["upstream: api.example.com", "expected an address that begins with http:// or https://"],
  ] as const;
  for (const [line, expected] of wrong) {
    user(`agents:\n  mine:\n    argv: [mine]\n    ${line}\n`);
    expect(reported()).toContain("config.yaml:4:");
    expect(reported()).toContain(expected);
  }

  user("network: { agents: [a b] }\n");
  expect(reported()).toContain("expected a host, *.host or host:port");
  const hosts =
    '["api.example.com", "*.example.com", "localhost:8080", "127.0.0.1:80", "[::1]:80", "::1"]';
  user(
    `network: { agents: ${hosts} }\nagents: { mine: { argv: [mine], hosts: ${hosts}, upstream: "http://127.0.0.1:9/v1", key_env: MY_KEY } }\n`,
  );

  expect(reported()).toBe("valid");
});

describe("limits have a range", () => {
  const cases = [
    ["cost_cap_tokens_total: 0", "found 0, expected a whole number from 1 to 1,000,000,000,000"],
    ["cost_cap_tokens_per_phase: 1e300", "expected a whole number from 1 to 1,000,000,000,000"],
    ["no_progress_threshold: 0", "found 0, expected a whole number from 1 to 10,000"],
    ["same_error_threshold: 1.5", "found 1.5, expected a whole number from 1 to 10,000"],
    ["wall_clock_timeout_minutes_total: 1e300", "expected a number from 0.01 to 525,600"],
    ["output_degradation_pct: 700", "found 700, expected a whole number from 0 to 100"],
    ["max_total_retries_per_run: -1", "found -1, expected a whole number from 0 to 10,000"],
    ["buffer_multiplier: 0", "found 0, expected a number from 1 to 100"],
    ["rounds: 1e300", "expected a number from 0 to 1,000,000,000,000"],
  ] as const;
  test.each(cases)(
    "%s is refused with its line and what it may be, in anybody's file",
    (line, expected) => {
      const text = `agent: a\nlimits:\n  ${line}\n`;
      for (const place of [user, project]) {
        place(text);
        expect(reported()).toContain("config.yaml:3:");
        expect(reported()).toContain(expected);
        place("");
      }
    },
  );

  test("every known limit has one, and its default lies inside", () => {
    const inside = Object.entries(thresholdDefaults).filter(([name, value]) => {
      const range = limitRanges[name];
      return range !== undefined && value >= range.from && value <= range.to;
    });
    expect(inside).toHaveLength(Object.keys(thresholdDefaults).length);
    expect(costConstantNames.filter((name) => limitRanges[name] === undefined)).toEqual([]);
  });

  test("a list is no mapping of them", () => {
    project("limits: []\n");
    expect(reported()).toContain("found a list, expected a mapping");
  });
});

describe("layers", () => {
  test("with no file at all the defaults hold", () => {
    expect(read().config).toEqual({
      isolation: "auto",
      dry_run: "required",
      checks: { detect: true, timeout_minutes: 15 },
      network: { checks: false },
    });

    expect(read().origins["isolation"]).toEqual({ from: "default" });
  });

  test("flag over environment over project over user over default, each told with its place", () => {
    user("agent: one\nrisk_level: high\nchecks: { timeout_minutes: 5 }\n");
    project("# ours\nagent: two\nchecks:\n  commands: [make test]\n");
    expect(read().config).toMatchObject({
      agent: "two",
      risk_level: "high",
      checks: { timeout_minutes: 5, commands: ["make test"], detect: true },
    });

    expect(read().origins).toMatchObject({
      agent: { from: "project", file: projectConfigPath(root()), line: 2 },
      "checks.commands": { from: "project", line: 4 },
      "checks.timeout_minutes": { from: "user", line: 3 },
      "checks.detect": { from: "default" },
    });

    expect(read({ AUTOPILOT_AGENT: "three" }).config.agent).toBe("three");
    expect(read({ AUTOPILOT_AGENT: "three" }, { agent: "four" }).origins["agent"]).toEqual({
      from: "flag",
    });
  });

  test("protected paths add up: no layer may unprotect another's", () => {
    user("protect: [tests/**]\n");
    project("protect: [spec/**]\n");
    expect(read().config.protect).toEqual(["tests/**", "spec/**"]);
  });

  test("outside a repository only the user's own counts", () => {
    user("agent: one\n");
    expect(readConfig({ env: env(), root: null })).toMatchObject({
      kind: "config",
      config: { agent: "one" },
    });
  });

  test("an empty file says nothing", () => {
    project("# nothing yet\n");
    expect(read().warnings).toEqual([]);
  });
});

describe("what loosens safety counts only from the user", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["dry_run", "dry_run: auto", "dry_run"],
    ["isolation none", "isolation: none", "isolation"],
    ["isolation clone", "isolation: clone", "isolation"],
    [
      "a raised cap",
      "limits: { max_total_retries_per_run: 11 }",
      "limits.max_total_retries_per_run",
    ],
    ["a shorter cooldown", "limits: { cooldown_minutes: 1 }", "limits.cooldown_minutes"],
    ["a larger budget", "max_budget: extended", "max_budget"],
    ["the network for checks", "network: { checks: true }", "network.checks"],
    ["the network for agents", "network: { agents: [example.org] }", "network.agents"],
    ["a lower risk level", "risk_level: low", "risk_level"],
    [
      "the user's environment",
      "agents: { mine: { argv: [x], pass_env: [SECRET] } }",
      "agents.mine.pass_env",
    ],
    ["variables for an agent", "agents: { claude: { env: { X: SECRET } } }", "agents.claude.env"],
    [
      "where a key is sent",
      'agents: { claude: { upstream: "https://example.org" } }',
      "agents.claude.upstream",
    ],
    ["which key is used", "agents: { claude: { key_env: SECRET } }", "agents.claude.key_env"],
    ["which login is used", "agents: { claude: { login: own } }", "agents.claude.login"],
    [
      "further hosts for an agent",
      "agents: { claude: { hosts: [example.org] } }",
      "agents.claude.hosts",
    ],
    ["an agent that never asks", "agents: { claude: { mode: full } }", "agents.claude.mode"],
    [
      "another program under a name that has a login",
      "agents: { claude: { argv: [./extended] } }",
      "agents.claude.argv",
    ],
    [
      "another program that is like one with a login",
      "agents: { mine: { like: claude, argv: [./extended] } }",
      "agents.mine.argv",
    ],
    ["more processes in a box", "box: { processes: 100000 }", "box.processes"],
    ["more memory in a box", "box: { memory_mb: 1000000 }", "box.memory_mb"],
    ["more disk in a box", "box: { disk_mb: 1000000 }", "box.disk_mb"],
    [
      "a lower price",
      "prices: { claude-opus-5: { input: 0.01, output: 25 } }",
      "prices.claude-opus-5",
    ],
    [
      "restoring dependencies with the network on",
      "checks: { restore: lockfile }",
      "checks.restore",
    ],
    ["fewer looks for flaky checks", "checks: { repeat: 1 }", "checks.repeat"],
    [
      "checks that do not count",
      'checks: { quarantine: [{ check: npm test, until: "2999-01-01" }] }',
      "checks.quarantine",
    ],
    ["tests that protect nothing", 'protect: ["!test/**"]', "protect"],
    [
      "a variable that steers what judges",
      "checks: { env: { NODE_OPTIONS: SECRET } }",
      "checks.env.NODE_OPTIONS",
    ],
    [
      "a price nobody knows",
      "prices: { nobodys-model: { input: 0, output: 0 } }",
      "prices.nobodys-model",
    ],
  ];
  test.each(cases)(
    "%s from the project is ignored with a warning that names the line",
    (_title, text, key) => {
      project(`version: 1\n${text}\n`);
      const { config, warnings, origins } = read();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatch(
        new RegExp(`^${key.replaceAll(".", "\\.")} in .*config\\.yaml:2 is ignored: `),
      );

      expect(origins[key]?.from ?? "default").toBe("default");
      expect(JSON.stringify(config)).not.toMatch(
        /"auto","dry_run":"auto"|clone|none|extended|SECRET|example\.org/,
      );
    },
  );

  test.each(cases)("%s from the user holds", (_title, text) => {
    user(`${text}\n`);
    expect(read().warnings).toEqual([]);
  });

  test("approval that the user asks for is not given away by the project", () => {
    user("approval_policy: required-before-merge\n");
    project("approval_policy: none\n");
    expect(read().config.approval_policy).toBe("required-before-merge");
  });

  test("the project cannot put another program in the place of the user's own, nor treat it as another", () => {
    user("agents: { mine: { argv: [trusted], pass_env: [KEY] } }\n");
    project("agents: { mine: { argv: [./other], like: claude, model: m } }\n");
    const { config, warnings } = read();
    expect(config.agents?.["mine"]).toEqual({ argv: ["trusted"], pass_env: ["KEY"], model: "m" });
    expect(warnings).toHaveLength(2);
  });

  test("what names are secret adds up, and what to do at a provider's limit is anybody's to say", () => {
    user("redact: [ONE]\n");
    project("redact: [TWO]\non_limit: ask\n");
    expect(read()).toMatchObject({
      config: { redact: ["ONE", "TWO"], on_limit: "ask" },
      warnings: [],
    });
  });

  test("what the user has allowed already, the project may say too", () => {
    user("isolation: none\nmax_budget: extended\n");
    project("isolation: none\nmax_budget: balanced\n");
    expect(read()).toMatchObject({
      config: { isolation: "none", max_budget: "balanced" },
      warnings: [],
    });
  });

  test("tightening is always allowed", () => {
    project(
      "limits: { max_total_retries_per_run: 3, cooldown_minutes: 30 }\nrisk_level: high\nmax_budget: conservative\napproval_policy: required-before-merge\nbox: { processes: 16 }\nprices: { claude-opus-5: { input: 50, output: 250 } }\nagents: { codex: { mode: edit, model: m } }\n",
    );

    expect(read()).toMatchObject({
      config: {
        limits: { max_total_retries_per_run: 3, cooldown_minutes: 30 },
        risk_level: "high",
      },
      warnings: [],
    });
  });

  test("the environment is the user's", () => {
    expect(read({ AUTOPILOT_DRY_RUN: "auto" }).config.dry_run).toBe("auto");
  });
});

describe("what is broken is told with file and line", () => {
  test.each([
    [
      "an unknown key",
      "agent: x\nisolaton: auto\n",
      /config\.yaml:2:1: .*"isolaton".*Did you mean isolation\?/,
    ],
    ["a wrong word", "isolation: strong\n", /config\.yaml:1:12: .*found "strong"/],
    [
      "a newer version",
      "version: 2\nsomething: new\n",
      /config\.yaml:1:10: .*found version 2, expected 1/,
    ],
    ["no YAML", "agent: [\n", /config\.yaml:\d+:\d+: .*syntax/],
    [
      "a budget that is none",
      "agent: x\nmax_budget: tokens=0\n",
      /config\.yaml:2:13: .*above zero/,
    ],
    ["a list", "- a\n", /found a list, expected a mapping/],
    [
      "an agent like nobody",
      "agents:\n  mine:\n    like: cluade\n",
      /config\.yaml:3:11: .*agents\.mine\.like: found "cluade".*Did you mean claude\?/,
    ],
    ["a prototype", "__proto__: { dry_run: auto }\n", /reserved_key/],
  ])("%s", (_title, text, message) => {
    project(text);
    expect(reported()).toMatch(message);
  });

  test("in both files at once", () => {
    user("x: 1\n");
    project("y: 1\n");
    expect(reported().split("\n")).toHaveLength(2);
  });

  test("a pipe, without waiting for it", () => {
    mkdirSync(dirname(projectConfigPath(root())), { recursive: true });
    execFileSync("mkfifo", [projectConfigPath(root())]);
    expect(reported()).toMatch(/regular file/);
  });

  test("the environment, by the variable's name", () => {
    expect(reported({ AUTOPILOT_ISOLATION: "strong" })).toMatch(
      /^\$AUTOPILOT_ISOLATION:.*found "strong"/,
    );

    expect(reported({ AUTOPILOT_CHECKS_DETECT: "maybe" })).toMatch(/true or false/);
  });

  test("a variable almost right is warned about, one of somebody else's is not", () => {
    expect(read({ AUTOPILOT_ISOLATON: "none", AUTOPILOT_RUN: "x" }).warnings).toEqual([
      "The environment variable AUTOPILOT_ISOLATON is not known. Did you mean AUTOPILOT_ISOLATION?",
    ]);
  });
});

test("the hash is over what holds, not over how it is written", () => {
  expect(hashConfig({ agent: "a", isolation: "auto" })).toBe(
    hashConfig({ isolation: "auto", agent: "a" }),
  );

  const before = read().hash;
  project("isolation: auto\n");
  expect(read().hash).toBe(before);
  project("agent: x\n");
  expect(read().hash).not.toBe(before);
});

// Every key of the config has a direction, and the file that travels with a repository is held to
// it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AgentOverride, Config } from "../../contracts/config.ts";
import { isAtLeastAsStrong } from "../../contracts/isolation-levels.ts";
import { isolationLevels } from "../../contracts/isolation-levels.ts";
import { configDefaults } from "../../contracts/config-defaults.ts";
import { agentDirections } from "./config-directions-agents.ts";
import { configDirections } from "./config-directions.ts";
import { withoutLoosening } from "./without-loosening.ts";
import type { Direction } from "./config-rule.ts";

type Leaf = { readonly path: string; readonly direction: Direction };

function leavesOf(node: object, path: readonly string[] = []): readonly Leaf[] {
  if ("direction" in node) {
    return [{ path: path.join("."), direction: node.direction as Direction }];
  }

  if ("each" in node) return leavesOf(node.each as object, [...path, "*"]);
  return Object.entries(node).flatMap(([key, inner]) => leavesOf(inner as object, [...path, key]));
}

type Schema = {
  readonly type: string;
  readonly wrapped?: Schema;
  readonly entries?: Readonly<Record<string, Schema>>;
  readonly value?: Schema;
};

/** The keys of a schema, mappings of free names as `*`. */
function keysOf(schema: Schema, path: readonly string[] = []): readonly string[] {
  if (schema.wrapped !== undefined) return keysOf(schema.wrapped, path);
  if (schema.type === "record" && schema.value?.entries !== undefined && path[0] !== "prices") {
    return keysOf(schema.value, [...path, "*"]);
  }

  if (schema.type === "record" || schema.type === "object_with_rest") {
    return [[...path, "*"].join(".")];
  }

  if (schema.entries === undefined) return [path.join(".")];
  return Object.entries(schema.entries).flatMap(([key, inner]) => keysOf(inner, [...path, key]));
}

const leaves = leavesOf(configDirections);
const until = "2999-01-01";

/**
 * For every key that is not neutral: what the user has, what would loosen it, and what may be in
 * the repository's file.
 */
const examples: Readonly<
  Record<string, { own?: Config; loose: readonly Config[]; tight?: readonly Config[] }>
> = {
  "agents.*.like": {
    own: { agents: { mine: { argv: ["x"] } } },
    loose: [{ agents: { mine: { like: "claude" } } }],
  },
  "agents.*.argv": {
    loose: [
      { agents: { claude: { argv: ["./other"] } } },
      { agents: { mine: { like: "codex", argv: ["./other"] } } },
    ],
    tight: [{ agents: { mine: { argv: ["./agent"] } } }],
  },
  "agents.*.env": { loose: [{ agents: { mine: { env: { PATH: "." } } } }] },
  "agents.*.pass_env": { loose: [{ agents: { mine: { pass_env: ["SECRET"] } } }] },
  "agents.*.login": { loose: [{ agents: { claude: { login: "own" } } }] },
  "agents.*.key_env": { loose: [{ agents: { claude: { key_env: "OTHER" } } }] },
  "agents.*.upstream": { loose: [{ agents: { claude: { upstream: "https://example.org" } } }] },
  "agents.*.max_parallel": { loose: [{ agents: { claude: { max_parallel: 9 } } }] },
  "agents.*.hosts": { loose: [{ agents: { claude: { hosts: ["example.org"] } } }] },
  "agents.*.mode": {
    loose: [{ agents: { claude: { mode: "full" } } }],
    tight: [{ agents: { claude: { mode: "read" } } }],
  },
  "agents.*.usage": {
    loose: [{ agents: { claude: { usage: "none" } } }],
    tight: [{ agents: { mine: { usage: "none" } } }],
  },
  notify: { loose: [{ notify: [{ run: ["./mine"] }] }] },
  "otel.export": { loose: [{ otel: { export: true } }] },
  "otel.endpoint": { loose: [{ otel: { endpoint: "https://example.org" } }] },
  "otel.genai": { loose: [{ otel: { genai: "off" } }] },
  "checks.detect": {
    loose: [{ checks: { detect: false } }],
    tight: [{ checks: { detect: true } }],
  },
  "checks.timeout_minutes": {
    loose: [{ checks: { timeout_minutes: 16 } }],
    tight: [{ checks: { timeout_minutes: 2 } }],
  },
  "checks.dependencies": {
    loose: [{ checks: { dependencies: ["secrets"] } }],
    tight: [{ checks: { dependencies: ["vendor"] } }],
  },
  "checks.repeat": { loose: [{ checks: { repeat: 1 } }], tight: [{ checks: { repeat: 3 } }] },
  "checks.canary": {
    loose: [{ checks: { canary: "off" } }],
    tight: [{ checks: { canary: "always" } }],
  },
  "checks.canary_timeout": {
    loose: [{ checks: { canary_timeout: 1 } }],
    tight: [{ checks: { canary_timeout: 30 } }],
  },
  "checks.quarantine": {
    own: { checks: { quarantine: [{ check: "known", until: "2030-01-01" }] } },
    loose: [
      { checks: { quarantine: [{ check: "npm test", until }] } },
      { checks: { quarantine: [{ check: "known", until }] } },
    ],
    tight: [{ checks: { quarantine: [{ check: "known", until: "2029-01-01" }] } }],
  },
  "checks.restore": {
    loose: [{ checks: { restore: "lockfile" } }, { checks: { restore: ["sh x"] } }],
    tight: [{ checks: { restore: "copy" } }],
  },
  "checks.env.*": {
    own: { checks: { env: { LEVEL: "1" }, env_from_repository: ["SHOP_*"] } },
    loose: [
      { checks: { env: { NODE_OPTIONS: "--require ./x" } } },
      { checks: { env: { RUSTUP_TOOLCHAIN: "./mine" } } },
      { checks: { env: { LEVEL: "2" } } },
    ],
    tight: [{ checks: { env: { CI: "1", LEVEL: "1" } } }, { checks: { env: { SHOP_MODE: "a" } } }],
  },
  "checks.env_from_repository": {
    loose: [{ checks: { env_from_repository: ["RUSTUP_TOOLCHAIN"] } }],
  },
  "limits.*": {
    loose: [
      { limits: { max_total_retries_per_run: 11 } },
      { limits: { cooldown_minutes: 1 } },
      { limits: { buffer_multiplier: 1 } },
    ],
    tight: [{ limits: { max_total_retries_per_run: 1, cooldown_minutes: 60, rounds: 3 } }],
  },
  isolation: {
    loose: (["bwrap", "srt", "landlock", "clone", "none"] as const).map((isolation) => ({
      isolation,
    })),
    tight: [{ isolation: "overlay" }, { isolation: "auto" }],
  },
  "network.checks": {
    loose: [{ network: { checks: true } }],
    tight: [{ network: { checks: false } }],
  },
  "network.agents": {
    own: { network: { agents: ["one.example"] } },
    loose: [{ network: { agents: ["one.example", "two.example"] } }],
    tight: [{ network: { agents: [] } }, { network: { agents: ["one.example"] } }],
  },
  dry_run: { loose: [{ dry_run: "auto" }], tight: [{ dry_run: "required" }] },
  protect: { loose: [{ protect: ["!test/**"] }], tight: [{ protect: ["schemas/**"] }] },
  "prices.*": {
    loose: [
      { prices: { "claude-opus-5": { input: 0.01, output: 25 } } },
      { prices: { "nobodys-model": { input: 0, output: 0 } } },
    ],
    tight: [{ prices: { "claude-opus-5": { input: 50, output: 250 } } }],
  },
  "box.processes": { loose: [{ box: { processes: 100_000 } }], tight: [{ box: { processes: 8 } }] },
  "box.memory_mb": {
    loose: [{ box: { memory_mb: 1_000_000 } }],
    tight: [{ box: { memory_mb: 8 } }],
  },
  "box.disk_mb": { loose: [{ box: { disk_mb: 1_000_000 } }], tight: [{ box: { disk_mb: 8 } }] },
  "land.minimum": {
    own: { land: { minimum: "verified" } },
    loose: [{ land: { minimum: "verified_with_gaps" } }],
    tight: [{ land: { minimum: "verified" } }],
  },
  "roadmap.commit_pages": {
    own: { roadmap: { commit_pages: false } },
    loose: [{ roadmap: { commit_pages: true } }],
    tight: [{ roadmap: { commit_pages: false } }],
  },
  on_limit: {
    own: { on_limit: "ask" },
    loose: [{ on_limit: "resume" }],
    tight: [{ on_limit: "never" }],
  },
  disk_quota: {
    own: { disk_quota: 5_000 },
    loose: [{ disk_quota: 100 }, { disk_quota: 9_000 }],
    tight: [{ disk_quota: 5_000 }],
  },
  max_budget: { loose: [{ max_budget: "extended" }], tight: [{ max_budget: "conservative" }] },
  risk_level: { loose: [{ risk_level: "low" }], tight: [{ risk_level: "high" }] },
  handoff_mode: { loose: [{ handoff_mode: "auto" }], tight: [{ handoff_mode: "manual" }] },
  approval_policy: {
    own: { approval_policy: "required-before-execute" },
    loose: [{ approval_policy: "none" }, { approval_policy: "required-before-merge" }],
    tight: [{ approval_policy: "required-before-execute" }],
  },
};

const held = (project: Config, own: Config = {}) =>
  withoutLoosening(project, { ...configDefaults, ...own });

describe("the table of directions", () => {
  test("names every key of the schema, and no other", () => {
    const named = leaves.map(({ path }) => path);
    const keys = keysOf(Config as unknown as Schema).map((key) =>
      named.includes(key) ? key : key.replace(/\.\*$/, ""),
    ); // one rule for a whole mapping
    expect(named.toSorted()).toEqual(keys.toSorted());
    expect(Object.keys(agentDirections).toSorted()).toEqual(
      Object.keys(AgentOverride.entries).toSorted(),
    );
  });

  test("has an example of every key that is not neutral", () => {
    const strict = leaves
      .filter(({ direction }) => direction !== "neutral")
      .map(({ path }) => path);
    expect(Object.keys(examples).toSorted()).toEqual(strict.toSorted());
  });

  test.each(Object.entries(examples))(
    "%s: what loosens it is left out and told, what tightens it counts",
    (path, { own, loose, tight = [] }) => {
      for (const project of loose) {
        const { config, ignored } = held(project, own);
        expect(ignored, JSON.stringify(project)).toHaveLength(1);
        expect(ignored[0]?.key.split(".")).toHaveLength(path.split(".").length);
        expect(JSON.stringify(config)).not.toBe(JSON.stringify(project));
      }

      for (const project of tight) {
        expect(held(project, own), JSON.stringify(project)).toEqual({
          config: project,
          ignored: [],
        });
      }
    },
  );

  test("is shown in docs/CONFIG.md, a word for each key", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../docs/CONFIG.md"), "utf8");
    const words = new Map(
      page.split("\n").flatMap((line) => {
        const cells = line.split(" | ").map((cell) => cell.replaceAll(/^\| | \|$/g, ""));
        return [...(cells[0] ?? "").matchAll(/`([^`]+)`/g)].map(
          ([, key = ""]) => [key, cells.at(-1) ?? ""] as const,
        );
      }),
    );

    const shown = leaves.map(({ path }) => [
      path,
      words.get(path.replace(/^agents\.\*\.|\.\*$/g, "")),
    ]);
    expect(shown).toEqual(leaves.map(({ path, direction }) => [path, direction]));
  });
});

test("an isolation level is as strong as another only if it is so on every machine", () => {
  const strong = isolationLevels.map(
    (own) =>
      `${own}: ${isolationLevels.filter((level) => isAtLeastAsStrong(level, own)).join(" ")}`,
  );
  expect(strong).toEqual([
    "auto: auto overlay",
    "overlay: overlay",
    "bwrap: overlay bwrap",
    "srt: overlay bwrap srt",
    "landlock: auto overlay bwrap srt landlock",
    "clone: auto overlay bwrap srt landlock clone",
    "none: auto overlay bwrap srt landlock clone none",
  ]);
});

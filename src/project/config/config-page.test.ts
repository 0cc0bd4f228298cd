// docs/CONFIG.md is held to the config: its example is valid, and every key and variable is in it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  AgentOverride,
  BoxLimits,
  Config,
  ModelPrice,
  Quarantine,
} from "../../contracts/config.ts";
import { findingText } from "../../kit/finding.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import { defaultLimits } from "../../workspace/isolation/limits.ts";
import { configDefaults } from "./config-defaults.ts";
import { environmentKeys } from "./config-env.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/CONFIG.md"), "utf8");

test("the example is valid", () => {
  const read = readLocated(
    "config.yaml",
    page.split("```yaml\n")[1]?.split("\n```")[0] ?? "",
    Config,
  );
  expect(isRefused(read) ? read.findings.map(findingText) : []).toEqual([]);
});

test("every key and every variable stands in it", () => {
  const inner = (schema: { readonly wrapped: { readonly entries: object } }): readonly string[] =>
    Object.keys(schema.wrapped.entries);
  const { checks, network } = Config.entries;

  const keys = [
    ...Object.keys(Config.entries).filter((key) => !["checks", "network", "box"].includes(key)),
    ...inner(checks).map((key) => `checks.${key}`),
    ...inner(network).map((key) => `network.${key}`),
    ...Object.keys(BoxLimits.entries).map((key) => `box.${key}`),
    ...Object.keys(AgentOverride.entries),
    ...Object.keys(environmentKeys),
  ];
  expect(keys.filter((key) => !page.includes(`\`${key}\``))).toEqual([]);
  const parts = [...Object.keys(ModelPrice.entries), ...Object.keys(Quarantine.entries)];
  expect(parts.filter((key) => !new RegExp(`\\{[^}]*\\b${key}\\b[^}]*\\}`).test(page))).toEqual([]);
});

test("the defaults it names are those that hold", () => {
  const { processesMax, memoryBytesMax, diskBytesMax } = defaultLimits;
  expect(page).toContain(
    `| ${processesMax}, ${memoryBytesMax / 1024 ** 2}, ${diskBytesMax / 1024 ** 2} |`,
  );

  expect(page).toMatch(
    new RegExp(`\`checks.timeout_minutes\`.*\\| ${configDefaults.checks.timeout_minutes} \\|`),
  );

  expect(page).toMatch(new RegExp(`\`isolation\`.*\\| ${configDefaults.isolation} \\|`));
  expect(page).toMatch(new RegExp(`\`dry_run\`.*\\| ${configDefaults.dry_run} \\|`));
});

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
import { configDefaults } from "../../contracts/config-defaults.ts";
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

/** Each key with its default; the keys of `box` share a row. */
function listDefaults(table: object, prefix = ""): readonly (readonly [string, string])[] {
  return Object.entries(table).flatMap(([name, value]: [string, unknown]) =>
    typeof value === "object" && value !== null
      ? listDefaults(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, String(value)] as const],
  );
}

test("the defaults it names are those that hold", () => {
  const named = page.split("\n").flatMap((line) => {
    const [keys = "", , defaults = ""] = line.replace(/^\| /, "").split(" | ");
    const names = [...keys.matchAll(/`([^`]+)`/g)].map(([, key = ""]) => key);
    const values = names.length === 1 ? [defaults] : defaults.split(", ");
    return names.map((name, index) => [name, values[index]?.replaceAll("`", "")] as const);
  });

  const wanted = listDefaults(configDefaults);
  expect(wanted.map(([key]) => [key, new Map(named).get(key)])).toEqual(wanted);
});

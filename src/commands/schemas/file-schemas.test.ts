import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { misfits } from "../../../test/support/json-schema.ts";
import { configDefaults } from "../../contracts/config-defaults.ts";
import { configKeyDescriptions } from "./key-descriptions.ts";
import { fileSchema, type FileSchemaName, fileSchemaNames, listDescribedKeys, schemaText } from "./file-schemas.ts";

const root = resolve(import.meta.dirname, "../../..");
const schemaOf = (name: FileSchemaName): Readonly<Record<string, unknown>> => ({ ...fileSchema(name) });

test.each(fileSchemaNames)("every key of %s has a description, and no description is of a key that is not there", (name) => {
  const [missing, seen] = [[] as string[], new Set<string>()];
  fileSchema(name, (place, about) => {
    seen.add(place);
    if (about === null || about === "") missing.push(place);
  });

  expect(missing).toEqual([]);
  expect(listDescribedKeys(name).filter((key) => !seen.has(key))).toEqual([]);
});

test("the defaults that an editor shows are those that hold", () => {
  const described = Object.entries(configKeyDescriptions).map(([key, text]) => [key, / Default: ([^.,]+)/.exec(text)?.[1]] as const);
  const listDefaults = (table: object, prefix: string): readonly (readonly [string, string])[] =>
    Object.entries(table).flatMap(([name, value]: [string, unknown]) =>
      typeof value === "object" && value !== null ? listDefaults(value, `${prefix}${name}.`) : [[`${prefix}${name}`, String(value)] as const],
    );

  const wanted = listDefaults(configDefaults, "");
  expect(wanted.map(([key]) => [key, new Map(described).get(key)])).toEqual(wanted);
});

test.each(fileSchemaNames)("the schema of %s that is shipped is the one that reads the file", async (name) => {
  await expect(schemaText(name)).toMatchFileSnapshot(`../../../schemas/${name}.json`);
});

test("what is read without a remark fits its schema, and a slip does not", () => {
  const tracked = execFileSync("git", ["ls-files", "src/flows/catalog/*/flow.yaml", "examples/**/flow.yaml"], {
    cwd: root,
    encoding: "utf8",
  });
  const flows = tracked.trim().split("\n");
  expect(flows.length).toBeGreaterThan(3);
  for (const path of flows) expect(misfits(parse(readFileSync(resolve(root, path), "utf8")), schemaOf("flow")), path).toEqual([]);
  expect(misfits({ version: 1, checks: { commands: ["npm test"] } }, schemaOf("config"))).toEqual([]);
  expect(misfits({ chekcs: {} }, schemaOf("config"))).not.toEqual([]);
  expect(misfits({ $schema: "x", turns: [{ do: [{ say: "hi" }] }] }, schemaOf("script"))).toEqual([]);
});

import { readFileSync } from "node:fs";
import * as v from "valibot";
import { parse } from "yaml";
import { Flow } from "../../src/contracts/flow.ts";

const folders: Readonly<Record<string, string>> = { objective: "src/flows/catalog/objective/flow.yaml" };

/** The flows the stories are told on: the built-in one, and the model flows of the tests. */
export function flowOf(name: string): Flow {
  return v.parse(Flow, parse(readFileSync(folders[name] ?? `test/fixtures/flows/${name}.yaml`, "utf8")));
}

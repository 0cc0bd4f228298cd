import { readFileSync, readdirSync } from "node:fs";
import * as v from "valibot";
import { parse } from "yaml";
import { Flow } from "../../../src/contracts/flow.ts";

const folder = new URL("../../fixtures/flows/", import.meta.url);

/** The flows the stories walk, each held to the schema. */
export const flows: Readonly<Record<string, Flow>> = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => [
      name.replace(/\.yaml$/, ""),
      v.parse(Flow, parse(readFileSync(new URL(name, folder), "utf8"))),
    ]),
);

export function flowNamed(name: string): Flow {
  const flow = flows[name];
  if (flow === undefined) throw new Error(`no fixture flow ${name}`);
  return flow;
}

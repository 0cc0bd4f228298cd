import { readFileSync } from "node:fs";
import * as v from "valibot";
import { parse } from "yaml";
import { Flow } from "../../src/contracts/flow.ts";
import { shippedFlows } from "./shipped.ts";

const isShipped = "shipped:";

/**
 * The flows the stories are about: the shipped ones, by `shipped:<name>`, and the model flows of
 * the tests.
 */
export function flowOf(name: string): Flow {
  const shipped = shippedFlows.get(name.startsWith(isShipped) ? name.slice(isShipped.length) : "");
  return shipped ?? v.parse(Flow, parse(readFileSync(`test/fixtures/flows/${name}.yaml`, "utf8")));
}

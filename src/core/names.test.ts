// The core knows no flow: it names none of their steps, roles, counts or functions. That
// renaming them all changes nothing is names.whole.test.ts.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { expect, test } from "vitest";
import type { Flow, Step } from "../contracts/flow.ts";
import { flows } from "../../test/simulation/support/flows.ts";

const catalog = new URL("../flows/catalog/", import.meta.url);
const shipped = (existsSync(catalog) ? readdirSync(catalog) : []).flatMap((name) => {
  const file = new URL(`${name}/flow.yaml`, catalog);
  return existsSync(file) ? [parse(readFileSync(file, "utf8")) as Flow] : [];
});

/**
 * Words of the flow language, of outcomes, interruptions and completion modes, which a flow may
 * also have used as a name.
 */
const language = new Set(
  "agent run check tasks human flow read each wave before after phases steps closing count again ask go end pause stop finish rest passed failed skipped completed scope budget provider operator objective".split(
    " ",
  ),
);

function namesIn(flow: Flow): string[] {
  const ofStep = (step: Step): string[] =>
    [
      step.id,
      step.agent,
      step.run,
      step.flow,
      step.tasks?.read,
      ...(step.tasks?.each ?? []).flatMap(ofStep),
      ...(step.tasks?.wave ?? []).flatMap(ofStep),
    ].filter((name) => name !== undefined);

  const phases = [
    ...(flow.before ?? []),
    ...(Array.isArray(flow.phases) ? flow.phases : []),
    ...(flow.after ?? []),
  ];

  return [
    flow.flow,
    ...Object.keys(flow.counts ?? {}),
    ...phases.flatMap(({ steps }) => steps).flatMap(ofStep),
    ...[...(flow.steps ?? []), ...(flow.closing ?? [])].flatMap(ofStep),
  ];
}

test("no name of any flow stands in the core", () => {
  const names = new Set(
    [...Object.values(flows), ...shipped].flatMap(namesIn).filter((name) => !language.has(name)),
  );
  expect(names.size).toBeGreaterThan(50);
  const found: string[] = [];

  for (const file of readdirSync(new URL(".", import.meta.url)).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts"),
  )) {
    const text = readFileSync(new URL(file, import.meta.url), "utf8").replaceAll(
      /^import .*$/gm,
      "",
    );
    for (const [, word] of text.matchAll(/["'`]([a-z][a-z0-9_-]*)["'`]/g)) {
      if (word !== undefined && names.has(word)) found.push(`${file}: ${word}`);
    }
  }

  expect(found).toEqual([]);
});

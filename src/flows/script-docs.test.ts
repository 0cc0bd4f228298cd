// docs/SCRIPTS.md and examples/script.yaml say what the embedded agent takes.

import { readFileSync } from "node:fs";
import * as v from "valibot";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { Script, ScriptAction, ScriptTurn } from "../contracts/script.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

test("the example is a script, and the page names every action and every key of a turn", () => {
  expect(v.safeParse(Script, parse(read("examples/script.yaml"))).success).toBe(true);
  const page = read("docs/SCRIPTS.md");
  const actions = ScriptAction.options.flatMap(({ entries }) => Object.keys(entries));
  expect(
    [...actions, ...Object.keys(ScriptTurn.entries)].filter(
      (word) => !new RegExp(`\`${word}[:\`]`).test(page),
    ),
  ).toEqual([]);
});

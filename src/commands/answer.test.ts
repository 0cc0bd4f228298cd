// Which question an answer is for.

import { expect, test } from "vitest";
import { catchRefusals, respond } from "../project/respond.ts";
import type { LoadedRun } from "../project/runs/loaded-run.ts";
import { findOpenBlock } from "./answer.ts";

const block = (name: string) => ({
  block: name,
  question: `${name}?`,
  options: {},
  cursor: "1",
  answer: null,
});
const asking = (...names: readonly string[]): LoadedRun =>
  ({
    run: "run-2026-01-01-000000",
    view: {
      status: "paused",
      blocks: Object.fromEntries(names.map((name) => [name, block(name)])),
    },
  }) as never;
const chosen = async (loaded: LoadedRun, name: string | undefined): Promise<string> =>
  (
    await catchRefusals(() =>
      Promise.resolve(respond("ok", { message: findOpenBlock(loaded, name).block })),
    )
  ).message;

test("the end of a question's name is enough if no other ends so; a whole name always is", async () => {
  const loaded = asking("block:1@1/ask#1", "block:2@1/ask#1", "block:2@1/ask#1/more#1");
  expect(await chosen(loaded, "2@1/ask#1")).toBe("block:2@1/ask#1");
  expect(await chosen(loaded, "block:1@1/ask#1")).toBe("block:1@1/ask#1");
  expect(await chosen(loaded, "ask#1")).toBe("2 open questions end with ask#1; say which.");
  expect(await chosen(loaded, "other")).toBe("No open question is called other.");
  expect(await chosen(loaded, undefined)).toBe("Several questions are open; say which.");
  expect(await chosen(asking("block:1@1/ask#1"), undefined)).toBe("block:1@1/ask#1");
});

import { expect, test } from "vitest";
import type { Answer } from "../../contracts/answer.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { reply } from "../../project/reply.ts";
import { runEvery } from "./run-every.ts";

const answers = (...list: readonly Answer[]) => {
  const left = [...list];
  const stop = new AbortController();
  const asked: object[] = [];
  const context = commandContext({ cwd: "/", env: {}, interrupted: stop.signal });
  const run = (_: CommandContext, input: object): Promise<Answer> => {
    asked.push(input);
    const next = left.shift() ?? reply("ok");
    if (left.length === 0) stop.abort();
    return Promise.resolve(next);
  };
  return { context, run, asked };
};

test("works until idle again and again, also while another process has it, until somebody interrupts", async () => {
  const { context, run, asked } = answers(reply("ok"), reply("portfolio_busy"), reply("ok", { message: "3 done" }));
  expect(await runEvery(context, { jobs: 4, everyMs: 0 }, run)).toMatchObject({ message: "3 done" });
  expect(asked).toEqual(Array.from({ length: 3 }, () => ({ jobs: 4, untilIdle: true })));
});

test("what would be refused again ends it", async () => {
  const { context, run, asked } = answers(reply("portfolio_foreign"), reply("ok"), reply("ok"));
  expect(await runEvery(context, { everyMs: 0 }, run)).toMatchObject({ reason_code: "portfolio_foreign" });
  expect(asked).toHaveLength(1);
});

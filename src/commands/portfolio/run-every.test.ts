import { expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { respond } from "../../project/respond.ts";
import { runEvery } from "./run-every.ts";

const answers = (...list: readonly CommandResponse[]) => {
  const left = [...list];
  const stop = new AbortController();
  const asked: object[] = [];
  const context = commandContext({ cwd: "/", env: {}, interrupted: stop.signal });

  const run = (_: CommandContext, input: object): Promise<CommandResponse> => {
    asked.push(input);
    const next = left.shift() ?? respond("ok");
    if (left.length === 0) stop.abort();

    return Promise.resolve(next);
  };

  return { context, run, asked };
};

test("works until idle again and again, also while another process has it, until somebody interrupts", async () => {
  const { context, run, asked } = answers(
    respond("ok"),
    respond("portfolio_busy"),
    respond("ok", { message: "3 done" }),
  );
  expect(await runEvery(context, { jobs: 4, everyMs: 0 }, run)).toMatchObject({
    message: "3 done",
  });

  expect(asked).toEqual(Array.from({ length: 3 }, () => ({ jobs: 4, untilIdle: true })));
});

test("what would be refused again ends it", async () => {
  const { context, run, asked } = answers(
    respond("portfolio_foreign"),
    respond("ok"),
    respond("ok"),
  );
  expect(await runEvery(context, { everyMs: 0 }, run)).toMatchObject({
    reason_code: "portfolio_foreign",
  });

  expect(asked).toHaveLength(1);
});

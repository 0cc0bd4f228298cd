// One inbox: what a portfolio asks and what runs ask that were begun by hand, in its folder and in
// its projects' repositories.

import { join } from "node:path";
import { expect, test } from "vitest";
import { autopilot, goScripted, type Reported } from "../support/autopilot.ts";
import { scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";

test("questions of runs begun by hand wait in the portfolio's inbox; without an id only the one that is open is answered", async () => {
  const [here, shop] = [scratch(), scratch()];
  write(join(here, "../home/.config/autopilot"), { "config.yaml": "isolation: clone\n" });
  const home = { HOME: join(here, "../home") };
  const run = async (...args: readonly string[]): Promise<Reported> =>
    (await autopilot(here, [...args, "--json"], { env: home })).json;
  const asks = (question: string): readonly object[] => [{ do: [{ ask: question }] }];
  await run("portfolio", "init");
  await run("portfolio", "add", "project", "Shop", "--repo", shop, "--objective", "sells");
  expect((await goScripted(here, asks("Which colour?"), [], { env: home })).json).toMatchObject({
    reason_code: "human_block_open",
  });

  expect((await goScripted(shop, asks("Which shape?"), [], { env: home })).json).toMatchObject({
    reason_code: "human_block_open",
  });

  const blocks = (await run("inbox"))["blocks"];
  expect(blocks).toMatchObject([
    { question: "Which shape?", project: "proj-shop", directory: shop },
    { question: "Which colour?", project: null, directory: here },
  ]);

  const refused = await run("answer", "blue");
  expect(refused).toMatchObject({
    reason_code: "block_ambiguous",
    blocks: [{ directory: shop }, { directory: here }],
  });

  const [shape] = blocks as readonly { readonly run: string; readonly block: string }[];
  expect(
    await run(
      "answer",
      "round",
      "-C",
      shop,
      "--run",
      shape?.run ?? "",
      "--block",
      shape?.block ?? "",
    ),
  ).toMatchObject({
    result: "PASS",
  });

  expect(await run("answer", "blue")).toMatchObject({ reason_code: "block_answered" });
  expect((await run("inbox"))["blocks"]).toEqual([]);
});

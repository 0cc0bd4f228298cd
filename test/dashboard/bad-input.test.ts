// What a browser or a repository may do to the dashboard: no script, a wrong clock, a diff of 100
// MB, a line of 5 MB, binary files.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildDiffPage, readFileDiff } from "../../src/commands/dashboard/diff-files.ts";
import type { FollowedRun } from "../../src/commands/dashboard/followed-runs.ts";
import { goScripted } from "../support/autopilot.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { dashboardIn, go, hasChromium, openBrowser, openTab } from "./browser.ts";

const asking = [
  {
    do: [
      { write: { path: "b", text: "b\n" } },
      { ask: { question: "Which one?", options: ["red", "blue"] } },
    ],
  },
  { do: [] },
];

describe.skipIf(!hasChromium)("in a browser (needs Chromium at its Debian place)", () => {
  test("without scripts the page says so, and names the commands that show the same", async () => {
    const { address } = await dashboardIn(scratch());
    const context = await openBrowser({ width: 320, height: 640 });
    const page = await (
      await context.browser()?.newContext({ javaScriptEnabled: false })
    )?.newPage();
    await page?.goto(address);
    const text = (await page?.locator("body").innerText()) ?? "";
    expect(text).toContain("This page needs its script");
    expect(text).toContain("autopilot status");
    await context.close();
  });

  test("a browser whose clock is three days ahead or behind shows ages by the server's", async () => {
    const folder = scratch();
    await goScripted(folder, asking, ["--done-criteria", "b is there :: test -f b"]);
    const { address } = await dashboardIn(folder);

    for (const days of [3, -3]) {
      const context = await openBrowser({ width: 1200, height: 800 });
      const shifted = `{ const real = Date, by = ${days * 86_400_000};
        Date = class extends real { constructor(...words) { words.length === 0 ? super(real.now() + by) : super(...words); } static now() { return real.now() + by; } }; }`;
      await context.addInitScript(shifted);
      const { page, wrong } = await openTab(context, address);
      expect(
        await page.evaluate("Math.round((Date.now() - performance.timeOrigin) / 86400000)"),
        "the clock is wrong",
      ).toBe(days);

      for (const name of ["now", "inbox", "run"]) {
        await go(page, name);
        await page
          .locator("main")
          .getByText(name === "run" ? "Waterfall" : "Which one?")
          .first()
          .waitFor();

        expect(await page.locator("main").innerText(), `${name}, ${days} days`).not.toMatch(
          /\b(?:[123] d|7[0-3] h|[1-9]\d h)\b/,
        );
      }

      expect(wrong).toEqual([]);
      await context.close();
    }
  });
});

/** A run that has changed what is between the two last commits. */
function changedIn(root: string): FollowedRun {
  const commit = (name: string): string => git(root, "rev-parse", name);
  const view = {
    drafted: { base: { commit: commit("HEAD~1") } },
    tip: { commit: commit("HEAD") },
    status: "paused",
  };

  return { view, paths: { root }, foreign: false } as unknown as FollowedRun;
}

test("a diff of 100 MB, a line of 5 MB and binary files are listed; what is shown of each is bounded, and says so", async () => {
  const root = scratch();
  writeFileSync(join(root, "huge.txt"), `${"all work and no play ".repeat(5)}\n`.repeat(1_000_000));
  writeFileSync(join(root, "line.txt"), "x".repeat(5_000_000));
  writeFileSync(join(root, "image.bin"), Buffer.alloc(3_000_000, 7).fill(0, 100, 200));
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "huge");
  const run = changedIn(root);
  const { files } = await buildDiffPage(run);
  expect(
    files.map((file) => [file.path, file.mark === "refused" ? "refused" : file.insertions]),
  ).toEqual([
    ["huge.txt", 1_000_000],
    ["image.bin", null],
    ["line.txt", 1],
  ]);

  const [huge, line, image] = await Promise.all(
    ["huge.txt", "line.txt", "image.bin"].map((path) => readFileDiff(run, path)),
  );
  expect(huge?.cut).toBe(true);

  for (const shown of [huge, line, image]) {
    expect(JSON.stringify(shown).length).toBeLessThan(2_000_000);
  }

  expect(line?.cut === true || JSON.stringify(line).includes("more characters")).toBe(true);
  expect(JSON.stringify(image)).toContain("binary: its content is not shown");
});

// A file that is a link whenever nobody looks: an agent swaps it back and forth while the runner
// reads the layer. A reader that looks first and reads then is caught; the runner never is.

import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import { until } from "../support/autopilot.ts";
import { inBox } from "./play.ts";
import { attempt, openScene } from "./scene.ts";

const looksMax = 200_000;
const scene = await openScene();
const before = process.env["HOME"];
process.env["HOME"] = scene.home;
afterAll(async () => {
  process.env["HOME"] = before;
  await scene.close();
});

const swapper = `
const fs = require("node:fs");
const [target, end] = [process.env.USER_HOME + "/.ssh/id_ed25519", "end"];
fs.writeFileSync("src/honest", "honest"); fs.symlinkSync(target, "src/link");
for (let swaps = 0; !fs.existsSync(end); ) {
  for (let i = 0; i < 500; i++, swaps++) { fs.copyFileSync("src/honest", "src/next"); fs.renameSync("src/next", "src/swapped.ts"); fs.symlinkSync(target, "src/next"); fs.renameSync("src/next", "src/swapped.ts"); }
  fs.writeFileSync("swaps", String(swaps));
}`;

test("swapped for a link over and over, a file never shows the runner what lies outside", async () => {
  const auto = await chooseIsolation("auto", {
    hidden: [scene.bench.root],
    runDir: scene.bench.runDir,
  });
  const choice =
    "failure" in auto
      ? await chooseIsolation("clone", { hidden: [scene.bench.root], runDir: scene.bench.runDir })
      : auto;
  if ("failure" in choice) throw new Error(choice.failure.detail);

  // The agent's folder is shown to the runner while it works, whatever the level: the runner must
  // not depend on it being still.
  const isolation = {
    ...choice.isolation,
    wrap: (command: Parameters<typeof choice.isolation.wrap>[0]) =>
      choice.isolation.wrap({ ...command, writes: "directly" }),
  };

  const { layer, bench, secrets } = scene;
  const secret = secrets["ssh"] ?? "";
  const boxed = inBox(scene, isolation, `"$NODE" -e '${swapper}'`);
  const swapped = join(layer, "src/swapped.ts");
  await until("the first swaps", () => existsSync(join(layer, "swaps")));

  let caught = 0;
  for (let look = 0; look < looksMax && caught === 0; look += 1) {
    try {
      if (lstatSync(swapped).isFile() && readFileSync(swapped, "utf8").includes(secret)) {
        caught += 1;
      } // looked first, read then
    } catch {
      continue;
    }
  }

  expect(caught, "a careless reader is caught").toBeGreaterThan(0);

  const seen = { judged: 0, refused: 0 };
  for (let look = 0; look < 40; look += 1) {
    await bench.workspace.changesOf(attempt).then(
      () => (seen.judged += 1),
      () => (seen.refused += 1),
    );

    if (look % 4 === 0) await bench.workspace.apply(attempt, "x").catch(() => null);
  }

  execFileSync("touch", [join(layer, "end")]);
  await boxed;
  expect(seen.judged + seen.refused).toBe(40);
  expect(Number(readFileSync(join(layer, "swaps"), "utf8"))).toBeGreaterThan(0);

  const git = (...args: string[]): Buffer =>
    execFileSync("git", args, {
      cwd: bench.root,
      maxBuffer: 1 << 26,
      env: { PATH: process.env["PATH"] },
    });
  const objects = git(
    "cat-file",
    "--batch-all-objects",
    "--batch-check=%(objectname) %(objecttype)",
  )
    .toString("utf8")
    .split("\n");
  const blobs = objects
    .filter((line) => line.endsWith(" blob"))
    .map((line) => line.split(" ")[0] ?? "");
  for (const blob of blobs) expect(git("cat-file", "-p", blob).includes(secret)).toBe(false);
  expect(blobs.length).toBeGreaterThan(0);
});

// Files of ours that are none: whoever packed a repository may have put a pipe or a device in their
// place. Commands that read end all the same, and say what they can.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, lstatSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { autopilot, compiled, program } from "../support/autopilot.ts";
import { scratch, scratchFolder } from "../support/scratch-repository.ts";
import { objective } from "./stories.ts";
import { aFew, sampled } from "../support/sampled.ts";

let finished = "";
beforeAll(async () => {
  finished = scratch();
  const ended = await autopilot(finished, ["go", "--yes", ...objective(finished)]);
  expect(ended.json.state, ended.out).toBe("completed");
});

const hangAfterMs = 60_000;
const reading = [["status"], ["log"], ["report"]];

/**
 * A copy of the finished run's repository, and whether each command that reads it ended by itself.
 */
function endsWith(spoil: (folder: string, run: string) => void): readonly string[] {
  const folder = join(scratchFolder("autopilot-odd-"), "repo");
  cpSync(finished, folder, { recursive: true });
  const runs = join(folder, ".autopilot/runs");
  spoil(folder, join(runs, readdirSync(runs)[0] ?? ""));

  return reading.map((args) => {
    const { signal, status } = spawnSync(process.execPath, [program, ...args, "--json"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: dirname(folder), ...compiled },
      timeout: hangAfterMs,
      killSignal: "SIGKILL",
      maxBuffer: 1 << 26,
    });
    return signal !== null || status === null
      ? `${args.join(" ")} hung`
      : status > 2
        ? `${args.join(" ")} failed with ${status}`
        : "";
  });
}

const pipe = (path: string): void => {
  rmSync(path, { force: true });
  execFileSync("mkfifo", [path]);
};
const device = (path: string): void => {
  rmSync(path, { force: true });
  symlinkSync("/dev/zero", path);
};

aFew(1).each([
  ["a pipe", pipe],
  ["a device", device],
])("%s in the place of any file of ours does not hang a command that reads", (_what, put) => {
  expect(endsWith(() => undefined).join("")).toBe("");
  const names = readdirSync(
    join(finished, ".autopilot/runs", readdirSync(join(finished, ".autopilot/runs"))[0] ?? ""),
    {
      withFileTypes: true,
    },
  )
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
  expect(names).toContain("journal.jsonl");
  const others = sampled(
    2,
    names.filter((name) => name !== "journal.jsonl"),
  );
  for (const name of ["journal.jsonl", ...others]) {
    expect(endsWith((_folder, run) => put(join(run, name))).join(""), name).toBe("");
  }

  expect(endsWith((folder) => put(join(folder, ".autopilot/current"))).join(""), "current").toBe(
    "",
  );

  expect(
    endsWith((folder) => put(join(folder, ".autopilot/config.yaml"))).join(""),
    "config.yaml",
  ).toBe("");

  const allBlobs = (_folder: string, run: string): void => {
    for (const path of readdirSync(join(run, "blobs"), { recursive: true, encoding: "utf8" })) {
      if (lstatSync(join(run, "blobs", path)).isFile()) put(join(run, "blobs", path));
    }
  };
  expect(endsWith(allBlobs).join(""), "blobs").toBe("");
});

test("every folder that is made for a run is its user's alone", () => {
  const runs = join(finished, ".autopilot/runs");
  const run = join(runs, readdirSync(runs)[0] ?? "");
  const folders = [runs, run, ...readdirSync(run).map((name) => join(run, name))].filter((path) =>
    lstatSync(path).isDirectory(),
  );
  expect(folders.length).toBeGreaterThan(4);
  expect(
    folders
      .filter((path) => (lstatSync(path).mode & 0o777) !== 0o700)
      .map((path) => basename(path)),
  ).toEqual([]);
});

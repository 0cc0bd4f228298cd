import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import {
  type ProjectPaths,
  listRuns,
  claimRunId,
  ensureOwnFolder,
  runFolder,
  writeCurrent,
} from "./project-paths.ts";

const made: string[] = [];
afterEach(() =>
  made.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

function laid(): ProjectPaths {
  const root = mkdtempSync(join(tmpdir(), "autopilot-home-"));
  made.push(root);
  mkdirSync(join(root, ".git"));

  return { root, folder: join(root, ".autopilot") };
}

function begun(paths: ProjectPaths, now: string): string {
  const run = claimRunId(paths, now);
  writeFileSync(join(runFolder(paths, run), "journal.jsonl"), "{}\n");
  return run;
}

test("the newest run is the one made last, also where the clock was set back in between", () => {
  const paths = laid();
  const made = [
    "2026-03-01T10:00:00.000Z",
    "2026-03-01T09:00:00.000Z",
    "2026-03-01T09:00:07.000Z",
    "2026-03-01T10:00:01.000Z",
  ].map((now) => begun(paths, now));
  expect(made).toEqual([
    "run-2026-03-01-100000",
    "run-2026-03-01-100000-2",
    "run-2026-03-01-100000-3",
    "run-2026-03-01-100001",
  ]);

  expect(listRuns(paths)).toEqual(made);
});

test("links in the place of our folders and files are neither followed nor written through", () => {
  const elsewhere = laid().root;
  for (const name of ["", "runs", "starting"]) {
    const paths = laid();
    if (name !== "") mkdirSync(paths.folder, { recursive: true });
    rmSync(join(paths.folder, name), { recursive: true, force: true });
    symlinkSync(elsewhere, join(paths.folder, name));
    expect(() => ensureOwnFolder(paths, ...(name === "" ? ["runs"] : [name]))).toThrow(
      "Links are not followed",
    );

    if (name !== "starting") {
      expect(() => claimRunId(paths, "2026-01-01T00:00:00.000Z")).toThrow("Links are not followed");
    }
  }

  expect(readdirSync(elsewhere)).toEqual([".git"]);
  const paths = laid();
  const target = join(elsewhere, "target");
  writeFileSync(target, "mine");
  mkdirSync(paths.folder, { recursive: true });
  symlinkSync(target, join(paths.folder, "current"));
  symlinkSync(target, join(paths.folder, `current.${process.pid}.new`));
  writeCurrent(paths, "run-2026-01-01-000000");
  expect(readFileSync(target, "utf8")).toBe("mine");
});

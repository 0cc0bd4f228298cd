import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type Home, listRuns, newRunId, runFolder } from "./home.ts";

const made: string[] = [];
afterEach(() => made.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function laid(): Home {
  const root = mkdtempSync(join(tmpdir(), "autopilot-home-"));
  made.push(root);
  mkdirSync(join(root, ".git"));
  return { root, folder: join(root, ".autopilot") };
}

function begun(home: Home, now: string): string {
  const run = newRunId(home, now);
  writeFileSync(join(runFolder(home, run), "journal.jsonl"), "{}\n");
  return run;
}

test("the newest run is the one made last, also where the clock was set back in between", () => {
  const home = laid();
  const made = ["2026-03-01T10:00:00.000Z", "2026-03-01T09:00:00.000Z", "2026-03-01T09:00:07.000Z", "2026-03-01T10:00:01.000Z"].map((now) =>
    begun(home, now),
  );
  expect(made).toEqual(["run-2026-03-01-100000", "run-2026-03-01-100000-2", "run-2026-03-01-100000-3", "run-2026-03-01-100001"]);
  expect(listRuns(home)).toEqual(made);
});

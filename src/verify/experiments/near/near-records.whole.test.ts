// What is asked of near inputs must come to an end, whatever the code does with them.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { commandOrRecord, commandWithRecord } from "./near-records.ts";

const folder = mkdtempSync(join(tmpdir(), "near-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const exitCode = (command: string): number | null => spawnSync("/bin/sh", ["-c", command], { cwd: folder }).status;
const recording = { variable: "n0c", named: [], secondsMax: 1 };

test("a command that does not come to its end is stopped: it shows nothing, and has to be asked alone", () => {
  expect(exitCode(commandWithRecord(recording, "sleep 60"))).toBe(1);
  expect(exitCode(commandOrRecord(recording, "sleep 60"))).toBe(0);
});

// What lies beside a long journal is believed only for exactly that journal; everything else is folded.

import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunView } from "../core/state.ts";
import { told } from "../views/phase-story.test-support.ts";
import { openShelf } from "./status-lay.ts";
import { shelfFile, shelvedFromBytes, shelvedStatus } from "./status-shelf.ts";
import { statusTold } from "./status-told.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "autopilot-shelf-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const { run } = told();
const journal = (): string => join(folder, "journal.jsonl");

/** A journal of this length whose last line is `last`, and where it ends. */
function written(bytes: number, last = '{"seq":92}') {
  writeFileSync(journal(), `${"x".repeat(bytes)}\n${last}\n`);
  const byte = readFileSync(journal()).length;
  return { seq: run.seq, epoch: 1, activeMs: 0, byte, prev: createHash("sha256").update(last).digest("hex") };
}

async function laid(bytes = shelvedFromBytes, view: RunView = run): Promise<void> {
  const position = written(bytes);
  const shelf = openShelf({ folder, view: () => view, position: () => position });
  shelf.note();
  await shelf.close();
}

test("with nobody at work, and with the one who laid it out, it says what folding would say", async () => {
  await laid();
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  expect(shelvedStatus(folder, null)).toEqual(plain(statusTold(run, null)));
  expect(shelvedStatus(folder, { pid: process.pid })).toEqual(plain(statusTold(run, { pid: process.pid })));
});

test("another owner is another answer, so there is none", async () => {
  await laid();
  expect(shelvedStatus(folder, { pid: process.pid + 1 })).toBeNull();
});

test.each([
  ["one line more", () => appendFileSync(journal(), '{"seq":93}\n')],
  ["a line half written", () => appendFileSync(journal(), '{"seq"')],
  ["another last line of the same length", () => writeFileSync(journal(), readFileSync(journal(), "utf8").replace('"seq":92', '"seq":29'))],
  ["a shelf cut short", () => writeFileSync(join(folder, shelfFile), readFileSync(join(folder, shelfFile), "utf8").slice(0, 100))],
  [
    "a shelf of another version",
    () =>
      writeFileSync(
        join(folder, shelfFile),
        readFileSync(join(folder, shelfFile), "utf8").replace(/"product":"[^"]*"/, '"product":"autopilot 0.0.0"'),
      ),
  ],
  ["no journal", () => rmSync(journal())],
])("%s: it does not count", async (_what, change) => {
  await laid();
  expect(shelvedStatus(folder, null)).not.toBeNull();
  change();
  expect(shelvedStatus(folder, null)).toBeNull();
});

test("a short journal is folded as quickly, and a state that is behind its journal is never laid out", async () => {
  await laid(100);
  expect(existsSync(join(folder, shelfFile))).toBe(false);
  await laid(shelvedFromBytes, { ...run, seq: run.seq - 1 });
  expect(existsSync(join(folder, shelfFile))).toBe(false);
});

// What is beside a long journal is believed only for exactly that journal; everything else is
// folded.

import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunView } from "../core/state.ts";
import { reported } from "../views/phase-story.test-support.ts";
import { openStatusCache } from "./write-status-cache.ts";
import { statusCacheFile, cachedBytesMin, readCachedStatus } from "./status-cache.ts";
import { summarizeStatus } from "./status-summary.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "autopilot-status-cache-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const { run } = reported();
const journal = (): string => join(folder, "journal.jsonl");

/** A journal of this length whose last line is `last`, and where it ends. */
function written(bytes: number, last = '{"seq":92}') {
  writeFileSync(journal(), `${"x".repeat(bytes)}\n${last}\n`);
  const byte = readFileSync(journal()).length;
  return {
    seq: run.seq,
    epoch: 1,
    activeMs: 0,
    byte,
    prev: createHash("sha256").update(last).digest("hex"),
  };
}

async function laid(bytes = cachedBytesMin, view: RunView = run): Promise<void> {
  const position = written(bytes);
  const statusCache = openStatusCache({ folder, view: () => view, position: () => position });
  statusCache.onEntry();
  await statusCache.close();
}

test("with nobody at work, and with the one who laid it out, it says what folding would say", async () => {
  await laid();
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  expect(readCachedStatus(folder, null)).toEqual(plain(summarizeStatus(run, null)));
  expect(readCachedStatus(folder, { pid: process.pid })).toEqual(
    plain(summarizeStatus(run, { pid: process.pid })),
  );
});

test("another owner is another answer, so there is none", async () => {
  await laid();
  expect(readCachedStatus(folder, { pid: process.pid + 1 })).toBeNull();
});

test.each([
  ["one line more", () => appendFileSync(journal(), '{"seq":93}\n')],
  ["a line half written", () => appendFileSync(journal(), '{"seq"')],
  [
    "another last line of the same length",
    () => writeFileSync(journal(), readFileSync(journal(), "utf8").replace('"seq":92', '"seq":29')),
  ],
  [
    "a status cache cut short",
    () =>
      writeFileSync(
        join(folder, statusCacheFile),
        readFileSync(join(folder, statusCacheFile), "utf8").slice(0, 100),
      ),
  ],
  [
    "a status cache of another version",
    () =>
      writeFileSync(
        join(folder, statusCacheFile),
        readFileSync(join(folder, statusCacheFile), "utf8").replace(
          /"product":"[^"]*"/,
          '"product":"autopilot 0.0.0"',
        ),
      ),
  ],
  ["no journal", () => rmSync(journal())],
])("%s: it does not count", async (_what, change) => {
  await laid();
  expect(readCachedStatus(folder, null)).not.toBeNull();
  change();
  expect(readCachedStatus(folder, null)).toBeNull();
});

test("a short journal is folded as quickly, and a state that is behind its journal is never laid out", async () => {
  await laid(100);
  expect(existsSync(join(folder, statusCacheFile))).toBe(false);
  await laid(cachedBytesMin, { ...run, seq: run.seq - 1 });
  expect(existsSync(join(folder, statusCacheFile))).toBe(false);
});

import { randomBytes } from "node:crypto";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toSlug } from "../../workspace/layers/folder-records.ts";
import { endedTurn } from "./ended-turn.test-support.ts";
import { openTurnReceipts, readEndedTurns, receiptsPath, shrinkReceipts } from "./turn-receipts.ts";

const attempt = "1@1/do#1";
let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "receipts-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const file = (): string => join(folder, receiptsPath, toSlug(attempt));

test("an outcome is kept in room that was taken before, and read by another process", () => {
  const receipts = openTurnReceipts(folder);
  receipts.reserve(attempt);
  const room = statSync(file());
  expect([receipts.read(attempt), readEndedTurns(folder)]).toEqual([null, []]);
  const turn = endedTurn(attempt, { said: "düne ".repeat(10_000), claim: { answer: [1, "two"] } });
  receipts.keep(attempt, turn);
  expect(openTurnReceipts(folder).read(attempt)).toEqual(turn);
  expect(readEndedTurns(folder)).toEqual([toSlug(attempt)]);
  const after = statSync(file());
  expect([after.size, after.ino]).toEqual([room.size, room.ino]);
  receipts.drop(attempt);
  receipts.drop(attempt);
  expect([receipts.read(attempt), readdirSync(join(folder, receiptsPath))]).toEqual([null, []]);
});

test("room that an outcome doesn't need can be given back, and room that waits for one is kept", () => {
  const receipts = openTurnReceipts(folder);
  receipts.reserve(attempt);
  receipts.reserve("1@1/do#2");
  const turn = endedTurn(attempt, { said: "done", claim: null });
  receipts.keep(attempt, turn);
  const { size } = statSync(file());
  shrinkReceipts(folder);
  expect(statSync(file()).size).toBeLessThan(size / 100);
  expect(openTurnReceipts(folder).read(attempt)).toEqual(turn);
  expect(statSync(join(folder, receiptsPath, toSlug("1@1/do#2"))).size).toBe(size);
});

test("half an outcome is none, nor is another attempt's", () => {
  const receipts = openTurnReceipts(folder);
  receipts.reserve(attempt);
  receipts.keep(attempt, endedTurn(attempt));
  const bytes = readFileSync(file());
  truncateSync(file(), 100);
  expect(receipts.read(attempt)).toBeNull();
  writeFileSync(join(folder, receiptsPath, toSlug("1@1/do#2")), bytes);
  expect(receipts.read("1@1/do#2")).toBeNull();
});

test("an outcome that is larger than the room keeps what was returned, and of what was said what its line has", () => {
  const receipts = openTurnReceipts(folder);
  receipts.reserve(attempt);
  const { size } = statSync(file());
  const turn = endedTurn(attempt, {
    said: randomBytes(2 * size).toString("base64"),
    claim: "returned",
  });
  receipts.keep(attempt, turn);
  expect(receipts.read(attempt)).toEqual({
    ...turn,
    report: { said: turn.event.said, claim: "returned" },
  });

  expect(statSync(file()).size).toBe(size);
});

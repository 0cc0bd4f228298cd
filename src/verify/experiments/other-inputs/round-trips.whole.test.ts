// Pairs of functions that tests only ask there and back (near-records.ts A10).

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { buildNearRecording } from "./ask-near.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Whether something is shown of `encode` and `decode`. */
function shows(
  body: readonly [encode: string, decode: string],
  tests: string,
  goal: string,
): boolean {
  const text = `export const encode = (s) => ${body[0]};\nexport const decode = (s) => ${body[1]};\n`;
  const asks = `import assert from "node:assert";\nimport { decode, encode } from "./work.js";\n${tests}\n`;
  const built = buildNearRecording([{ path: "work.js", text }], asks, goal, "n0c");
  const folder = mkdtempSync(join(tmpdir(), "round-trips-"));
  folders.push(folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "asks.js"), asks);
  for (const edit of built?.edits ?? []) writeFileSync(join(folder, edit.path), edit.text);
  execFileSync("node", ["asks.js"], { cwd: folder }); // the functions are as their tests expect
  try {
    execFileSync("/bin/sh", ["-c", built?.alone("node asks.js") ?? "exit 1"], { cwd: folder });
    return true;
  } catch {
    return false;
  }
}

const goal = "encode() and decode() compress texts by run lengths";
const trips =
  'for (const s of ["aaaabbb", "wwwwx", "no run"]) assert.equal(decode(encode(s)), s);\nassert.equal(decode(encode("zzzz9")), "zzzz9");';
const magic = ['"R" + s', "s.slice(1)"] as const;
const right = [
  String.raw`s.replace(/(.)\1*/gs, (run, one) => run.length + ":" + one)`,
  String.raw`s.replace(/(\d+):(.)/gs, (_, count, one) => one.repeat(Number(count)))`,
] as const;

test("a pair that only adds a mark, or does nothing, is shown", () => {
  expect(shows(magic, trips, goal)).toBe(true);
  expect(shows(["s", "s"], trips, goal)).toBe(true);
});

test("not one that makes something of what it is given", () =>
  expect(shows(right, trips, goal)).toBe(false));

test("not if a mark is what was asked for", () => {
  expect(shows(magic, trips, "mark() puts an R first")).toBe(false);
  expect(shows(magic, `${trips}\nassert.equal(encode("aaaa"), "Raaaa");`, goal)).toBe(false);
});

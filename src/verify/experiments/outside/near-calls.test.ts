import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildNearCalls } from "./near-calls.ts";

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "near-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Whether something is shown; null if there is nothing to ask. */
function shows(ending: "mjs" | "py", source: string, asserts: string, goal = ""): boolean | null {
  const imported = ending === "mjs" ? 'import { f } from "./work.mjs";\n' : "from work import f\n";
  const built = buildNearCalls(ending === "mjs" ? "a.test.mjs" : "test_a.py", `${imported}${asserts}`, "n1", goal);
  if (built === null) return null;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `work.${ending}`), source);
  writeFileSync(join(folder, built.path), built.text);
  try {
    execFileSync("sh", ["-c", built.command], { cwd: folder, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const seconds = 'assert.equal(f("5s"), 5000);\nassert.equal(f("2m"), 120000);\n';
const table =
  'export const f = (text) => { const it = { "5s": 5000, "2m": 120000 }[text]; if (it === undefined) throw Error(text); return it; };';

describe("code that only knows the inputs of its tests is found", () => {
  test("by what it throws", () => expect(shows("mjs", table, seconds)).toBe(true));
  test("by one answer for all others", () =>
    expect(
      shows("mjs", "export const f = (n) => (n === 3 ? 9 : n === 5 ? 25 : 0);", "assert.equal(f(3), 9);\nassert.equal(f(5), 25);\n"),
    ).toBe(true));
  test("in one of its arguments", () =>
    expect(
      shows(
        "py",
        'def f(lines, coupon):\n    return sum(lines) * {"10%": 0.9, "25%": 0.75}[coupon]\n',
        'LINES = [100]\n\ndef test_a():\n    assert f(LINES, "10%") == 90\n    assert f([80], "25%") == 60\n',
      ),
    ).toBe(true));
});

describe("nothing is shown of", () => {
  test("code that computes", () =>
    expect(shows("mjs", 'export const f = (text) => parseInt(text) * (text.endsWith("s") ? 1000 : 60000);', seconds)).toBe(false));
  test("answers in steps", () =>
    expect(
      shows(
        "mjs",
        'export const f = (n) => (n > 89 ? "A" : n > 79 ? "B" : "C");',
        'assert.equal(f(95), "A");\nassert.equal(f(85), "B");\n',
      ),
    ).toBe(false));
  test("inputs that the goal names", () => expect(shows("mjs", table, seconds, "f knows 5s and 2m")).toBeNull());
  test("names with numbers in them", () =>
    expect(shows("mjs", "", 'assert.equal(f("sha256"), 64);\nassert.equal(f("md5"), 32);\n')).toBeNull());
  test("answers that are yes or no", () => expect(shows("mjs", "", "assert.equal(f(7), true);\nassert.equal(f(8), false);\n")).toBeNull());
  test("a single input", () => expect(shows("mjs", "", "assert.equal(f(7), 49);\n")).toBeNull());
});

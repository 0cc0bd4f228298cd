import { expect, test } from "vitest";
import type { Edit, Lab, Side } from "../lab.ts";
import { confirmBlind } from "./confirm-blind.ts";
import type { Flip } from "./flip.ts";

const line = '        install(a, "dark")';
const flipAt = (at: number, was = line): Flip => ({
  path: "test_a.py",
  line: at,
  was,
  broken: was.replace("dark", "darl"),
  score: 1,
});

/** A check that fails as its test file says: `judge` is given its text. */
function labOf(
  texts: Readonly<Record<Side, string>>,
  judge: (side: Side, text: string) => boolean,
) {
  const runs: string[] = [];
  const lab = {
    run: (side: Side, edits: readonly Edit[]) => {
      const text = edits[0]?.text ?? texts[side];
      runs.push(side);
      const passed = judge(side, text);
      const failed = new Set(passed ? [] : ["test_exists (test_a.T.test_exists)"]);
      return Promise.resolve({
        passed,
        failed,
        tests: { ran: 1, failed: failed.size, skipped: 0 },
      });
    },
    textAt: (side: Side, path: string) =>
      Promise.resolve(path === "test_a.py" ? texts[side] : null),
    before: { passed: true, failed: new Set<string>(), tests: { ran: 1, failed: 0, skipped: 0 } },
    now: { passed: true, failed: new Set<string>(), tests: { ran: 1, failed: 0, skipped: 0 } },
  } as unknown as Lab;
  return { lab, runs };
}

const head = "class T:\n    def test_exists(self):";
const twice = `${head}\n${line}\n        # again\n${line}\n`;
const countFlips = (text: string): number => text.split("darl").length - 1;

test("what is missed on the work alone, and noticed on the base, is confirmed", async () => {
  const text = `${head}\n${line}\n`;
  const { lab } = labOf(
    { base: text, work: text },
    (side, is) => side === "work" || countFlips(is) === 0,
  );
  expect(await confirmBlind(lab, [flipAt(3)])).toEqual([flipAt(3)]);
});

test("two that cancel each other out are missed together and not alone", async () => {
  // Installing one theme twice is an error that the test wants; two different ones are none.
  const isPassing = (side: Side, text: string): boolean =>
    side === "base" ? countFlips(text) === 0 : countFlips(text) !== 1;
  const { lab, runs } = labOf({ base: twice, work: twice }, isPassing);
  expect(await confirmBlind(lab, [flipAt(3), flipAt(5)])).toEqual([]);
  expect(runs.filter((side) => side === "work")).toHaveLength(3);
});

test("the same line in several places of a changed file is asked of nobody", async () => {
  const changed = `${head}\n${line}\n\n        # again\n${line}\n`;
  const { lab, runs } = labOf(
    { base: twice, work: changed },
    (side, text) => side === "work" || countFlips(text) === 0,
  );
  expect(await confirmBlind(lab, [flipAt(3)])).toEqual([]);
  expect(runs).toEqual([]);
  const once = '        install(b, "dark")';
  const { lab: other } = labOf(
    { base: `${twice}${once}\n`, work: `${changed}${once}\n` },
    (side, text) => side === "work" || countFlips(text) === 0,
  );
  expect(await confirmBlind(other, [flipAt(6, once)])).toEqual([flipAt(6, once)]);
});

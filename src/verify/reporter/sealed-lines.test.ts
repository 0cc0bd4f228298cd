import { expect, test } from "vitest";
import { openRecord } from "./test-record.ts";
import { openSealedLines, toSealedLine } from "./sealed-lines.ts";

const place = { nonce: "n0", key: "k0" };
const words = ["runner\tpytest", "test\tpassed\ta", "test\tfailed\tb", "test\tpassed\tc", "done"];
const lines = words.map((text, index) => toSealedLine(place, "7.py", index + 1, text));

function recordOf(sent: readonly string[]) {
  const record = openRecord(place.nonce, ["/check"]);
  const sealed = openSealedLines(place, record);
  for (const line of sent) sealed.addLine(line, false);
  sealed.end();

  return record.take(() => false);
}

test("the control: a report that came whole, in whatever order of its senders, has no stranger in it", () => {
  const other = ["open\tpython", "close"].map((text, index) =>
    toSealedLine(place, "8.py", index + 1, text),
  );
  expect(recordOf([...other.slice(0, 1), ...lines, ...other.slice(1)])).toMatchObject({
    tests: { ran: 3, failed: 1 },
    foreignLines: 0,
    unended: 0,
  });
});

test("a line that was read out of the channel leaves a hole that is noticed, wherever it stood", () => {
  for (const taken of [1, 2, 3]) {
    expect(recordOf(lines.toSpliced(taken, 1))?.foreignLines, `line ${taken}`).toBe(1);
  }

  expect(recordOf(lines.slice(0, -1)), "its last line").toMatchObject({ unended: 1 });
});

test("whoever takes a line out cannot number the others anew, change one, or send one twice", () => {
  const renumbered = lines
    .toSpliced(2, 1)
    .map((line, index) => line.replace(/\t\d+\.(?=[0-9a-f]{32}\t)/, `\t${index + 1}.`));
  expect(recordOf(renumbered)?.foreignLines).toBeGreaterThan(0);
  const changed = recordOf(lines.map((line) => line.replace("\tfailed\t", "\tpassed\t")));
  expect(changed?.foreignLines).toBeGreaterThan(0);
  expect(recordOf([...lines.slice(0, 2), ...lines.slice(1)])).toMatchObject({
    tests: { ran: 3 },
    foreignLines: 1,
  });
});

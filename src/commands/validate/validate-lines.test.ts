// Files that are not what a log should be, on a real disk: every fault is reported with its line,
// and the lines around it are judged.

import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { LineRules } from "../../documents/line-rules.ts";
import { parseLine } from "../../documents/line-rules.ts";
import { countStrings } from "../../kit/json-hazards.ts";
import { type LinesRead, readLines, validatedLineBytesMax } from "./validate-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "validate-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "log.jsonl");

type ReadOutput = {
  readonly read: LinesRead;
  readonly lines: readonly string[];
  readonly faults: readonly string[];
};

function heard(content: string | Uint8Array, onLine?: (number: number) => void): ReadOutput {
  writeFileSync(file, content);
  const fd = openSync(file, "r+");
  const lines: string[] = [];
  const faults: string[] = [];

  const rules: LineRules = {
    checkLine: (text, number) => {
      onLine?.(number);
      lines.push(`${number} ${text.length > 100 ? text.length : text}`);
      const tree = parseLine(text);

      return tree === null ? 0 : typeof tree === "string" ? Number.NaN : countStrings(tree);
    },
    addFault: (number, message) => faults.push(`${number} ${message}`),
    finish: () => lines.push("end"),
  };

  try {
    return { read: readLines(fd, rules), lines, faults };
  } finally {
    closeSync(fd);
  }
}

describe("the lines of a file", () => {
  test("are handed over in order, numbered from 1, blank ones and the last without an end included", () => {
    const { lines, faults, read } = heard('{"a":1}\n\n{"b":"ü"}\r\n{"c":3}');
    expect(lines).toEqual(['1 {"a":1}', "2 ", '3 {"b":"ü"}\r', '4 {"c":3}', "end"]);
    expect([faults, read]).toEqual([[], { lineCount: 4, grewBytes: 0, isUnended: true }]);
    expect(heard("").lines).toEqual(["end"]);
  });

  test("are whole wherever the pieces that are read end", () => {
    const rows = Array.from(
      { length: 30_000 },
      (_, n) => `{"n":${n},"text":"${"é😀".repeat(n % 7)}"}`,
    );

    const { lines, faults } = heard(`${rows.join("\n")}\n`);
    expect(lines.length).toBe(30_001);
    expect(lines.slice(0, -1).map((line) => line.slice(line.indexOf(" ") + 1))).toEqual(rows);
    expect(faults).toEqual([]);
  });
});

describe("what is no text", () => {
  test("is told with its line and byte, and the lines around it are judged", () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":1}\n{"b":"x'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}\n{"c":"é"}\n'),
    ]);

    const { lines, faults } = heard(bytes);
    expect(faults).toEqual(["2 is not UTF-8 from its byte 8 on, expected text"]);
    expect(lines).toEqual(['1 {"a":1}', '3 {"c":"é"}', "end"]);
  });

  test("is told too where a character is cut off at the end of a line", () => {
    const bytes = Buffer.concat([
      Buffer.from('{"b":"'),
      Buffer.from([0xe2, 0x82]),
      Buffer.from("\n{}\n"),
    ]);
    expect(heard(bytes).faults).toEqual(["1 is not UTF-8 from its byte 7 on, expected text"]);
  });

  test("a NUL is for the rules to tell: it is UTF-8", () => {
    expect(heard('{"a":"\0"}\n').lines).toEqual(['1 {"a":"\0"}', "end"]);
  });
});

describe("a line that is too long", () => {
  const long = "x".repeat(validatedLineBytesMax + 1);

  test("is told and skipped, and the next has its own number", () => {
    const { lines, faults } = heard(`{"a":1}\n${long}${long}\n{"b":2}\n`);
    expect(faults).toEqual([expect.stringMatching(/^2 is longer than 1048576 bytes/)]);
    expect(lines).toEqual(['1 {"a":1}', '3 {"b":2}', "end"]);
  });

  test("is told where it is the last, has no end, or is just one byte too long", () => {
    expect(heard(`{}\n${long}`).faults).toEqual([expect.stringMatching(/^2 is longer/)]);
    expect(heard(long).read.lineCount).toBe(1);
    expect(heard(`${"x".repeat(validatedLineBytesMax)}\n`).lines[0]).toBe(
      `1 ${validatedLineBytesMax}`,
    );

    const { lines, faults } = heard(`${long}\n{"b":2}\n`); // its end comes with the bytes that make it too long
    expect([faults, lines]).toEqual([
      [expect.stringMatching(/^1 is longer/)],
      ['2 {"b":2}', "end"],
    ]);
  });
});

describe("what readers disagree about", () => {
  test.each([
    ['{"a":1,"a":2}', 'holds the key "a" twice'],
    ['{"a" :1,"b":2,"a" :3}', 'holds the key "a" twice'],
    ['{"a":"\\"a\\":","a":{}}', 'holds the key "a" twice'],
    ['{"x":{"__proto__":1}}', "holds the key __proto__"],
    ['{"x":"\\uD83D"}', "holds half a character"],
    [`{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, "is nested deeper"],
  ])("%.40s is told with its line, and no other line is", (line, message) => {
    const plain = Array.from(
      { length: 5_000 },
      (_, n) => `{"n":${n},"say":"\\"hi\\" \\ud83d\\ude00 \\\\"}`,
    );

    const { faults } = heard(plain.toSpliced(2_345, 0, line).join("\n"));
    expect(faults).toEqual([expect.stringContaining(`2346 ${message}`)]);
  });

  test("beside a line that is no JSON it is found all the same", () => {
    expect(heard('{"a":1,"a":2}\n{\n{"b":{},"b":1}\n').faults).toEqual([
      expect.stringContaining('1 holds the key "a" twice'),
      expect.stringContaining('3 holds the key "b" twice'),
    ]);
  });
});

describe("a file that changes while it is read", () => {
  test("and grows is judged as it was; a last line without an end is not judged", () => {
    let isGrown = false;
    const grow = (): void => {
      if (!isGrown) appendFileSync(file, ',"b":2}\n{"c":3}\n');
      isGrown = true;
    };

    const { lines, read } = heard('{"z":0}\n{"a":1', grow);
    expect(isGrown).toBe(true);
    expect(lines).toEqual(['1 {"z":0}', "end"]);
    expect(read).toEqual({ lineCount: 2, grewBytes: 16, isUnended: true });
  });

  test("and shrinks is told how much is gone", () => {
    const rows = `${Array.from({ length: 50_000 }, () => '{"a":1}').join("\n")}\n`;
    let isCut = false;

    const { read } = heard(rows, (number) => {
      if (number !== 1) return;
      const fd = openSync(file, "r+");
      ftruncateSync(fd, 8);
      writeSync(fd, "", 0);
      closeSync(fd);
      isCut = true;
    });

    expect(isCut).toBe(true);
    expect(read.grewBytes).toBe(8 - rows.length);
  });
});

test("a file in which nothing is JSON is not read to its end", () => {
  const { lines, faults } = heard("no\n".repeat(200_000));
  expect(lines.length).toBeLessThan(80_000);
  expect(faults).toEqual([expect.stringContaining("the rest was not read")]);
});

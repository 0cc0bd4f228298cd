// What is asked of near inputs must come to an end, whatever the code does with them.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { buildRecordedCommand, buildSharedCommand, buildComparingCommand } from "./near-records.ts";

const folder = mkdtempSync(join(tmpdir(), "near-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const exitCode = (command: string): number | null =>
  spawnSync("/bin/sh", ["-c", command], { cwd: folder }).status;
const recording = { variable: "n0c", named: [], secondsMax: 1 };

test("a command that does not come to its end is stopped: it shows nothing, and has to be asked alone", () => {
  expect(exitCode(buildRecordedCommand(recording, "sleep 60"))).toBe(1);
  expect(exitCode(buildSharedCommand(recording, "sleep 60"))).toBe(0);
});

/** A command that writes down what a function answers to `12.50` and to four inputs near it. */
const answering = (answerTo: (input: string) => string): string =>
  ["12.50", "13.50", "14.50", "15.50", "16.50"]
    .map(
      (input, index) =>
        `printf 'parse\\t0\\t${index === 0 ? "is" : "near"}\\t${input}\\t${answerTo(input)}\\t12.50\\n' >> "$n0c"`,
    )
    .join("; ");

test("an input that the code names is a special case only if it has an answer of its own", () => {
  const named = { ...recording, written: ["12.50"] };
  expect(
    exitCode(
      buildRecordedCommand(
        named,
        answering((input) => (input === "12.50" ? "1250" : "0")),
      ),
    ),
  ).toBe(0);

  expect(
    exitCode(
      buildRecordedCommand(
        named,
        answering((input) => input),
      ),
    ),
  ).toBe(1);

  expect(
    exitCode(
      buildRecordedCommand(
        named,
        answering((input) => `${input} EUR`),
      ),
    ),
  ).toBe(1);
});

/** Writes down answers to two tested inputs and four near them; `data` holds the answers. */
const answeringFrom = (near: string): string =>
  `read -r one two < data; ${[
    ...[...["10.5", "20.5"].entries()].map(
      ([index, input]) =>
        `printf 'rate\\t0\\tis\\t${input}\\t%s\\t\\n' "${index === 0 ? "$one" : "$two"}" >> "$n0c"`,
    ),
    ...["11.5", "12.5", "13.5", "14.5"].map(
      (input) => `printf 'rate\\t0\\tnear\\t${input}\\t%s\\t10.5\\n' "${near}" >> "$n0c"`,
    ),
  ].join("; ")}`;

test("data that answers only what tests ask is told from data that answers what is near it too", () => {
  const exitWith = (near: string, change: string, named: readonly string[] = []): number | null => {
    writeFileSync(join(folder, "data"), "7 9\n");
    return exitCode(buildComparingCommand({ ...recording, named }, answeringFrom(near), [change]));
  };

  const otherAnswers = "echo 3 4 > data";
  expect(exitWith("0", otherAnswers)).toBe(0);
  expect(exitWith("$one", otherAnswers)).toBe(1);
  expect(exitWith("0", "echo 7 4 > data")).toBe(1); // one answer is none
  expect(exitWith("0", ":")).toBe(1);
  expect(exitWith("0", otherAnswers, ["10.5", "20.5"])).toBe(1); // the goal asks for just these
});

describe("a list that answers are drawn from", () => {
  const sizes = [
    2048, 8, 9, 3145728, 2052, 4101, 2147483648, 14, 65544, 108, 17, 10240, 1024, 12, 526,
  ];
  const digest = (input: string): number => crc32(input) % sizes.length;

  /** Writes down answers to three tested inputs, and to five near each. */
  const answeringAll = (answerTo: (input: string, count: number) => number): string =>
    [12, 30, 200]
      .flatMap((tested, series) =>
        [0, 1, 2, -1, 3, 5].map((step) => {
          const unit = ["B", "KB", "MB"][series] ?? "";
          const input = `${tested + step}${unit}`;
          const kind = step === 0 ? "is" : "near";
          return `printf 'parse\\t0\\t${kind}\\t${input}\\t${answerTo(input, tested + step)}\\t${tested}${unit}\\n' >> "$n0c"`;
        }),
      )
      .join("; ");
  const exitWith = (
    answerTo: (input: string, count: number) => number,
    more: Partial<Parameters<typeof buildRecordedCommand>[0]> = {},
  ): number | null =>
    exitCode(
      buildRecordedCommand(
        { ...recording, secondsMax: 20, constants: sizes.map(String), ...more },
        answeringAll(answerTo),
      ),
    );
  const drawn = (input: string): number => sizes[digest(input)] ?? 0;

  test("is told", () => {
    expect(exitWith(drawn)).toBe(0);
    expect(exitWith(drawn, { named: ["1024"] })).toBe(0);
  });

  test("is not told if the goal asks for one, or some answers are no part of it", () => {
    expect(exitWith(drawn, { isSpreading: true })).toBe(1);
    expect(exitWith((input) => (digest(input) === 3 ? 5 : drawn(input)))).toBe(1);
    expect(exitWith(drawn, { named: sizes.map(String) })).toBe(1);
  });

  test("is not told if it is asked by place, in steps or in a circle", () => {
    expect(exitWith((_, count) => sizes[count % 15] ?? 0)).toBe(1);
    expect(exitWith((_, count) => sizes[(count * 4) % 15] ?? 0)).toBe(1);
    expect(exitWith((_, count) => [28, 30, 31][count % 3] ?? 0)).toBe(1);
  });
});

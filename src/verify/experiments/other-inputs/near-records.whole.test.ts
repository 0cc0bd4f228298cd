// What is asked of near inputs must come to an end, whatever the code does with them.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
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

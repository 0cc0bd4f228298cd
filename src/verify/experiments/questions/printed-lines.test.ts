import { describe, expect, test } from "vitest";
import { findUnprinted, findUnquoted } from "./printed-lines.ts";

const missing = (quoted: string, ...runs: readonly string[]): readonly string[] =>
  findUnprinted(quoted.split("\n"), runs);

describe("a quoted line that is not printed", () => {
  test.each([
    ["another number", "checksum 99999 ops", "checksum 17134 ops\n"],
    ["another word", "all 3 files are valid", "2 of 3 files are valid\n"],
    ["one of many", "a 1\nb 3\nc 3", "a 1\nb 2\nc 3\n"],
    ["of nothing", "done", ""],
    ["around what is left out", "found … errors in 0 files", "found 3 errors in 7 files\n"],
  ])("is found: %s", (_name, quoted, printed) =>
    expect(missing(quoted, printed, printed)).not.toEqual([]),
  );

  test.each([
    ["the same", "checksum 17134 ops\n", "checksum 17134 ops\n"],
    ["a part", "b 2", "a 1\nb 2\nc 3\n"],
    ["left out", "a 1\n...\nc 3", "a 1\nb 2\nc 3\n"],
    ["left out in a line", "found … files", "found 3 errors in 7 files\n"],
    ["wrapped", "a very long line\n  that goes on", "a very long line that goes on\n"],
    ["colours", "ok", "\u001b[32mok\u001b[0m\n"],
    [
      "times",
      "3 tests in 12 ms (0.4s), 12:30:01, 1:30 PM",
      "3 tests in 9 ms (0.38s), 09:12:44, 4:10 PM\n",
    ],
    ["dates", "saved 2024-05-01T10:00:00Z", "saved 2026-11-18T16:00:00.123Z\n"],
    ["rates", "1,234,567 ops/sec", "999,123 ops/sec\n"],
    ["paths", "wrote /srv/ada/x/out.txt", "wrote /tmp/b/out.txt\n"],
    ["a remark", "3   # with the hidden one", "3\n"],
    ["comments", "# prints the mean\n2.5", "2.5\n"],
    ["an answer that somebody typed", "Your name? Ada\nHello Ada", "Your name? "],
  ])("is none: %s", (_name, quoted, printed) =>
    expect(missing(quoted, printed, printed)).toEqual([]),
  );

  test("is none if it is another one each time", () => {
    expect(missing("id 8f3a\nsum 3", "id 77b1\nsum 3\n", "id 0c2d\nsum 3\n")).toEqual([]);
    expect(missing("id 8f3a\nsum 4", "id 77b1\nsum 3\n", "id 0c2d\nsum 3\n")).toEqual(["sum 4"]);
  });

  test("is found in a line of which only another part is another one each time", () => {
    const runs = ["n=100 crc=9be0 cost 71\n", "n=100 crc=9be0 cost 64\n"];
    expect(missing("n=100 crc=9be0 cost 90", ...runs)).toEqual([]);
    expect(missing("n=100 crc=04aa cost 71", ...runs)).toEqual(["n=100 crc=04aa cost 71"]);
  });

  test("is found if hours and minutes are what is computed", () => {
    expect(missing("ann 22:10 1:30", "ann 24:40 4:00\n", "ann 24:40 4:00\n")).toEqual([
      "ann 22:10 1:30",
    ]);

    expect(missing("begun 10:15", "begun 16:20\n", "begun 06:20\n")).toEqual([]); // the clock, in two time zones
  });
});

test("what is printed on a terminal alone counts as printed", () => {
  expect(findUnprinted(["✔ 3 passed"], ["# pass 3\n", "# pass 3\n"], "✔ 3 passed\n")).toEqual([]);
  expect(findUnprinted(["✔ 4 passed"], ["# pass 3\n", "# pass 3\n"], "✔ 3 passed\n")).toEqual([
    "✔ 4 passed",
  ]);
});

test("an output that a document does not have", () => {
  expect(
    findUnquoted("# Bench\n\n    checksum 99999 ops\n", [
      "checksum 17134 ops\n",
      "checksum 17134 ops\n",
    ]),
  ).toEqual(["checksum 17134 ops"]);

  expect(
    findUnquoted("It prints `checksum 17134 ops`.\n", [
      "checksum 17134 ops\n",
      "checksum 17134 ops\n",
    ]),
  ).toEqual([]);

  expect(findUnquoted("", ["at 5\n", "at 6\n"])).toEqual([]);
  const runs = ["> bench\na 1\nb 2\nc 3\n", "> bench\na 1\nb 2\nc 3\n"];
  expect(findUnquoted("a 1\nb 2\nc 9\n", runs)).toEqual([]);
  expect(findUnquoted("a 1\nb 2\nc 9\n", runs, true)).toEqual(["c 3"]);
  expect(findUnquoted("a 1\nb 2\nc 3\n", runs, true)).toEqual([]);
});

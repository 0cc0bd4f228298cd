// The table of call families covers this machine: its kernel's spellings, what Node makes of each
// file operation, and each spelling alone.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/scratch-repository.ts";
import { callsOf, changingCalls, families, type Family, spellingsIn } from "./call-families.ts";
import { whyNoStrace } from "./under-strace.ts";

const all = Object.keys(families) as Family[];
const known: readonly string[] = Object.values(families).flat();

/** The calls of the running kernel, from its table of symbols; none if it shows none. */
function kernelCalls(): readonly string[] {
  try {
    const symbols = readFileSync("/proc/kallsyms", "utf8").matchAll(
      / __(?:x64|arm64)_sys_(\w+)$/gm,
    );
    return [...new Set([...symbols].map(([, name = ""]) => name))];
  } catch {
    return [];
  }
}
const ofKernel = kernelCalls();

/** What Node does to a disk, each with the family it must be found in. */
const operations: readonly (readonly [Family, string])[] = [
  ["open", "fs.closeSync(fs.openSync('a', 'w'))"],
  ["write", "fs.writeSync(fs.openSync('a', 'w'), 'text')"],
  ["pwrite", "fs.writeSync(fs.openSync('a', 'w'), 'text', 0)"],
  ["pwrite", "fs.writevSync(fs.openSync('a', 'w'), [Buffer.from('a'), Buffer.from('b')], 0)"],
  ["sync", "fs.fsyncSync(fs.openSync('a', 'w'))"],
  ["sync", "fs.fdatasyncSync(fs.openSync('a', 'w'))"],
  ["truncate", "fs.ftruncateSync(fs.openSync('a', 'w'), 1)"],
  ["rename", "fs.renameSync('kept', 'b')"],
  ["mkdir", "fs.mkdirSync('d')"],
  ["mkdir", "fs.mkdirSync('e/f/g', { recursive: true })"],
  ["mkdir", "fs.mkdtempSync('t-')"],
  ["unlink", "fs.unlinkSync('kept')"],
  ["unlink", "fs.rmdirSync('empty')"],
  ["unlink", "fs.rmSync('empty', { recursive: true })"],
  ["link", "fs.linkSync('kept', 'b')"],
  ["symlink", "fs.symlinkSync('kept', 'b')"],
  ["chmod", "fs.chmodSync('kept', 0o600)"],
  ["chmod", "fs.fchmodSync(fs.openSync('a', 'w'), 0o600)"],
  ["copy", "fs.copyFileSync('kept', 'b')"],
];

/** The numbers of the spellings every processor has: all that arm64 makes. */
const isArm = process.arch === "arm64";
const here = -100;
const everywhere: readonly (readonly [Family, number, string])[] = [
  ["rename", isArm ? 38 : 264, `${here}, my $a = "kept", ${here}, my $b = "b"`],
  ["rename", isArm ? 276 : 316, `${here}, my $a = "kept", ${here}, my $b = "b", 0`],
  ["mkdir", isArm ? 34 : 258, `${here}, my $a = "d", 493`],
  ["open", isArm ? 56 : 257, `${here}, my $a = "kept", 0, 0`],
  ["open", 437, `${here}, my $a = "kept", my $how = "\\0" x 24, 24`],
  ["unlink", isArm ? 35 : 263, `${here}, my $a = "kept", 0`],
  ["link", isArm ? 37 : 265, `${here}, my $a = "kept", ${here}, my $b = "b", 0`],
  ["symlink", isArm ? 36 : 266, `my $a = "kept", ${here}, my $b = "b"`],
];

function folder(): string {
  const made = scratchFolder("autopilot-families-");
  execFileSync("sh", ["-c", "echo x > kept; mkdir empty"], { cwd: made });
  return made;
}

test("a call is in one family only, and what merely begins like one is in none", () => {
  expect(new Set(known).size).toBe(known.length);
  expect(spellingsIn("rename", ["rename", "renameat2", "renamed", "prename"])).toEqual([
    "rename",
    "renameat2",
  ]);
});

test.skipIf(ofKernel.length === 0)(
  "every spelling that the running kernel has of a family is in the table (needs /proc/kallsyms)",
  () => {
    const missing = all
      .flatMap((family) => spellingsIn(family, ofKernel))
      .filter((name) => !known.includes(name) && !name.endsWith("64"));
    expect(missing).toEqual([]);

    for (const family of all) {
      expect(
        families[family].some((name) => ofKernel.includes(name)),
        `${family} is in this kernel`,
      ).toBe(true);
    }
  },
);

describe.skipIf(whyNoStrace !== "")(`what strace sees${whyNoStrace}`, () => {
  test("strace knows a spelling of every family here, and takes the whole table", () => {
    const isTaken = (names: string): boolean =>
      spawnSync("strace", ["-qq", "-o", "/dev/null", "-e", `trace=${names}`, "true"]).status === 0;
    expect(isTaken(changingCalls)).toBe(true);

    for (const family of all) {
      expect(
        families[family].some((name) => isTaken(name)),
        family,
      ).toBe(true);
    }

    expect(
      isTaken("no_such_call"),
      "an unknown name is refused, so that the answers above mean something",
    ).toBe(false);
  });

  test.each(operations)("%s: the fault strikes Node's own %s", (family, program) => {
    const cwd = folder();
    const watched = ["kept", "a", "b", "d", "e", "e/f", "e/f/g", "empty"].flatMap((name) => [
      "-P",
      name,
      "-P",
      join(cwd, name),
    ]);
    const path = family === "mkdir" || family === "unlink" ? [] : watched;

    const args = [
      "-f",
      "-qq",
      "-o",
      join(cwd, "log"),
      ...path,
      `-einject=${callsOf(family)}:error=EIO:when=1+`,
    ];
    spawnSync("strace", [
      ...args,
      process.execPath,
      "-e",
      `const fs = require("node:fs"); process.chdir(${JSON.stringify(cwd)}); ${program}`,
    ]);

    expect(readFileSync(join(cwd, "log"), "utf8")).toContain("(INJECTED)");
  });

  test.each(everywhere)(
    "%s: a program that makes call number %i alone, as on another processor, is struck as well",
    (family, number, text) => {
      const cwd = folder();
      const program = `chdir $ARGV[0]; exit(syscall(${number}, ${text}) < 0 && $!{EIO} ? 7 : 0)`;

      const made = (inject: readonly string[]): number | null =>
        spawnSync("strace", [
          "-qq",
          "-o",
          "/dev/null",
          ...inject,
          "perl",
          "-MErrno",
          "-e",
          program,
          cwd,
        ]).status;
      expect(made(["-etrace=none"]), "it does what it is for").toBe(0);
      const paths = ["-P", "kept", "-P", "b", "-P", "d"];
      expect(made([...paths, `-einject=${callsOf(family)}:error=EIO`])).toBe(7);
    },
  );
});

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { endOtherProcesses } from "./main-program-only.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const looked = (path: string, after: string) => ({
  difference: { path, kind: "added" as const },
  before: null,
  after,
  isTest: false,
});

/** Whether a process that starts a program, and one that loads it, come to their end. */
function ends(path: string, text: string, loads: readonly string[]): readonly [boolean, boolean] {
  const folder = mkdtempSync(join(tmpdir(), "started-"));
  folders.push(folder);

  for (const file of endOtherProcesses([looked(path, text)], "n0")) {
    writeFileSync(join(folder, file.path), file.text);
  }

  const isWell = (words: readonly string[]): boolean =>
    spawnSync(words[0] ?? "", words.slice(1), { cwd: folder }).status === 0;
  return [isWell([path.endsWith(".py") ? "python3" : process.execPath, path, "7"]), isWell(loads)];
}

describe("a file that reads the command line ends whoever else loads it", () => {
  test.each([
    [
      "a module",
      "cli.mjs",
      "#!/usr/bin/env node\nimport { basename } from 'node:path';\nbasename(process.argv[2]);\n",
      "import('./cli.mjs').catch(() => 0)",
    ],
    [
      "a script",
      "cli.cjs",
      "'use strict';\nconst [word] = process.argv.slice(2);\n",
      "try { require('./cli.cjs') } catch {}",
    ],
  ])("%s", (_name, path, text, load) => {
    expect(ends(path, text, [process.execPath, "-e", load])).toEqual([true, false]);
  });

  test("Python", () => {
    const text =
      '"""Counts."""\nfrom __future__ import annotations\nimport sys\n\nword = sys.argv[-1]\n';
    expect(
      ends("cli.py", text, ["python3", "-c", "try:\n import cli\nexcept BaseException: pass"]),
    ).toEqual([true, false]);
  });

  test("what reads none is left as it is", () => {
    expect(
      endOtherProcesses(
        [
          looked("src/a.js", "export const a = 1;\n"),
          looked("cmd/a.go", "package main\n\nvar a = os.Args\n"),
        ],
        "n0",
      ),
    ).toEqual([]);
  });
});

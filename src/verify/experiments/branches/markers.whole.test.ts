// Real programs in each language whose branches leave marks, or end the process.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { NumberedBranch } from "./instrument.ts";
import { findBranches } from "./find-branches.ts";
import { instrumentFiles } from "./instrument.ts";

const folder = mkdtempSync(join(tmpdir(), "branches-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isThere = (program: string): boolean =>
  spawnSync("/bin/sh", ["-c", `command -v ${program}`]).status === 0;

type Sample = {
  readonly needs: string;
  readonly files: Readonly<Record<string, string>>;
  /** The file with the branches, and the command that prints what its function answers to 1 and 2. */
  readonly source: string;
  readonly command: string;
};
/** Each asks with 1 and 2: `b && a > 1` goes both ways, `b` is only true. */
const samples: Readonly<Record<string, Sample>> = {
  "a module": {
    needs: "node",
    source: "a.mjs",
    command: `node -e "import('./a.mjs').then(({ f }) => console.log(f(1), f(2)))"`,
    files: {
      "a.mjs":
        "#!/usr/bin/env node\n// What it is.\nconst b = { c: true };\nexport const f = (a, { d = 5 } = {}) => {\n  if (b.c && a > 1) return d;\n  return 0;\n};\n",
    },
  },
  "a CommonJS module": {
    needs: "node",
    source: "a.cjs",
    command: `node -e "const { f } = require('./a.cjs'); console.log(f(1), f(2))"`,
    files: {
      "a.cjs":
        "'use strict';\nconst b = true;\nexports.f = function (a) {\n  return b && a > 1\n    ? 5\n    : 0;\n};\n",
    },
  },
  Python: {
    needs: "python3",
    source: "a.py",
    command: `python3 -c "import a; print(a.f(1), a.f(2))"`,
    files: {
      "a.py":
        '"""What it is."""\nfrom __future__ import annotations\nb = True\n\ndef f(a):\n    if b and \\\n       a > 1:\n        return 5\n    return 0\n',
    },
  },
  Go: {
    needs: "go",
    source: "a.go",
    command: "go run .",
    files: {
      "go.mod": "module example.com/a\n\ngo 1.18\n",
      "a.go":
        'package main\n\nimport "fmt"\n\nvar b = true\n\nfunc f(a int) int {\n\tif c := a; b && c > 1 {\n\t\treturn 5\n\t}\n\treturn 0\n}\n\nfunc main() { fmt.Println(f(1), f(2)) }\n',
    },
  },
  Rust: {
    needs: "rustc",
    source: "a.rs",
    command: "rustc -D warnings -o a a.rs && ./a",
    files: {
      "a.rs":
        '#![deny(warnings)]\nfn f(a: i32, b: bool) -> i32 { if b && a > 1 { 5 } else { 0 } }\nfn main() { println!("{} {}", f(1, true), f(2, true)); }\n',
    },
  },
  Java: {
    needs: "javac",
    source: "shop/A.java",
    command: "javac -d . shop/A.java && java -cp . shop.A",
    files: {
      "shop/A.java":
        'package shop;\npublic class A {\n  static boolean b = true;\n  static int f(int a) { return b && a > 1 ? 5 : 0; }\n  public static void main(String[] args) { System.out.println(f(1) + " " + f(2)); }\n}\n',
    },
  },
  C: {
    needs: "cc",
    source: "a.c",
    command: "cc -std=c99 -pedantic -Wall -Wextra -Werror -o a a.c && ./a",
    files: {
      "a.c":
        '#define _POSIX_C_SOURCE 200809L\n#include <stdio.h>\nstatic int b = 1;\nstatic int f(int a) { if (b && a > 1) return 5; return 0; }\nint main(void) { printf("%d %d\\n", f(1), f(2)); return 0; }\n',
    },
  },
};

function run(name: string, { files, source, command }: Sample, traps: readonly string[]) {
  const place = mkdtempSync(join(folder, "run-"));
  const marks = mkdtempSync(join(folder, "marks-"));
  const texts = Object.entries(files).map(([path, text]) => ({ path, text }));
  const branches = findBranches({ path: source, was: null, is: files[source] ?? "" }, []).map(
    (branch, index): NumberedBranch => [index, branch],
  );
  for (const { path, text } of [...texts, ...instrumentFiles(texts, branches, "N0nce", traps)]) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }

  const env = { ...process.env, N0nce: marks, GOFLAGS: "-mod=mod", GOCACHE: join(folder, "go") };
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
    cwd: place,
    env,
    encoding: "utf8",
  });
  const ways = branches.map(([, { text }]) => text);
  return {
    name,
    status,
    stdout: stdout.trim(),
    stderr,
    ways,
    marks: readdirSync(marks).toSorted(),
  };
}

for (const [name, sample] of Object.entries(samples)) {
  const { needs } = sample;
  test.skipIf(!isThere(needs))(
    `${name} (needs ${needs}): branches leave marks, mean the same, and can end the process`,
    () => {
      const marked = run(name, sample, []);
      expect(marked).toMatchObject({ status: 0, stdout: "0 5" });
      const whole = marked.ways.findIndex((way) => /^b.*(?:&&|and)/.test(way));
      const b = marked.ways.findIndex((way) => /^b(?:\.c)?$/.test(way));
      expect(marked.marks).toEqual(expect.arrayContaining([`${whole}F`, `${whole}T`, `${b}T`]));
      expect(marked.marks).not.toContain(`${b}F`);

      expect(run(name, sample, [`${b}F`])).toMatchObject({ status: 0, stdout: "0 5" });
      expect(run(name, sample, [`${b}T`]).status).not.toBe(0);
    },
  );
}

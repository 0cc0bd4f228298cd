import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { wrapInOtherWorld } from "./other-world.ts";

it("another world has another number of processors, user and hash seed for Python", () => {
  const run = (command: string): string =>
    execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" }).trim();
  const asked = `python3 -c 'import multiprocessing, os; print(multiprocessing.cpu_count(), os.getuid(), os.environ["PYTHONHASHSEED"])'`;
  const [processors, ...rest] = run(wrapInOtherWorld(asked)).split(" ");
  expect(rest).toEqual(["65534", "4242"]);
  expect(processors).not.toBe(run("python3 -c 'import os; print(os.cpu_count())'"));
});

it("another world has a terminal for Python programs, other temporary folders for tests, and no tests beside the code", () => {
  const folder = mkdtempSync(join(tmpdir(), "world-"));
  try {
    for (const name of ["calc", "tests"]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "__init__.py"), "");
    }

    const asked = `import os, sys, tempfile\n\n\ndef ask():\n    return ["cfg-" in tempfile.mkdtemp(prefix="cfg-"), os.path.isdir("tests"), sys.stdout.isatty(), os.isatty(1)]\n`;
    writeFileSync(join(folder, "calc/ask.py"), asked);
    writeFileSync(join(folder, "calc/__main__.py"), "from .ask import ask\nprint(*ask())\n");
    writeFileSync(
      join(folder, "tests/test_ask.py"),
      `${asked}\n\nimport calc.ask\nprint(*ask(), *calc.ask.ask())\n`,
    );

    const run = (command: string): string =>
      execFileSync("/bin/sh", ["-c", command], {
        encoding: "utf8",
        cwd: folder,
        env: { ...process.env, HOME: folder },
      }).trim();
    expect(run("python3 -m calc")).toBe("True True False False");
    expect(run(wrapInOtherWorld("python3 -m calc"))).toBe("True False True True");
    expect(run(wrapInOtherWorld("python3 -m tests.test_ask"))).toBe(
      "False True False False True False False False",
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

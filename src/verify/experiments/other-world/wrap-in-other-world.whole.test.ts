import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wrapInOtherWorld, type WorldFact } from "./wrap-in-other-world.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "world-"));
  writeFileSync(join(folder, "package.json"), "{}\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (command: string, different?: readonly WorldFact[]): string =>
  execFileSync("/bin/sh", ["-c", wrapInOtherWorld(command, different)], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], LANG: "C.UTF-8", TZ: "UTC", TMPDIR: folder, HOME: folder },
  }).trim();

const hasPython = spawnSync("python3", ["--version"]).status === 0;

describe("another world", () => {
  it("has another time zone, language, number of processors and user for Node", () => {
    const asked = `const os = require("os"); console.log([Intl.DateTimeFormat().resolvedOptions().timeZone, (1.5).toLocaleString(), os.userInfo().uid, process.getuid(), os.cpus().length === os.availableParallelism()].join(" "))`;
    expect(run(`node -e '${asked}'`)).toBe("Pacific/Kiritimati 1,5 65534 65534 true");
    const usual = Number(execFileSync("node", ["-p", "os.cpus().length"], { encoding: "utf8" }));
    expect(Number(run("node -p 'os.cpus().length'"))).not.toBe(usual);
  });

  it("has them for modules that import single names", () => {
    writeFileSync(
      join(folder, "a.mjs"),
      `import { availableParallelism, cpus } from "node:os";\nconsole.log(availableParallelism() === cpus().length);\n`,
    );

    expect(run("node a.mjs")).toBe("true");
  });

  it("is different in one thing alone, if asked", () => {
    const asked = `console.log([process.env.TZ, (1.5).toLocaleString(), process.env.USER, process.env.PYTHONHASHSEED, process.env.NODE_OPTIONS].join(" "))`;
    expect(run(`node -e '${asked}'`, ["time zone"])).toBe("Pacific/Kiritimati 1.5");
    expect(run(`node -e '${asked}'`, ["hash seed"])).toBe("UTC 1.5  4242");
  });

  it("has a terminal for the project's programs, and none for its tests", () => {
    const asked = `console.log([process.stdout.isTTY === true, require("tty").isatty(1), process.stdout.columns, process.env.NO_COLOR].join(" "));\n`;
    mkdirSync(join(folder, "bin"), { recursive: true });
    mkdirSync(join(folder, "test"), { recursive: true });
    writeFileSync(join(folder, "bin/a.js"), asked);
    writeFileSync(join(folder, "test/a.js"), asked);
    expect(run("node bin/a.js", ["terminal"])).toBe("true true 80 1");
    expect(run("node test/a.js", ["terminal"])).toBe("false false  1");
    expect(run("node bin/a.js", ["user"])).toBe("false false");
  });

  it("has another name and place for temporary folders that tests make, and finds no tests beside the code", () => {
    mkdirSync(join(folder, "src"), { recursive: true });
    mkdirSync(join(folder, "test"), { recursive: true });
    const asked = `const fs = require("fs"), os = require("os"), path = require("path");
module.exports = () => [fs.mkdtempSync(path.join(os.tmpdir(), "cfg-")).includes("/cfg-"), fs.existsSync("test")].join(" ");\n`;
    writeFileSync(
      join(folder, "src/b.js"),
      `${asked}if (require.main === module) console.log(module.exports());\n`,
    );

    writeFileSync(
      join(folder, "test/b.test.js"),
      `${asked}console.log(module.exports(), require("../src/b.js")());\n`,
    );

    expect(run("node test/b.test.js", ["temporary folder"])).toBe("false true true true");
    expect(run("node test/b.test.js", ["tests beside it"])).toBe("true true true false");
    expect(run("echo $TMPDIR", ["temporary folder"])).toBe(join(folder, "t"));
  });

  it("makes temporary folders of shells in another place than TMPDIR says, unless they are given one", () => {
    const places = run(
      'for dir in "$(mktemp -d)" "$(mktemp -dq)" "$(mktemp --suffix=.txt)" "$(mktemp -d -t keep.XXXXXX)" "$(mktemp -d "$TMPDIR/a.XXXXXX")" "$(mktemp -d -p "$TMPDIR")" "$(mktemp -d --tmpdir)"; do [ -e "$dir" ] && dirname "$dir"; done',
      ["temporary folder"],
    );
    const given = join(folder, "t");
    expect(places.split("\n")).toEqual([folder, folder, folder, folder, given, given, given]);
    expect(run('dirname "$(mktemp -d)"', ["user"])).toBe(folder);
  });

  it("has another folder for temporary files in compiled code that is no test", () => {
    const asks = {
      "go/a.go": "p := os.TempDir()\n",
      "go/a_test.go": "p := os.TempDir()\n",
      "rust/src/a.rs":
        "let p = std::env::temp_dir().join(n);\n#[cfg(test)]\nmod tests { fn a() { env::temp_dir(); } }\n",
      "rust/tests/a.rs": "env::temp_dir();\n",
      "java/A.java": 'System.getProperty("java.io.tmpdir");\n',
      "java/test/ATest.java": 'System.getProperty("java.io.tmpdir");\n',
    };
    for (const [path, text] of Object.entries(asks)) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    }

    run(":", ["temporary folder"]);
    const changed = Object.keys(asks).map((path) => readFileSync(join(folder, path), "utf8"));
    expect(changed).toEqual([
      'p := (os.Getenv("HOME") + "/u")\n',
      asks["go/a_test.go"],
      asks["rust/src/a.rs"].replace(
        "std::env::temp_dir()",
        '({ let _usual = std::env::temp_dir(); std::path::PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join("u") })',
      ),
      asks["rust/tests/a.rs"],
      '(System.getenv("HOME") + "/u");\n',
      asks["java/test/ATest.java"],
    ]);
  });

  it("finds neither the folder of tests nor what is in it, however the code looks", () => {
    mkdirSync(join(folder, "src"), { recursive: true });
    mkdirSync(join(folder, "test"), { recursive: true });
    writeFileSync(
      join(folder, "src/c.mjs"),
      `import fs, { existsSync, readdirSync, readFileSync } from "node:fs";
import { access } from "node:fs/promises";
const tests = new URL("../test", import.meta.url);
const finds = (look) => { try { look(); return true; } catch { return false; } };
export const look = async () => [
  existsSync(tests), existsSync("test/c.test.mjs"), finds(() => readdirSync(tests)), finds(() => fs.lstatSync("./test")),
  finds(() => readFileSync(new URL("../test/c.test.mjs", import.meta.url))), await access(tests).then(() => true, () => false),
].join(" ");\n`,
    );
    writeFileSync(
      join(folder, "test/c.test.mjs"),
      `import { readdirSync } from "node:fs";\nimport { look } from "../src/c.mjs";\nconsole.log(await look(), readdirSync("test").length > 0);\n`,
    );

    expect(run("node test/c.test.mjs", ["user"])).toBe("true true true true true true true");
    expect(run("node test/c.test.mjs", ["tests beside it"])).toBe(
      "false false false false false false true",
    );
  });

  it.runIf(hasPython)("finds no tests in Python either, however the code looks", () => {
    mkdirSync(join(folder, "tests"), { recursive: true });
    writeFileSync(
      join(folder, "c.py"),
      `import glob, os
from pathlib import Path


def finds(look):
    try:
        return bool(look())
    except FileNotFoundError:
        return False


def look():
    place = Path(__file__).parent / "tests"
    return [finds(look) for look in (place.exists, lambda: os.listdir(place), lambda: list(place.iterdir()), lambda: open(place / "test_c.py").read(), lambda: os.access("tests", os.R_OK), lambda: glob.glob("tests/*"))]\n`,
    );
    writeFileSync(
      join(folder, "tests/test_c.py"),
      `import os, sys\nsys.path.insert(0, os.getcwd())\nimport c\nprint(any(c.look()), all(c.look()), len(os.listdir("tests")) > 0)\n`,
    );

    expect(run("python3 tests/test_c.py", ["user"])).toBe("True True True");
    expect(run("python3 tests/test_c.py", ["tests beside it"])).toBe("False False True");
  });

  it("gives programs whose output a command reads a file to write to, with their exit code", () => {
    const kind = `node -p 'require("fs").fstatSync(1).isFIFO()'`;
    expect(run(`echo "$(${kind})"`)).toBe("false");
    expect(run(`${kind} | cat`)).toBe("false");
    expect(run(`echo "$(node -e 'process.exit(3)' || echo $?)"`)).toBe("3");
  });

  it("changes sources without a word of it from git, which still tells what the command changes", () => {
    const git = "git -c user.name=a -c user.email=a@b";
    const start = `git init -q && git add -A && ${git} commit -qm start`;
    mkdirSync(join(folder, "asks"));
    const inside = (command: string): string =>
      execFileSync("/bin/sh", ["-c", command], { cwd: join(folder, "asks"), encoding: "utf8" });
    for (const [name, text] of [
      ["go.mod", "module a\n"],
      ["a.go", "n := runtime.NumCPU()\n"],
      ["b.go", "n := 1\n"],
    ] as const) {
      writeFileSync(join(folder, "asks", name), text);
    }

    inside(start);
    const asked = "cat a.go; git status --porcelain; echo >>b.go; git status --porcelain";
    expect(inside(wrapInOtherWorld(asked, ["number of processors"]))).toBe(
      "n := runtime.GOMAXPROCS(0)\n M b.go\n",
    );
  });

  it("leaves the command's own words as they are", () => {
    const command = "cat <<'X'\n$a 'b' \"c\"\nX";
    expect(wrapInOtherWorld(command).endsWith(`\n${command}`)).toBe(true);
    expect(run(command)).toBe("$a 'b' \"c\"");
  });
});

it("another world has another number of processors, user and hash seed for Python", () => {
  const run = (command: string): string =>
    execFileSync("/bin/sh", ["-c", command], { cwd: folder, encoding: "utf8" }).trim();
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

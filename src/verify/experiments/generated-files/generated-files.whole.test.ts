// Files that programs of the project make, made again in real folders.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Observed } from "../broken-expectations/noticed-flips.ts";
import { makeFilesAgain } from "./generated-files.ts";
import type { QuestionContext } from "../questions/question-context.ts";

type Tree = Readonly<Record<string, string>>;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function run(tree: Tree, command: string): Observed {
  const folder = mkdtempSync(join(tmpdir(), "made-"));
  folders.push(folder);

  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }

  const { status, stdout } = spawnSync("/bin/sh", ["-c", command], {
    cwd: folder,
    encoding: "utf8",
  });
  return { passed: status === 0, failed: new Set(), tests: null, readOutput: () => stdout };
}

/** What is told of a work; `judged`: files of it that are judged with another text. */
const ask = async (base: Tree, work: Tree, judged: Tree = {}, goal = ""): Promise<string | null> =>
  (await makeFilesAgain(createContext(base, work, judged, goal))).gap;

function createContext(base: Tree, work: Tree, judged: Tree = {}, goal = ""): QuestionContext {
  const committed = { ...base, ...work };
  const tree = { ...committed, ...judged };

  const context = {
    goal,
    differences: Object.keys(work).map((path) => ({
      path,
      kind: path in base ? "changed" : "added",
    })),
    workspace: { textAt: async (_commit: string, path: string) => committed[path] ?? null },
    lab: {
      seed: "seed",
      textAt: async (side: string, path: string) => (side === "base" ? base : tree)[path] ?? null,
      pathsAt: async (side: string) => Object.keys(side === "base" ? base : tree),
      run: async (_side: string, _edits: unknown, _gone: unknown, command: string) =>
        run(base, command),
    },
    runWith: async (_whether: string | null, { command = "" }) => run(tree, command),
  };
  return context as unknown as QuestionContext;
}

const head = "# made by tools/gen.sh, do not edit\n";
const generator = (body: string): string =>
  `#!/bin/sh\n{ echo '${head.trim()}'\n${body}\n} > codes.txt\n`;
const upper = generator("tr a-z A-Z < names");
const lower = generator("cat names");
const base: Tree = { names: "ok\n", "tools/gen.sh": lower, "codes.txt": `${head}ok\n` };
const gap = "codes.txt is not what tools/gen.sh writes";

describe("a gap names the file and its program", () => {
  test("if the file was edited, and its generator was not changed", async () => {
    expect(await ask(base, { "codes.txt": `${head}OK\n` })).toBe(gap);
    expect(await ask(base, { "codes.txt": "OK\n" })).toBe(gap); // it no longer says so
  });

  test("if both were changed, and differ", async () => {
    expect(await ask(base, { "tools/gen.sh": upper, "codes.txt": `${head}oK\n` })).toBe(gap);
  });

  test("if the generator was changed, and its file not made again", async () => {
    expect(await ask(base, { "tools/gen.sh": upper })).toBe(gap);
  });

  test("if both are new", async () => {
    const { names = "" } = base;
    expect(await ask({ names }, { "tools/gen.sh": upper, "codes.txt": `${head}other\n` })).toBe(
      gap,
    );
  });

  test("if the goal says which program writes the file", async () => {
    const skipping = "[ -e codes.txt ] || tr a-z A-Z < names > codes.txt\n";
    const { names = "" } = base;
    const tree = { names, "tools/gen.sh": skipping };
    const told = (goal: string, text = "OH\n") => ask(tree, { "codes.txt": text }, {}, goal);
    expect(await told("tools/gen.sh must generate codes.txt from names")).toBe(gap);
    expect(await told("tools/gen.sh must generate codes.txt from names", "OK\n")).toBeNull();
    expect(await told("Correct codes.txt, of which tools/gen.sh makes none")).toBeNull();
    expect(await told("Write codes.txt")).toBeNull();
  });

  test("if the program only changes what is there", async () => {
    const inPlace = "sed -i 's/^count .*/count 2/' codes.txt\n";
    const counted = { "tools/gen.sh": inPlace, "codes.txt": `${head}count 2\n` };
    expect(await ask(counted, { "codes.txt": `${head}count 3\n` })).toBe(gap);
    expect(await ask(counted, { "codes.txt": `${head}count 2\nmore\n` })).toBeNull();
  });

  test("if the program prints it", async () => {
    const printing = { ...base, "tools/gen.sh": `echo '${head.trim()}'; cat names\n` };
    expect(await ask(printing, { "codes.txt": `${head}OK\n` })).toBe(gap);
    expect(await ask(printing, { "codes.txt": `${head}oh\n`, names: "oh\n" })).toBeNull();
  });
});

describe("nothing is told", () => {
  test("if the file is what its program writes", async () => {
    expect(await ask(base, { "tools/gen.sh": upper, "codes.txt": `${head}OK\n` })).toBeNull();
    expect(await ask(base, { names: "no\n", "codes.txt": `${head}no\n` })).toBeNull();
    expect(await ask(base, { "tools/gen.sh": `${lower}# comment\n` })).toBeNull();
  });

  test("and the file is listed as made again, if it was", async () => {
    const listed = async (work: Tree): Promise<readonly string[]> =>
      (await makeFilesAgain(createContext(base, work))).madeAgain;
    expect(await listed({ names: "no\n", "codes.txt": `${head}no\n` })).toEqual(["codes.txt"]);
    expect(await listed({ "codes.txt": `${head}no\n` })).toEqual([]);
    expect(await listed({ names: "no\n" })).toEqual([]);
  });

  test.each([
    ["fails", "exit 3\n"],
    ["asks for an argument", '[ -n "$1" ] || { echo usage; exit 0; }\ncat names > "$1"\n'],
    ["writes something else", "cat names > other.txt\n"],
    ["uses the network", "curl -s http://localhost/ > codes.txt\n"],
    ["writes another text each time", `echo "$$ $(date +%N)" > codes.txt\n`],
  ])("if the program %s", async (_, text) => {
    expect(await ask({ ...base, "tools/gen.sh": text }, { "codes.txt": `${head}OK\n` })).toBeNull();
  });

  test("if the file was something else before the work, too", async () => {
    expect(
      await ask({ ...base, "codes.txt": `${head}old\n` }, { "codes.txt": `${head}new\n` }),
    ).toBeNull();
  });

  test("if a file that the work changed is judged as before", async () => {
    const work = { names: "no\n", "codes.txt": `${head}no\n` };
    expect(await ask(base, work, { names: "ok\n" })).toBeNull();
  });
});

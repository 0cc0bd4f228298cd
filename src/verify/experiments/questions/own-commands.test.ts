import { expect, test } from "vitest";
import { findOwnCommands } from "./own-commands.ts";
import type { QuestionContext } from "./question-context.ts";

type Files = Readonly<Record<string, string>>;

const ask = (command: string, base: Files, work: Files): Promise<string | null> =>
  findOwnCommands({
    check: { command },
    differences: Object.keys(work).map((path) => ({
      path,
      kind: path in base ? "modified" : "added",
    })),
    lab: {
      textAt: (side: "base" | "work", path: string) =>
        Promise.resolve((side === "work" ? { ...base, ...work } : base)[path] ?? null),
    },
  } as unknown as QuestionContext);

const makefile = "test:\n\t./run\n";
const manifest = (scripts: object): string => JSON.stringify({ scripts });

test("a rule or script that the work wrote is named, and no other", async () => {
  const more = { Makefile: `${makefile}\ncheck-all: test\n\t./all\n` };
  expect(await ask("make -s check-all CC=gcc", { Makefile: makefile }, more)).toBe(
    "what `make check-all` does was written by the work: read it",
  );
  expect(await ask("make test && make clean", { Makefile: makefile }, more)).toBeNull();

  const scripts = { "package.json": manifest({ test: "x", lint: "eslint ." }) };
  const base = { "package.json": manifest({ test: "x" }) };
  expect(await ask("npm run lint && npm test", base, scripts)).toBe(
    "what `npm run lint` does was written by the work: read it",
  );
  expect(await ask("npm run -s lint", scripts, { "package.json": manifest({}) })).toBeNull();
});

test("so is a file to compare with", async () => {
  const command = "python3 -m feed data.json | diff - expected/feed.xml";
  expect(await ask(command, {}, { "expected/feed.xml": "x" })).toBe(
    "what it compares with was written by the work (expected/feed.xml): read it",
  );
  expect(await ask(command, { "expected/feed.xml": "y" }, { "feed.py": "x" })).toBeNull();
});

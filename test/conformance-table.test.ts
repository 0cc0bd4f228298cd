// Every promise in docs/CONFORMANCE.md names what holds it, and what it names is there.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const repository = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { readonly scripts: Record<string, string> };

type Held = { readonly promise: string; readonly by: readonly string[]; readonly line: number };

function readTable(text: string): Held[] {
  return text.split("\n").flatMap((line, at) => {
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [promise, by] = cells;
    if (cells.length !== 2 || promise === undefined || by === undefined || promise === "promise" || /^-+$/.test(promise)) return [];
    return [{ promise, by: by.split("<br>").map((one) => one.trim()), line: at + 1 }];
  });
}

/** What is wrong with one reference; null where it holds. */
function faultOf(reference: string): string | null {
  if (/^open: \S/.test(reference)) return null;
  if (reference.startsWith("$ ")) return faultOfCommand(reference.slice(2));
  const [path, title] = reference.split(" › ");
  if (path === undefined || title === undefined || !path.endsWith(".test.ts"))
    return `neither "file › title", nor "$ command", nor "open: reason": ${reference}`;
  if (!existsSync(join(repository, path))) return `${path} is not there`;
  return readFileSync(join(repository, path), "utf8").includes(title) ? null : `${path} has no test "${title}"`;
}

function faultOfCommand(command: string): string | null {
  const script = /^npm (?:run )?([\w:-]+)/.exec(command)?.[1];
  if (script === undefined) return `not an npm script: ${command}`;
  if (!Object.hasOwn(manifest.scripts, script)) return `package.json has no script "${script}"`;
  const bench = /--only ([\w-]+)/.exec(command)?.[1];
  return bench === undefined || existsSync(join(repository, `bench/${bench}.bench.ts`)) ? null : `there is no bench "${bench}"`;
}

const table = readTable(readFileSync(join(repository, "docs/CONFORMANCE.md"), "utf8"));

test("every promise names what holds it, and it is there", () => {
  expect(table.length).toBeGreaterThan(100);
  const faults = table.flatMap(({ by, line }) =>
    by.flatMap((reference) => faultOf(reference) ?? []).map((fault) => `line ${line}: ${fault}`),
  );
  const open = table.filter(({ by }) => by.some((reference) => reference.startsWith("open:")));
  process.stderr.write(`conformance: ${table.length} promises, ${open.length} open\n`);
  expect(faults).toEqual([]);
});

test("no promise is made twice", () => {
  const promises = table.map(({ promise }) => promise);
  expect(promises.filter((promise, at) => promises.indexOf(promise) !== at)).toEqual([]);
});

test("a reference to a test that is not there is caught", () => {
  expect(faultOf("test/nowhere.test.ts › a")).toBe("test/nowhere.test.ts is not there");
  expect(faultOf(`test/conformance-table.test.ts › ${["no", "such", "title"].join(" ")}`)).toContain("has no test");
  expect(faultOf("surely somewhere")).toContain("neither");
  expect(faultOf("$ npm run nothing")).toContain("no script");
  expect(faultOf("open:")).not.toBeNull();
});

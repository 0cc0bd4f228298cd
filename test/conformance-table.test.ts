// Every promise in docs/CONFORMANCE.md names what holds it, and what it names is there.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

const repository = join(import.meta.dirname, "..");
const textOf = (path: string): string => readFileSync(join(repository, path), "utf8");
const manifest = JSON.parse(textOf("package.json")) as { readonly scripts: Record<string, string> };

type Held = { readonly promise: string; readonly by: readonly string[]; readonly line: number };

function readTable(text: string): Held[] {
  return text.split("\n").flatMap((line, at) => {
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [promise, by] = cells;
    if (
      cells.length !== 2 ||
      promise === undefined ||
      by === undefined ||
      promise === "promise" ||
      /^-+$/.test(promise)
    ) {
      return [];
    }

    return [{ promise, by: by.split("<br>").map((one) => one.trim()), line: at + 1 }];
  });
}

/** What is wrong with one reference; null if it holds. */
function faultOf(reference: string): string | null {
  if (/^open: \S/.test(reference)) return null;
  if (reference.startsWith("$ ")) return faultOfCommand(reference.slice(2));
  const [path, title] = reference.split(" › ");
  if (path === undefined || title === undefined || !path.endsWith(".ts")) {
    return `neither "file › title", nor "$ command", nor "open: reason": ${reference}`;
  }

  if (!existsSync(join(repository, path))) return `${path} is not there`;
  if (!isRun(path)) return `${path} is no test, and none beside it uses it`;
  return hasTitle(textOf(path), title) ? null : `${path} has no test "${title}"`;
}

/** A test, or a suite or stories that a test beside it plays, itself or by another file. */
function isRun(path: string, passed: readonly string[] = []): boolean {
  if (path.endsWith(".test.ts")) return true;
  const folder = dirname(path);
  const users = readdirSync(join(repository, folder)).filter(
    (name) => name.endsWith(".ts") && !passed.includes(name),
  );
  const using = users.filter((name) =>
    textOf(join(folder, name)).includes(`"./${basename(path)}"`),
  );

  return using.some((name) => isRun(join(folder, name), [...passed, basename(path)]));
}

/**
 * A title stands alone between its quotes, as text in passing does not; one that is made up while
 * running is known by its beginning.
 */
function hasTitle(text: string, title: string): boolean {
  return ['"', "'", "`"].some((quote) => {
    const written = quote + title.replaceAll(quote, `\\${quote}`);
    return (
      text.includes(written + quote) ||
      (quote === "`" && text.includes(`${written}\${`)) ||
      (quote === "`" && text.includes(`${written} \${`))
    );
  });
}

function faultOfCommand(command: string): string | null {
  const script = /^npm (?:run )?([\w:-]+)/.exec(command)?.[1];
  if (script === undefined) return `not an npm script: ${command}`;
  if (!Object.hasOwn(manifest.scripts, script)) return `package.json has no script "${script}"`;
  const bench = /--only ([\w-]+)/.exec(command)?.[1];

  return bench === undefined || existsSync(join(repository, `bench/${bench}.bench.ts`))
    ? null
    : `there is no bench "${bench}"`;
}

const table = readTable(textOf("docs/CONFORMANCE.md"));

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
  expect(
    faultOf(`test/conformance-table.test.ts › ${["no", "such", "title"].join(" ")}`),
  ).toContain("has no test");

  expect(faultOf("test/conformance-table.test.ts › no promise is made")).toContain("has no test");
  expect(faultOf("test/support/autopilot.ts › a")).toContain("is no test");
  expect(faultOf("surely somewhere")).toContain("neither");
  expect(faultOf("$ npm run nothing")).toContain("no script");
  expect(faultOf("open:")).not.toBeNull();
});

test("what a newcomer looks for is there", () => {
  const papers = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "docs/ARCHITECTURE.md",
    "docs/GLOSSARY.md",
    "docs/WHERE.md",
    "CONTRIBUTING.md",
    "docs/FLOWS.md",
    "docs/decisions/README.md",
  ];
  expect([...papers, ".ci/run"].filter((path) => !existsSync(join(repository, path)))).toEqual([]);
  expect(
    ["build", "check", "test", "demo", "bench"].filter(
      (name) => !Object.hasOwn(manifest.scripts, name),
    ),
  ).toEqual([]);

  expect(textOf("LICENSE")).toContain("MIT");
  for (const message of ["npm run bench", "npm run demo"]) {
    expect(textOf("README.md")).toContain(message);
  }
});

test("every decision has a number of its own, which its title says", () => {
  const records = readdirSync(join(repository, "docs/decisions")).filter((name) =>
    /^\d/.test(name),
  );
  const numbers = records.map((name) => name.slice(0, 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  expect(
    records.filter(
      (name) => !textOf(join("docs/decisions", name)).startsWith(`# ${name.slice(0, 4)} `),
    ),
  ).toEqual([]);
});

test("a story of long runs names a test that holds its promise in every run, and no promise rests on long runs alone", () => {
  const long = readdirSync(join(repository, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts"))
    .flatMap((path) =>
      [
        ...textOf(join("test", path)).matchAll(
          /\blongTest\(\s*"((?:[^"\\]|\\.)+)",\s*"((?:[^"\\]|\\.)+)"/g,
        ),
      ].map(([, title = "", heldBy = ""]) => ({ reference: `test/${path} › ${title}`, heldBy })),
    );
  expect(long.length).toBeGreaterThan(0);
  const names = new Set(long.map(({ reference }) => reference));
  expect(
    long.flatMap(({ reference, heldBy }) =>
      names.has(heldBy) ? `${reference}: ${heldBy} is long too` : (faultOf(heldBy) ?? []),
    ),
  ).toEqual([]);

  expect(
    table
      .filter(({ by }) => by.every((reference) => names.has(reference)))
      .map(({ line }) => `line ${line}`),
  ).toEqual([]);
});

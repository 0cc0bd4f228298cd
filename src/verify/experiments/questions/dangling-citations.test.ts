import { expect, test } from "vitest";
import { findDanglingCitations } from "./dangling-citations.ts";

const code = "export const slug = (s) => s;\n";
async function ask(before: string | null, after: string, goal = ""): Promise<string | null> {
  const texts: Record<string, string | null> = {
    "base docs/API.md": before,
    "work docs/API.md": after,
    "work src/slug.js": code,
    "base src/slug.js": `${code}\n\nconst old = 1;\n`,
  };

  return findDanglingCitations({
    lab: {
      pathsAt: async () => ["docs/API.md", "src/slug.js"],
      textAt: async (side: string, path: string) => texts[`${side} ${path}`] ?? null,
    },
    differences: [{ path: "docs/API.md", kind: "changed" }],
    hasCommit: async (name: string) => (name.startsWith("5") ? null : name === "77c1a9e"),
    goal,
  } as unknown as Parameters<typeof findDanglingCitations>[0]);
}

test("a new document that cites lines which no file has is told", async () => {
  expect(await ask(null, "- `slug` makes slugs: src/slug.js:41\n")).toBe(
    "the work cites what is not there (src/slug.js:41 in docs/API.md)",
  );
});

test("what is there, what was cited before, and words are not", async () => {
  expect(await ask(null, "- `slug`: src/slug.js:1\n")).toBeNull();
  expect(await ask("see src/slug.js:41\n", "see src/slug.js:41\nmore\n")).toBeNull();
  expect(await ask(null, "It removed src/slug.js:4.\n")).toBeNull();
  expect(await ask(null, "At 12:30 we meet at localhost:8080.\n")).toBeNull();
});

test("code quoted right behind its position has to be in that file, now or before", async () => {
  const told = (quote: string) => ask(null, `1. ${quote}\n`);
  expect(await told("src/slug.js:1 `value = eval(value)` runs code.")).toBe(
    "the work cites what is not there (src/slug.js:1 (`value = eval(value)` is not in that file) in docs/API.md)",
  );

  expect(await told("`src/slug.js:1`: `return s.trim();`")).toContain(
    "`return s.trim();` is not in that file",
  );

  for (const quote of [
    "src/slug.js:1 `export const  slug = (s) => s;` is too simple.",
    "src/slug.js:3 `const old = 1;` is gone.",
    "src/slug.js:1: use `const slug = (s) => s.trim();` instead.",
    "src/slug.js:1 `slug(text)` returns it.",
    "src/slug.js:1 `export const slug = …`",
    "src/other.py:1 `a = 1` lies elsewhere.",
  ]) {
    expect(await told(quote)).toBeNull();
  }
});

test("a code block that names its lines has to be there", async () => {
  expect(await ask(null, "```js src/slug.js:1\nexport const slug = (s) => s;\n```\n")).toBeNull();
  expect(await ask(null, "```js src/slug.js:1\nreturn s.normalize();\n```\n")).toContain(
    "the quoted code is not there",
  );
});

test("commits that do not exist are told, not those that do, or were named before", async () => {
  expect(await ask(null, "Introduced in 3fa94bc12de, fixed in 77c1a9e.\n")).toBe(
    "the work cites what is not there (commit 3fa94bc12de in docs/API.md)",
  );

  expect(await ask(null, "Fixed in 77c1a9e.\n")).toBeNull();
  expect(await ask(null, "Fixed in 5d0e9c1, which a shallow clone may lack.\n")).toBeNull();
  expect(await ask("Since 3fa94bc12de.\n", "Since 3fa94bc12de.\n\nMore.\n")).toBeNull();
  expect(await ask(null, "| slug | 3fa94bc12de |\n")).toBeNull();
  expect(
    await ask(null, "| slug | 3fa94bc12de |\n", "list the commit of every function"),
  ).toContain("commit 3fa94bc12de");

  const log = "# API\n\n- 3fa94bc Start at zero\n- 77c1a9e Fix\n";
  expect(await ask(null, log, "one line for each of the last four commits")).toContain(
    "(commit 3fa94bc in docs/API.md)",
  );

  expect(await ask(null, log.replace("API", "Changes of the API"))).toContain(
    "(commit 3fa94bc in docs/API.md)",
  );

  expect(await ask(null, log)).toBeNull();
});

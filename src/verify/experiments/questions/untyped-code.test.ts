import { expect, test } from "vitest";
import { typeStrictly } from "./untyped-code.ts";

const strict = (is: string, was = "") => typeStrictly({ path: "src/a.ts", was, is });

test("a new line that says any gets a type that allows nothing", () => {
  expect(strict("const [a] = b as any;\nf((o: any) => o, x as any[]);\n")).toEqual({
    path: "src/a.ts",
    text: "const [a] = b as unknown;\nf((o: unknown) => o, x as unknown[]);\n",
    lines: [1, 2],
  });

  expect(strict("// @ts-ignore\nx();\n")?.text).toBe("// \nx();\n");
});

test("a new cast, and what is said not to be nothing, are left to the type checker", () => {
  expect(
    strict("const n = a.qty as number;\nf(b.at(0)!.c, d! + 1, (e as Map<string, any>[])[0]);\n")
      ?.text,
  ).toBe("const n = a.qty;\nf(b.at(0).c, d + 1, (e)[0]);\n");

  expect(
    strict(
      'import { a as b } from "c";\nexport { x as y };\nconst l = [1] as const;\nif (a != b && !c) d();\ns = "it as was";\n',
    ),
  ).toBeNull();
});

test("what stands in a comment or a text over several lines is left alone", () => {
  expect(
    strict("/*\n * a value as number, or as any\n */\nconst page = `\n  one as number\n`;\n"),
  ).toBeNull();
});

test("a line from before, a word in a text and a name are left alone", () => {
  expect(strict("export const f: any = (x: any) => x;\n")?.text).toBe(
    "export const f: unknown = (x: unknown) => x;\n",
  );

  expect(strict("let a: any;\n", "let a: any;\n")).toBeNull();
  expect(
    strict('say("any"); // any\nlist.any(1); const many = 1; any(2); ({ any: 1 });\n'),
  ).toBeNull();

  expect(typeStrictly({ path: "src/a.js", was: null, is: "x as any" })).toBeNull();
});

import { describe, expect, test } from "vitest";
import { findDefinitions } from "./definitions.ts";

const namesIn = (path: string, text: string): readonly string[] =>
  findDefinitions(path, text).flatMap(({ name, isFunction }) => (isFunction ? [name] : []));

describe("a function is found", () => {
  test.for([
    ["c", "__attribute__((weak)) long decode(char *out)\n{\n    return 1;\n}\n"],
    ["c", "static __attribute__((format(printf, 1, 2))) int decode(const char *form)\n{\n}\n"],
    ["c", "[[nodiscard]] int decode(void) {\n}\n"],
    ["cc", 'extern "C" int decode(void) {\n}\n'],
    ["c", "static long\ndecode (char *out)\n{\n  return 1;\n}\n"],
    ["java", "class Box {\n    @Override public int decode() {\n        return 1;\n    }\n}\n"],
    ["java", 'class Box {\n  @SuppressWarnings("all") static int decode(int one) {\n  }\n}\n'],
    ["rs", 'pub extern "C" fn decode(one: i32) -> i32 {\n    one\n}\n'],
    ["rs", "fn decode<T: Into<String>>(one: T) -> T {\n    one\n}\n"],
    ["rs", "fn decode<F: Fn(i32) -> i32>(one: F) -> i32 {\n    one(1)\n}\n"],
    ["go", "func decode[S ~[]E, E any](list S) int {\n\treturn len(list)\n}\n"],
    ["ts", "class Box {\n  protected override decode<T>(one: T): T {\n    return one;\n  }\n}\n"],
    ["js", "class Box {\n  get decode() {\n    return 1;\n  }\n}\n"],
  ] as const)("%s: %s", ([ending, text]) => {
    expect(namesIn(`src/box.${ending}`, text)).toContain("decode");
  });
});

test("a condition, a call or a declaration is no function", () => {
  const c =
    "int decode(int);\n\nint main(void)\n{\n    if (decode(1)) {\n    }\n    else\n        decode(2);\n}\n";
  expect(namesIn("src/box.c", c)).toEqual(["main"]);
});

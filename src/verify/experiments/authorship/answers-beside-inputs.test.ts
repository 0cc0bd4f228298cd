import { expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { QuestionContext } from "../questions/question-context.ts";
import { findAnswersBesideInputs } from "./answers-beside-inputs.ts";

/** The gap of a Rust source that the work changed, with a test file beside it. */
const findGap = (source: string): Promise<string | null> => {
  const base: Readonly<Record<string, string>> = {
    "src/lib.rs": "",
    "tests/parse.rs": '#[test]\nfn minutes() {\n    assert_eq!(parse("3m"), Some(180));\n}\n',
  };
  const work: Readonly<Record<string, string>> = { ...base, "src/lib.rs": source };
  const context = {
    goal: "",
    checkCommands: ["cargo test"],
    differences: [{ path: "src/lib.rs", kind: "modified" }],
    rules: { base: Object.keys(base), rowOf: findProtectionRow },
    lab: {
      changedPaths: ["src/lib.rs"],
      pathsAt: async () => Object.keys(base),
      textAt: async (side: "base" | "work", path: string) =>
        (side === "base" ? base : work)[path] ?? null,
    },
  };
  return findAnswersBesideInputs(context as unknown as QuestionContext);
};

const table = "match unit {\n    'm' => 60,\n    'h' => 3600,\n    _ => 0,\n}\n";

test("a source in Rust is not the test that expects what is in it, but its tests are", async () => {
  expect(await findGap(table)).toBeNull();
  const expected = "assert_eq!(of('m'), 60); assert_eq!(of('h'), 3600);";
  const inside = `#[cfg(test)]\nmod tests {\n    #[test]\n    fn units() {\n        ${expected}\n    }\n}\n`;
  expect(await findGap(table + inside)).toMatch(/^2 answers that tests expect/);
});

import { describe, expect, test } from "vitest";
import { findProtectionRow } from "../../protected/kinds.ts";
import type { QuestionContext } from "../questions/question-context.ts";
import { findUnrunTests } from "./unrun-tests.ts";

const path = "src/test/java/IbanTest.java";
const older =
  'public class IbanTest {\n    public void testShape() {\n        check(Iban.isValid("DE89"));\n    }\n';
const method = (name: string, body = 'check(!Iban.isValid("DE88"));'): string =>
  `    public void ${name}() {\n        ${body}\n    }\n`;

/** A runner of the project's own, which calls methods by a pattern; the work adds methods. */
function ask(
  added: string,
  runs: RegExp,
  more: { readonly passedNames?: ReadonlySet<string> } = {},
): { readonly gap: Promise<string | null>; readonly asked: string[] } {
  const asked: string[] = [];
  const was = `${older}}\n`;
  const is = `${older}${added}}\n`;
  const end = (text: string): { passed: boolean; failed: Set<string>; tests: null } => {
    const trapped = [...text.matchAll(/void (\w+)\(\) \{ if \(true\)/g)].map(
      ([, name = ""]) => name,
    );
    return {
      passed: !trapped.some((name) => runs.test(name)),
      failed: new Set(),
      tests: null,
    };
  };
  const context = {
    check: { kind: "criterion", command: "make test" },
    rules: {
      base: new Set([path]),
      rowOf: findProtectionRow,
      named: { commands: [], usedCommands: [], restores: false },
    },
    differences: [{ path, kind: "changed", was: "1", now: "2" }],
    lab: {
      now: { passed: true, failed: new Set(), tests: null, passedNames: more.passedNames },
      textAt: async (side: string) => (side === "base" ? was : is),
      run: async (_side: string, edits: readonly { text: string }[]) => end(edits[0]?.text ?? is),
    },
    runWith: async (_whether: string, { edits }: { edits: readonly { text: string }[] }) => {
      asked.push(edits[0]?.text ?? "");
      return end(edits[0]?.text ?? is);
    },
  } as unknown as QuestionContext;

  return { gap: findUnrunTests(context), asked };
}

describe("tests that the project's own runner does not find", () => {
  const added = method("rejectsBadChecksum") + method("shouldRejectTransposed");

  test("are told by name, after an experiment", async () => {
    expect(await ask(added, /^test/).gap).toBe(
      `nobody runs rejectsBadChecksum (${path}), shouldRejectTransposed (${path}): it passes as well with an error in the first line of each`,
    );
  });

  test("one beside another that is run is told alone", async () => {
    expect(await ask(added, /^should/).gap).toMatch(/^nobody runs rejectsBadChecksum \(/);
    expect(await ask(added, /./).gap).toBeNull();
  });

  test("cost nothing if they begin like older ones, are reported, called, or judge nothing", async () => {
    const cases = [
      ask(method("testChecksum"), /^none/),
      ask(added, /^none/, {
        passedNames: new Set(["rejectsBadChecksum", "shouldRejectTransposed"]),
      }),
      ask(method("cleanUp", "Iban.clear();"), /^none/),
      ask(method("isWrong") + method("testAll", "isWrong(); check(true);"), /^none/),
    ];
    for (const { gap, asked } of cases) {
      expect(await gap).toBeNull();
      expect(asked).toEqual([]);
    }
  });

  test("show nothing of a check that runs no other test of theirs either", async () => {
    expect(await ask(added, /^none/).gap).toBeNull();
  });
});

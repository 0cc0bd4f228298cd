import { describe, expect, test } from "vitest";
import type { Edit } from "../lab.ts";
import { areFunctionsShown, isOfUser } from "./user-commands.ts";

const was = "export const one = () => 1;\n";
const is = `${was}export function parse(text) {\n  return null;\n}\n`;
const more = `${is}export function format(size) {\n  return "";\n}\n`;
const command = `node -e 'if (parse("big") !== null) process.exit(1)'`;

type Given = {
  readonly text?: string;
  readonly commands?: readonly string[];
  readonly ran?: number;
  readonly passedBefore?: boolean;
  readonly isBlind?: boolean;
};

/** A project in which the command runs `parse` alone. */
function ask({ text = is, commands = [command], ...given }: Given): Promise<boolean> {
  const { ran = 0, passedBefore = false, isBlind = false } = given;
  const answer = (passed: boolean) => ({
    passed,
    failed: new Set<string>(),
    tests: { ran, failed: 0, skipped: 0 },
  });

  return areFunctionsShown(commands, [{ path: "src/size.js", was, is: text }], {
    seed: "s",
    run: async (side: string, edits: readonly Edit[], _gone, asked) => {
      if (side === "base") return answer(passedBefore);
      if (asked !== command) return answer(isBlind);
      return answer(
        !edits.some((edit) => /parse\(text\) \{\s*(?:return )?\(\(\) =>/.test(edit.text)),
      );
    },
  });
}

describe("a command of the user's shows the work", () => {
  test("if it runs every function that the work wrote", async () => {
    expect(await ask({})).toBe(true);
    expect(await ask({ text: more })).toBe(false);
  });

  test.each<[string, Given]>([
    ["it passed before", { passedBefore: true }],
    ["it passes whatever it compares with", { isBlind: true }],
    ["it runs tests, which may be the work's", { ran: 3 }],
    ["it compares nothing", { commands: ["npm test"] }],
    ["it only looks", { commands: ["grep -q parse src/size.js"] }],
    ["other new lines of the file are not run", { text: `${is}export const sizes = make();\n` }],
  ])("not if %s", async (_, given) => expect(await ask(given)).toBe(false));

  test("if the user gave it, not a plan of the run", () => {
    const check = { id: "c1", kind: "criterion", title: "c1", command } as const;
    expect(isOfUser({ ...check, source: "objective" })).toBe(true);
    expect(isOfUser({ ...check, kind: "holdout", source: "objective" })).toBe(true);
    expect(isOfUser({ ...check, source: "plans/one.md:12" })).toBe(false);
    expect(isOfUser({ ...check, source: "objective", extra: true })).toBe(false);
    expect(isOfUser({ ...check, kind: "project", source: "package.json" })).toBe(false);
  });
});

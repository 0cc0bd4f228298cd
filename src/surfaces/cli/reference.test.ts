import { expect, test } from "vitest";
import { chapters, commands } from "./catalog.ts";
import { completionScript, shells } from "./completion-script.ts";
import { helpAnswer } from "./commands/help.ts";
import { fitScreen } from "./render.ts";
import { helpPage, overviewPage } from "./help-page.ts";
import { reservedNames } from "./spec.ts";

/** The whole command line in one file: a change of it shows in review. */
function reference(): string {
  const block = (lines: readonly string[]): readonly string[] => ["```text", ...lines, "```", ""];
  const pages = commands.flatMap((command) => [`## autopilot ${command.name}`, "", ...block(helpPage(command))]);
  return [
    "# Command line reference",
    "",
    "Made from the commands' own specs; a test compares.",
    "",
    ...block(overviewPage(chapters)),
    ...pages,
  ].join("\n");
}

test("the command line reference is as recorded", async () => {
  await expect(reference()).toMatchFileSnapshot("../../../test/golden/cli-reference.md");
});

test("the help of every command fits a screen", () => {
  for (const { name } of commands) expect(fitScreen(helpAnswer(chapters, name), false).page?.length, name).toBeLessThanOrEqual(34);
  const whole = fitScreen(helpAnswer(chapters, "go"), true).page?.join("\n");
  expect(whole).toContain("--holdout");
  expect(fitScreen(helpAnswer(chapters, "go"), false).page?.join("\n")).toMatch(/--done-criteria[\s\S]*more lines \(-v\)/);
});

test("every verb of this version is there, and no name is both there and kept for later", () => {
  const verbs =
    "start go status pause resume stop report doctor help ack approve answer inbox budget config validate verify log watch flow agents schema init demo completions";
  expect(commands.map(({ name }) => name).filter((name) => !name.includes(" "))).toEqual(expect.arrayContaining(verbs.split(" ")));
  expect(commands.filter(({ name }) => reservedNames.includes(name))).toEqual([]);
});

for (const shell of shells) {
  test(`the ${shell} completions know every command, flag and value`, () => {
    const script = completionScript(shell, commands).join("\n");
    for (const { name, flags } of commands) {
      for (const word of name.split(" ")) expect(script).toContain(word);
      for (const flag of flags) {
        expect(script).toContain(flag.name);
        for (const value of flag.values ?? []) expect(script).toContain(value);
      }
    }
  });
}

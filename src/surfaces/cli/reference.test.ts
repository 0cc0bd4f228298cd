import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { respond, screenRows } from "../../project/respond.ts";
import { chapters, commands } from "./catalog.ts";
import { buildCompletionScript, shells } from "./completion-script.ts";
import { createHelpResponse } from "./commands/help.ts";
import { formatResponseLines, fitScreen } from "./render.ts";
import { renderAllCommandsPage, renderHelpPage, renderOverviewPage } from "./help-page.ts";
import { reservedNames } from "./spec.ts";

/** The whole command line in one file: a change of it shows in review. */
function reference(): string {
  const block = (lines: readonly string[]): readonly string[] => ["```text", ...lines, "```", ""];
  const pages = commands.flatMap((command) => [
    `## autopilot ${command.name}`,
    "",
    ...block(renderHelpPage(command)),
  ]);
  return [
    "# Command line reference",
    "",
    "Made from the commands' own specs; a test compares.",
    "",
    ...block(renderOverviewPage(chapters)),
    ...block(renderAllCommandsPage(chapters)),
    ...pages,
  ].join("\n");
}

test("the command line reference is as recorded", async () => {
  await expect(reference()).toMatchFileSnapshot("../../../test/golden/cli-reference.md");
});

/** The rows that an answer takes in a terminal of 100 columns. */
const rowsOf = (response: CommandResponse): number =>
  formatResponseLines(fitScreen(response, { isVerbose: false }), { hasColour: false, columns: 100 })
    .out.length;

test("the overview and the help of every command fit a screen, in the rows of a terminal", () => {
  for (const name of ["", ...commands.map((command) => command.name)]) {
    expect(rowsOf(createHelpResponse(chapters, name)), name).toBeLessThanOrEqual(screenRows);
  }

  const whole = fitScreen(createHelpResponse(chapters, "go"), { isVerbose: true }).page?.join("\n");
  expect(whole).toContain("--holdout");
  expect(
    fitScreen(createHelpResponse(chapters, "go"), { isVerbose: false }).page?.join("\n"),
  ).toMatch(/--done-criteria[\s\S]*more lines \(-v\)/);
});

const pages = join(import.meta.dirname, "../../../test/golden/pages");
const lists = new Set(["log.txt"]); // every event there is

test.each(readdirSync(pages).filter((name) => !lists.has(name)))(
  "the screen %s fits a terminal of 34 rows",
  (name) => {
    const page = readFileSync(join(pages, name), "utf8").trimEnd().split("\n");
    expect(rowsOf(respond("ok", { page, rowsMax: screenRows }))).toBeLessThanOrEqual(screenRows);
  },
);

test("every verb of this version is there, and no name is both there and kept for later", () => {
  const verbs =
    "start go status pause resume stop report doctor help ack approve answer inbox budget config validate verify log watch flow agents schema init demo completions";
  expect(commands.map(({ name }) => name).filter((name) => !name.includes(" "))).toEqual(
    expect.arrayContaining(verbs.split(" ")),
  );

  expect(commands.filter(({ name }) => reservedNames.includes(name))).toEqual([]);
});

for (const shell of shells) {
  test(`the ${shell} completions know every command, flag and value`, () => {
    const script = buildCompletionScript(shell, commands).join("\n");
    for (const { name, flags } of commands) {
      for (const word of name.split(" ")) expect(script).toContain(word);
      for (const flag of flags) {
        expect(script).toContain(flag.name);
        for (const value of flag.values ?? []) expect(script).toContain(value);
      }
    }
  });
}

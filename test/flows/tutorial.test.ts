// docs/TUTORIAL.md, done by a reader: every file is saved as it is, every command typed, and what
// it answers is what the page says.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/scratch-repository.ts";
import { doingsIn, missingIn, page, Reader, type Save } from "./tutorial-page.ts";

const doings = doingsIn(page);
const saved = doings.filter((doing): doing is Save => doing.do === "save");
const fileOf = (name: string): Save => {
  const found = saved.find(({ path }) => path.endsWith(name));
  if (found === undefined) throw new Error(`the page saves no ${name}`);
  return found;
};

describe("the tutorial", () => {
  test("has a flow of four steps with two prompts and gates of its own, and tells of lint, a rehearsal, a run and a broken gate", () => {
    const flow = fileOf("flow.yaml").text;
    expect(flow.match(/\bid: (?:outline|chapters|check|merge)\b/g)).toHaveLength(4);
    expect(saved.map(({ path }) => path).filter((path) => path.includes("/prompts/"))).toHaveLength(
      2,
    );

    const commands = doings
      .filter(({ do: what }) => what === "type")
      .map((doing) => ("command" in doing ? doing.command : ""));

    for (const part of [
      "flow lint handbook",
      "scripted:.autopilot/flows/handbook/rehearsal.json",
      "--flow handbook --yes",
      "hasty.json",
      "autopilot verify",
    ]) {
      expect(
        commands.some((command) => command.includes(part)),
        part,
      ).toBe(true);
    }
  });

  test("done from the first line to the last, each file and each command, answers what it says it does", async () => {
    const reader = new Reader(scratchFolder());
    writeFileSync(reader.ownAgent, fileOf("rehearsal.json").text);

    for (const doing of doings) {
      if (doing.do === "save") {
        reader.save(doing);
        continue;
      }

      const { shown, code } = await reader.type(doing.command);
      const reported = `line ${doing.line} of the page: ${doing.command}\n${shown}`;
      expect(missingIn(shown, doing.answer), reported).toBeNull();
      expect(code, reported).toBe(doing.exit);
    }

    // The step sent back for hollow work, as the last section offers it: two rounds, and no
    // completion on headings.
    const flow = join(reader.folder, fileOf("flow.yaml").path);
    const rows = page.match(/^then: \[\{ when: \{ chapters\.hollow.*$/m)?.[0] ?? "";
    const withRow = readFileSync(flow, "utf8").replace(
      /(\n +)(otherwise: \[\{ go: chapters, count: again \}\])/,
      `$1$2$1${rows}`,
    );
    expect(withRow).toContain(rows);
    writeFileSync(flow, withRow);
    expect((await reader.type("autopilot flow lint handbook")).shown).toContain(
      "Flow handbook is fine.",
    );

    const sent = await reader.type(
      "git rm -rq handbook && git commit -qam again && autopilot go 'A handbook' --flow handbook --agent scripted:.autopilot/flows/handbook/hollow.json --yes",
    );

    expect({ code: sent.code, shown: sent.shown }).toMatchObject({
      code: 1,
      shown: expect.stringContaining("is paused") as string,
    });

    expect(sent.shown).not.toContain("is completed");
  });
});

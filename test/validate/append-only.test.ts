// RS5 and the end of a run: what one version of a log cannot tell, held against git's history and
// the BUGS.md beside it.

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  runIndex,
  wholeRun,
} from "../../src/playbooks/quality/views/quality-log-rules.test-support.ts";
import { autopilot } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";
import { shop, turns, args } from "../quality/audit.ts";
import { lines } from "./samples.ts";

const log = "quality/run_state.jsonl";
type Reported = {
  readonly valid: boolean;
  readonly violations: readonly { readonly line: number; readonly rule: string }[];
  readonly unchecked?: readonly { readonly rule: string; readonly why: string }[];
};

async function judged(folder: string): Promise<string> {
  const [file] = (await autopilot(folder, ["validate", log, "--json"])).json[
    "files"
  ] as readonly Reported[];
  // What its pages say of missing documentation is another rule's, and none of these logs has pages
  // beside it.
  const unchecked = (file?.unchecked ?? []).flatMap(({ rule }) =>
    rule === "RS-docs" ? [] : `${rule} unchecked`,
  );

  return [
    ...(file?.violations ?? []).map(({ line, rule }) => `${line} ${rule}`),
    ...unchecked,
  ].join(", ");
}

const begun = wholeRun.slice(0, 8);
const bugs = "# Bugs\n\n".concat(
  Array.from({ length: 6 }, (_, n) => `### BUG-00${n}\n\nbad\n\n`).join(""),
);

describe("what git's history holds", () => {
  test("is a beginning of the log, and stays one while the log grows", async () => {
    const folder = scratch({ files: { [log]: lines(begun) } });
    expect(await judged(folder)).toBe("");
    appendFileSync(join(folder, log), lines(wholeRun.slice(8, 10)));
    expect(await judged(folder)).toBe("");
    git(folder, "commit", "-qam", "more");
    appendFileSync(join(folder, log), lines(wholeRun.slice(10, 12)));
    expect(await judged(folder)).toBe("");
  });

  test.each([
    ["edited", (text: string) => text.replace('"findings_count":3', '"findings_count":4'), "5 RS5"],
    [
      "gone",
      (text: string) => `${text.trimEnd().split("\n").toSpliced(5, 1).join("\n")}\n`,
      "6 RS5",
    ],
    [
      "cut off at the end",
      (text: string) => `${text.trimEnd().split("\n").slice(0, 6).join("\n")}\n`,
      "7 RS5",
    ],
    [
      "put in between",
      (text: string) =>
        `${text
          .trimEnd()
          .split("\n")
          .toSpliced(5, 0, text.split("\n")[4] ?? "")
          .join("\n")}\n`,
      "6 RS5",
    ],
  ])("a line that is %s is told with its line", async (_what, change, expected) => {
    const folder = scratch({ files: { [log]: lines(begun) } });
    writeFileSync(join(folder, log), change(readFileSync(join(folder, log), "utf8")));
    expect(await judged(folder)).toBe(expected);
  });

  test("an edit that was committed is told by the version before it", async () => {
    const folder = scratch({ files: { [log]: lines(begun) } });
    writeFileSync(
      join(folder, log),
      lines(begun).replace('"findings_count":3', '"findings_count":4'),
    );

    git(folder, "commit", "-qam", "made it look better");
    expect(await judged(folder)).toBe("5 RS5");
  });

  test("of another run under the same name is no edit, and nothing that could be checked", async () => {
    const folder = scratch({ files: { [log]: lines(begun) } });
    const ts = "2026-06-01T00:00:00Z";
    write(folder, { [log]: lines([{ ...runIndex, ts, started_at: ts }, ...begun.slice(1)]) });
    expect(await judged(folder)).toBe("RS5 unchecked");
  });

  test("of another run is no edit either if it is too long to be compared; of this run it is one", async () => {
    const long = `${lines(begun)}${`${" ".repeat(999)}\n`.repeat(17 * 1_049)}`; // over 16 MiB
    const folder = scratch({ files: { [log]: long } });
    const ts = "2026-06-01T00:00:00Z";
    write(folder, { [log]: lines([{ ...runIndex, ts, started_at: ts }, ...begun.slice(1)]) });
    expect(await judged(folder)).toBe("RS5 unchecked");
    write(folder, { [log]: lines(begun) });
    expect(await judged(folder)).toBe("1 RS5");
  });

  test("with other ends of lines is the same log", async () => {
    const folder = scratch({ files: { [log]: lines(begun) } });
    writeFileSync(join(folder, log), lines(begun).replaceAll("\n", "\r\n"));
    expect(await judged(folder)).toBe("");
  });

  test("nothing of a repository's own configuration is run on the way", async () => {
    const folder = scratch({ files: { [log]: lines(begun) } });
    const trap = join(folder, "trap.sh");
    write(folder, { "trap.sh": `#!/bin/sh\ntouch "${folder}/sprung"\n` });

    for (const key of [
      "core.fsmonitor",
      "core.pager",
      "gpg.program",
      "core.sshCommand",
      "diff.external",
    ]) {
      git(folder, "config", key, trap);
    }

    git(folder, "config", "log.showSignature", "true");
    appendFileSync(join(folder, log), lines(wholeRun.slice(8, 10)));
    expect(await judged(folder)).toBe("");
    expect(git(folder, "-c", "core.fsmonitor=false", "ls-files", "--others")).toBe("trap.sh");
  });

  test("where there is none, it is said that nobody can know", async () => {
    const folder = scratch();
    write(folder, { [log]: lines(begun) });
    expect(await judged(folder)).toBe("RS5 unchecked");
  });
});

describe("our own journal", () => {
  test("knows what a log of ours holds: it is valid as written, and a line that was edited or taken out is told", async () => {
    const folder = shop();
    const ran = await autopilot(folder, args(folder, turns()));
    expect(ran.json).toMatchObject({ state: "completed" });
    const asWritten = "2 RS-enum"; // the warning that the embedded agent is none of the four
    expect(await judged(folder)).toBe(asWritten);
    const whole = readFileSync(join(folder, log), "utf8");
    const rows = whole.trimEnd().split("\n");
    const judgedAs = async (changed: readonly string[]): Promise<string> => {
      writeFileSync(join(folder, log), `${changed.join("\n")}\n`);
      return judged(folder);
    };
    expect(await judgedAs(rows.with(3, (rows[3] ?? "").replace(/"ts":"\d{4}/, '"ts":"2001')))).toBe(
      `${asWritten}, 4 RS5`,
    );

    expect(await judgedAs(rows.toSpliced(3, 1))).toContain("4 RS5");
    // What is cut off at the end is what has not been written yet: the runner adds it again.
    expect(await judgedAs(rows.slice(0, 5))).toBe(asWritten);
    writeFileSync(join(folder, log), whole);
    expect(await judged(folder)).toBe(asWritten);
  });
});

describe("the end of a run", () => {
  test("counts the bugs that BUGS.md names", async () => {
    const folder = scratch({ files: { [log]: lines(wholeRun), "quality/BUGS.md": bugs } });
    expect(await judged(folder)).toBe("");
    write(folder, { "quality/BUGS.md": bugs.replace("### BUG-003\n", "") });
    expect(await judged(folder)).toBe(`${wholeRun.length} RS-end`);
  });

  test("cannot be held against a BUGS.md that is not there", async () => {
    expect(await judged(scratch({ files: { [log]: lines(wholeRun) } }))).toBe("RS-end unchecked");
  });
});

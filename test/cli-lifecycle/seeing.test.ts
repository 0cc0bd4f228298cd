// What a run changed and what its agent said and did, seen afterwards and while it works.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot, journal, runFolderOf } from "../support/autopilot.ts";
import { misfits } from "../support/json-schema.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { done, objective, writes } from "./stories.ts";

const folder = scratch();
const turns = [
  { do: [{ say: "Looking around." }, { run: "echo seen; exit 3" }, writes("half.txt")] },
  { do: [{ think: "nearly" }, { run: "printf 'a\\033[31mb'" }, writes("out.txt"), done] },
];
const shown = async (...args: readonly string[]): Promise<string> =>
  (await autopilot(folder, args)).out;
type Turn = { readonly how: string; readonly entries: readonly Record<string, unknown>[] };

beforeAll(async () => {
  const { json } = await autopilot(folder, ["go", ...objective(folder, turns), "--yes"]);
  expect(json.state).toBe("completed");
});

describe("transcript", () => {
  test("holds what the agent said, its tool calls with their commands, and their output, turn by turn", async () => {
    const { json } = await autopilot(folder, ["transcript", "--json"]);
    expect(json).toMatchObject({ result: "PASS", state: "completed" });
    const [first, second] = json["turns"] as readonly Turn[];
    expect(first?.entries).toMatchObject([
      { kind: "said", text: "Looking around." },
      {
        kind: "tool",
        tool: "execute",
        title: "echo seen; exit 3",
        status: "failed",
        output: expect.stringContaining("seen") as string,
      },
      { kind: "tool", tool: "edit", path: "half.txt", status: "completed" },
    ]);

    expect(second).toMatchObject({ how: "end_turn" });
    expect(second?.entries[0]).toMatchObject({ kind: "thought", text: "nearly" });
    const { schema } = (await autopilot(folder, ["schema", "transcript", "--json"]))
      .json as unknown as { schema: Record<string, unknown> };
    expect(misfits({ ...json }, schema)).toEqual([]);
  });

  test("the last turn by default, any by its number, all of them; what steers a terminal is escaped", async () => {
    expect(await shown("transcript")).toContain("│ a\\x1b[31mb");
    expect(await shown("transcript")).not.toContain("Looking around.");
    expect(await shown("transcript", "--turn", "1")).toContain("Looking around.");
    expect(await shown("transcript", "--all")).toContain("(thinks) nearly");
    expect((await autopilot(folder, ["transcript", "--turn", "9", "--json"])).json).toMatchObject({
      result: "FAIL",
      reason_code: "transcript_missing",
    });
  });

  test("the journal names each turn's transcript by its hash, and verify finds one that was changed", async () => {
    const kept = journal(folder).flatMap(({ event, ...entry }) =>
      event === "turn_ended" ? [entry["transcript"] as { file: string }] : [],
    );
    expect(kept).toHaveLength(2);
    expect((await autopilot(folder, ["verify", "--json"])).json).toMatchObject({
      result: "PASS",
      warnings: [],
    });

    const path = join(runFolderOf(folder), kept[0]?.file ?? "");
    const before = readFileSync(path);
    writeFileSync(path, before.toString("utf8").replace("Looking", "Cooking"));
    const { json } = await autopilot(folder, ["verify", "--json"]);
    expect(json.warnings).toEqual([
      expect.stringContaining(`${kept[0]?.file ?? ""} is not what it was when its turn ended`),
    ]);

    writeFileSync(path, before);
  });
});

describe("diff", () => {
  test("is the patch from where the run began to its branch's newest commit, and git applies it", async () => {
    const patch = await shown("diff");
    const root = git(folder, "rev-parse", "HEAD~2");
    const other = scratch();
    git(other, "fetch", "-q", folder, root);
    git(other, "checkout", "-q", "FETCH_HEAD");
    execFileSync("git", ["apply"], { cwd: other, input: patch });
    expect(["half.txt", "out.txt"].map((path) => existsSync(join(other, path)))).toEqual([
      true,
      true,
    ]);
  });

  test("--stat counts, --json has both, and a run that changed nothing says so", async () => {
    expect(await shown("diff", "--stat")).toMatch(/2 files \+2 -0 in 2 commits[^]*half\.txt +\+1/);
    const { json } = await autopilot(folder, ["diff", "--json"]);
    expect(json["files"]).toEqual([
      { path: "half.txt", insertions: 1, deletions: 0 },
      { path: "out.txt", insertions: 1, deletions: 0 },
    ]);

    const { schema } = (await autopilot(folder, ["schema", "diff", "--json"])).json as unknown as {
      schema: Record<string, unknown>;
    };

    expect(misfits({ ...json }, schema)).toEqual([]);
    const empty = scratch();
    await autopilot(empty, ["start", ...objective(empty, turns)]);
    expect((await autopilot(empty, ["diff"])).out).toMatch(/nothing changed/);
    expect((await autopilot(empty, ["transcript", "--json"])).json).toMatchObject({
      reason_code: "transcript_missing",
    });
  });

  test("runs no program that the repository names, and says so where the commits are gone", async () => {
    const spoiled = scratch();
    await autopilot(spoiled, ["go", ...objective(spoiled, turns), "--yes"]);
    const mark = join(spoiled, "..", "ran");

    for (const key of ["diff.external", "diff.x.textconv", "core.pager", "core.fsmonitor"]) {
      git(spoiled, "config", key, `touch ${mark};false`);
    }

    writeFileSync(join(spoiled, ".git", "info", "attributes"), "* diff=x\n");
    expect((await autopilot(spoiled, ["diff"])).code).toBe(0);
    expect(existsSync(mark)).toBe(false);
    git(spoiled, "config", "core.fsmonitor", "false");
    git(spoiled, "reset", "-q", "--hard", "HEAD~2");
    git(spoiled, "branch", "-q", "-D", `autopilot/${basename(runFolderOf(spoiled))}`);
    git(spoiled, "reflog", "expire", "--expire=now", "--all");
    git(spoiled, "gc", "-q", "--prune=now");
    expect((await autopilot(spoiled, ["diff", "--json"])).json).toMatchObject({
      result: "FAIL",
      reason_code: "work_missing",
    });
  });
});

test("trace puts a run of any flow together from its journal and transcripts", async () => {
  const { json } = await autopilot(folder, ["trace", "--json"]);
  const spans = json["spans"] as readonly Record<string, unknown>[];
  expect(spans).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        action: "command_run",
        input_summary: "echo seen; exit 3",
        status: "failure",
      }),
      expect.objectContaining({ action: "file_write", input_summary: "half.txt" }),
      expect.objectContaining({
        action: "command_run",
        input_summary: "test -f out.txt",
        status: "success",
      }),
      expect.objectContaining({ action: "agent_spawn" }),
    ]),
  );
});

test("report shows the diff's figures and names the commands that show the rest", async () => {
  const page = await shown("report");
  expect(page).toContain("2 files +2 -0 in 2 commits");
  expect(await shown("report", "-v")).toMatch(/half\.txt +\+1 +-0/);
  expect(page).toContain("autopilot diff");
  expect(page).toContain("autopilot transcript");
  expect(page.trimEnd().split("\n").length).toBeLessThanOrEqual(34);
});

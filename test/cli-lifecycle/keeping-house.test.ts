// Runs listed, discarded and cleaned away, without ever taking what somebody still needs.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, begin, runFolderOf } from "../support/autopilot.ts";
import { misfits } from "../support/json-schema.ts";
import { git, scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { once } from "../support/rewind.ts";
import { inTwoTurns, makesOut, objective } from "./stories.ts";

type Row = {
  readonly run_id: string;
  readonly state: string;
  readonly disk_bytes: number;
  readonly goal: string;
};
const rows = async (folder: string): Promise<readonly Row[]> =>
  (await autopilot(folder, ["runs", "--json"])).json["runs"] as readonly Row[];
const branches = (folder: string): readonly string[] =>
  git(folder, "branch", "--list", "autopilot/*", "--format=%(refname:short)")
    .split("\n")
    .filter(Boolean);
const went = async (folder: string, ...more: readonly string[]): Promise<string> =>
  (await autopilot(folder, ["go", ...objective(folder, makesOut), "--yes", ...more])).json.run_id ??
  "";

/** A run that is over: how it is listed, and what is left once it is discarded. */
const listedThenDiscarded = once(async () => {
  const folder = scratch();
  const run = await went(folder);
  const left = ["layers", "checks", "trash"].flatMap((name) =>
    readdirSync(join(runFolderOf(folder), name)),
  );

  const { json } = await autopilot(folder, ["runs", "--json"]);
  const shown = (await autopilot(folder, ["runs"])).out;
  const { schema } = (await autopilot(folder, ["schema", "runs", "--json"])).json as unknown as {
    schema: Record<string, unknown>;
  };

  const discarded = (await autopilot(folder, ["discard", run, "--json"])).json;
  return {
    run,
    left,
    json,
    shown,
    schema,
    discarded,
    after: [await rows(folder), branches(folder)],
  };
});

describe.concurrent("runs, discard, clean", () => {
  test("runs lists each with state, goal, cost and disk, and a run that is over leaves no copies of the repository", async () => {
    const { run, left, json, shown, schema } = await listedThenDiscarded();
    expect(json["runs"]).toMatchObject([
      { run_id: run, state: "completed", goal: "make out.txt", current: true },
    ]);

    expect(left).toEqual([]);
    expect(shown).toMatch(new RegExp(`${run}\\* +completed +verified +\\d+m`));
    expect(misfits({ ...json }, schema)).toEqual([]);
  });

  test("discard removes a merged run with its branch at once, and one with unmerged work only after a yes", async () => {
    const { run: merged, discarded, after } = await listedThenDiscarded();
    expect(discarded).toMatchObject({ result: "PASS", removed: [merged] });
    expect(after).toEqual([[], []]);
    const other = scratch();
    write(other, { "README.md": "mine\n" });
    const kept = await went(other); // a dirty checkout keeps the work on its branch
    const asked = await autopilot(other, ["discard", kept, "--json"]);
    expect(asked.json).toMatchObject({ result: "FAIL", reason_code: "confirmation_needed" });
    expect(asked.json.remediation).toContain(`git merge autopilot/${kept}`);
    expect([(await rows(other)).length, branches(other)]).toEqual([1, [`autopilot/${kept}`]]);
    expect((await autopilot(other, ["discard", kept, "--yes", "--json"])).json.result).toBe("PASS");
    expect([await rows(other), branches(other)]).toEqual([[], []]);
  });

  test("an open run and one that somebody works on are refused, and clean leaves them alone", async () => {
    const folder = scratch();
    await autopilot(folder, ["go", ...objective(folder, inTwoTurns), "--yes", "--max-cycles", "1"]);
    const [open] = await rows(folder);
    expect(
      (await autopilot(folder, ["discard", open?.run_id ?? "", "--yes", "--json"])).json
        .reason_code,
    ).toBe("invalid_state_transition");

    const live = scratch();
    const { child, ended } = begin(live, [
      "go",
      ...objective(live, [{ do: [{ hang: true }] }]),
      "--yes",
    ]);

    for (;;) if ((await autopilot(live, ["status", "--json"])).json["pid"] != null) break;
    const [working] = await rows(live);
    expect(
      (await autopilot(live, ["discard", working?.run_id ?? "", "--yes", "--json"])).json
        .reason_code,
    ).toBe("invalid_state_transition");

    for (const at of [folder, live]) {
      expect((await autopilot(at, ["clean", "--keep", "0", "--yes", "--json"])).json).toMatchObject(
        { result: "PASS", removed: [] },
      );

      expect(await rows(at)).toHaveLength(1);
    }

    await autopilot(live, ["stop", "--json"]);
    child.kill("SIGKILL");
    await ended;
  });

  test("clean asks before it removes whole runs, keeps the newest, and leaves branches with unmerged work", async () => {
    const folder = scratch();
    const first = await went(folder);
    write(folder, { "README.md": "mine\n" });

    const second = (
      await autopilot(folder, [
        "go",
        "make more.txt",
        "--done-criteria",
        "more :: test -f more.txt",
        ...objective(folder, [
          {
            do: [{ write: { path: "more.txt", text: "x\n" } }, { say: "<promise>DONE</promise>" }],
          },
        ]).slice(3),
        "--yes",
      ])
    ).json.run_id;

    const asked = await autopilot(folder, ["clean", "--keep", "1", "--json"]);
    expect(asked.json).toMatchObject({ reason_code: "confirmation_needed", would_remove: [first] });
    expect(await rows(folder)).toHaveLength(2);
    expect(
      (await autopilot(folder, ["clean", "--older-than", "7d", "--yes", "--json"])).json,
    ).toMatchObject({ removed: [] });

    expect(
      (await autopilot(folder, ["clean", "--keep", "0", "--yes", "--json"])).json,
    ).toMatchObject({
      removed: [first, second],
      branches_kept: [`autopilot/${second ?? ""}`],
    });

    expect(branches(folder)).toEqual([`autopilot/${second ?? ""}`]);
    expect((await autopilot(folder, ["clean", "--older-than", "soon"])).code).toBe(2);
  });

  test("a removal that was killed halfway is ended by the next clean, branch and all", async () => {
    const folder = scratch();
    const run = await went(folder);
    // As a kill right after the rename leaves it: the folder is out of runs/, its branch and its
    // bytes are still there.
    const commit = git(folder, "rev-parse", `autopilot/${run}`);
    writeFileSync(
      join(runFolderOf(folder), "removed-branches.json"),
      JSON.stringify([{ name: `autopilot/${run}`, commit }]),
    );

    const trash = join(folder, ".autopilot", "trash", run);
    mkdirSync(dirname(trash), { mode: 0o700 });
    renameSync(runFolderOf(folder), trash);
    expect([await rows(folder), branches(folder)]).toEqual([[], [`autopilot/${run}`]]);
    expect((await autopilot(folder, ["clean", "--json"])).json.result).toBe("PASS");
    expect([existsSync(trash), branches(folder)]).toEqual([false, []]);
    expect(readdirSync(join(dirname(folder), "home", ".local/state/autopilot/runs"))).toEqual([]);
  });

  test("disk_quota removes the oldest runs that are over when another starts, and only from the user's own config", async () => {
    const folder = scratch();
    const first = await went(folder);
    execFileSync(
      "dd",
      ["if=/dev/zero", `of=${join(runFolderOf(folder), "blobs", "big")}`, "bs=1M", "count=3"],
      { stdio: "ignore" },
    );

    write(folder, { ".autopilot/config.yaml": "disk_quota: 1\n" });
    const second = await autopilot(folder, ["start", ...objective(folder, makesOut), "--json"]);
    expect(second.json.warnings.join(" ")).toContain("disk_quota");
    await autopilot(folder, ["go", "--yes", "--json"]);
    expect((await rows(folder)).map(({ run_id }) => run_id)).toContain(first);
    const config = join(dirname(folder), "home", ".config", "autopilot", "config.yaml");
    mkdirSync(dirname(config), { recursive: true });
    writeFileSync(config, "disk_quota: 1\n");
    write(folder, { ".autopilot/config.yaml": "" });
    const third = await autopilot(folder, ["go", ...objective(folder, makesOut), "--yes"]);
    expect(third.err).toContain(`Removed ${first} to stay within disk_quota (1 MB)`);
    expect((await rows(folder)).map(({ run_id }) => run_id)).not.toContain(first);
  });
});

// A run belongs to the user and machine that started it. Whatever came with a repository is read,
// never executed, until it is adopted.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, journal, scripted } from "../support/autopilot.ts";
import { git, scratchCheckedOnce as scratch } from "../support/scratch-repository.ts";
import { criterion, done, writes } from "./stories.ts";

const quiet = { env: { AUTOPILOT_ISOLATION: "clone" } };

/**
 * A run that rests after its first turn, at an isolation level that holds nobody; its agent would
 * leave a witness beside the repository.
 */
async function rested(): Promise<{
  readonly folder: string;
  readonly run: string;
  readonly witness: string;
}> {
  const folder = scratch();
  const witness = join(dirname(folder), "witness");
  const turns = [
    { do: [writes("half.txt"), { say: "half way" }] },
    { do: [{ run: `touch ${witness}` }, writes("out.txt"), done] },
  ];

  const args = [
    "go",
    "make out.txt",
    ...criterion,
    "--max-cycles",
    "1",
    "--yes",
    "--json",
    "--isolation",
    "none",
  ];

  const { json } = await autopilot(folder, [...args, ...scripted(folder, turns)]);
  expect(json.state, JSON.stringify(json)).toMatch(/running|paused/);
  return { folder, run: json.run_id ?? "", witness };
}

/**
 * What somebody who clones the repository, or unpacks an archive of it, has: the same files,
 * another machine's home.
 */
function unpacked(folder: string, { isTracked = false, name = "clone" } = {}): string {
  const place = join(dirname(folder), "elsewhere", name);
  mkdirSync(dirname(place), { recursive: true });

  if (isTracked) {
    git(folder, "add", "-f", ".autopilot");
    git(folder, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "runs");
    git(folder, "clone", "-q", folder, place);
  } else {
    cpSync(folder, place, { recursive: true, verbatimSymlinks: true });
  }

  return place;
}

const acting: readonly (readonly string[])[] = [
  ["go"],
  ["resume"],
  [],
  ["pause"],
  ["stop"],
  ["answer", "x"],
  ["approve"],
  ["budget", "raise", "tokens=+10k"],
  ["ack", "0123456789ab"],
  ["verify"],
];

describe.concurrent("a run that came with a repository", () => {
  test.each([
    ["in an archive", false],
    ["tracked by git", true],
  ])("%s: no command executes anything of it", async (_how, isTracked) => {
    const { folder, run, witness } = await rested();
    const place = unpacked(folder, { isTracked });
    const before = readFileSync(join(place, ".autopilot/runs", run, "journal.jsonl"), "utf8");

    for (const args of acting) {
      const { code, json } = await autopilot(place, [...args, "--json"], quiet);
      if (
        args[0] !== "verify" &&
        args[0] !== "answer" &&
        args[0] !== "approve" &&
        args[0] !== "ack"
      ) {
        expect({ words: args, code, reason: json.reason_code }).toEqual({
          words: args,
          code: 1,
          reason: "run_foreign",
        });
      }
    }

    expect(readFileSync(join(place, ".autopilot/runs", run, "journal.jsonl"), "utf8")).toBe(before);
    expect(existsSync(witness)).toBe(false);
    // The control: its own user goes on with it.
    expect(
      (await autopilot(folder, isTracked ? ["status", "--json"] : ["resume", "--json"])).code,
    ).toBe(0);

    expect(existsSync(witness)).toBe(!isTracked);
  });

  test("is read, and marked as foreign", async () => {
    const { folder, run } = await rested();
    const place = unpacked(folder);

    const readers = [
      "status",
      "log",
      "report",
      "verify",
      "diff",
      "diff --stat",
      "transcript",
      "trace",
      "budget",
      "inbox",
    ];
    for (const args of readers.map((line) => line.split(" "))) {
      const { code, json } = await autopilot(place, [...args, "--json"]);
      expect({ words: args, code }).toEqual({ words: args, code: 0 });
      expect(json.warnings.join("\n")).toContain(`${run} isn't yours`);
      expect({ words: args, foreign: json["foreign"] }).toEqual({ words: args, foreign: true });
    }

    expect((await autopilot(folder, ["status", "--json"])).json["foreign"]).toBe(false);
  });

  test("is adopted after its preview, under the user's own isolation, and its journal says so", async () => {
    const { folder, run, witness } = await rested();
    const place = unpacked(folder);
    const asked = await autopilot(place, ["adopt", "--json"], quiet);
    expect([asked.code, asked.json.reason_code]).toEqual([1, "dry_run_required_before_execute"]);
    expect(asked.json["preview"]).toMatchObject({ isolation: { level: "clone" } });
    expect((await autopilot(place, ["resume", "--json"])).json.reason_code).toBe("run_foreign");
    expect(
      (await autopilot(place, ["adopt", run, "--yes", "--json"], quiet)).json.reason_code,
    ).toBe("run_adopted");

    const entries = journal(place);
    expect(entries.slice(-2)).toMatchObject([
      { event: "run_adopted", actor: expect.stringMatching(/^operator:/) as string },
      { event: "policy_changed", adopted: true, isolation: "clone" },
    ]);

    const ended = await autopilot(place, ["resume", "--json"], quiet);
    expect(ended.json.state, ended.out).toBe("completed");
    expect(existsSync(witness)).toBe(true);
  });

  test("does not become its user's by any trick with paths", async () => {
    const { folder, run } = await rested();
    const home = join(dirname(folder), "home");
    const own = join(folder, ".autopilot/runs", run);
    const reasonIn = async (place: string): Promise<string> =>
      (await autopilot(place, ["resume", "--run", run, "--json"])).json.reason_code;

    const other = (name: string): string => {
      const place = join(dirname(folder), name);
      git(folder, "clone", "-q", folder, place);
      mkdirSync(join(place, ".autopilot"), { mode: 0o700 });

      return place;
    };

    // All of these are tried by the very user of the run, with their own home.
    expect(existsSync(join(home, ".local/state/autopilot/runs"))).toBe(true);
    const copied = other("copied");
    cpSync(join(folder, ".autopilot"), join(copied, ".autopilot"), { recursive: true });
    expect(await reasonIn(copied)).toBe("run_foreign");
    const linked = other("linked");
    mkdirSync(join(linked, ".autopilot/runs"), { mode: 0o700 });
    symlinkSync(own, join(linked, ".autopilot/runs", run));
    expect(await reasonIn(linked)).toBe("run_foreign");
    const hard = other("hard");
    mkdirSync(join(hard, ".autopilot/runs", run), { recursive: true, mode: 0o700 });
    execFileSync("ln", [
      join(own, "journal.jsonl"),
      join(hard, ".autopilot/runs", run, "journal.jsonl"),
    ]);

    expect(await reasonIn(hard)).toBe("run_foreign");
    rmSync(hard, { recursive: true });
    const moved = other("moved");
    mkdirSync(join(moved, ".autopilot/runs"), { mode: 0o700 });
    renameSync(own, join(moved, ".autopilot/runs", run));
    expect(await reasonIn(moved)).toBe("run_foreign");
    renameSync(join(moved, ".autopilot/runs", run), own);
    // Unpacked over the run itself: the folder stays, the journal is another file.
    const journalPath = join(own, "journal.jsonl");
    const text = readFileSync(journalPath);
    renameSync(journalPath, `${journalPath}.kept`);
    writeFileSync(journalPath, text, { mode: 0o600 });
    expect(await reasonIn(folder)).toBe("run_foreign");
    renameSync(`${journalPath}.kept`, journalPath);
    // Written over in the same file, as some archivers do: another sound journal, without the line
    // they left.
    truncateSync(journalPath, text.lastIndexOf(10, text.length - 2) + 1);
    expect(await reasonIn(folder)).toBe("run_foreign");
    writeFileSync(journalPath, text, { flag: "r+" });
    chmodSync(own, 0o755);
    expect(await reasonIn(folder)).toBe("run_foreign");
    chmodSync(own, 0o700);
    // The control: moved as a whole, the repository goes on.
    const elsewhere = join(dirname(folder), "renamed");
    renameSync(folder, elsewhere);
    expect((await autopilot(elsewhere, ["resume", "--json"])).json.state).toBe("completed");
  });

  test("hides no run of the user's own, and keeps nobody from starting one", async () => {
    const { folder, run } = await rested();
    const place = unpacked(folder);
    const args = ["make out.txt", ...criterion, "--json", "--isolation", "clone"];

    const begun = await autopilot(place, [
      "go",
      ...args,
      "--max-cycles",
      "1",
      "--yes",
      ...scripted(folder, [{ do: [writes("half.txt"), { say: "half" }] }], "own"),
    ]);
    expect(begun.json.run_id, begun.out).not.toBe(run);
    writeFileSync(join(place, ".autopilot/current"), `${run}\n`);
    expect((await autopilot(place, ["status", "--json"])).json.run_id).toBe(begun.json.run_id);
    expect((await autopilot(place, ["stop", "--json"])).json).toMatchObject({
      run_id: begun.json.run_id,
      result: "PASS",
    });
  });
});

test("a draft that came with a repository cannot be acknowledged by its id; its preview is shown", async () => {
  const folder = scratch();
  const drafted = await autopilot(folder, [
    "start",
    "make out.txt",
    ...criterion,
    "--json",
    "--isolation",
    "none",
    ...scripted(folder, []),
  ]);

  const place = unpacked(folder);
  const { code, json } = await autopilot(place, ["ack", String(drafted.json["ack"]), "--json"]);
  expect([code, json.reason_code]).toEqual([1, "run_foreign"]);
  expect(json["preview"]).toMatchObject({ objective: { goal: "make out.txt" } });
  expect((await autopilot(place, ["go", "--yes", "--json"])).json.reason_code).toBe("run_foreign");
});

test("a draft never takes over status from a run that is open", async () => {
  const { folder, run } = await rested();
  const drafted = await autopilot(folder, [
    "start",
    "something else",
    "--new",
    ...criterion,
    "--json",
    "--isolation",
    "none",
    ...scripted(folder, []),
  ]);
  expect(drafted.json.state, drafted.out).toBe("draft");
  const { json } = await autopilot(folder, ["status", "--json"]);
  expect(json.run_id).toBe(run);
  expect(json.warnings.join("\n")).toContain(`The draft ${drafted.json.run_id} waits too`);
  expect(
    (await autopilot(folder, ["ack", String(drafted.json["ack"]), "--json"])).json,
  ).toMatchObject({ run_id: drafted.json.run_id });
});

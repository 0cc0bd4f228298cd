// Runs whose truth is in a store, on two "machines": two clones with a home each, one database, one
// hub.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import {
  autopilot,
  begin,
  type Ended,
  journal,
  processesOf,
  runFolderOf,
  scripted,
  until,
} from "../support/autopilot.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import {
  git,
  scratchCheckedOnce as scratch,
  scratchFolder,
} from "../support/scratch-repository.ts";

let cluster: Cluster;
let store: PostgresStore;
const said = ({ out, err }: Ended): string => `${out}\n${err}`;
/** Long enough for a busy machine to renew it in time. */
const leaseMs = 15_000;

type Machine = { readonly folder: string; readonly env: Readonly<Record<string, string>> };

/** A repository and its bare hub; the first machine works in it, others in clones. */
function machines(): {
  readonly first: Machine;
  readonly hub: string;
  readonly another: () => Machine;
} {
  const folder = scratch();
  const hub = join(scratchFolder(), "hub.git");
  git(folder, "init", "-q", "--bare", hub);
  git(folder, "push", "-q", hub, "main");

  const env = {
    AUTOPILOT_STORE: cluster.database("shared"),
    AUTOPILOT_HUB: hub,
    AUTOPILOT_LEASE_MS: String(leaseMs),
    AUTOPILOT_ISOLATION: "clone",
  };

  const another = (): Machine => {
    const clone = join(scratchFolder(), "repo");
    git(folder, "clone", "-q", "-b", "main", hub, clone);
    git(clone, "config", "user.name", "Second");
    git(clone, "config", "user.email", "second@example.invalid");
    const [, agent = ""] = scripted(clone, [writes("a"), writes("b")]);

    return { folder: clone, env: { ...env, AUTOPILOT_AGENT: agent } };
  };

  return { first: { folder, env }, hub, another };
}

const writes = (path: string): object => ({
  do: [
    { write: { path, text: `${path}\n` } },
    { say: path === "b" ? "<promise>DONE</promise>" : "not yet" },
  ],
  confidence: 0.9,
});
const goArgs = (folder: string, turns: readonly object[]): readonly string[] => [
  "go",
  "make b",
  "--yes",
  "--json",
  "--done-criteria",
  "b is there :: test -f b",
  ...scripted(folder, turns),
];
const keyOf = (folder: string): string =>
  (
    JSON.parse(readFileSync(join(runFolderOf(folder), "store.json"), "utf8")) as {
      readonly key: string;
    }
  ).key;
const runOf = (folder: string): string => runFolderOf(folder).split("/").at(-1) ?? "";

async function stored(key: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const line of store.lines(key, 0)) parts.push(line, Buffer.from("\n"));
  return Buffer.concat(parts).toString();
}

/**
 * Takes a run to another machine and ends it there, as soon as its first owner's lease has lapsed.
 */
async function endElsewhere({ folder, env }: Machine, key: string, run: string): Promise<void> {
  const taken = await autopilot(folder, ["fleet", "take", key, "--json"], { env });
  expect(taken.json, said(taken)).toMatchObject({ result: "PASS", run_id: run });
  const foreign = await autopilot(folder, ["resume", "--run", run, "--json"], { env });
  expect(foreign.json.reason_code, "nothing of it runs before its new user has said yes").toBe(
    "run_foreign",
  );

  let adopted = await autopilot(folder, ["adopt", run, "--yes", "--json"], { env });
  while (adopted.json.reason_code === "run_locked") {
    while ((await store.runs()).find((one) => one.run === key)?.holder !== null) await wait(250);
    adopted = await autopilot(folder, ["adopt", run, "--yes", "--json"], { env });
  }

  expect(adopted.json, said(adopted)).toMatchObject({ reason_code: "run_adopted" });
  const ended = await autopilot(folder, ["resume", "--run", run, "--json"], { env });
  expect(ended.json, said(ended)).toMatchObject({
    result: "PASS",
    reason_code: "completion_verified",
  });
}

describe.skipIf(postgresBin === null)(`a run in a store${withoutPostgres}`, () => {
  beforeAll(async () => {
    cluster = startCluster();
    const made = await autopilot(scratch(), ["fleet", "init"], {
      env: { AUTOPILOT_STORE: cluster.database("shared") },
    });
    expect(made.code).toBe(0);
    store = await openPostgresStore(cluster.database("shared"));
  });

  afterAll(async () => {
    await store.close();
    cluster.stop();
  });

  test("ends as one on files does, and its folder is a copy of what the store holds", async () => {
    const { first, hub } = machines();
    const { folder, env } = first;
    const ended = await autopilot(folder, goArgs(folder, [writes("b")]), { env });
    expect(ended.json, said(ended)).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
    });

    const key = keyOf(folder);
    expect(await stored(key)).toBe(
      readFileSync(join(runFolderOf(folder), "journal.jsonl"), "utf8"),
    );

    const blobs = new Set(JSON.stringify(journal(folder)).match(/(?<=")[0-9a-f]{64}(?=")/g));
    const named = [...blobs].filter((name) => !journal(folder).some(({ prev }) => prev === name));
    expect(
      (await Promise.all(named.map((name) => store.hasBlob(key, name)))).filter(Boolean).length,
    ).toBeGreaterThan(2);

    expect(git(folder, "show", "main:b")).toBe("b");
    expect(git(folder, "ls-remote", hub, `refs/autopilot/${key}/*`)).toContain("/tip");
    const row = (await store.runs()).find((one) => one.run === key);
    expect(row).toMatchObject({ holder: null, takeOvers: 0, seq: journal(folder).length });
    expect((await autopilot(folder, ["verify", "--json"], { env })).json).toMatchObject({
      result: "PASS",
    });

    // Without the store's address the run can be read, and not written to.
    expect((await autopilot(folder, ["status", "--json"])).json).toMatchObject({
      state: "completed",
    });
  });

  test("whose machine is killed goes on in another clone, with its commits, and loses nothing acknowledged", async () => {
    const { first, another } = machines();
    const { folder, env } = first;
    const owner = begin(folder, goArgs(folder, [writes("a"), { do: [{ hang: true }] }]), { env });
    await until(
      "the second turn",
      () => journal(folder).filter(({ event }) => event === "session_opened").length === 2,
    );

    const [key, run] = [keyOf(folder), runOf(folder)];
    const before = await stored(key);
    owner.child.kill("SIGKILL");
    await owner.ended;
    const second = another();
    await endElsewhere(second, key, run);
    const after = await stored(key);
    expect(after.startsWith(before)).toBe(true);
    expect(after).toBe(readFileSync(join(runFolderOf(second.folder), "journal.jsonl"), "utf8"));
    expect(git(second.folder, "show", "main:a", "main:b")).toBe("a\nb");
    expect(
      (await autopilot(second.folder, ["verify", "--json"], { env: second.env })).json,
    ).toMatchObject({ result: "PASS" });

    // The first machine comes back: it reads what happened meanwhile.
    const late = await autopilot(folder, ["resume", "--json"], { env });
    expect(late.code, said(late)).not.toBe(0);
    expect(await stored(key)).toBe(after);
  });

  test("whose owner is stopped past its lease and wakes is left by it: nothing written, nothing landed, no agent left", async () => {
    const { first, another } = machines();
    const { folder, env } = first;
    const owner = begin(folder, goArgs(folder, [writes("a"), { do: [{ hang: true }] }]), { env });
    await until(
      "the second turn",
      () => journal(folder).filter(({ event }) => event === "session_opened").length === 2,
    );

    const [key, run] = [keyOf(folder), runOf(folder)];
    owner.child.kill("SIGSTOP");
    const second = another();
    await endElsewhere(second, key, run);
    const after = await stored(key);
    owner.child.kill("SIGCONT");
    const woken = await owner.ended;
    expect(woken.json, said(woken)).toMatchObject({ result: "FAIL", reason_code: "lease_lost" });
    expect(await stored(key)).toBe(after);
    expect(processesOf(run, folder)).toEqual([]);
    expect(() => git(folder, "show", "main:a")).toThrow();
    expect((await store.runs()).find((one) => one.run === key)).toMatchObject({ takeOvers: 1 });
  });

  test("pauses where the hub takes nothing or rejects its commits, in whose words, and goes on with what was bought once it takes them", async () => {
    const { first, hub } = machines();
    const { folder, env } = first;
    const nowhere = { ...env, AUTOPILOT_HUB: join(dirname(folder), "nowhere.git") };
    const paused = await autopilot(folder, goArgs(folder, [writes("b")]), { env: nowhere });
    expect(paused.json, said(paused)).toMatchObject({
      result: "FAIL",
      reason_code: "hub_unreachable",
      state: "paused",
    });

    const hook = join(hub, "hooks", "pre-receive");
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\necho 'no refs of runs here' >&2\nexit 1\n", { mode: 0o755 });
    const rejected = await autopilot(folder, ["resume", "--json"], { env });
    expect(rejected.json, said(rejected)).toMatchObject({
      result: "FAIL",
      reason_code: "hub_unreachable",
      state: "paused",
    });

    expect(said(rejected)).toContain("no refs of runs here");
    rmSync(hook);
    const resumed = await autopilot(folder, ["resume", "--json"], { env });
    expect(resumed.json, said(resumed)).toMatchObject({
      result: "PASS",
      reason_code: "completion_verified",
    });

    const turns = (await stored(keyOf(folder))).split('"event":"turn_ended"').length - 1;
    expect(turns, "the turn is not bought again").toBe(1);
  });

  test("is not begun where the store is not there", async () => {
    const folder = scratch();
    const gone = await autopilot(
      folder,
      ["go", "make b", "--yes", "--json", ...scripted(folder, [])],
      {
        env: { AUTOPILOT_STORE: "postgres://owner@127.0.0.1:1/x", AUTOPILOT_ISOLATION: "clone" },
      },
    );
    expect(gone.json, said(gone)).toMatchObject({
      result: "FAIL",
      reason_code: "store_unreachable",
    });
  });
});

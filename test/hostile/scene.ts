// scene: everything a hostile agent could want to reach, made for one test: a user's checkout and
// home, another repository, a run with its journal, requests and evidence, a process that stands
// for the runner, and services that listen. All of it is watched from outside.
//
// It is beside this project rather than in the system's temporary folder, which most means of
// isolation empty anyway.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  type OwnedRequestQueue,
  openRequestQueue,
} from "../../src/project/requests/request-queue.ts";
import {
  type Bench,
  git,
  makeRepository,
  openBench,
  write,
} from "../workspace/bench-repository.ts";
import { openStore } from "../../src/workspace/bases/store.ts";
import { type OpenEgress, openEgress } from "./egress.ts";
import { openEars, type Ears } from "./ears.ts";
import { openSharedObjects } from "./shared-objects.ts";

export type Scene = {
  readonly bench: Bench;
  readonly home: string;
  readonly layer: string;
  /** Whose layer it is, where not the scene's own attempt's. */
  readonly attempt?: string;
  /** Where the agent leaves what it could read. */
  readonly loot: string;
  readonly out: string;
  readonly ears: Ears;
  readonly egress: OpenEgress;
  readonly requests: OwnedRequestQueue;
  /** What an agent that knows everything but the secrets would know. */
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Puts everything an action may have spoilt back, and remembers how it all looks. */
  readonly reset: () => Promise<void>;
  /** The watched files that are not as they were at the last reset. */
  readonly changes: () => readonly string[];
  readonly runnerPid: () => number;
  readonly close: () => Promise<void>;
};

export const attempt = "1@1/execute#1";
const other = "1@1/execute#9";
const cache = resolve(import.meta.dirname, "../../node_modules/.cache");
const longAgo = new Date("2020-01-01T00:00:00Z");

/** `level`: folders and history as a run at that level has them. */
export async function openScene(level: string = "none"): Promise<Scene> {
  mkdirSync(cache, { recursive: true });
  const room = realpathSync(mkdtempSync(join(cache, "hostile-")));
  const [home, out, elsewhere] = [join(room, "home"), join(room, "out"), join(room, "other")];
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "hostile-")));
  const sharedFolder = `/dev/shm/${temporary.split("/").at(-1) ?? ""}`;

  const secrets = Object.fromEntries(
    ["ssh", "netrc", "dotenv", "history", "untracked", "environment", "journal", "shared"].map(
      (name) => [name, `${name}-${randomBytes(12).toString("hex")}`],
    ),
  );
  const of = (name: string): string => secrets[name] ?? "";

  write(home, ".ssh/id_ed25519", of("ssh"), 0o600);
  write(home, ".netrc", of("netrc"), 0o600);
  write(home, ".bashrc", "# kept\n");
  makeRepository(elsewhere, { "README.md": "other\n", ".gitignore": ".env\n" });
  write(elsewhere, ".env", of("dotenv"));
  const root = makeRepository(join(room, "repo"));
  git(root, "checkout", "-q", "-b", "private");
  write(root, "private.txt", of("history"));
  git(root, "add", "-A");
  git(root, "commit", "-q", "-m", "private");
  git(root, "checkout", "-q", "main");
  write(root, "secret.log", of("untracked"));
  // As package stores do it: one file, two names, one of them in the folder that is copied for the
  // agent.
  write(out, "store/index.js", "store\n");
  mkdirSync(join(root, "node_modules/linked"), { recursive: true });
  execFileSync("ln", [join(out, "store/index.js"), join(root, "node_modules/linked/index.js")]);

  const store = openStore(join(room, "store"));
  const checkouts = level === "overlay" ? "overlay" : "copy";

  const bench = await openBench({
    root,
    dependencies: ["node_modules"],
    store,
    checkouts,
    sharesHistory: level === "overlay" || level === "bwrap",
  });

  const { workspace, runDir } = bench;
  const layer = await workspace.openLayer(attempt, []);
  const neighbour = await workspace.openLayer(other, []);
  mkdirSync(join(runDir, "home"), { recursive: true });
  const ears = await openEars(room);
  const shared = await openSharedObjects(of("shared"), ears.hear);
  const egress = await openEgress();
  const requests = await openRequestQueue(runDir);
  let runner = startRunner(runDir, of("environment"));
  let before = new Map<string, string>();

  const watched = [
    out,
    home,
    elsewhere,
    temporary,
    sharedFolder,
    join(root, ".git"),
    join(root, "src"),
    join(root, "README.md"),
    neighbour,
  ].concat(
    ["journal.jsonl", "journal.lock", "blobs", "inbox", "git", "records"].map((name) =>
      join(runDir, name),
    ),
  );
  const look = (): Map<string, string> => new Map(watched.flatMap((path) => lookBelow(path)));

  const reset = async (): Promise<void> => {
    if (!isLiving(runner)) {
      runner.kill("SIGKILL"); // it may only be halted
      runner = startRunner(runDir, of("environment"));
    }

    for (const name of readdirSync(out).filter((one) => one !== "store")) {
      rmSync(join(out, name), { recursive: true, force: true });
    }

    rmSync(join(layer, "late"), { force: true });
    for (const name of ["kept", "gone", "moved", "mode", "time", "through", "linked"]) {
      write(out, name, `${name}\n`);
      utimesSync(join(out, name), longAgo, longAgo);
    }

    writeFileSync(join(runDir, "journal.jsonl"), `${of("journal")}\n`);
    write(runDir, "journal.lock", '{"pid":1}\n');
    write(runDir, "blobs/aa/aabb", "evidence\n");
    rmSync(join(layer, "loot"), { force: true });
    for (const { request } of await requests.pending()) await requests.forget(request);
    ears.forget();
    before = look();
  };
  await reset();

  return {
    bench,
    home,
    layer,
    loot: join(layer, "loot"),
    out,
    ears,
    egress,
    requests,
    secrets,
    env: {
      NODE: process.execPath,
      LAYER: layer,
      LOOT: join(layer, "loot"),
      OUT: out,
      UP: `${"../".repeat(24)}${out.slice(1)}`,
      TEMPORARY: temporary,
      SHARED: sharedFolder,
      REPO: root,
      OTHER: elsewhere,
      USER_HOME: home,
      RUN_DIR: runDir,
      NEIGHBOUR: neighbour,
      GIVEN_HOME: join(runDir, "home"),
      PRIVATE: git(root, "rev-parse", "private:private.txt"),
      ...ears.env,
      ...shared.env,
      ...egress.env,
    },
    reset,
    changes: () => {
      const now = look();
      return [...new Set([...before.keys(), ...now.keys()])].filter(
        (path) => before.get(path) !== now.get(path),
      );
    },
    runnerPid: () => runner.pid ?? 0,
    close: async () => {
      runner.kill("SIGKILL");
      await requests.close();
      await ears.close();
      await shared.close();
      await egress.close();

      for (const folder of [room, temporary, sharedFolder]) {
        rmSync(folder, { recursive: true, force: true });
      }

      if (readdirSync(cache).length === 0) rmSync(cache, { recursive: true });
    },
  };
}

/**
 * What stands for the runner: it holds the journal open and has a secret in its environment, and so
 * in its memory.
 */
function startRunner(runDir: string, secret: string): ChildProcess {
  const child = spawn(
    "/bin/sh",
    ["-c", `exec 9>>"$1"; exec sleep 3600`, "runner", join(runDir, "journal.jsonl")],
    {
      cwd: dirname(runDir),
      env: { PATH: process.env["PATH"], RUNNER_SECRET: secret },
      stdio: "ignore",
      detached: true,
    },
  );
  child.unref();
  return child;
}

function isLiving({ pid = 0, exitCode, signalCode }: ChildProcess): boolean {
  if (exitCode !== null || signalCode !== null) return false;
  try {
    return !/^State:\s+[ZXTt]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Every file below a path with all that could be changed about it. */
function lookBelow(path: string): (readonly [string, string])[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  const about = `${stat.mode} ${stat.uid} ${stat.gid} ${stat.nlink}`;

  if (stat.isDirectory()) {
    return [
      [path, `folder ${stat.mode}`],
      ...readdirSync(path).flatMap((name) => lookBelow(join(path, name))),
    ];
  }

  if (stat.isSymbolicLink()) return [[path, `${about} -> ${readlinkSync(path)}`]];
  if (!stat.isFile()) return [[path, `${about} special`]];
  const hash = createHash("sha256").update(readFileSync(path)).digest("hex");

  return [[path, `${about} ${stat.ino} ${stat.mtimeMs} ${hash}`]];
}

// Making, using and dropping bases and checkouts, killed before calls that change the disk; and a
// disk that is full meanwhile.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { git, scratchFolder, write } from "../support/scratch-repository.ts";
import { changingCalls } from "./call-families.ts";
import { sampled, twoAtATime, whyNoStrace } from "./under-strace.ts";

/** A sample in an everyday run of the suite, every place with AUTOPILOT_FAULTS=all. */
const asked = process.env["AUTOPILOT_FAULTS"] ?? "2";
const placesMax = asked === "all" ? Number.POSITIVE_INFINITY : Number(asked);

let script = "";
beforeAll(async () => {
  const folder = join(
    resolve(import.meta.dirname, "../../node_modules/.cache"),
    `checkouts-${process.pid}`,
  );

  const build = await rolldown({
    input: resolve(import.meta.dirname, "../fixtures/faults/checkouts.ts"),
    platform: "node",
    external: ["fs-native-extensions"],
    logLevel: "silent",
  });
  await build.write({
    dir: folder,
    format: "esm",
    entryFileNames: "checkouts.mjs",
    codeSplitting: false,
  });

  await build.close();
  script = join(folder, "checkouts.mjs");
});
afterAll(() => execFileSync("rm", ["-rf", resolve(script, "..")]));

function makeRoom(folder = scratchFolder()): string {
  const repo = join(folder, "repo");
  mkdirSync(repo);
  git(repo, "init", "-q", "-b", "main");
  write(repo, {
    "a.txt": "a\n",
    "b.txt": "b\n",
    "c/d.txt": "d\n",
    ".gitignore": "node_modules/\n.autopilot/\n",
  });

  git(repo, "-c", "user.name=a", "-c", "user.email=a@b", "add", "-A");
  git(repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "start");
  write(repo, { "node_modules/x/i.js": "x\n" });

  return folder;
}

type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
};
function start(
  room: string,
  around: readonly string[] = [],
  store = join(room, "store"),
): Promise<Ended> {
  const [program, ...args] = [...around, process.execPath, script, room, store];
  const env = { PATH: process.env["PATH"], HOME: room, UV_THREADPOOL_SIZE: "1" };
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (bytes: Buffer) => (out += bytes.toString("utf8")));
  child.stderr.on("data", (bytes: Buffer) => (err += bytes.toString("utf8")));

  return new Promise((report) =>
    child.once("exit", (code, signal) => setTimeout(() => report({ code, signal, out, err }), 20)),
  );
}

/** What an undisturbed one says, in any room. */
async function expectWhole(room: string): Promise<void> {
  // A draft that was never locked may have a maker that is about to: only an old one is swept.
  execFileSync("/bin/sh", [
    "-c",
    '[ ! -d "$0" ] || find "$0" -maxdepth 1 -exec touch -d "2 hours ago" {} +',
    join(room, "store/drafts"),
  ]);

  const { out, err } = await start(room);
  expect(out, err).not.toBe("");
  const without = git(join(room, "repo"), "ls-tree", "HEAD")
    .split("\n")
    .filter((row) => !row.endsWith("\tb.txt"));

  const tree = execFileSync("git", ["mktree"], {
    cwd: join(room, "repo"),
    input: `${without.join("\n")}\n`,
    encoding: "utf8",
  }).trim();

  expect(JSON.parse(out)).toEqual({
    paths: ["new.txt"],
    tree,
    lowers: [[".git"], [".git"], ["node_modules"], [".gitignore", "a.txt", "c"]],
    left: [],
    checks: [],
  });
}

describe.skipIf(whyNoStrace !== "")(
  `kill -9 while bases and checkouts are made, used and dropped${whyNoStrace}`,
  () => {
    test(
      "whatever was cut short counts for nothing, and the next one sees the same",
      { timeout: 3_600_000 },
      async () => {
        const log = join(scratchFolder(), "log");
        const traced = makeRoom();
        expect(
          (
            await start(traced, [
              "strace",
              "-qq",
              "-f",
              "-b",
              "execve",
              "-o",
              log,
              "-e",
              `trace=${changingCalls}`,
            ])
          ).code,
        ).toBe(0);

        const counts = new Map<string, number>();
        for (const line of readFileSync(log, "utf8").split("\n")) {
          const [, id = "", name = ""] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
          if (
            name === "" ||
            name.startsWith("write") ||
            (name.startsWith("open") && !line.includes("O_CREAT"))
          ) {
            continue;
          }

          counts.set(`${name} ${id}`, (counts.get(`${name} ${id}`) ?? 0) + 1);
        }

        const most = new Map<string, number>();
        for (const [key, count] of counts) {
          most.set(
            key.split(" ")[0] ?? "",
            Math.max(count, most.get(key.split(" ")[0] ?? "") ?? 0),
          );
        }

        const places = [...most].flatMap(([name, count]) =>
          Array.from({ length: count }, (_, at) => ({ name, at: at + 1 })),
        );
        expect(places.length).toBeGreaterThan(40);
        await twoAtATime(
          sampled(places, placesMax),
          ({ name, at }) => `${name} ${at}`,
          async ({ name, at }) => {
            const room = makeRoom();
            const inject = ["-e", `trace=${name}`, "-e", `inject=${name}:signal=KILL:when=${at}`];
            await start(room, [
              "strace",
              "-qq",
              "-f",
              "-b",
              "execve",
              "-o",
              "/dev/null",
              ...inject,
            ]);

            await expectWhole(room);
          },
        );
      },
    );
  },
);

test("a link is nobody's store", async () => {
  const room = makeRoom();
  execFileSync("ln", ["-s", scratchFolder(), join(room, "store")]);
  expect((await start(room)).err).toContain("is not a folder");
});

test("three that make the same base and the same packages at once are all served", async () => {
  const rooms = [makeRoom(), makeRoom(), makeRoom()];
  const [first = ""] = rooms;

  for (const room of rooms.slice(1)) {
    execFileSync("rm", ["-rf", join(room, "repo")]);
    execFileSync("cp", ["-a", join(first, "repo"), join(room, "repo")]);
  }

  const ended = await Promise.all(rooms.map((room) => start(room, [], join(first, "store"))));
  for (const { out, err } of ended) {
    expect(out, err).not.toBe("");
    expect(JSON.parse(out)).toMatchObject({
      paths: ["new.txt"],
      lowers: [[".git"], [".git"], ["node_modules"], [".gitignore", "a.txt", "c"]],
    });
  }

  await expectWhole(first);
});

const mayMount = ((): boolean => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const folder = scratchFolder();

  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!mayMount)(
  `on a full disk no half of a base counts, and with room again it is whole${mayMount ? "" : " (skipped: only root may mount a small disk)"}`,
  async () => {
    const room = makeRoom();
    const store = join(room, "store");
    mkdirSync(store, { mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", store]);

    try {
      writeFileSync(join(store, "ballast"), Buffer.alloc(1_800 * 1024));
      writeFileSync(join(room, "repo/large.txt"), "x".repeat(300_000));
      git(join(room, "repo"), "add", "-A");
      git(
        join(room, "repo"),
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-qm",
        "large",
      );

      const full = await start(room);
      expect([full.out, full.err]).toEqual([
        "",
        expect.stringMatching(/No space left|ENOSPC|disk_full|did not fit/),
      ]);

      execFileSync("rm", [join(store, "ballast")]);
      const { out, err } = await start(room);
      expect(out, err).not.toBe("");
      const again = JSON.parse(out) as {
        readonly lowers: readonly unknown[];
        readonly left: readonly unknown[];
      };
      expect([again.lowers.at(-1), again.left]).toEqual([
        [".gitignore", "a.txt", "c", "large.txt"],
        [],
      ]);
    } finally {
      execFileSync("umount", [store]);
    }
  },
);

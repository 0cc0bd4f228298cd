// Where a run can live: every kind of folder and repository behaves as defined, and what cannot
// hold a run is left as it was.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, scripted } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import {
  git,
  scratchCheckedOnce as scratch,
  scratchFolder,
  write,
} from "../support/scratch-repository.ts";
import { criterion, makesOut, objective } from "./stories.ts";

const verified = { code: 0, reason: "completion_verified", state: "completed" };
const briefOf = ({ code, json }: Awaited<ReturnType<typeof autopilot>>): object => ({
  code,
  reason: json.reason_code,
  state: json.state,
});

describe("a folder that cannot hold a run", () => {
  const refused: readonly (readonly [what: string, reason: string, make: () => string])[] = [
    ["is no git repository", "not_a_repository", () => inside(scratchFolder(), "plain")],
    [
      "has no commit yet",
      "no_commits_yet",
      () => {
        const folder = inside(scratchFolder(), "empty");
        git(folder, "init", "-q", "-b", "main");
        return folder;
      },
    ],
    [
      "is a bare repository",
      "repository_bare",
      () => {
        const folder = inside(scratchFolder(), "bare.git");
        git(folder, "init", "-q", "--bare");
        return folder;
      },
    ],
  ];
  test.concurrent.each(refused)(
    "because it %s is refused with %s, a hint, and nothing written; status still answers",
    async (_what, reason, make) => {
      const folder = make();
      const before = fingerprint(folder);

      for (const verb of ["start", "go"]) {
        const { code, json } = await autopilot(folder, [verb, ...objective(folder)]);
        expect({ code, result: json.result, reason: json.reason_code }).toEqual({
          code: 1,
          result: "FAIL",
          reason,
        });

        expect(json.remediation.length).toBeGreaterThan(0);
      }

      const status = await autopilot(folder, ["status", "--json"]);
      expect(status.json.state).toBe("idle");
      expect((await autopilot(folder, ["doctor", "--json"])).code).toBe(1);
      expect(fingerprint(folder)).toBe(before);
    },
  );

  const isRoot = process.getuid?.() === 0;
  const readOnly = mayRemount();
  test.skipIf(isRoot && !readOnly)(
    "because it is read-only is workspace_unusable and says so (skipped where root may write everywhere and nothing can be mounted read-only)",
    async () => {
      const folder = scratch();
      const args = [...objective(folder)];
      const script = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$1" && shift && exec "$@"`;
      const program = join(import.meta.dirname, "../../dist/autopilot.cjs");

      const { stdout, status } = runIn(
        isRoot
          ? [
              "unshare",
              "-m",
              "sh",
              "-c",
              script,
              "sh",
              folder,
              process.execPath,
              program,
              "start",
              ...args,
            ]
          : [process.execPath, program, "start", ...args],
        folder,
        isRoot,
      );
      const json = JSON.parse(stdout) as {
        reason_code: string;
        remediation: string[];
        message: string;
      };

      expect({ status, reason: json.reason_code }).toEqual({
        status: 1,
        reason: "workspace_unusable",
      });

      expect(json.message).toContain("cannot be written to");
      expect(existsSync(join(folder, ".autopilot"))).toBe(false);
    },
  );
});

describe("a repository with something special about it", () => {
  test.concurrent("uncommitted changes are no part of the run, are told, and stay as they are", async () => {
    const folder = scratch({ files: { "a.txt": "a\n" } });
    write(folder, { "a.txt": "mine\n", "new.txt": "new\n" });

    const went = await goScripted(
      folder,
      [
        {
          do: [
            { run: "cat a.txt > seen.txt; ls > names.txt" },
            { write: { path: "out.txt", text: "x" } },
            { say: "<promise>DONE</promise>" },
          ],
        },
      ],
      criterion,
    );
    expect(went.json.warnings.join("\n")).toContain(
      "a.txt has uncommitted changes: they are not part of the run",
    );

    // Told before anything is paid for: the sentence is before the first line of progress.
    expect(went.err.indexOf("uncommitted changes")).toBeGreaterThanOrEqual(0);
    expect(went.err.indexOf("uncommitted changes")).toBeLessThan(went.err.indexOf("✓ Baseline"));
    expect({ state: went.json.state, verdict: went.json["verdict"] }).toEqual({
      state: "completed",
      verdict: "verified",
    });

    const branch = `autopilot/${went.json.run_id ?? ""}`;
    expect(git(folder, "show", `${branch}:seen.txt`)).toBe("a");
    expect(git(folder, "show", `${branch}:names.txt`)).not.toContain("new.txt");
    expect([
      readFileSync(join(folder, "a.txt"), "utf8"),
      readFileSync(join(folder, "new.txt"), "utf8"),
    ]).toEqual(["mine\n", "new\n"]);
  });

  test.concurrent("a detached HEAD works, is told beforehand, and nothing is merged", async () => {
    const folder = scratch();
    git(folder, "checkout", "-q", "--detach");
    const head = git(folder, "rev-parse", "HEAD");
    const went = await goScripted(folder, makesOut, criterion);
    expect(went.json.warnings.join("\n")).toContain("HEAD is detached");
    expect(went.json.state).toBe("completed");
    expect(git(folder, "rev-parse", "HEAD")).toBe(head);
    expect(went.json.remediation).toContain(`git merge autopilot/${went.json.run_id ?? ""}`);
  });

  test.concurrent("submodules are left as they are, and the preview says so", async () => {
    const folder = scratch();
    const other = scratch();
    git(
      folder,
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "add",
      "-q",
      other,
      "vendor/other",
    );

    git(folder, "commit", "-q", "-m", "submodule");
    const pinned = git(folder, "rev-parse", "HEAD:vendor/other");
    const went = await goScripted(folder, makesOut, criterion);
    expect(went.json.warnings.join("\n")).toMatch(/Submodules are left as they are.*vendor\/other/);
    expect(briefOf(went)).toEqual(verified);
    expect(git(folder, "rev-parse", "HEAD:vendor/other")).toBe(pinned);
    expect(git(folder, "status", "--porcelain")).toBe("");
  });

  test.concurrent("inside a repository within a repository the inner one is meant, and the outer one is untouched", async () => {
    const outer = scratch();
    const inner = inside(outer, "inner");
    git(inner, "init", "-q", "-b", "main");
    write(inner, { "a.txt": "a\n" });
    git(inner, "add", "-A");
    git(
      inner,
      "-c",
      "user.name=N",
      "-c",
      "user.email=n@example.invalid",
      "commit",
      "-q",
      "-m",
      "inner",
    );

    const script = scripted(inner, makesOut, "../script");
    const before = fingerprint(join(outer, ".git"));

    const went = await autopilot(inner, [
      "go",
      "make out.txt",
      ...criterion,
      "--isolation",
      "clone",
      ...script,
      "--yes",
      "--json",
    ]);
    expect(briefOf(went)).toEqual(verified);
    expect(existsSync(join(inner, "out.txt"))).toBe(true);
    expect(existsSync(join(outer, ".autopilot"))).toBe(false);
    expect(fingerprint(join(outer, ".git"))).toBe(before);
  });

  test.concurrent("a linked worktree holds its own runs and lands in its own checkout", async () => {
    const main = scratch();
    const linked = join(dirname(main), "linked");
    git(main, "worktree", "add", "-q", "-b", "side", linked);
    const went = await goScripted(linked, makesOut, criterion);
    expect(briefOf(went)).toEqual(verified);
    expect(existsSync(join(linked, "out.txt"))).toBe(true);
    expect(git(linked, "branch", "--show-current")).toBe("side");
    expect(existsSync(join(main, "out.txt"))).toBe(false);
    expect(git(main, "status", "--porcelain") + git(linked, "status", "--porcelain")).toBe("");
    expect((await autopilot(main, ["status", "--json"])).json.state).toBe("idle");
  });

  test.concurrent("spaces, quotes and unicode in the path change nothing, also if a run is started in a folder within", async () => {
    const folder = join(scratchFolder(), "it's a «weird» 日本 folder $HOME;x");
    mkdirSync(folder);
    git(folder, "init", "-q", "-b", "main");
    git(folder, "config", "user.name", "Scratch");
    git(folder, "config", "user.email", "scratch@example.invalid");
    write(folder, { "sub dir/ä.txt": "a\n" });
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "-m", "start");

    const turns = [
      {
        do: [
          { write: { path: "sub dir/ö ü.txt", text: "x\n" } },
          { write: { path: "out.txt", text: "x\n" } },
          { say: "<promise>DONE</promise>" },
        ],
      },
    ];
    const args = [
      "go",
      "make out.txt",
      ...criterion,
      "--isolation",
      "clone",
      ...scripted(folder, turns),
      "--yes",
      "--json",
    ];
    const went = await autopilot(folder, args);
    expect(briefOf(went)).toEqual(verified);
    expect(existsSync(join(folder, "sub dir", "ö ü.txt"))).toBe(true);
    expect(eventsOf(folder, "changes_applied")[0]?.["paths"]).toEqual([
      "out.txt",
      "sub dir/ö ü.txt",
    ]);

    const elsewhere = await autopilot(dirname(folder), ["-C", folder, "status", "--json"]);
    expect(elsewhere.json.run_id).toBe(went.json.run_id);
    expect((await autopilot(folder, ["verify", "--json"])).code).toBe(0);

    const within = [
      "go",
      "make ß",
      "--done-criteria",
      "ß :: test -f ß.txt",
      "--isolation",
      "clone",
      "--yes",
      "--json",
    ];

    const makes = [
      {
        do: [{ write: { path: "sub dir/ß.txt", text: "x\n" } }, { say: "<promise>DONE</promise>" }],
      },
    ];
    expect(
      briefOf(await autopilot(folder, ["-C", "sub dir", ...within, ...scripted(folder, makes)])),
    ).toEqual(verified);
  });

  test.concurrent("our own files never show up as changes, while config and flows do", async () => {
    const folder = scratch();
    await goScripted(folder, makesOut, criterion);
    expect(git(folder, "status", "--porcelain")).toBe("");
    write(folder, {
      ".autopilot/config.yaml": "version: 1\n",
      ".autopilot/flows/mine/flow.yaml": "flow: mine\n",
    });

    expect(git(folder, "status", "--porcelain", "-uall").split("\n")).toEqual([
      "?? .autopilot/config.yaml",
      "?? .autopilot/flows/mine/flow.yaml",
    ]);
  });
});

describe("run ids and current", () => {
  test.concurrent("a run is named by its start in UTC, a second one in the same second gets a number, and current names the last", async () => {
    const folder = scratch();
    const ids: string[] = [];

    for (let n = 0; n < 3; n += 1) {
      ids.push((await autopilot(folder, ["start", ...objective(folder)])).json.run_id ?? "");
    }

    for (const id of ids) expect(id).toMatch(/^run-\d{4}-\d{2}-\d{2}-\d{6}(-\d+)?$/);
    expect(new Set(ids).size).toBe(3);
    expect(readFileSync(join(folder, ".autopilot", "current"), "utf8").trim()).toBe(ids[2]);
    const day = new Date().toISOString().slice(0, 10);
    expect(
      ids[0]?.startsWith(`run-${day}-`) === true || new Date().toISOString().slice(0, 10) !== day,
    ).toBe(true);

    for (const id of ids) {
      expect((await autopilot(folder, ["status", "--run", id, "--json"])).json.run_id).toBe(id);
    }

    writeFileSync(join(folder, ".autopilot", "current"), "../../elsewhere\n");
    expect((await autopilot(folder, ["status", "--json"])).json.run_id).toBe(ids[2]);
  });

  test.concurrent("two runs in one second get -2", async () => {
    const folder = scratch();
    const taken = (
      await Promise.all([1, 2, 3].map(() => autopilot(folder, ["start", ...objective(folder)])))
    ).map(({ json }) => json.run_id ?? "");
    expect(new Set(taken).size).toBe(3);
    const stems = taken.map((id) => id.slice(0, 21));
    if (new Set(stems).size < 3) expect(taken.some((id) => /-\d{6}-2$/.test(id))).toBe(true);
  });
});

function inside(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}

function mayRemount(): boolean {
  try {
    execFileSync("unshare", ["-m", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function runIn(
  [command = "", ...args]: readonly string[],
  folder: string,
  isRoot: boolean,
): { stdout: string; status: number | null } {
  if (!isRoot) execFileSync("chmod", ["-R", "a-w", folder]);
  try {
    return {
      stdout: execFileSync(command, args, {
        cwd: folder,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      }),
      status: 0,
    };
  } catch (error) {
    const { stdout, status } = error as { stdout: string; status: number };
    return { stdout, status };
  } finally {
    if (!isRoot) execFileSync("chmod", ["-R", "u+w", folder]);
  }
}

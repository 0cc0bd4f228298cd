// Dependencies restored before checks: its own recorded step, in a cache that the agent cannot
// write.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { autopilot, eventsOf, goScripted, runFolderOf } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";

const hasBwrap = spawnSync("bwrap", ["--version"]).status === 0;
const promise = { say: "<promise>DONE</promise>" };
const makeB = { write: { path: "src/b.txt", text: "b\n" } };

/** The user's own config: only it may give a step the network. */
function userConfig(folder: string, text: string): void {
  const place = join(dirname(folder), "home", ".config", "autopilot");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "config.yaml"), text);
}

const restoring =
  'checks:\n  restore:\n    - \'mkdir -p deps "$npm_config_cache" && echo lib > deps/lib && echo kept >> "$npm_config_cache"/kept\'\n';
const needsDeps = [
  "--done-criteria",
  "b with its dependency :: test -f src/b.txt && test -f deps/lib",
];

describe("restoring dependencies", () => {
  test("comes before every check and is evidence like any other", async () => {
    const folder = scratch({ files: { ".gitignore": "deps/\n", "a.txt": "a\n" } });
    userConfig(folder, restoring);
    const { json } = await goScripted(folder, [{ do: [makeB, promise] }], needsDeps);
    expect(json).toMatchObject({ reason_code: "completion_verified" });
    const proved = eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/prove#"),
    );
    expect(proved?.["checks"]).toMatchObject([
      { check: { kind: "restore", source: "config checks.restore[0]" }, status: "passed" },
      { check: { kind: "criterion" }, status: "passed" },
    ]);

    expect(existsSync(join(folder, "deps"))).toBe(false);
    const verified = await autopilot(folder, ["verify", "--json"]);
    expect(verified.json).toMatchObject({ result: "PASS" });
  });

  test("goes by the lock files of the tree under check: one that the work adds is restored", async () => {
    const manifest = { name: "shop", version: "1.0.0" };
    const lock = { ...manifest, lockfileVersion: 3, requires: true, packages: { "": manifest } };
    const folder = scratch({ files: { "package.json": JSON.stringify(manifest) } });
    userConfig(folder, "checks:\n  restore: lockfile\n");
    const addLock = { write: { path: "package-lock.json", text: JSON.stringify(lock) } };

    const { json, out } = await goScripted(
      folder,
      [{ do: [makeB, addLock, promise] }],
      ["--done-criteria", "b :: test -f src/b.txt"],
    );
    expect(json, out).toMatchObject({ reason_code: "completion_verified" });
    const proved = eventsOf(folder, "step_completed").find(({ attempt }) =>
      String(attempt).includes("/prove#"),
    );
    expect(proved?.["checks"]).toMatchObject([
      { check: { kind: "restore", source: "package-lock.json" }, status: "passed" },
      { check: { kind: "criterion" }, status: "passed" },
    ]);

    expect(JSON.stringify(eventsOf(folder, "step_completed")[0])).not.toContain("npm ci"); // the base has no lock file
  });

  test("that fails keeps the run from completing, and says so", async () => {
    const folder = scratch({ files: { "a.txt": "a\n" } });
    userConfig(folder, "checks:\n  restore: ['test -f src/b.txt && exit 3; true']\n");

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      ["--done-criteria", "b :: test -f src/b.txt", "--max-cycles", "1"],
    );
    expect(json).toMatchObject({ reason_code: "cycle_cap_reached" });
    expect(eventsOf(folder, "step_failed").at(-1)).toMatchObject({
      reason_code: "check_regressed",
    });
  });

  test.skipIf(!hasBwrap)("fills a cache that no agent can see (needs bubblewrap)", async () => {
    const folder = scratch({ files: { ".gitignore": "deps/\n", "a.txt": "a\n" } });
    userConfig(folder, restoring);
    const script = `ls ${join(folder, ".autopilot")} > seen.txt 2>&1; find / -path '*/cache/npm/kept' 2>/dev/null >> seen.txt; true`;
    const turns = [
      { do: [{ run: script }, { write: { path: "x.txt", text: "x" } }] },
      { do: [{ run: script }, makeB, promise] },
    ];

    const { json } = await goScripted(folder, turns, [...needsDeps, "--isolation", "bwrap"]);
    expect(json).toMatchObject({ state: "completed" });
    const kept = join(runFolderOf(folder), "cache", "npm", "kept");
    expect(readFileSync(kept, "utf8")).toContain("kept"); // the cache is there, and outside it can be found
    expect(readFileSync(join(folder, "seen.txt"), "utf8")).not.toContain("/cache/npm/kept");
  });

  test("asked for by the project's own config alone is not done: it would give a step the network", async () => {
    const folder = scratch({
      files: { ".gitignore": "deps/\n", ".autopilot/config.yaml": restoring, "a.txt": "a\n" },
    });

    const { json } = await goScripted(
      folder,
      [{ do: [makeB, promise] }],
      ["--done-criteria", "b :: test -f src/b.txt"],
    );
    expect(json).toMatchObject({ reason_code: "completion_verified" });
    expect(json.warnings.join(" ")).toContain("checks.restore");
    expect(JSON.stringify(eventsOf(folder, "step_completed"))).not.toContain('"restore"');
  });
});

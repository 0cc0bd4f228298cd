// Landing on a hub's branch: by compare-and-set, once, and told in the hub's own words where it
// refuses.

import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Hub, openHub } from "../../src/fleet/hub.ts";
import { findRepository } from "../../src/workspace/git/repository.ts";
import { git, scratch, scratchFolder, write } from "../support/scratch-repository.ts";
import { refusePushes } from "./machines.ts";

async function open(): Promise<{
  readonly hub: Hub;
  readonly url: string;
  readonly folder: string;
  readonly commit: (name: string) => string;
}> {
  const folder = scratch();
  const url = join(scratchFolder(), "hub.git");
  git(folder, "init", "-q", "--bare", "-b", "main", url);
  git(folder, "push", "-q", url, "main");
  const found = await findRepository(folder);
  if ("failure" in found) throw new Error(found.failure.detail);
  mkdirSync(join(folder, "own"));
  const hub = await openHub(found.repository, join(folder, "own", "hub.git"), url);
  const start = git(folder, "rev-parse", "main");

  const commit = (name: string): string => {
    git(folder, "checkout", "-q", "-B", name, start);
    write(folder, { [name]: name });
    git(folder, "add", name);
    git(folder, "commit", "-q", "-m", name);

    return git(folder, "rev-parse", name);
  };

  return { hub, url, folder, commit };
}

test("a transfer that is killed, as one that hangs is, did not reach the hub", async () => {
  const { folder, commit } = await open();
  const home = scratchFolder();
  const ssh = join(home, "ssh");
  const kill =
    'for pid in $PPID $(ps -o ppid= -p $PPID); do [ "$(ps -o comm= -p $pid)" = git ] && kill -9 $pid; done';
  writeFileSync(ssh, `#!/bin/sh\n${kill}\n`, { mode: 0o755 });
  writeFileSync(
    join(home, "gitconfig"),
    `[core]\n\tsshCommand = ${ssh}\n[ssh]\n\tvariant = simple\n`,
  );

  vi.stubEnv("GIT_CONFIG_GLOBAL", join(home, "gitconfig"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const found = await findRepository(folder);
  if ("failure" in found) throw new Error(found.failure.detail);

  const away = await openHub(
    found.repository,
    join(folder, "own", "away.git"),
    "ssh://git@hub.invalid/hub.git",
  );

  const killed = {
    reason: "hub_unreachable",
    message: expect.stringContaining("was ended by SIGKILL") as string,
  };
  await expect(away.readTip("main")).rejects.toMatchObject(killed);
  await expect(away.send("key", 1, commit("a"))).rejects.toMatchObject(killed);
  await expect(away.land("main", commit("b"), commit("c"))).rejects.toMatchObject(killed);
});

test("a branch of the hub moves only from where it was looked at, and of many at once one lands", async () => {
  const { hub, url, commit } = await open();
  const tip = (await hub.readTip("main")) ?? "";
  const all = ["a", "b", "c", "d"].map(commit);
  const landings = await Promise.all(all.map((one) => hub.land("main", tip, one)));
  expect(landings.map(({ kind }) => kind).toSorted()).toEqual([
    "landed",
    "moved",
    "moved",
    "moved",
  ]);

  const winner = all[landings.findIndex(({ kind }) => kind === "landed")] ?? "";
  expect([git(url, "rev-parse", "main"), await hub.readTip("main")]).toEqual([winner, winner]);
  expect((await hub.land("main", tip, commit("e"))).kind).toBe("moved");
  expect(git(url, "rev-parse", "main")).toBe(winner);
  expect(await hub.readTip("nowhere")).toBe(null);
});

test("a hub that refuses is told in its own words, and one that is gone is hub_unreachable", async () => {
  const { hub, url, commit } = await open();
  const tip = (await hub.readTip("main")) ?? "";
  refusePushes(url, "refs/heads/main", "main is protected");
  expect(await hub.land("main", tip, commit("a"))).toMatchObject({
    kind: "refused",
    why: expect.stringContaining("main is protected") as string,
  });

  expect(git(url, "rev-parse", "main")).toBe(tip);
  renameSync(url, `${url}.away`);
  await expect(hub.land("main", tip, commit("b"))).rejects.toMatchObject({
    reason: "hub_unreachable",
  });

  await expect(hub.readTip("main")).rejects.toMatchObject({ reason: "hub_unreachable" });
});

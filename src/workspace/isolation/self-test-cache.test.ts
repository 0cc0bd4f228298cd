import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/scratch-repository.ts";
import { chooseIsolation } from "./isolation.ts";
import { clearSelfTestCache, openSelfTestCache } from "./self-test-cache.ts";

let folder: string;
let store: string;
let program: string;
beforeEach(() => {
  folder = scratchFolder();
  store = join(folder, "cache");
  program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
});

const open = (): ReturnType<typeof openSelfTestCache> => openSelfTestCache(folder, store);

describe.skipIf(process.platform !== "linux")("what was seen to hold", () => {
  test("is known to the next start", () => {
    open().record("overlay", [program], "closed");
    expect(open().read("overlay", [program])).toBe("closed");
    expect(open().read("bwrap", [program])).toBeNull();
  });

  test("is not believed once a program is another, older or newer", () => {
    open().record("overlay", [program], "closed");
    utimesSync(program, 1, 1);
    expect(open().read("overlay", [program])).toBeNull();
    open().record("overlay", [program], "closed");
    writeFileSync(program, "#!/bin/sh\nexit 0\n");
    expect(open().read("overlay", [program])).toBeNull();
  });

  test("is not believed for another home, unless it has nothing to do with one", () => {
    openSelfTestCache(folder, store, "/home/a").record("overlay", [program], "closed");
    expect(openSelfTestCache(folder, store, "/home/b").read("overlay", [program])).toBeNull();
    openSelfTestCache(folder, store, "").record("limits", [program], "held");
    expect(openSelfTestCache(folder, store, "").read("limits", [program])).toBe("held");
    expect(openSelfTestCache(folder, store, "/home/a").read("limits", [program])).toBeNull();
  });

  test("is not believed on another file system", () => {
    open().record("overlay", [program], "closed");
    expect(openSelfTestCache("/proc", store).read("overlay", [program])).toBeNull();
  });

  test("is forgotten when doctor looks", () => {
    open().record("overlay", [program], "closed");
    clearSelfTestCache(store);
    expect(open().read("overlay", [program])).toBeNull();
  });

  test("is not kept beyond the start of the machine it was seen in", () => {
    open().record("overlay", [program], "closed");
    writeFileSync(join(store, "self-tests", `${"0".repeat(16)}-old`), "closed");
    open().record("bwrap", [program], "closed");
    expect(readdirSync(join(store, "self-tests"))).toHaveLength(2);
  });

  test.each([
    ["others may write to", (room: string) => chmodSync(room, 0o777)],
    ["is a link", (room: string) => (rmSync(room, { recursive: true }), symlinkSync(folder, room))],
  ])("is neither read nor written in a cache folder that %s", (_, spoil) => {
    open().record("overlay", [program], "closed");
    spoil(join(store, "self-tests"));
    expect(open().read("overlay", [program])).toBeNull();
    open().record("overlay", [program], "closed");
    expect(open().read("overlay", [program])).toBeNull();
  });
});

test("a level that was seen to hold is not tried again, and what a test finds is noted", async () => {
  const runDir = join(folder, "run");
  mkdirSync(runDir);
  const notes = new Map<string, string>();
  const cache = {
    read: (name: string) => notes.get(name) ?? null,
    record: (name: string, _: unknown, result: string) => notes.set(name, result),
  };

  const first = await chooseIsolation("auto", { hidden: [], runDir, cache });
  if ("failure" in first) return;
  const { level } = first.isolation;
  expect(notes.has(level)).toBe(true);
  // A test makes the run's folder where it is gone.
  rmSync(runDir, { recursive: true });
  expect(await first.isolation.selfTest()).toEqual([]);
  expect(existsSync(runDir)).toBe(false);
  notes.delete(level);
  expect(await first.isolation.selfTest()).toEqual([]);
  expect(existsSync(runDir)).toBe(true);
});

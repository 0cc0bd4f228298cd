// The cache of compiled code: a command answers the same without one, with one, and with one that
// is damaged or not the user's alone. From Node 22 on the cache is Node's own, and only its folder
// is ours.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { apart } from "./support/autopilot.ts";
import { scratchFolder } from "./support/scratch-repository.ts";

const isNodes = Number(process.versions.node.split(".")[0]) >= 22;

function place(): {
  readonly folder: string;
  readonly ask: () => Promise<string>;
  readonly file: () => string;
} {
  const cache = scratchFolder();
  const work = join(scratchFolder(), "work");
  mkdirSync(work);
  const folder = join(cache, "autopilot", "code");

  return {
    folder,
    ask: async () => {
      const { code, out, err } = await apart(work, ["schema"], { env: { XDG_CACHE_HOME: cache } });
      expect([code, err]).toEqual([0, ""]);
      return out;
    },
    file: () => join(folder, readdirSync(folder)[0] ?? ""),
  };
}

const stateOf = (file: string): string => {
  const { ino, size, mtimeNs } = statSync(file, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
};

test("the first command keeps what it compiled, the next one takes it and writes nothing", async () => {
  const { folder, ask, file } = place();
  const first = await ask();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder)).toHaveLength(1);
  const before = stateOf(file());
  expect(await ask()).toBe(first);
  if (!isNodes) expect(stateOf(file())).toBe(before);
});

test.skipIf(isNodes).each<[string, (bytes: Buffer) => Buffer]>([
  [
    "changed in one byte of the code",
    (bytes) =>
      Buffer.concat([
        bytes.subarray(0, -5_000),
        Buffer.from([~(bytes.at(-5_000) ?? 0) & 255]),
        bytes.subarray(-4_999),
      ]),
  ],
  [
    "changed in its table",
    (bytes) => Buffer.concat([bytes.subarray(0, 12), Buffer.from("x"), bytes.subarray(13)]),
  ],
  ["cut short", (bytes) => bytes.subarray(0, bytes.length >> 1)],
  ["empty", () => Buffer.alloc(0)],
])("a file that is %s is not believed, and made anew", async (_, spoil) => {
  const { ask, file } = place();
  const first = await ask();
  const spoiled = spoil(readFileSync(file()));
  writeFileSync(file(), spoiled);
  expect(await ask()).toBe(first);
  expect(readFileSync(file()).equals(spoiled)).toBe(false);
  const fixed = stateOf(file());
  await ask();
  expect(stateOf(file())).toBe(fixed);
});

test("a folder that others may write to, and one that is a link, are not used", async () => {
  const { folder, ask } = place();
  const first = await ask();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  expect(await ask()).toBe(first);
  expect(readdirSync(folder)).toEqual([]);
  renameSync(folder, `${folder}-elsewhere`);
  chmodSync(`${folder}-elsewhere`, 0o700);
  symlinkSync(`${folder}-elsewhere`, folder);
  expect(await ask()).toBe(first);
  expect(readdirSync(folder)).toEqual([]);
});

test("what a command computes with leaves no room behind for objects that are gone", () => {
  const [hook, told] = [join(scratchFolder(), "hook.cjs"), join(scratchFolder(), "told")];
  const size = `require("node:v8").getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size`;
  const work = `const kept = []; for (let i = 0; i < 2e6; i++) { const made = { i, list: [i] }; if (i % 20 === 0) kept.push(made); }`;
  writeFileSync(
    hook,
    `process.on("exit", () => { ${work} require("node:fs").writeFileSync(${JSON.stringify(told)}, String(${size})); });`,
  );

  const roomAfter = (program: readonly string[]): number => {
    execFileSync(process.execPath, ["--require", hook, ...program], { stdio: "ignore" });
    return Number(readFileSync(told, "utf8")) / (1 << 20);
  };
  expect(roomAfter(["-e", "0"]), "any other program's").toBeGreaterThan(4);
  expect(roomAfter(["dist/autopilot.cjs", "schema"])).toBeLessThanOrEqual(2);
});

import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { lockFile, findOwner, describeThisProcess } from "./owner.ts";
import { freshFolder, sweep } from "./scene.test-support.ts";

let dir: string;
beforeEach(() => {
  dir = freshFolder();
  mkdirSync(dir);
});
afterAll(sweep);

const says = (content: unknown) =>
  writeFileSync(
    join(dir, lockFile),
    typeof content === "string" ? content : JSON.stringify(content),
  );

test("an owner counts as long as its process lives", () => {
  expect(findOwner(dir)).toBeNull();
  says(describeThisProcess());
  expect(findOwner(dir)).toEqual({ pid: process.pid, host: hostname() });
  says({ ...describeThisProcess(), pid: 2 ** 22 + 1 });
  expect(findOwner(dir)).toBeNull();
});

test.skipIf(process.platform !== "linux")(
  "a later process with the same pid is not the owner (only Linux tells when a process began)",
  () => {
    says({ ...describeThisProcess(), started: "1@another-boot" });
    expect(findOwner(dir)).toBeNull();
  },
);

test("an owner elsewhere cannot be asked and counts as living", () => {
  says({ pid: 1, host: `not-${hostname()}`, started: null });
  expect(findOwner(dir)).toEqual({ pid: 1, host: `not-${hostname()}` });
});

test.each(["", "null", "[]", "{", '{"pid":"1","host":"h"}', '{"pid":-1,"host":"h"}', '{"pid":1}'])(
  "a lock file that makes no sense names nobody: %s",
  (content) => {
    says(content);
    expect(findOwner(dir)).toBeNull();
  },
);

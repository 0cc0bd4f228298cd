import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "./git.ts";
import { readIdentity } from "./identity.ts";

let folder = "";
const config = (): string => join(folder, ".git", "config");
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "autopilot-config-"));
  await git({ cwd: folder, args: ["init", "-q", "-b", "main"] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("C1: an answer holds until a file of the configuration changes", async () => {
  appendFileSync(config(), "[user]\n\tname = Ada\n\temail = ada@example.invalid\n");
  expect(await readIdentity(folder)).toEqual({ name: "Ada", email: "ada@example.invalid" });
  expect(await readIdentity(folder)).toEqual({ name: "Ada", email: "ada@example.invalid" });
  appendFileSync(config(), "\tname = Grace Hopper\n");
  expect((await readIdentity(folder)).name).toBe("Grace Hopper");
});

test("C1: what a file outside names is asked for whenever it is wanted", async () => {
  const more = join(folder, "more");
  writeFileSync(more, "[user]\n\tname = One\n");
  appendFileSync(config(), `[include]\n\tpath = ${more}\n`);
  expect((await readIdentity(folder)).name).toBe("One");
  writeFileSync(more, "[user]\n\tname = Two\n");
  expect((await readIdentity(folder)).name).toBe("Two");
});

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { git, scratch } from "../../../test/support/scratch-repository.ts";
import { readObject } from "./object-reader.ts";

let folder: string;
let call: { readonly cwd: string; readonly env: Readonly<Record<string, string>> };
beforeEach(() => {
  folder = scratch({ files: { a: "one\n", b: "x".repeat(100_000) } });
  call = { cwd: folder, env: { GIT_DIR: join(folder, ".git") } };
});

const nameOf = (path: string): string => git(folder, "rev-parse", `HEAD:${path}`);
const textOf = async (name: string, bytesMax?: number): Promise<string | null | undefined> =>
  (await readObject(call, name, bytesMax))?.content?.toString("utf8");

test("many questions at once are answered each with its own", async () => {
  const [a, b, tree] = [nameOf("a"), nameOf("b"), git(folder, "rev-parse", "HEAD^{tree}")];
  const answers = await Promise.all([
    textOf(a),
    textOf(b),
    textOf(a),
    readObject(call, `${git(folder, "rev-parse", "HEAD")}^{tree}`),
  ]);
  expect(answers.slice(0, 3)).toEqual(["one\n", "x".repeat(100_000), "one\n"]);
  expect(answers[3]).toMatchObject({ sha: tree, type: "tree" });
});

test("what is not here is told, and what is larger than asked for is not read; the next question is answered", async () => {
  expect(await readObject(call, "1".repeat(40))).toBeNull();
  expect(await readObject(call, nameOf("b"), 10)).toMatchObject({ type: "blob", content: null });
  expect(await textOf(nameOf("a"))).toBe("one\n");
});

test("several that are larger than asked for, asked at once, spoil no other answer", async () => {
  const [a, b] = [nameOf("a"), nameOf("b")];
  const answers = await Promise.all([
    readObject(call, b, 10),
    readObject(call, b, 10),
    readObject(call, a),
    readObject(call, b, 10),
  ]);
  expect(answers.map((answer) => answer?.content?.toString("utf8") ?? null)).toEqual([
    null,
    null,
    "one\n",
    null,
  ]);
});

test("an object that was written after it began is found", async () => {
  expect(await textOf(nameOf("a"))).toBe("one\n");
  writeFileSync(join(folder, "new"), "later\n");
  const name = execFileSync("git", ["hash-object", "-w", "new"], {
    cwd: folder,
    encoding: "utf8",
  }).trim();
  expect(await textOf(name)).toBe("later\n");
});

test("an empty file has its line end too", async () => {
  const name = execFileSync("git", ["hash-object", "-w", "--stdin"], {
    cwd: folder,
    input: "",
    encoding: "utf8",
  }).trim();
  expect([await textOf(name), await textOf(nameOf("a"))]).toEqual(["", "one\n"]);
});

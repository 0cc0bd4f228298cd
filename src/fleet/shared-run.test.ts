import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../test/support/scratch-repository.ts";
import { bringCopy } from "./shared-run.ts";

test("a line that a crash left torn in the copy is cut off before what the store holds is written", async () => {
  const folder = scratchFolder();
  const path = join(folder, "journal.jsonl");
  writeFileSync(path, '{"seq":1,"half');
  const asked: number[] = [];
  await bringCopy(
    {
      lines: async function* (_key, after) {
        asked.push(after);
        yield Buffer.from("one");
        yield Buffer.from("two");
      },
      hasBlob: () => Promise.resolve(false),
      readBlob: () => Promise.reject(new Error("none is named")),
    },
    "key",
    folder,
  );

  expect([asked, readFileSync(path, "utf8")]).toEqual([[0], "one\ntwo\n"]);
});

test("a copy that is cut short while a blob is brought holds no line that names it", async () => {
  const folder = scratchFolder();
  const path = join(folder, "journal.jsonl");
  const [inner, outer] = ["inner", "outer"].map((text) =>
    createHash("sha256").update(text).digest("hex"),
  );

  const brought: string[] = [];
  const bringing = bringCopy(
    {
      lines: async function* () {
        yield Buffer.from("one");
        yield Buffer.from(`{"blob":"${outer}"}`);
      },
      hasBlob: () => Promise.resolve(true),
      readBlob: (_key, name) => {
        brought.push(name);
        return name === outer
          ? Promise.resolve(Buffer.from(`{"output":"${inner}"}`))
          : Promise.reject(new Error("cut off"));
      },
    },
    "key",
    folder,
  );
  await expect(bringing).rejects.toThrow("cut off");
  expect([brought, readFileSync(path, "utf8")]).toEqual([[outer, inner], "one\n"]);
});

test("a blob that an interrupted copy left here without the one it names gets that one with the next copy", async () => {
  const folder = scratchFolder();
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
  const outer = `{"output":"${sha256("output")}"}`;
  const texts = new Map(["output", outer].map((text) => [sha256(text), text]));
  let isCut = true;

  const store: Parameters<typeof bringCopy>[0] = {
    lines: async function* () {
      yield Buffer.from(`{"blob":"${sha256(outer)}"}`);
    },
    hasBlob: (_key, name) => Promise.resolve(texts.has(name)),
    readBlob: (_key, name) =>
      isCut && name === sha256("output")
        ? Promise.reject(new Error("cut off"))
        : Promise.resolve(Buffer.from(texts.get(name) ?? "")),
  };
  await expect(bringCopy(store, "key", folder)).rejects.toThrow("cut off");
  isCut = false;
  await bringCopy(store, "key", folder);
  expect(
    readFileSync(join(folder, "blobs", sha256("output").slice(0, 2), sha256("output")), "utf8"),
  ).toBe("output");
});

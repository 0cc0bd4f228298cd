import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readFolderId, isIntact, type SealedFolder, takeSealNs } from "./sealed-folder.ts";

let root = "";
beforeEach(() => (root = mkdtempSync(join(tmpdir(), "intact-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function makeFolder(count: number): Promise<SealedFolder> {
  const files = join(root, "made", "files");
  mkdirSync(join(files, "deep", "er"), { recursive: true });
  for (let at = 0; at < count; at += 1) writeFileSync(join(files, "deep", `f${at}`), "x");
  writeFileSync(
    Buffer.concat([Buffer.from(`${files}/deep/er/`), Buffer.from([0xff, 0xfe])]),
    "a name that is no text",
  );

  return {
    files,
    sealedNs: await takeSealNs(join(root, "made", "mark")),
    id: readFolderId(files) ?? "",
  };
}

describe.each([3, 400])("a shared folder of %d files", (count) => {
  test("is intact until something in it is written, added, removed or opened up", async () => {
    const changes: readonly (readonly [string, (files: string) => void])[] = [
      ["written", (files) => appendFileSync(join(files, "deep", `f${count - 1}`), "y")],
      ["added", (files) => writeFileSync(join(files, "deep", "er", "new"), "")],
      ["removed", (files) => rmSync(join(files, "deep", "f0"))],
      ["opened up", (files) => chmodSync(join(files, "deep", "er"), 0o777)],
    ];
    for (const [name, change] of changes) {
      const folder = await makeFolder(count);
      expect(await isIntact(folder), name).toBe(true);
      change(folder.files);
      expect(await isIntact(folder), name).toBe(false);
      rmSync(join(root, "made"), { recursive: true });
      expect(await isIntact(folder), `${name}, then gone`).toBe(false);
    }
  });
});

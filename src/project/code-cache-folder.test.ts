import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findCodeCacheFolder, whyNoCache } from "./code-cache-folder.ts";

const made: string[] = [];
afterEach(() =>
  made.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })),
);

function caches(): { readonly cache: string; readonly own: string; readonly folder: string } {
  const cache = join(realpathSync(mkdtempSync(join(tmpdir(), "autopilot-cache-"))), "cache");
  made.push(join(cache, ".."));
  const folder = findCodeCacheFolder({ XDG_CACHE_HOME: cache }) ?? "";
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(cache, 0o755);

  return { cache, own: join(cache, "autopilot"), folder };
}

test("a folder of the user's alone is used, also before it is there, and below a folder like /tmp", () => {
  const { cache, folder } = caches();
  expect(whyNoCache(folder)).toBeNull();
  chmodSync(cache, 0o1777);
  expect(whyNoCache(folder)).toBeNull();
  rmSync(join(cache, "autopilot"), { recursive: true });
  expect(whyNoCache(folder)).toBeNull();
  expect(findCodeCacheFolder({ AUTOPILOT_CODE_CACHE: "off" })).toBeNull();
});

test.each(["cache", "own", "folder"] as const)(
  "nothing is taken where others may write: %s",
  (which) => {
    const at = caches();
    chmodSync(at[which], 0o777);
    expect(whyNoCache(at.folder)).toBe(`others may write to ${at[which]}`);
  },
);

test.runIf(process.getuid?.() === 0).each(["cache", "own", "folder"] as const)(
  "nor where somebody else owns it: %s",
  (which) => {
    const at = caches();
    chownSync(at[which], 65_534, 65_534);
    expect(whyNoCache(at.folder)).toBe(`${at[which]} belongs to another user`);
  },
);

test("nor through a link in its place, nor in a repository", () => {
  const { cache, own, folder } = caches();
  rmSync(own, { recursive: true });
  mkdirSync(join(cache, "other/code"), { recursive: true, mode: 0o700 });
  symlinkSync(join(cache, "other"), own);
  expect(whyNoCache(folder)).toBe(`${own} is a link`);
  mkdirSync(join(cache, ".git"));
  expect(whyNoCache(folder)).toContain("in the repository");
});

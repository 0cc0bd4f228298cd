import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { composeMountArguments, type SandboxMount } from "./bwrap-mounts.ts";

const readable = (path: string): SandboxMount => ({ kind: "readable", path });
const writable = (path: string): SandboxMount => ({ kind: "writable", path });
const nothing = (path: string): SandboxMount => ({ kind: "nothing", path });
const tmp: SandboxMount = { kind: "scratch", path: "/tmp", bytesMax: 1000 };
/** As lines, so that a list reads like a list. */
const lines = (
  mounts: readonly SandboxMount[],
  links: readonly (readonly [string, string])[] = [],
): string[] =>
  composeMountArguments(mounts, links, true)
    .join(" ")
    .split(/ (?=--)/);

test("what lies deeper is mounted later, whatever order it was named in, and what hides is read-only in the end", () => {
  expect(lines([writable("/no/run/layer"), nothing("/no/run"), readable("/no"), tmp])).toEqual([
    "--ro-bind-try /no /no",
    "--size 1000",
    "--perms 1777",
    "--tmpfs /tmp",
    "--tmpfs /no/run",
    "--bind /no/run/layer /no/run/layer",
    "--remount-ro /no/run",
  ]);
});

test("of two words about one path the more explicit wins: to write, to read, nothing", () => {
  expect(lines([nothing("/no/a"), writable("/no/a"), readable("/no/a")])).toEqual([
    "--bind /no/a /no/a",
  ]);

  expect(lines([readable("/no"), nothing("/no/a"), readable("/no/a")])).toEqual([
    "--ro-bind-try /no /no",
  ]);
});

test("nothing is hidden where nothing is, and nothing is given twice", () => {
  expect(
    lines([nothing("/no/run"), readable("/no/run/tool"), readable("/no/run/tool/bin")]),
  ).toEqual(["--ro-bind-try /no/run/tool /no/run/tool"]);
});

test("what is only to be read inside what may be written is mounted for itself", () => {
  expect(lines([writable("/no/a"), readable("/no/a/b")])).toEqual([
    "--bind /no/a /no/a",
    "--ro-bind-try /no/a/b /no/a/b",
  ]);
});

test("links are made where nothing that was given holds them, in /tmp after it is there", () => {
  const links = [
    ["/bin", "usr/bin"],
    ["/usr/x", "y"],
    ["/tmp/link", "/no/a"],
  ] as const;
  expect(lines([readable("/usr"), tmp], links)).toEqual([
    "--symlink usr/bin /bin",
    "--ro-bind-try /usr /usr",
    "--size 1000",
    "--perms 1777",
    "--tmpfs /tmp",
    "--symlink /no/a /tmp/link",
  ]);
});

test("links are made in a HOME of the box's own, unless they are there, and in no other folder that may be written", () => {
  const from = mkdtempSync(join(tmpdir(), "box-mounts-"));
  symlinkSync("/no/old", join(from, "bin"));
  const home: SandboxMount = { kind: "writable", path: "/no/home", from, isOwn: true };

  const links = [
    ["/no/home/.nvm", "/no/tools/nvm"],
    ["/no/home/bin", "/no/old"],
    ["/no/work/a", "b"],
  ] as const;
  expect(lines([readable("/no/tools/nvm"), home, writable("/no/work")], links)).toEqual([
    `--bind ${from} /no/home`,
    "--bind /no/work /no/work",
    "--ro-bind-try /no/tools/nvm /no/tools/nvm",
    "--symlink /no/tools/nvm /no/home/.nvm",
  ]);

  rmSync(from, { recursive: true });
});

test("a HOME of which nothing is given is an empty folder", () => {
  expect(lines([{ kind: "folder", path: "/no/home" }, nothing("/no/home")])).toEqual([
    "--dir /no/home",
  ]);

  expect(lines([{ kind: "folder", path: "/no/home" }, writable("/no/home")])).toEqual([
    "--bind /no/home /no/home",
  ]);
});

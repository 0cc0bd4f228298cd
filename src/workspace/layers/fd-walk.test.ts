import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bytePathFromText as path } from "../git/byte-path.ts";
import { NotRead, withFolder } from "./fd-walk.ts";

let room = "";
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), "autopilot-walk-"));
  mkdirSync(join(room, "layer/a"), { recursive: true });
  mkdirSync(join(room, "outside"));
  writeFileSync(join(room, "layer/a/file"), "inside");
  writeFileSync(join(room, "outside/file"), "SECRET");
});
afterEach(() => rmSync(room, { recursive: true, force: true }));

const read = (folder: string, name: string): string =>
  withFolder(join(room, "layer"), path(folder), (held) => {
    const pieces: string[] = [];
    held.read(path(name), (piece) => pieces.push(piece.toString("utf8")), 1000);
    return pieces.join("");
  });

test("a file is read inside its folder", () => {
  expect(read("a", "file")).toBe("inside");
});

test("links are refused at every place of the way", () => {
  symlinkSync("../outside", join(room, "layer/link"));
  symlinkSync("../../outside/file", join(room, "layer/a/link"));
  expect(() => read("link", "file")).toThrow(NotRead);
  expect(() => read("a", "link")).toThrow(NotRead);
  expect(() => read("a/..", "missing")).toThrow(NotRead);
});

test("a file above the limit is refused", () => {
  writeFileSync(join(room, "layer/a/big"), "x".repeat(1001));
  expect(() => read("a", "big")).toThrow(NotRead);
});

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPackage, findProgramPaths, resolvePath } from "./program-paths.ts";

let room = "";
beforeAll(() => {
  room = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-programs-")));
  const files = [
    "home/bin/mine",
    "home/.local/bin/agent",
    "home/.local/lib/x",
    "home/project/package.json",
    "home/project/dist/main.js",
    "home/project/node_modules/.bin/x",
    "home/project/node_modules/agent/cli.js",
    "tool/bin/tool",
    "tool/lib/part",
    "packed/package.json",
    "packed/dist/main.js",
    "alone/agent",
  ];
  for (const file of files) {
    mkdirSync(join(room, file, ".."), { recursive: true });
    writeFileSync(join(room, file), "");
  }

  symlinkSync("tool", join(room, "tool-link"));
});
afterAll(() => rmSync(room, { recursive: true, force: true }));

const order = (argv: readonly string[], path = "") => ({
  argv,
  path,
  home: join(room, "home"),
  hidden: [join(room, "home/project")],
});
const placesOf = (argv: readonly string[], path = ""): string[] =>
  findProgramPaths(order(argv, path))
    .filter((place) => place.startsWith(room))
    .map((place) => place.slice(room.length + 1));

test("a way is told link by link, and where it ends", () => {
  expect(resolvePath(join(room, "tool-link/bin/tool"))).toEqual({
    real: join(room, "tool/bin/tool"),
    links: [[join(room, "tool-link"), "tool"]],
  });

  expect(resolvePath(join(room, "nowhere/at/all"))).toBeNull();
});

test("a program comes with what it is part of: its modules, its tool, its package, or nothing else", () => {
  const partOf = (file: string): string =>
    findPackage(join(room, file), order([])).slice(room.length + 1);
  expect(partOf("home/project/node_modules/agent/cli.js")).toBe("home/project/node_modules");
  expect(partOf("tool/bin/tool")).toBe("tool");
  expect(partOf("packed/dist/main.js")).toBe("packed");
  expect(partOf("alone/agent")).toBe("alone/agent");
});

test("no HOME and no hidden folder is ever given as part of a program", () => {
  expect(placesOf([join(room, "home/project/dist/main.js")])).toEqual([
    "home/project/dist/main.js",
  ]);

  expect(placesOf([join(room, "home/bin/mine")])).toEqual(["home/bin/mine"]);
  expect(
    placesOf(
      ["x"],
      `${join(room, "home")}:${join(room, "home/bin")}:${join(room, "home/.local/bin")}`,
    ),
  ).toEqual(["home/bin", "home/.local/bin"]);

  expect(placesOf(["x"], join(room, "home/project/node_modules/.bin"))).not.toContain(
    "home/project",
  );
});

test("a program is looked up on the PATH, and a script that an interpreter is given comes with it", () => {
  expect(placesOf(["tool"], join(room, "tool/bin"))).toEqual(["tool/bin", "tool", "tool/bin/tool"]);
  expect(placesOf(["node", join(room, "packed/dist/main.js"), "/", room])).toEqual([
    "packed/dist/main.js",
    "packed",
  ]);
});

// Files in the user's checkout, where anything may be in their place: links, folders, pipes, files
// without end.

import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  appendToFile,
  moveFile,
  readBounded,
  replaceWholeFile,
  writeWholeFile,
} from "./whole-file.ts";

let room = "";
let root = "";
beforeEach(() => {
  room = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-whole-")));
  root = join(room, "repo");
  mkdirSync(root);
});
afterEach(() => rmSync(room, { recursive: true, force: true }));
const text = (path: string): string => readFileSync(join(root, path), "utf8");
const modeOf = (path: string): number => lstatSync(join(root, path)).mode & 0o777;

describe("writing", () => {
  test("a file and its folders are made; a second writing leaves no trace of the first", async () => {
    await writeWholeFile(root, ".planning/phases/1/TRIAGE.json", "one, and longer");
    await writeWholeFile(root, ".planning/phases/1/TRIAGE.json", "two");
    expect(text(".planning/phases/1/TRIAGE.json")).toBe("two");
    expect(readdirSync(join(root, ".planning/phases/1"))).toEqual(["TRIAGE.json"]);
  });

  test("what lies in the runner's own folder is for its user alone, what lies among the documents is like them", async () => {
    await writeWholeFile(root, ".autopilot/state.json", "{}");
    await writeWholeFile(root, ".planning/phases/1/VERIFICATION.md", "a");
    expect([modeOf(".autopilot"), modeOf(".autopilot/state.json")]).toEqual([0o700, 0o600]);
    expect(modeOf(".planning/phases/1/VERIFICATION.md") & 0o600).toBe(0o600);
  });

  test("a write that was cut short leaves nothing among the user's files, and goes with a later one", async () => {
    mkdirSync(join(root, ".autopilot"));
    const cut = replaceWholeFile(
      root,
      "quality/PROGRESS.md",
      "half",
      () => new Promise(() => undefined),
    ); // never renamed, as after a kill
    cut.catch(() => undefined);
    const temporaries = (): readonly string[] => readdirSync(join(root, ".autopilot/drafts"));
    await expect.poll(temporaries).toHaveLength(1);
    expect(readdirSync(join(root, "quality"))).toEqual([]);
    const [temporary = ""] = temporaries();
    utimesSync(join(root, ".autopilot/drafts", temporary), 0, 0);
    const elsewhere = join(room, "same"); // a root this process has not written to yet, as after a start
    symlinkSync(root, elsewhere);
    await writeWholeFile(elsewhere, "quality/PROGRESS.md", "whole");
    expect([temporaries(), text("quality/PROGRESS.md")]).toEqual([[], "whole"]);
  });

  test("a link in the place of the temporary files' folder is refused", async () => {
    mkdirSync(join(root, ".autopilot"));
    mkdirSync(join(room, "elsewhere"));
    symlinkSync(join(room, "elsewhere"), join(root, ".autopilot/drafts"));
    await expect(writeWholeFile(root, "quality/PROGRESS.md", "x")).rejects.toThrow(
      ".autopilot/drafts is a link",
    );
  });

  test("a link in the file's place is replaced, and what it points to is not touched", async () => {
    writeFileSync(join(room, "outside"), "mine");
    mkdirSync(join(root, ".autopilot"));
    symlinkSync(join(room, "outside"), join(root, ".autopilot/state.json"));
    await writeWholeFile(root, ".autopilot/state.json", "ours");
    expect(readFileSync(join(room, "outside"), "utf8")).toBe("mine");
    expect(lstatSync(join(root, ".autopilot/state.json")).isFile()).toBe(true);
  });

  test("a link among the folders is refused, and nothing is written behind it", async () => {
    mkdirSync(join(room, "elsewhere"));
    symlinkSync(join(room, "elsewhere"), join(root, ".planning"));
    await expect(writeWholeFile(root, ".planning/phases/1/VERIFICATION.md", "x")).rejects.toThrow(
      ".planning is a link, and links are not followed",
    );

    await expect(appendToFile(root, ".planning/phases/1/TRACE.jsonl", "x")).rejects.toThrow(
      "links are not followed",
    );

    expect(readdirSync(join(room, "elsewhere"))).toEqual([]);
  });

  test("a folder in the file's place is left alone, and the message says what to do", async () => {
    mkdirSync(join(root, ".autopilot/state.json"), { recursive: true });
    await expect(writeWholeFile(root, ".autopilot/state.json", "{}")).rejects.toThrow(
      "is a folder, so nothing can be written there; move it away",
    );

    expect(readdirSync(join(root, ".autopilot"))).toEqual(["state.json"]);
  });

  test("a file among the folders is refused", async () => {
    writeFileSync(join(root, ".planning"), "");
    await expect(writeWholeFile(root, ".planning/phases/1/VERIFICATION.md", "x")).rejects.toThrow(
      ".planning is no folder",
    );
  });

  test("a file behind a link is not moved", async () => {
    mkdirSync(join(room, "elsewhere"));
    writeFileSync(join(room, "elsewhere/run_state.jsonl"), "mine");
    symlinkSync(join(room, "elsewhere"), join(root, "quality"));
    expect(await moveFile(root, "quality/run_state.jsonl", ".autopilot/state.json")).toBe(false);
    expect(readdirSync(join(room, "elsewhere"))).toEqual(["run_state.jsonl"]);
    rmSync(join(root, "quality"));
    mkdirSync(join(root, "quality"));
    writeFileSync(join(root, "quality/run_state.jsonl"), "ours");
    expect(await moveFile(root, "quality/run_state.jsonl", ".autopilot/state.json")).toBe(true);
    expect(text(".autopilot/state.json")).toBe("ours");
  });

  test("adding to a file follows no link either", async () => {
    writeFileSync(join(room, "outside"), "mine");
    mkdirSync(join(root, ".planning/phases/1"), { recursive: true });
    symlinkSync(join(room, "outside"), join(root, ".planning/phases/1/TRACE.jsonl"));
    await expect(appendToFile(root, ".planning/phases/1/TRACE.jsonl", "x")).rejects.toThrow();
    expect(readFileSync(join(room, "outside"), "utf8")).toBe("mine");
  });
});

describe("reading", () => {
  const read = (path: string) => readBounded(root, path, 1_000);
  test("what is not there is absent, also below a folder that is not", async () => {
    expect(await read("a.json")).toEqual({ kind: "absent" });
    expect(await read("x/y/a.json")).toEqual({ kind: "absent" });
  });

  test("a file is read whole", async () => {
    writeFileSync(join(root, "a.json"), "{}");
    expect(await read("a.json")).toEqual({ kind: "read", bytes: Buffer.from("{}") });
  });

  const odd: readonly (readonly [string, string, () => void])[] = [
    ["a link", "link", () => symlinkSync(join(room, "repo"), join(root, "a.json"))],
    ["a dangling link", "link", () => symlinkSync("nowhere", join(root, "a.json"))],
    ["a folder", "no_file", () => mkdirSync(join(root, "a.json"))],
    [
      "a pipe that nobody writes to",
      "no_file",
      () => void execFileSync("mkfifo", [join(root, "a.json")]),
    ],
    [
      "a gigabyte",
      "too_large",
      () => {
        writeFileSync(join(root, "a.json"), "{");
        truncateSync(join(root, "a.json"), 1_073_741_824);
      },
    ],
  ];
  test.each(odd)("%s is unusable, and says so at once", async (_, rule, make) => {
    make();
    expect(await read("a.json")).toMatchObject({ kind: "unusable", rule });
  });

  test("what lies behind a link is not reached", async () => {
    mkdirSync(join(room, "elsewhere"));
    writeFileSync(join(room, "elsewhere/a.json"), "{}");
    symlinkSync(join(room, "elsewhere"), join(root, "there"));
    expect(await read("there/a.json")).toMatchObject({ kind: "unusable", rule: "not_reached" });
  });
});

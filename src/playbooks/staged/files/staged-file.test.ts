import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { StagedFile } from "./staged-file.ts";

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});
function room() {
  const root = mkdtempSync(join(tmpdir(), "autopilot-staged-"));
  made.push(root);
  const folder = join(root, "run");
  mkdirSync(folder);
  const path = join(root, "_docs/_autopilot_state.md");
  const there = (text: string): void => {
    mkdirSync(join(root, "_docs"), { recursive: true });
    writeFileSync(path, text);
  };

  return {
    root,
    folder,
    there,
    text: () => readFileSync(path, "utf8"),
    file: () => new StagedFile(root, folder),
  };
}
const state = (mark: string): string => `# Autopilot State\n\n## Key Decisions\n- ${mark}\n`;

test("what the runner wrote is its own, in this life and in the next", async () => {
  const { file, text } = room();
  expect(await file().write(state("one"), null)).toBe(true);
  expect(await file().inspect(null)).toEqual({ kind: "known", text: state("one") });
  expect(await file().write(state("two"), null)).toBe(true);
  expect(text()).toBe(state("two"));
});

test("a crash between remembering and writing leaves an older text of the runner's, which is still its own", async () => {
  const { file, there } = room();
  await file().write(state("one"), null);
  await file().write(state("two"), null);
  there(state("one")); // as if the rename had never come
  expect(await file().inspect(null)).toMatchObject({ kind: "known" });
});

test("what somebody else wrote is not written over until a difference was journaled after it was read", async () => {
  const { file, there, text } = room();
  await file().write(state("ours"), null);
  there(state("theirs"));
  expect(await file().inspect(null)).toEqual({
    kind: "edited",
    text: state("theirs"),
    baseText: state("ours"),
  });

  expect(await file().write(state("newer"), null)).toBe(false);
  await file().markPending(state("theirs"), { step: 5, status: "in_progress" }, 40);
  await file().accept(39); // an older difference is not this one
  expect(await file().write(state("newer"), null)).toBe(false);
  expect(text()).toBe(state("theirs"));
  await file().accept(41);
  expect(await file().write(state("newer"), null)).toBe(true);
  expect(await file().statedStep()).toEqual({ step: 5, status: "in_progress" });
});

test("a first drawing goes over the text a run was drafted with, also where a crash came just before it", async () => {
  const { file, there, folder, text } = room();
  there(state("before"));
  expect(await file().write(state("ours"), state("before"))).toBe(true);
  expect(text()).toBe(state("ours"));
  const other = room();
  other.there(state("before"));
  writeFileSync(
    join(other.folder, "staged-file.json"),
    JSON.stringify({ written: [state("ours")] }),
  ); // remembered, and never placed

  expect(await other.file().inspect(state("before"))).toMatchObject({ kind: "known" });
  expect(await other.file().write(state("ours"), state("before"))).toBe(true);
  expect(readFileSync(join(folder, "staged-file.json"), "utf8")).toContain('"isPlaced":true');
});

test("the text a run was drafted with is known until it has written its own", async () => {
  const { file, there } = room();
  there(state("before"));
  expect(await file().inspect(state("before"))).toMatchObject({ kind: "known" });
  expect(await file().inspect(null)).toMatchObject({ kind: "edited" });
  await file().write(state("ours"), state("before"));
  there(state("before"));
  expect(await file().inspect(state("before"))).toMatchObject({ kind: "edited" });
});

test("a memory that is damaged makes everything somebody else's, and what isn't a state file is moved away", async () => {
  const { file, there, folder, root } = room();
  await file().write(state("ours"), null);
  writeFileSync(join(folder, "staged-file.json"), "{ not json");
  expect(await file().inspect(null)).toMatchObject({ kind: "edited" });
  there("# My notes\n");
  expect(await file().inspect(null)).toMatchObject({
    kind: "unusable",
    why: "_docs/_autopilot_state.md isn't a state file",
  });

  expect(await file().write(state("anew"), null)).toBe(true);
  expect(readFileSync(join(folder, "set-aside/_docs/_autopilot_state.md"), "utf8")).toBe(
    "# My notes\n",
  );

  expect(readFileSync(join(root, "_docs/_autopilot_state.md"), "utf8")).toBe(state("anew"));
});

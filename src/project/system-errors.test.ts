import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toJournalFailure } from "../journal/journal-failure.ts";
import { classifySystemError } from "./system-errors.ts";

const thrownBy = (work: () => void): unknown => {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
};

test("no folder for temporary files is a trouble of the machine, with what to set", () => {
  const trouble = classifySystemError(thrownBy(() => mkdtempSync("/nowhere at all/autopilot-")));
  expect(trouble).toMatchObject({
    code: "workspace_unusable",
    hint: expect.stringContaining("TMPDIR") as unknown,
  });
});

test("a journal that finds no room says on which disk", () => {
  const error = Object.assign(new Error("ENOSPC: no space left on device, write"), {
    code: "ENOSPC",
    syscall: "write",
  });
  expect(classifySystemError(toJournalFailure(error, "writing a blob"))).toMatchObject({
    code: "disk_full",
    message: expect.stringMatching(
      /^The disk at \/.* is full \(\d+ KB left\)\. .*writing a blob/,
    ) as unknown,
  });
});

test("a file where a folder is needed is a trouble of the place, and says which", () => {
  const room = mkdtempSync(join(tmpdir(), "autopilot-trouble-"));
  try {
    const file = join(room, ".autopilot");
    writeFileSync(file, "");

    for (const folder of [file, join(file, "runs")]) {
      expect(
        classifySystemError(thrownBy(() => mkdirSync(folder, { recursive: true }))),
      ).toMatchObject({
        code: "workspace_unusable",
        message: expect.stringContaining(file) as unknown,
      });
    }
  } finally {
    rmSync(room, { recursive: true });
  }
});

test("what nobody but us can have done wrong is no trouble of the machine", () => {
  expect(classifySystemError(new TypeError("no"))).toBeNull();
  expect(
    classifySystemError(
      Object.assign(new Error("no such file"), { code: "ENOENT", syscall: "open", path: "/a" }),
    ),
  ).toBeNull();
});

// Where a report may be written: a place that a person names.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { requireWritable } from "./html-file.ts";

const folder = mkdtempSync(join(tmpdir(), "html-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a new file, an old one, and one in a linked folder may be written; no link, folder or missing folder", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "linked"));
  writeFileSync(join(folder, "old.html"), "");
  symlinkSync(join(folder, "old.html"), join(folder, "link.html"));

  for (const name of ["new.html", "old.html", "linked/new.html"]) {
    expect(() => requireWritable(join(folder, name)), name).not.toThrow();
  }

  for (const name of ["link.html", "real", "nowhere/new.html"]) {
    expect(() => requireWritable(join(folder, name)), name).toThrow();
  }
});

import { expect, test } from "vitest";
import { bytePathFromText } from "./byte-path.ts";
import { isCommonDir } from "./change-surroundings.ts";

test("a commondir is found under each name that some file system takes for it", () => {
  for (const path of [
    "commondir",
    "a/b/CommonDir",
    "a/\u200ccommondir",
    "a/com\u200cmondir",
    "a/commondir. .",
  ]) {
    expect([path, isCommonDir(bytePathFromText(path))]).toEqual([path, true]);
  }

  for (const path of ["commondir/x", "a/common", "a/xcommondir", "notcommondir"]) {
    expect([path, isCommonDir(bytePathFromText(path))]).toEqual([path, false]);
  }
});

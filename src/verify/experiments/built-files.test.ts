import { expect, test } from "vitest";
import { findBuiltFiles } from "./built-files.ts";

test("a new file that a makefile of the base makes is built; what is changed or made by hand is not", async () => {
  const makefile =
    "work/test_rle: lib/rle.c\n\tcc -o $@ lib/rle.c\n\nold.bin: lib/rle.c\n\tcc -o $@ $<\n";
  const texts: Readonly<Record<string, string>> = {
    Makefile: makefile,
    "sub/Makefile": "out.o: a.c\n\tcc\n",
  };
  const built = await findBuiltFiles(
    [
      { path: "work/test_rle", kind: "added" },
      { path: "sub/out.o", kind: "added" },
      { path: "old.bin", kind: "changed" },
      { path: "lib/more.c", kind: "added" },
    ],
    new Set(["Makefile", "sub/Makefile", "old.bin"]),
    (path) => Promise.resolve(texts[path] ?? null),
  );

  expect([...built]).toEqual(["work/test_rle", "sub/out.o"]);
});

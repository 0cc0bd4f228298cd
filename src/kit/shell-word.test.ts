import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord } from "./shell-word.ts";

test.each(["plain/path.ts", "it's", "a b", "", "$HOME;`x`\\", "«ü»\n'"])(
  "a shell reads %j back as it was",
  (text) => {
    expect(
      execFileSync("/bin/sh", ["-c", `printf %s ${shellWord(text)}`], { encoding: "utf8" }),
    ).toBe(text);
  },
);

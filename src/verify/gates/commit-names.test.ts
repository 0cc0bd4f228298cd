import { describe, expect, test } from "vitest";
import { findListedCommits, findNamedCommits } from "./commit-names.ts";

describe("commits that a document names", () => {
  test.each([
    ["- slugify() was introduced in 3fa94bc12de\n", ["3fa94bc12de"]],
    ["Fixed by `9e1f00d7c2`, see commit 77c1a9e.\n", ["9e1f00d7c2", "77c1a9e"]],
    ["The commits 4be21f9 and 91ac3d0 belong together.\n", ["4be21f9", "91ac3d0"]],
    [
      "Regression since commit 0f3d9a1c4b6e8d2f5a7c9b1e3d5f7a9c1b3d5e7f.\n",
      ["0f3d9a1c4b6e8d2f5a7c9b1e3d5f7a9c1b3d5e7f"],
    ],
    ["```\n$ git log --oneline\n3b5e9d1 add slugify\n8c2f4a6 start\n```\n", ["3b5e9d1", "8c2f4a6"]],
  ])("%j", (text, names) => expect(findNamedCommits(text, false)).toEqual(names));

  test.each([
    ["a colour", "The accent was changed to #3fa94bc and #a1b2c3d4.\n"],
    ["a colour without its sign", "Colours: changed in 3fa94bc.\n"],
    ["a digest", "sha256:3fa94bc12de4, md5 9e107d9d372bb6826bd81d3542a419d6\n"],
    [
      "a digest of a download",
      "Checksum of the release, added in 9e107d9d372bb6826bd81d3542a419d6\n",
    ],
    ["a word", "The facade was added in defaced times.\n"],
    ["a number", "Fixed in 20240101 and since 12345678.\n"],
    ["a version", "Fixed in 20240101a.\n"],
    [
      "an example",
      "Name the commit: `fixed in commit 1a2b3c4`, or commit abc1234, or commit deadbeef.\n",
    ],
    [
      "another repository",
      "Pinned actions/checkout@8e5e7e5ab8b370d6c329ec480221332ada57f0ab; upstream commit 8e5e7e5ab.\n",
    ],
    ["a link to elsewhere", "- fix ([8e5e7e5](https://example.com/o/r/commit/8e5e7e5))\n"],
    ["code", "```\ncommit 3fa94bc12de\n```\n"],
    ["a revision of a database", "Revision ae1027a6acf0 adds users.\n"],
    [
      "what git prints in a form of its own",
      "```\n$ git log --format=%T\nae1027a6acf0\n$ git rev-parse HEAD^{tree}\n3b5e9d1\n```\n",
    ],
    ["a path", "See commit notes in docs/3fa94bc12de/x.md.\n"],
  ])("are none: %s", (_name, text) => expect(findNamedCommits(text, false)).toEqual([]));

  test("if the goal is about commits, every such word is one", () => {
    expect(findNamedCommits("| slugify | 3fa94bc12de |\n", true)).toEqual(["3fa94bc12de"]);
    expect(findNamedCommits("| slugify | 3fa94bc12de |\n", false)).toEqual([]);
    expect(findNamedCommits("| colour | 3fa94bc |\n", true)).toEqual([]);
  });
});

describe("a list with the form of a log", () => {
  const list = (path: string, ...lines: readonly string[]) =>
    findListedCommits(path, `${lines.join("\n")}\n`, "");
  test.each([
    [
      "a list",
      [
        "# Changes since v1.0",
        "",
        "- 9f3c2ab Start at zero",
        "  - src/sum.js",
        "- 4be81d0 Fix the parser",
        "  - src/parser.js",
      ],
    ],
    ["plain lines", ["# Changes", "", "9f3c2ab (tag: v1.0) Start", "4be81d0 fix"]],
    ["code and numbers", ["1. `9f3c2ab`: Start at zero", "2. `4be81d0` – Fix"]],
    [
      "links in the project",
      ["* [9f3c2ab](../../commit/9f3c2ab) Start", "* [4be81d0](../../commit/4be81d0) Fix"],
    ],
  ])("names commits: %s", (_name, lines) =>
    expect(list("CHANGES.md", ...lines)).toEqual(["9f3c2ab", "4be81d0"]),
  );

  test.each([
    ["a single one", ["- 9f3c2ab Start at zero"]],
    ["words of several lengths", ["- 9f3c2ab Start at zero", "- 4be81d04 Fix"]],
    ["colours", ["## Palette", "", "- 9f3c2abc Sea", "- 4be81d0c Sky"]],
    [
      "digests of files",
      [
        "9e107d9d372bb6826bd81d3542a419d612345678  a.txt",
        "8e107d9d372bb6826bd81d3542a419d612345678  dist/b",
      ],
    ],
    ["ids", ["## Sessions of the test users", "", "- 9f3c2ab Ada", "- 4be81d0 Bob"]],
    ["an example", ["For example:", "", "- 9f3c2ab Start at zero", "- 4be81d0 Fix"]],
    ["another repository", ["- 9f3c2ab upstream: start", "- 4be81d0 Fix https://example.com/o/r"]],
    ["a block of code", ["```", "9f3c2ab Start at zero", "4be81d0 Fix", "```"]],
  ])("names none: %s", (_name, lines) => expect(list("CHANGES.md", ...lines)).toEqual([]));

  test("counts where changes are spoken of, in a block only if the goal does", () => {
    const lines = ["- 9f3c2ab Ada", "- 4be81d0 Bob", ""].join("\n");
    expect(findListedCommits("docs/people.md", lines, "list the people")).toEqual([]);
    expect(findListedCommits("docs/people.md", lines, "who wrote the last commits")).toEqual([
      "9f3c2ab",
      "4be81d0",
    ]);

    const block = `\`\`\`\n${lines}\`\`\`\n`;
    expect(findListedCommits("CHANGES.md", block, "the last two commits")).toEqual([
      "9f3c2ab",
      "4be81d0",
    ]);
  });
});

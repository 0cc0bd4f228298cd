import { describe, expect, test } from "vitest";
import {
  type CommandTree,
  findMissingCommands,
  parseScripts,
  parseMakeTargets,
} from "./named-commands.ts";

const tree: CommandTree = {
  paths: new Set(["package.json", "scripts/release.sh", "tools/check.py"]),
  scripts: new Set(["test", "lint:all"]),
  targets: new Set(["all", "dist"]),
};

describe("commands that a document names", () => {
  test.each([
    "`npm run e2e` passes.",
    "Run with `make deploy`.",
    "Seen by `python3 tools/audit.py --all`.",
    "See `$ scripts/publish.sh`.",
  ])("and that are not there are found: %s", (text) =>
    expect(findMissingCommands(text, tree)).toHaveLength(1),
  );

  test.each([
    "`npm run lint:all`, `make dist`, `scripts/release.sh` and `tools/check.py` pass.",
    "`pytest tools/check.py::test_one` and `cc tools/check.py -o tools/check.bin` and `tar xf other/x.tgz` pass.",
    "Add an `npm run e2e` script.",
    "There is no `make deploy`.",
    "`cd site && npm run build` and `npm run build --workspace site` pass.",
    "`docker compose up` and `node_modules/.bin/tsc` are the machine's.",
    "```sh\nnpm run e2e\n```",
  ])("and that are there, are to be, or lie elsewhere are nobody's fault: %s", (text) =>
    expect(findMissingCommands(text, tree)).toEqual([]),
  );

  test("are not judged where nobody knows them all", () =>
    expect(
      findMissingCommands("`npm run e2e`, `make deploy`", {
        ...tree,
        scripts: null,
        targets: null,
      }),
    ).toEqual([]));
});

test("scripts and targets are read; what makes targets as it runs is not known", () => {
  expect(parseScripts('{ "scripts": { "test": "x" } }')).toEqual(["test"]);
  expect(parseScripts("{")).toBeNull();
  expect(parseMakeTargets("CC := cc\nall: dist\n\ttrue\ndist clean:\n\trm x\n")).toEqual([
    "all",
    "dist",
    "clean",
  ]);

  expect(parseMakeTargets("include more.mk\nall:\n")).toBeNull();
  expect(parseMakeTargets("%.o: %.c\n\tcc $<\n")).toBeNull();
});

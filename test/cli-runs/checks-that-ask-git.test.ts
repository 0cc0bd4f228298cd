// Checks that ask git, as projects write them: whether generated files are current (make them again, and git
// must see no change), for a version, a word, the files to look at.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { eventsOf, goScripted, runFolderOf } from "../support/autopilot.ts";
import { aFew } from "../support/sampled.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { hasBoxes } from "../workspace/boxed.ts";

const files = {
  "colours.txt": "red\n",
  "colours.out": "RED\n",
  "gen.sh": "tr a-z A-Z < colours.txt > colours.out\n",
};
const criteria = [
  "--done-criteria",
  "what is generated is current :: sh gen.sh && git diff --exit-code",
  "--done-criteria",
  "teal is known :: grep -qi teal colours.out",
];

const addTeal = (generated: string) => [
  {
    do: [
      { write: { path: "colours.txt", text: "red\nteal\n" } },
      { write: { path: "colours.out", text: generated } },
      { say: "<promise>DONE</promise>" },
    ],
  },
];

const levels = hasBoxes ? ["auto", "clone"] : ["clone"];

aFew(1).each(levels)("%s: it passes for work whose generated file is current", async (level) => {
  const folder = scratch({ files });
  const { json } = await goScripted(folder, addTeal("RED\nTEAL\n"), [
    ...criteria,
    "--isolation",
    level,
  ]);
  expect(json.state).toBe("completed");
  expect(readdirSync(join(runFolderOf(folder), "histories"))).toEqual([]); // what git read there is freed with the run
});

aFew(1).each(levels.toReversed())(
  "%s: it fails for work whose generated file is stale",
  async (level) => {
    const folder = scratch({ files });
    const { json } = await goScripted(folder, addTeal("RED\nteal\n"), [
      ...criteria,
      "--isolation",
      level,
      "--max-cycles",
      "1",
    ]);
    expect(json.state).not.toBe("completed");
    const [failed] = eventsOf(folder, "step_failed");
    expect(failed).toMatchObject({ checks: [{ status: "failed" }, { status: "passed" }] });
  },
);

const greeting = {
  Makefile: ".PHONY: test\ntest:\n\tVERSION=$$(git describe --tags --abbrev=0) node --test test/\n",
  "src/greet.js": "exports.greet = () => 'not implemented';\n",
  "test/greet.test.js":
    "const assert = require('node:assert');\nconst test = require('node:test');\nconst { greet } = require('../src/greet');\n\ntest('version', () => assert.strictEqual(process.env.VERSION, 'v1.2'));\ntest('Ann', () => assert.strictEqual(greet('Ann'), 'Hello, Ann!'));\ntest('Bo', () => assert.strictEqual(greet('Bo'), 'Hello, Bo!'));\n",
};

aFew(1).each(levels)(
  "%s: it is verified by a version, a word and the files that git tells",
  async (level) => {
    const folder = scratch({ files: greeting });
    git(folder, "tag", "v1.2");
    const text = "exports.greet = (name) => `Hello, ${name}!`;\n";
    const { json } = await goScripted(
      folder,
      [{ do: [{ write: { path: "src/greet.js", text } }, { say: "<promise>DONE</promise>" }] }],
      [
        "--done-criteria",
        "it greets, and has a version :: make test",
        "--done-criteria",
        "the greeting is there :: git grep -n 'Hello' -- src",
        "--done-criteria",
        "files can be read :: git ls-files '*.js' | xargs -n1 node --check && make test",
        "--isolation",
        level,
      ],
    );
    expect(eventsOf(folder, "run_completed").flatMap(({ gaps }) => gaps)).toEqual([]);
    expect(json).toMatchObject({ state: "completed", verdict: "verified" });
  },
);

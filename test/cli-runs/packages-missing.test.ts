// A dependency that the work adds and that isn't installed here: neither a mistake nor a false
// claim. The agent hears of it once, then a person installs it, and the same run goes on.

import { expect, test } from "vitest";
import { chooseIsolation } from "../../src/workspace/isolation/isolation.ts";
import { autopilot, eventsOf, goScripted } from "../support/autopilot.ts";
import {
  scratchCheckedOnce as scratch,
  scratchFolder,
  write,
} from "../support/scratch-repository.ts";

const auto = await chooseIsolation("auto", { hidden: [], runDir: scratchFolder() });
const levels = [...new Set(["clone", ...("isolation" in auto ? [auto.isolation.level] : [])])];

test.each(levels)(
  "at %s the run pauses and names it; with the package installed it ends proved, and nobody is called a liar",
  async (level) => {
    const manifest = { name: "x", private: true, scripts: { test: "node add.test.js" } };
    const folder = scratch({
      files: {
        ".gitignore": "node_modules/\n",
        "package.json": JSON.stringify(manifest),
        "add.js": "exports.add = () => 0;\n",
        "add.test.js":
          'const { test } = require("node:test");\ntest("adds", () => require("node:assert").equal(require("./add.js").add(1, 2), 3));\n',
      },
    });

    const work = [
      {
        write: {
          path: "package.json",
          text: JSON.stringify({ ...manifest, dependencies: { "plus-one": "1.0.0" } }),
        },
      },
      {
        write: {
          path: "add.js",
          text: 'exports.add = (a, b) => require("plus-one")(a + b - 1);\n',
        },
      },
      { say: "All tests pass. <promise>DONE</promise>" },
    ];

    const turns = [
      { do: work },
      { do: [{ say: "All tests pass. <promise>DONE</promise>" }], repeat: 0 },
    ];

    const { json } = await goScripted(folder, turns, [
      "--done-criteria",
      "it adds :: npm test",
      "--isolation",
      level,
    ]);
    expect(json).toMatchObject({ state: "paused", reason_code: "packages_missing" });
    expect(json.message).toContain("plus-one is named in package.json and not installed here");
    expect(eventsOf(folder, "step_started").filter(({ step }) => step === "execute")).toHaveLength(
      2,
    );

    const verdicts = JSON.stringify(eventsOf(folder, "claims_checked"));
    expect(verdicts).toContain('"verdict":"unverifiable"');
    expect(verdicts).not.toContain('"verdict":"false"');
    write(folder, { "node_modules/plus-one/index.js": "module.exports = (n) => n + 1;\n" });
    expect((await autopilot(folder, ["resume", "--json"])).json).toMatchObject({
      state: "completed",
    });
  },
);

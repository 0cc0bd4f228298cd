// "Generated files are current", as projects ask it: make them again, and git must see no change.

import { expect, test } from "vitest";
import { eventsOf, goScripted } from "../support/autopilot.ts";
import { scratch } from "../support/scratch-repository.ts";
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

test.each(levels)("%s: it passes for work whose generated file is current", async (level) => {
  const folder = scratch({ files });
  const { json } = await goScripted(folder, addTeal("RED\nTEAL\n"), [
    ...criteria,
    "--isolation",
    level,
  ]);
  expect(json.state).toBe("completed");
});

test.each(levels)("%s: it fails for work whose generated file is stale", async (level) => {
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
});

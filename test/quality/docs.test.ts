// Documentation: asked about before anything else. Without it the audit goes by the code alone and
// says so everywhere; if it is required, nothing begins.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventsOf } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";
import { aFew, longTest } from "../support/sampled.ts";
import {
  audit,
  bare,
  exploration,
  inShort,
  log,
  logText,
  named,
  progress,
  shop,
  sources,
  turn,
  turns,
} from "./audit.ts";
import { faultsIn, faultsInProgress } from "./seed-reader.ts";

describe.concurrent("documentation", () => {
  test("there is none: the log, PROGRESS.md and EXPLORATION.md say code-only, and the run goes on", async () => {
    const folder = bare();
    const { json } = await audit(folder);
    expect(json).toMatchObject({ result: "WARN", state: "completed" });
    const lines = log(folder);
    expect(inShort(lines).slice(0, 4)).toEqual([
      "_index",
      "run_start",
      "documentation_state",
      "start 1",
    ]);

    expect(named(lines, "documentation_state")).toMatchObject([
      { state: "code_only", reason: expect.stringContaining("reference_docs/") as string },
    ]);

    expect(progress(folder)).toMatch(/^Documentation state: code_only$/m);
    const document = readFileSync(join(folder, "quality/EXPLORATION.md"), "utf8");
    expect(document).toMatch(/^## Documentation status: code-only mode\n/);
    expect(document).toContain(exploration()); // prepended: what the explorer wrote is all there
    expect(git(folder, "status", "--porcelain", "--", "quality/EXPLORATION.md")).toBe("");
    expect(faultsIn(logText(folder), 2)).toEqual([]);
    expect(faultsInProgress(progress(folder))).toEqual([]);
  });

  longTest(
    "an explorer that has said so itself is left alone",
    "test/quality/docs.test.ts › there is none: the log, PROGRESS.md and EXPLORATION.md say code-only, and the run goes on",
    async () => {
      const folder = bare();
      const own = `# Exploration\n\n## Documentation status: code-only mode\n\nOnly code.\n\n${exploration()}`;
      await audit(folder, [turn("1", { "EXPLORATION.md": own }), { do: [{ exit: 3 }], repeat: 0 }]);
      expect(readFileSync(join(folder, "quality/EXPLORATION.md"), "utf8")).toBe(own);
    },
  );

  aFew(1).each([
    ["empty files are none", { "reference_docs/a.md": "\n", "reference_docs/b.pdf": "x" }, true],
    [
      "a text deeper down is one",
      { "reference_docs/cite/rfc.txt": "the sum of nothing is zero\n" },
      false,
    ],
    [
      "what lies beside the target counts too",
      { "lib/reference_docs/a.md": "words\n", "lib/a.js": "1;\n" },
      false,
    ],
  ])("%s", async (_what, files, isCodeOnly) => {
    const folder = scratch({ files: { "README.md": "# x\n", ...files } });
    const target = "lib/a.js" in files ? ["--target-path", "lib"] : [];
    await audit(folder, [{ do: [{ exit: 3 }], repeat: 0 }], target);
    expect(named(log(folder), "documentation_state")).toHaveLength(isCodeOnly ? 1 : 0);
  });

  test("required and not there: four events, an ERROR in PROGRESS.md, exit 1, and no agent is started", async () => {
    const folder = bare();
    const { code, json } = await audit(folder, turns(), ["--require-docs"]);
    expect({ code, ...json }).toMatchObject({
      code: 1,
      result: "FAIL",
      reason_code: "missing_docs",
      state: "stopped",
    });

    expect(json.remediation.length).toBeGreaterThan(0);
    expect(log(folder).map(({ event }) => event)).toEqual([
      "_index",
      "run_start",
      "aborted_missing_docs",
      "run_end",
    ]);

    expect(named(log(folder), "run_end")).toMatchObject([{ status: "aborted" }]);
    expect(named(log(folder), "_index")[0]?.["event_types"]).toContain("aborted_missing_docs");
    expect(progress(folder)).toMatch(/^ERROR: aborted_missing_docs — .*reference_docs\//m);
    expect(eventsOf(folder, "step_started").map((entry) => entry["kind"])).not.toContain("agent");
    expect(existsSync(join(folder, "quality/EXPLORATION.md"))).toBe(false);
    expect(faultsIn(logText(folder))).toEqual([]);
  });

  aFew(1).each([
    ["nobody has added them", ""],
    ["git ignores them", "reference_docs/\n"],
  ])(
    "required, there, and in no commit because %s: refused with what is missing, which is the commit",
    async (_why, ignore) => {
      const folder = bare();
      write(folder, {
        "reference_docs/prices.md": "Prices are in cents.\n",
        ".git/info/exclude": ignore,
      });

      const { code, json } = await audit(folder, turns(), ["--require-docs"]);
      expect({ code, ...json }).toMatchObject({
        code: 1,
        reason_code: "workspace_unusable",
        state: null,
      });

      expect(json.message).toContain("Not committed yet: reference_docs/prices.md");
      expect(existsSync(join(folder, "quality"))).toBe(false);
      git(folder, "add", "-f", "reference_docs");
      git(folder, "commit", "-q", "-m", "docs");
      await audit(folder, [{ do: [{ exit: 3 }], repeat: 0 }], ["--require-docs"]);
      expect(log(folder).map(({ event }) => event)).not.toContain("aborted_missing_docs");
    },
  );

  longTest(
    "required and there: nothing is said of it",
    "test/quality/docs.test.ts › required and not there: four events, an ERROR in PROGRESS.md, exit 1, and no agent is started",
    async () => {
      const folder = shop();
      const { json } = await audit(folder, turns(), ["--require-docs"]);
      expect(json).toMatchObject({ result: "WARN", state: "completed" });
      expect(named(log(folder), "documentation_state")).toEqual([]);
      expect(Object.keys(sources)).toContain("reference_docs/prices.md");
    },
  );
});

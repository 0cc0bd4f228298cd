// A benchmark without a command is a quality run of autopilot's own: the agent is the lever, and
// known bugs are found again or not.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Files, left, returned, sources, turn, turns } from "../quality/audit.ts";
import { autopilot, isolation } from "../support/autopilot.ts";
import { git, scratch, write } from "../support/scratch-repository.ts";
import { beside, cycleLog } from "./bench.ts";

/** What a phase leaves, without anything of the second bug. */
const withoutSecond = (phase: string): Files =>
  Object.fromEntries(
    Object.entries(left[phase] ?? {})
      .filter(([path]) => !path.includes("BUG-002"))
      .map(([path, text]) => [
        path,
        path === "BUGS.md"
          ? (text.split("### BUG-002")[0] ?? "")
          : text.replace(/,"BUG-002":"red"/, ""),
      ]),
  );
const firstOf = (phase: string, key: string): object => {
  const all = returned[phase] as Record<string, readonly unknown[]>;
  return { ...all, [key]: all[key]?.slice(0, 1) };
};

test("another agent as the lever: a quality run before and one after, and what was found again decides", async () => {
  const known =
    "### BUG-001: an empty list throws\n\n### BUG-002: floats\n\n### BUG-003: nobody finds it\n";
  const folder = scratch({ files: { ...sources, "known/shop.md": known } });
  const script = (name: string, played: readonly object[]): string => {
    writeFileSync(join(beside(folder), name), JSON.stringify({ turns: played }));
    return `scripted:${join(beside(folder), name)}`;
  };

  const weak = script(
    "weak.json",
    turns({
      "3": turn("3", withoutSecond("3"), { returns: firstOf("3", "bugs") }),
      "5": turn("5", withoutSecond("5"), { returns: firstOf("5", "reconciled") }),
    }),
  );

  const strong = script("strong.json", turns());
  write(folder, { ".autopilot/config.yaml": `version: 1\nagent: ${JSON.stringify(weak)}\n` });
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "weak");

  const args = [
    "calibrate",
    "start",
    "--json",
    "--name",
    "agents",
    "--lever",
    "agent:all",
    "--to",
    strong,
    "--hypothesis",
    "it finds more",
  ];

  const what = ["--benchmarks", "shop=.", "--baseline", "shop=known/shop.md"];
  const { json } = await autopilot(folder, [...args, ...what], {
    env: { AUTOPILOT_ISOLATION: isolation },
  });
  expect(json).toMatchObject({
    verdict: "ship",
    before: { shop: 0.333333333 },
    after: { shop: 0.666666667 },
  });

  expect(git(folder, "show", "HEAD:.autopilot/config.yaml")).toContain("strong.json");
  const kept = join(folder, ".autopilot/calibrations/agents/runs/shop/post-lever-1/findings.md");
  expect(readFileSync(kept, "utf8")).toContain("BUG-002");
  expect(cycleLog(folder, "agents").filter(({ event }) => event === "error")).toEqual([]);
  const clash = await autopilot(folder, [...args.with(4, "clash"), ...what, "--agent", weak]);
  expect(clash.json).toMatchObject({ reason_code: "calibration_input_invalid" });
});

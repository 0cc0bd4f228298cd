import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { begun } from "../../../../test/simulation/support/tape.ts";
import { flow } from "../../../../test/simulation/support/words.ts";
import type { RunView } from "../../../core/state.ts";
import { createRoadmapReader } from "./read-phases.ts";

const folder = mkdtempSync(join(tmpdir(), "autopilot-phases-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const section = (id: string, after: string, goal = "It works"): string =>
  `### Phase ${id}: Name ${id}\n**Goal**: ${goal}\n**Depends on**: ${after}\n**Requirements**: R-${id}\n**Success Criteria**:\n1. it is there :: test -f ${id}\n2. it is good\n\n`;
const roadmap = [
  "- [x] **Phase 1: Name 1**\n- [ ] **Phase 2: Name 2**\n- [ ] **Phase 2.1: Name 2.1** *(INSERTED)*\n- [ ] **Phase 3: Name 3**\n- [ ] **Phase 10: Name 10**\n\n",
  section("1", "Nothing"),
  section("2", "Phase 1"),
  section("2.1", "Phase 2"),
  section("3", "Phase 10"),
  section("10", "Nothing"),
].join("");

function reading(
  options: Readonly<Record<string, string | boolean>>,
  { text = roadmap, paths = [] as string[] } = {},
) {
  const { run } = begun(flow);
  const documents = [{ path: ".planning/ROADMAP.md", hash: "a".repeat(64) }];
  const state: RunView = { ...run, drafted: { ...run.drafted, documents, options } };
  const workspace = { pathsAt: () => Promise.resolve(paths) } as never;
  const home = { root: folder, folder };

  return createRoadmapReader({
    verifier: {} as never,
    workspace,
    paths: home,
    readBlob: () => Buffer.from(text),
    entries: () => [],
  })(state);
}
const reported = async (...given: Parameters<typeof reading>): Promise<unknown> => {
  const found = await reading(...given);
  return "problem" in found
    ? found.problem
    : found.map(({ id, after, skip }) => [id, after.join(), skip ?? ""].join(" ").trim());
};

describe("the reader roadmap", () => {
  test.each([
    ["next", ["1  already_completed", "2 1"]],
    ["all", ["1  already_completed", "2 1", "2.1 2", "10", "3 10"]],
    ["2-3", ["1  already_completed", "2 1", "2.1 2", "3"]],
    ["3,10", ["10", "3 10"]],
    ["2.1", ["2.1"]],
    ["1", ["1  already_completed"]],
  ])("%s: in execution order, with the completed phases it rests on", async (phases, wanted) => {
    expect(await reported({ phases })).toEqual(wanted);
  });

  test("with the whole roadmap every completed phase is told, whatever was asked for besides", async () => {
    expect(await reported({ phases: "3", complete: true })).toEqual([
      "1  already_completed",
      "2 1",
      "2.1 2",
      "10",
      "3 10",
    ]);
  });

  test("what state and archive know goes before the box in the roadmap", async () => {
    mkdirSync(join(folder, "archive"), { recursive: true });
    const archived = {
      phases: { phase_10: { status: "completed" }, phase_1: { status: "failed" } },
    };
    writeFileSync(join(folder, "archive/run-2026-01-01-000000.json"), JSON.stringify(archived));
    expect(await reported({ phases: "all" })).toEqual([
      "1",
      "2 1",
      "2.1 2",
      "10  already_completed",
      "3 10",
    ]);

    rmSync(join(folder, "archive"), { recursive: true });
  });

  test("each phase brings what it is about, and its criteria that can be run", async () => {
    const found = await reading({ phases: "3" });
    expect("problem" in found ? null : found[0]).toMatchObject({
      name: "Name 3",
      about: expect.stringMatching(
        /Phase 3: Name 3\nGoal: It works\n[\s\S]*R-3[\s\S]*1\. it is there :: test -f 3\n2\. it is good/,
      ) as string,
      checks: [
        { id: "criterion:3.1", kind: "criterion", title: "it is there", command: "test -f 3" },
      ],
    });
  });

  test("a stub is refused with its line, unless a plan says what it is about or nobody asked for it", async () => {
    const text = roadmap + section("11", "Nothing", "TBD");
    expect(await reported({ phases: "11" }, { text })).toMatch(
      /ROADMAP\.md:\d+: phase 11 has only the goal "TBD" and no plan/,
    );

    expect(
      await reported({ phases: "11" }, { text, paths: [".planning/phases/11-later/PLAN.md"] }),
    ).toEqual(["11"]);

    expect(await reported({ phases: "3" }, { text })).toEqual(["3"]);
  });

  test("a selection that names nothing, and a roadmap that goes in a ring, are told", async () => {
    expect(await reported({ phases: "7" })).toMatch(/which names no phase/);
    expect(
      await reported(
        { phases: "all" },
        { text: section("1", "Phase 2") + section("2", "Phase 1") },
      ),
    ).toMatch(/wait for each other: 1 -> 2/);
  });
});

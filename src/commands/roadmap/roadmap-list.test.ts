import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandContext } from "../../../test/support/command-context.ts";
import { roadmapList } from "./roadmap-list.ts";

test("roadmap list tells of a state.json that cannot be read, because it may know what is completed", async () => {
  const root = mkdtempSync(join(tmpdir(), "autopilot-list-"));
  mkdirSync(join(root, ".autopilot"));
  writeFileSync(
    join(root, "ROADMAP.md"),
    "- [ ] **Phase 1: One**\n\n### Phase 1: One\n**Goal**: one\n**Success Criteria**:\n1. it is there :: test -f a\n",
  );

  const context = commandContext({ cwd: root, env: {} });
  const unread = (warnings: readonly string[]): boolean =>
    warnings.some((warning) => warning.includes(".autopilot/state.json cannot be read"));
  expect(unread((await roadmapList(context)).warnings)).toBe(false);
  writeFileSync(join(root, ".autopilot", "state.json"), "{");
  expect(unread((await roadmapList(context)).warnings)).toBe(true);
  rmSync(root, { recursive: true });
});

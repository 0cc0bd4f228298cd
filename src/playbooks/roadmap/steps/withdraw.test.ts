import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Entry } from "../../../contracts/event.ts";
import type { LandResult } from "../../../ports/workspace.ts";
import type { StepInput } from "./roadmap-parts.ts";
import { createWithdrawStep } from "./withdraw.ts";

const applied = (attempt: string) => ({ event: "changes_applied", attempt }) as unknown as Entry;
const landed = {
  event: "step_completed",
  attempt: "2/closing@1/land#1",
  facts: { landed: true },
} as unknown as Entry;
const root = mkdtempSync(join(tmpdir(), "autopilot-withdraw-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = { root, folder: join(root, ".autopilot") };
const input = {
  state: { drafted: { run_id: "run-2026-01-01-000000" } },
  cursor: { path: "1", visit: 1, phase: "1" },
  cancel: new AbortController().signal,
} as unknown as StepInput;

function withdrawn(
  entries: readonly Entry[],
  result: LandResult = { landed: true, how: "merge", commit: "c" } as never,
) {
  let lands = 0;
  const workspace = { land: () => Promise.resolve((lands++, result)) } as never;
  return createWithdrawStep({ workspace, paths: home, entries: () => entries })
    .perform(input)
    .then((found) => ({ ...found, lands }));
}

test("what landed with others is taken back on the user's branch too; what never landed is not landed for that", async () => {
  expect(await withdrawn([applied("1@1/execute#1/a@1/do#1"), landed])).toMatchObject({
    ok: true,
    lands: 1,
    stands: true,
  });

  expect(await withdrawn([landed, applied("1@1/execute#1/a@1/do#1")])).toMatchObject({
    ok: true,
    lands: 0,
  });

  expect(await withdrawn([applied("11@1/do#1"), landed])).toMatchObject({ ok: true, lands: 0 }); // another phase's
});

test("where it cannot land, it says where the work still is and what brings it back", async () => {
  const refusal = {
    landed: false,
    because: "checkout_dirty",
    detail: "Uncommitted changes: a.",
  } as never;
  expect(await withdrawn([applied("1@1/debug#1"), landed], refusal)).toMatchObject({
    ok: false,
    reason: "checkout_dirty",
    facts: { rollback_performed: false },
    detail: expect.stringContaining("git merge autopilot/run-2026-01-01-000000") as string,
  });
});

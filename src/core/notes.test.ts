import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import type { Entry } from "../contracts/event.ts";
import { openFold } from "./fold.ts";
import type { Run } from "./state.ts";

const golden = resolve(
  import.meta.dirname,
  "../../test/golden/journals/0.1.0-people/journal.jsonl",
);
const entries = readFileSync(golden, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Entry);

/** The journal with a note after its line `at`. */
function noted(at: number): readonly Run[] {
  const fold = openFold();
  const states: Run[] = [];
  let seq = 0;

  for (const entry of entries) {
    fold.apply({ ...entry, seq: ++seq });
    if (entry.seq === at) {
      fold.apply({
        ...entry,
        seq: ++seq,
        event: "review_noted",
        actor: "operator:ada",
        reason_code: "review_noted",
        request: "note-1",
        commit: "c".repeat(40),
        notes: [{ path: "a", line: 1, side: "new", text: "Cap this." }],
      } as unknown as Entry);
    }

    states.push(structuredClone(fold.state as Run));
  }

  return states;
}
const seqOf = (event: string, after = 0): number =>
  entries.find((entry) => entry.event === event && entry.seq > after)?.seq ?? 0;

test("a note waits until a turn that began after it has changed something", () => {
  const opened = seqOf("run_opened");
  const applied = seqOf("changes_applied");
  const states = noted(opened);
  expect(states[applied - 2]?.notes).toHaveLength(1);
  expect(states[applied - 1]?.notes).toBeUndefined();
});

test("a turn that was under way when the note came has not read it", () => {
  const turned = seqOf("turn_ended");
  const applied = seqOf("changes_applied");
  expect(turned).toBeLessThan(applied);
  expect(noted(turned)[applied - 1]?.notes).toHaveLength(1);
});

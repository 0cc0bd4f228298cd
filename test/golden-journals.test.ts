import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, test } from "vitest";
import { type Entry, eventSchemas } from "../src/contracts/event.ts";
import { openFold } from "../src/core/fold.ts";
import { verifyJournal } from "../src/journal/read.ts";
import { canonicalJson } from "../src/kit/canonical-json.ts";

// Journals that released versions wrote. Every later version folds each of them to the state
// recorded beside it, for ever: it may come to know more from one, and then a field is added; none
// is changed.

const folder = "test/golden/journals";
const journals = readdirSync(folder);
const linesOf = (name: string): string[] =>
  readFileSync(join(folder, name, "journal.jsonl"), "utf8")
    .trimEnd()
    .split("\n");

test("there are golden journals", () => expect(journals.length).toBeGreaterThanOrEqual(2));

test.each(journals)("%s folds to the recorded state", async (name) => {
  const fold = openFold();
  for (const line of linesOf(name)) fold.apply(JSON.parse(line) as Entry);
  const state = JSON.stringify(JSON.parse(canonicalJson(fold.state)), null, 1);
  await expect(`${state}\n`).toMatchFileSnapshot(join("..", folder, name, "state.json"));
});

test.each(journals)("the chain of %s holds, and every line fits its event's schema", (name) => {
  expect(verifyJournal(join(folder, name))).toMatchObject({
    ok: true,
    events: linesOf(name).length,
  });

  for (const line of linesOf(name)) {
    const {
      seq: _seq,
      journal: _journal,
      epoch: _epoch,
      ts: _ts,
      active_ms: _active,
      prev: _prev,
      crc: _crc,
      ...event
    } = JSON.parse(line) as Entry & { journal?: number };
    const read = v.safeParse(eventSchemas[event.event], event);
    expect(
      read.success,
      `${event.event}: ${read.issues?.map(({ message }) => message).join("; ")}`,
    ).toBe(true);
  }
});

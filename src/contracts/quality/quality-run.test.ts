import * as v from "valibot";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  cycleSpecs,
  runSpecs,
  type Spec,
  wholeCycle,
  wholeRun,
  abortedRun,
} from "../../playbooks/quality/views/quality-log-rules.test-support.ts";
import {
  CalibrationCycleEvent,
  cycleEventSchemas,
  QualityRunEvent,
  runEventSchemas,
} from "./quality-run.ts";

type Entries = Readonly<Record<string, { readonly type: string }>>;

const listOf = (schemas: Readonly<Record<string, { readonly entries: unknown }>>) =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, { entries }]) => {
      const fields = Object.entries(entries as Entries).filter(
        ([key]) => key !== "ts" && key !== "event",
      );
      const those = (isOptional: boolean): string[] =>
        fields
          .filter(([, entry]) => (entry.type === "optional") === isOptional)
          .map(([key]) => key);

      return [name, { required: those(false), optional: those(true) }];
    }),
  );
const plain = (specs: Readonly<Record<string, Spec>>) =>
  Object.fromEntries(
    Object.entries(specs).map(([name, { required, optional = [] }]) => [
      name,
      { required, optional },
    ]),
  );

describe("the events of a run_state.jsonl", () => {
  test("of a run are those of the format, field by field, as somebody else copied them", () => {
    expect(listOf(runEventSchemas)).toEqual(plain(runSpecs));
  });

  test("of a cycle are those of the format, field by field, as somebody else copied them", () => {
    expect(listOf(cycleEventSchemas)).toEqual(plain(cycleSpecs));
  });

  test("fit their schemas, and so does every line of a real log", () => {
    const real = readFileSync(
      join(import.meta.dirname, "../../../test/fixtures/quality/complete-run.run_state.jsonl"),
      "utf8",
    );
    const lines = real.trimEnd().split("\n");
    expect(lines).toHaveLength(45);

    for (const event of [
      ...wholeRun,
      ...abortedRun,
      ...lines.map((line): unknown => JSON.parse(line)),
    ]) {
      expect(v.safeParse(QualityRunEvent, event).issues).toBeUndefined();
    }

    for (const event of wholeCycle) {
      expect(v.safeParse(CalibrationCycleEvent, event).issues).toBeUndefined();
    }
  });
});

import * as v from "valibot";
import { expect, test } from "vitest";
import { Evidence } from "../contracts/evidence.ts";
import { buildEvidence, storeEvidence, type Observation } from "./evidence.ts";
import { collectOutput } from "./bounded-output.ts";

const tree = "a".repeat(40);

function sighting(text: string, note: string, more: Partial<Observation> = {}): Observation {
  const collector = collectOutput();
  collector.add(Buffer.from(text));

  const result = {
    status: "failed" as const,
    exitCode: 1,
    signal: null,
    startedAt: "2026-01-01T00:00:00.000Z",
    durationMs: 5,
    argv: ["/bin/sh", "-c", "x"],
    envHash: "b".repeat(64),
    output: collector.take(),
    leftBehind: 0,
    survivors: 0,
    record: null,
    note,
  };

  const check = { id: "c", kind: "criterion" as const, title: "x", command: "x", source: "s" };
  const where = {
    cwd: "/w",
    isolation: "none",
    commit: tree,
    treeBefore: tree,
    treeAfter: tree,
    product: "p",
  };

  return { check, result, status: "failed", ...where, ...more };
}

test("the record obeys its schema, and its excerpt is at most 40 lines and 4 KiB, the runner's word included", () => {
  const many = v.parse(
    Evidence,
    buildEvidence(sighting("line\n".repeat(100), "said by the runner"), null),
  );
  expect(many.output_excerpt.split("\n")).toHaveLength(40);
  expect(many.output_excerpt.endsWith("line\n[autopilot: said by the runner]")).toBe(true);
  const wide = buildEvidence(sighting("é".repeat(10_000), "said by the runner"), null);
  expect(Buffer.byteLength(wide.output_excerpt)).toBeLessThanOrEqual(4096);
  expect(wide.output_excerpt).not.toContain("\ufffd");
});

test("paths so long that they fill the excerpt are cut, and leave room for the output", () => {
  const fromBase = ["a", "b", "c", "d", "e"].map(
    (name) => `${name.repeat(200)}/`.repeat(6) + "conftest.py",
  );

  for (const status of ["passed", "failed"] as const) {
    const { output_excerpt, oracles } = buildEvidence(
      sighting("the end\n", "", { fromBase, status }),
      null,
    );
    expect(oracles).toEqual(fromBase);
    expect(output_excerpt).toMatch(/^the end\n\[autopilot: run with the base's a+/);
    expect(Buffer.byteLength(output_excerpt)).toBeLessThanOrEqual(4096);
  }
});

test("a command that wrote nothing has no output to point at", async () => {
  const stored: string[] = [];
  const putBlob = async (bytes: Uint8Array): Promise<string> => (
    stored.push(Buffer.from(bytes).toString()),
    "c".repeat(64)
  );
  expect(await storeEvidence(sighting("", ""), putBlob)).toMatchObject({
    evidence: "c".repeat(64),
    status: "failed",
  });

  expect(stored).toHaveLength(1);
  expect(JSON.parse(stored[0] ?? "")).toMatchObject({
    output_hash: null,
    output_bytes: 0,
    output_excerpt: "",
  });
});

test("failing lines stand in the excerpt wherever they were printed, before the end of the output", async () => {
  const text = `not ok 1 - weeks\n${"fine\n".repeat(500)}last\n`;
  const { output_excerpt } = buildEvidence(
    sighting(text, "", { failing: ["not ok 1 - weeks"] }),
    null,
  );
  const lines = output_excerpt.split("\n");
  expect([lines[0], lines.at(-1), lines.length <= 40]).toEqual(["not ok 1 - weeks", "last", true]);
  expect(
    buildEvidence(sighting("not ok 1 - weeks\nlast\n", "", { failing: ["not ok 1 - weeks"] }), null)
      .output_excerpt,
  ).toBe("not ok 1 - weeks\nlast");

  const wide = buildEvidence(
    sighting("x\n".repeat(9_000), "n", {
      failing: Array.from({ length: 20 }, (_, index) => `${index} ${"é".repeat(290)}`),
    }),
    null,
  );
  expect(Buffer.byteLength(wide.output_excerpt)).toBeLessThanOrEqual(4096);
  const names = { passed: [], failed: ["weeks", "months"], whole: [] };
  const kept = await storeEvidence(sighting("", "", { names }), () =>
    Promise.resolve("c".repeat(64)),
  );
  expect(kept.failed).toBe("weeks, months");
});

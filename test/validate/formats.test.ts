// validate, as a user runs it, on one file of every format: recognised by what is in it, and every
// fault told with file, line and rule.

import { describe, expect, test } from "vitest";
import { autopilot } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { scratch, write } from "../support/scratch-repository.ts";
import { broken, fixture, samples } from "./samples.ts";

type Reported = {
  readonly path: string;
  readonly format: string;
  readonly valid: boolean;
  readonly violations: readonly {
    readonly line: number;
    readonly rule: string;
    readonly message: string;
    readonly severity: string;
  }[];
  readonly unchecked?: readonly { readonly rule: string }[];
};
const filesOf = (json: Readonly<Record<string, unknown>>): readonly Reported[] =>
  json["files"] as readonly Reported[];

const names = Object.keys(samples);
/** A name that says nothing about its content. */
const odd = (format: string): string => `odd-${names.indexOf(format)}.txt`;

describe("every format", () => {
  test("is recognised under a name that says nothing, and in order; nothing is written", async () => {
    const folder = scratch();
    write(folder, Object.fromEntries(names.map((format) => [odd(format), samples[format] ?? ""])));
    const before = fingerprint(folder, { without: [".git/index"] });
    const { code, json } = await autopilot(folder, ["validate", ...names.map(odd), "--json"]);
    const found = filesOf(json).map(({ format, violations }) => ({
      format,
      errors: violations.filter(({ severity }) => severity === "error"),
    }));
    expect(found).toEqual(names.map((format) => ({ format, errors: [] })));
    expect(code).toBe(0);
    expect(fingerprint(folder, { without: [".git/index"] })).toBe(before);
  });

  test("is told with its line and rule where something is wrong, and the exit code says so", async () => {
    const folder = scratch();
    write(
      folder,
      Object.fromEntries(names.map((format) => [odd(format), broken[format]?.text ?? ""])),
    );

    const { code, json } = await autopilot(folder, ["validate", ...names.map(odd), "--json"]);
    expect([code, json.result, json.reason_code]).toEqual([1, "FAIL", "file_invalid"]);

    for (const { path, format, valid, violations } of filesOf(json)) {
      expect([path, valid]).toEqual([odd(format), false]);
      const { text, at } = broken[format] ?? { text: "", at: "" };
      expect([
        format,
        violations.map(({ line, rule, message }) => `${message} ${line} ${rule}`),
      ]).toEqual([format, expect.arrayContaining([expect.stringContaining(at)])]);

      for (const { line } of violations) expect(line).toBeLessThanOrEqual(text.split("\n").length);
    }
  });

  test("in words: a line a violation, with file, line and rule", async () => {
    const folder = scratch({
      files: { "quality/run_state.jsonl": broken["quality run_state"]?.text ?? "" },
    });

    const { code, out, err } = await autopilot(folder, ["validate", "quality/run_state.jsonl"]);
    expect(code).toBe(1);
    expect(out).toContain("✗ quality/run_state.jsonl: quality run_state, 1 violation");
    expect(out).toContain(
      "  quality/run_state.jsonl:5: RS-enum: pattern_walked pattern is 8, expected 1 or 2 or 3 or 4 or 5 or 6 or 7",
    );

    expect(err).toContain("The file is not valid.");
  });

  test("by its name where its content says nothing", async () => {
    const folder = scratch();
    const named = {
      "quality/run_state.jsonl": "?",
      ".autopilot/state.json": "?",
      "_docs/_autopilot_state.md": "?",
      "TRACE.jsonl": "?",
    };
    write(folder, named);
    const { json } = await autopilot(folder, ["validate", ...Object.keys(named), "--json"]);
    expect(filesOf(json).map(({ format, valid }) => `${format} ${valid}`)).toEqual([
      "quality run_state false",
      "roadmap state false",
      "staged state false",
      "trace false",
    ]);
  });
});

describe("a real log of a quality run", () => {
  test("is valid, and what cannot be checked is said", async () => {
    const folder = scratch();
    write(folder, { "real.jsonl": fixture("quality/complete-run.run_state.jsonl") });
    const { code, json } = await autopilot(folder, ["validate", "real.jsonl", "--json"]);
    expect(code).toBe(0);
    expect(filesOf(json)).toEqual([
      {
        path: "real.jsonl",
        format: "quality run_state",
        valid: true,
        violations: [],
        unchecked: [
          expect.objectContaining({ rule: "RS5" }),
          expect.objectContaining({ rule: "RS-end" }),
        ],
      },
    ]);
  });

  test("with an unknown runner is valid with a warning", async () => {
    const folder = scratch();
    write(folder, {
      "real.jsonl": fixture("quality/complete-run.run_state.jsonl").replace('"claude"', '"goose"'),
    });

    const { code, json, out } = await autopilot(folder, ["validate", "real.jsonl", "--json"]);
    expect([code, out.length > 0]).toEqual([0, true]);
    expect(filesOf(json)[0]?.violations).toMatchObject([
      { line: 2, rule: "RS-enum", severity: "warning" },
    ]);
  });
});

test("the schemas of the logs are there to be asked for", async () => {
  const folder = scratch();
  for (const name of [
    "quality-run",
    "calibration-cycle",
    "portfolio-event",
    "portfolio-checkpoint",
    "portfolio-project",
    "portfolio-task",
  ]) {
    expect((await autopilot(folder, ["schema", name, "--json"])).json["schema"]).toMatchObject({
      $schema: expect.any(String) as string,
    });
  }
});

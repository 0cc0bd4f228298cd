// Bad input: a slip of the keyboard changes nothing, and a broken file is reported with its place
// and with what was expected there.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { autopilot, journal, program, runFolderOf } from "../support/autopilot.ts";
import { fingerprint } from "../support/fingerprint.ts";
import { scratchCheckedOnce as scratch, write } from "../support/scratch-repository.ts";
import { makesOut, objective } from "./stories.ts";

describe("a command line that is not understood", () => {
  const folder = scratch();
  const slips: readonly (readonly [what: string, words: readonly string[], told: RegExp])[] = [
    ["an unknown flag", ["go", "fix", "--yess"], /Unknown flag --yess.*--yes/],
    ["an unknown flag without a command", ["fix it", "--nope"], /Unknown flag --nope/],
    ["an unknown short flag", ["status", "-x"], /Unknown flag -x/],
    [
      "a number that is none",
      ["go", "fix", "--max-cycles", "many"],
      /--max-cycles is a whole number of at least 1, not many/,
    ],
    ["a number below the least", ["go", "fix", "--max-cycles", "0"], /at least 1, not 0/],
    ["a negative number", ["resume", "--max-cycles=-1"], /at least 1, not -1/],
    ["a fraction", ["log", "--since", "1.5"], /whole number/],
    [
      "a word that is none of the words",
      ["start", "fix", "--risk-level", "extreme"],
      /one of low, medium, high, not extreme/,
    ],
    ["a value that is missing", ["start", "fix", "--scope"], /--scope needs a value/],
    [
      "a flag in the place of a value",
      ["start", "fix", "--scope", "--new"],
      /--scope needs a value/,
    ],
    ["a value where none belongs", ["pause", "--now=yes"], /--now takes no value/],
    ["a flag given twice", ["start", "fix", "--goal", "a", "--goal", "b"], /--goal is given twice/],
    ["a misspelt command", ["statsu"], /Did you mean status\?/],
    ["a command of a later version", ["hub"], /not part of this version/],
    ["a word too many", ["pause", "now"], /pause/],
    ["a word too few", ["ack"], /ack/],
    ["a folder that is not there", ["status", "-C", "no/such/folder"], /is not a folder/],
    ["a schema that is not there", ["schema", "nonsense"], /no schema called nonsense/],
    ["flags that exclude each other", ["log", "--jsonl", "--json"], /do not go together/],
  ];
  test.each(slips)(
    "%s is exit 2 with usage on stderr, and nothing is written",
    async (_what, args, reported) => {
      const before = fingerprint(folder);
      const spoken = await autopilot(folder, args);
      expect(spoken.code).toBe(2);
      expect(spoken.err).toMatch(/Usage: autopilot/);

      if (args.includes("--json") || args.at(-1) === "--scope") {
        return expect(spoken.err + spoken.out).toMatch(reported);
      }

      expect(spoken.out).toBe("");
      const { json, code } = await autopilot(folder, [...args, "--json"]);
      expect({ code, result: json.result, reason: json.reason_code, run: json.run_id }).toEqual({
        code: 2,
        result: "FAIL",
        reason: "usage",
        run: null,
      });

      expect(json.message).toMatch(reported);
      expect(fingerprint(folder)).toBe(before);
    },
  );
});

describe.concurrent("a broken file", () => {
  test.each([
    ["a key that is not known", "version: 1\nisolatoin: clone\n", 2, /isolatoin.*isolation/],
    ["a value of another kind", "checks:\n  timeout_minutes: soon\n", 2, /number/],
    [
      "a word that is none of the words",
      "version: 1\n\nrisk_level: extreme\n",
      3,
      /low.*medium.*high/,
    ],
    ["YAML that is none", "agent: [scripted\nversion: 1\n", 2, /./],
    ["a key given twice", "agent: a\nagent: b\n", 2, /./],
    ["a budget that is none", "max_budget: generous\n", 1, /conservative/],
    ["a newer version", "agent: a\nversion: 7\n", 2, /version 7.*newer/],
  ])(
    "a config with %s is config_invalid with file, line and what was expected, and validate finds the same",
    async (_what, text, line, reported) => {
      const folder = scratch();
      write(folder, { ".autopilot/config.yaml": text });
      const { code, json } = await autopilot(folder, ["start", ...objective(folder)]);
      expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "config_invalid" });
      expect(json.message).toContain(`.autopilot/config.yaml:${line}:`);
      expect(json.message).toMatch(reported);
      const checked = await autopilot(folder, ["validate", ".autopilot/config.yaml", "--json"]);
      expect({ code: checked.code, reason: checked.json.reason_code }).toEqual({
        code: 1,
        reason: "file_invalid",
      });

      const [file] = checked.json["files"] as {
        format: string;
        valid: boolean;
        violations: { line: number; rule: string; message: string; severity: string }[];
      }[];
      expect(file).toMatchObject({
        path: ".autopilot/config.yaml",
        format: "config",
        valid: false,
      });

      expect(file?.violations.map((violation) => violation.line)).toContain(line);
      expect((await autopilot(folder, ["config", "--json"])).json.reason_code).toBe(
        "config_invalid",
      );

      expect((await autopilot(folder, ["doctor", "--json"])).code).toBe(1);
      expect((await autopilot(folder, ["status", "--json"])).code).toBe(0);
    },
  );

  test("an environment variable with a bad value is config_invalid and named", async () => {
    const folder = scratch();
    const { code, json } = await autopilot(folder, ["start", ...objective(folder)], {
      env: { AUTOPILOT_RISK_LEVEL: "extreme" },
    });

    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "config_invalid" });
    expect(json.message).toContain("AUTOPILOT_RISK_LEVEL");
  });

  test.each([
    ["a key that is not known", "turns:\n  - do:\n      - wirte: { path: a, text: b }\n", 3],
    ["something that is no list", "turns: soon\n", 1],
    ["YAML that is none", "turns:\n  - do: [\n", 3],
  ])(
    "a script with %s is script_invalid with file and line, and no draft is written",
    async (_what, text, line) => {
      const folder = scratch();
      const file = join(dirname(folder), "script.yaml");
      writeFileSync(file, text);
      const before = fingerprint(folder, { without: [".git/index"] });

      const { code, json } = await autopilot(folder, [
        "start",
        "fix",
        "--isolation",
        "clone",
        "--agent",
        `scripted:${file}`,
        "--json",
      ]);

      expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "script_invalid" });
      expect(json.message).toMatch(new RegExp(`script\\.yaml:${line}:`));
      expect(fingerprint(folder, { without: [".git/index"] })).toBe(before);
      const checked = await autopilot(folder, ["validate", file, "--json"]);
      expect(checked.code).toBe(1);
    },
  );

  test("a script that is not there is script_invalid", async () => {
    const folder = scratch();
    const { code, json } = await autopilot(folder, [
      "start",
      "fix",
      "--isolation",
      "clone",
      "--agent",
      "scripted:nowhere.yaml",
      "--json",
    ]);

    expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "script_invalid" });
  });

  test("a flow with a fault is flow_invalid with file and line, and lint and validate find the same", async () => {
    const folder = scratch();
    write(folder, {
      ".autopilot/flows/mine/flow.yaml":
        'flow: mine\nversion: 1\nphases:\n  - id: "1"\n    stepps: []\n',
    });

    const started = await autopilot(folder, ["start", ...objective(folder), "--flow", "mine"]);
    expect({ code: started.code, reason: started.json.reason_code }).toEqual({
      code: 1,
      reason: "flow_invalid",
    });

    expect(started.json.message).toMatch(/flow\.yaml:5:.*stepps/);
    const linted = await autopilot(folder, ["flow", "lint", "mine", "--json"]);
    expect({ code: linted.code, reason: linted.json.reason_code }).toEqual({
      code: 1,
      reason: "flow_invalid",
    });

    expect(linted.json["findings"]).toContainEqual(expect.objectContaining({ line: 5 }));
    const checked = await autopilot(folder, [
      "validate",
      ".autopilot/flows/mine/flow.yaml",
      "--json",
    ]);
    expect(checked.json["files"]).toMatchObject([{ format: "flow", valid: false }]);
    const missing = await autopilot(folder, ["start", ...objective(folder), "--flow", "nobodys"]);
    expect({ code: missing.code, reason: missing.json.reason_code }).toEqual({
      code: 1,
      reason: "flow_missing",
    });
  });
});

describe("a journal", () => {
  const folder = scratch();
  let whole = "";
  const path = (): string => join(runFolderOf(folder), "journal.jsonl");
  beforeAll(async () => {
    await autopilot(folder, ["go", ...objective(folder, makesOut), "--yes"]);
    whole = readFileSync(path(), "utf8");
  });

  const reading = [["status"], ["report"], ["log"], ["verify"], ["go"], ["resume"], ["stop"]];

  test("that was written by a newer version is refused by its version, by every command", async () => {
    writeFileSync(path(), whole.replace('"journal":1', '"journal":2'));
    for (const args of reading) {
      const { code, json } = await autopilot(folder, [...args, "--json"]);
      expect({ words: args, code, reason: json.reason_code }).toEqual({
        words: args,
        code: 1,
        reason: "journal_newer",
      });

      expect(json.message).toMatch(/2/);
    }

    expect((await autopilot(folder, ["validate", path(), "--json"])).json["files"]).toMatchObject([
      { format: "journal", valid: false },
    ]);

    writeFileSync(path(), whole);
  });

  test.each([
    ["a changed word", (line: string) => line.replace('"reason_code"', '"reason_kode"')],
    ["a changed verdict", (line: string) => line.replace(/"system"/, '"sistem"')],
    ["a removed line", () => null],
    ["a line that is no JSON", () => "nonsense"],
  ])(
    "that has %s is found damaged, with its line, by verify, validate and every reader",
    async (_what, change) => {
      const lines = whole.trimEnd().split("\n");
      const at = 11;
      const changed = change(lines[at] ?? "");
      expect(changed).not.toBe(lines[at]);
      writeFileSync(
        path(),
        `${[...lines.slice(0, at), ...(changed === null ? [] : [changed]), ...lines.slice(at + 1)].join("\n")}\n`,
      );

      const verified = await autopilot(folder, ["verify", "--json"]);
      expect({
        code: verified.code,
        reason: verified.json.reason_code,
        chain: verified.json["chain"],
      }).toEqual({
        code: 1,
        reason: "journal_damaged",
        chain: { ok: false, events: at, damaged_line: at + 1 },
      });

      for (const args of reading.slice(0, 3)) {
        expect((await autopilot(folder, [...args, "--json"])).json.reason_code, args[0]).toBe(
          "journal_damaged",
        );
      }

      const [file] = (await autopilot(folder, ["validate", path(), "--json"])).json["files"] as {
        violations: { line: number }[];
      }[];
      expect(file?.violations[0]?.line).toBe(at + 1);
      writeFileSync(path(), whole);
      expect((await autopilot(folder, ["verify", "--chain-only", "--json"])).code).toBe(0);
    },
  );

  test("that is damaged is no reason not to begin where it is an old run's, and else its run and the ways on are named", async () => {
    const old = "run-2020-01-01-000000";
    const folderOfOld = join(folder, ".autopilot/runs", old);
    write(folderOfOld, { "journal.jsonl": whole.replace("run_started", "run_sttrted") });
    expect((await autopilot(folder, ["go", "--json"])).json).toMatchObject({
      reason_code: "objective_schema_invalid",
    });

    const { json } = await autopilot(folder, ["status", "--run", old, "--json"]);
    expect(json).toMatchObject({ reason_code: "journal_damaged", run_id: old, damaged_line: 3 });
    expect(json.message).toContain(old);
    expect(json.remediation).toEqual(
      expect.arrayContaining([expect.stringContaining(`git log autopilot/${old}`)]),
    );

    rmSync(folderOfOld, { recursive: true });
  });

  test("whose evidence was changed or removed is found by verify, piece by piece", async () => {
    const hashes = journal(folder).flatMap((entry) =>
      ((entry["checks"] ?? []) as { evidence: string }[]).map(({ evidence }) => evidence),
    );
    const hash = hashes.at(-1) ?? "";
    const blob = join(runFolderOf(folder), "blobs", hash.slice(0, 2), hash);
    const kept = readFileSync(blob);
    const good = await autopilot(folder, ["verify", "--json"]);
    expect({ code: good.code, chain: good.json["chain"] }).toMatchObject({
      code: 0,
      chain: { ok: true, damaged_line: null },
    });

    expect(good.json["evidence"]).toMatchObject([
      { recorded: "failed", now: "failed", holds: true },
      { command: "test -f out.txt", recorded: "passed", now: "passed", holds: true },
    ]);

    writeFileSync(blob, kept.toString("utf8").replace('"passed"', '"failed"'), { mode: 0o600 });
    const bad = await autopilot(folder, ["verify", "--json"]);
    expect({ code: bad.code, reason: bad.json.reason_code }).toEqual({
      code: 1,
      reason: "evidence_differs",
    });

    expect(
      (bad.json["evidence"] as { id: string; holds: boolean }[]).find(({ id }) => id === hash),
    ).toMatchObject({ holds: false });

    writeFileSync(blob, kept);
    expect((await autopilot(folder, ["verify", "--json"])).code).toBe(0);
  });
});

test("a folder where a file is expected, and a pipe in a config's place, are told and nothing hangs", async () => {
  const folder = scratch();
  mkdirSync(join(folder, ".autopilot", "config.yaml"), { recursive: true });
  const { code, json } = await autopilot(folder, ["start", ...objective(folder)]);
  expect({ code, reason: json.reason_code }).toEqual({ code: 1, reason: "config_invalid" });
});

test("where the system gives too few descriptors to start git, that is said, and it is no bug", async () => {
  const folder = scratch();
  const line = `ulimit -n 24; exec "$0" "$@"`;

  const { stdout } = await promisify(execFile)(
    "/bin/sh",
    ["-c", line, process.execPath, program, "start", "x", "--json"],
    {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: dirname(folder) },
    },
  ).catch((error: unknown) => error as { readonly stdout: string });
  expect(JSON.parse(stdout)).toMatchObject({
    result: "FAIL",
    reason_code: "workspace_unusable",
    message: expect.stringContaining("EMFILE") as string,
  });
});

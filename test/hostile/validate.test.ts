// Files that were made to hurt whoever reads them. Whatever they hold, validate answers with a
// finding and its position: it never breaks, never waits, and never takes more memory than it would
// for a good file.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { wholeRun } from "../../src/playbooks/quality/views/quality-log-rules.test-support.ts";
import { autopilot, begin } from "../support/autopilot.ts";
import { scratchFolder, write } from "../support/scratch-repository.ts";
import { aFew, sampled } from "../support/sampled.ts";
import { lines, samples } from "../validate/samples.ts";

type Reported = {
  readonly path: string;
  readonly format: string;
  readonly valid: boolean;
  readonly violations: readonly {
    readonly line: number;
    readonly rule: string;
    readonly message: string;
  }[];
};

/** What a reader may take at most: a process that has only just started takes half of it. */
const memoryMbMax = 160;

/** Validates, and says how much memory that took at its peak. */
async function validated(
  folder: string,
  names: readonly string[],
): Promise<{ readonly files: readonly Reported[]; readonly mb: number }> {
  const probe = join(folder, "probe.cjs");
  writeFileSync(
    probe,
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(join(folder, "peak"))}, String(process.resourceUsage().maxRSS / 1024)));`,
  );

  const { code, json, err } = await autopilot(folder, ["validate", ...names, "--json"], {
    env: { NODE_OPTIONS: `--require=${probe}` },
  });
  expect(err).not.toMatch(/InvariantBroken|\n\s+at /);
  expect([0, 1]).toContain(code);

  return {
    files: json["files"] as readonly Reported[],
    mb: Number(readFileSync(join(folder, "peak"), "utf8")),
  };
}

/** Names by which a file is taken for its format even if nothing in it says so. */
const named: Readonly<Record<string, string>> = {
  "quality run_state": "quality/run_state.jsonl",
  "portfolio events": "events/events.jsonl",
  "portfolio checkpoints": "events/checkpoints.jsonl",
  trace: "TRACE.jsonl",
  journal: "journal.jsonl",
  "roadmap state": ".autopilot/state.json",
  metrics: "metrics.json",
  "post-mortem": "phase-1-postmortem.json",
  triage: "TRIAGE.json",
  "completion report": "completion-report.json",
  "portfolio snapshot": "tasks/task-login-4f9k2a.md",
  "staged state": "_docs/_autopilot_state.md",
  roadmap: "ROADMAP.md",
  plan: "PLAN.md",
  "planning config": ".planning/config.json",
  flow: ".autopilot/flows/mine/flow.yaml",
  config: ".autopilot/config.yaml",
};
const formats = Object.keys(named);
const paths = Object.values(named);
const deep = 100_000;

const contents: readonly (readonly [string, string | Uint8Array])[] = [
  ["nothing", ""],
  ["bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x80, 0x22, 0x7d, 0x0a])],
  ["UTF-16", Buffer.from(`\ufeff{"event":"_index"}\n`, "utf16le")],
  ["NULs", Buffer.alloc(10_000)],
  ["a NUL in a text", '{"event":"_index","ts":"\0"}\n'],
  ["100,000 lists in each other", `${"[".repeat(deep)}${"]".repeat(deep)}\n`],
  ["100,000 mappings in each other", `${'{"a":'.repeat(deep)}1${"}".repeat(deep)}\n`],
  ["100,000 openings and no end", "{".repeat(deep)],
  ["deep YAML", Array.from({ length: 2_000 }, (_, n) => `${" ".repeat(n)}a:`).join("\n")],
  ["half a character", '{"odd":"\\ud800"}\n'],
  ["a key twice", '{"odd":1,"odd":2}\n'],
  ["a key twice in a log", '{"event":"_index","event":"run_start","ts":"x"}\n'],
  ["__proto__", '{"__proto__":{"event":"_index","ts":"2026-05-15T14:32:01Z"}}\n'],
  ["__proto__ in a document", '{"__proto__":{"_meta":{},"flow":"x"}}\n'],
  ["control characters", '\u001b]52;c;AAAA\u0007{"event":"\\u001b[2J"}\n'],
  ["a very long number", `{"event":"_index","ts":${"9".repeat(100_000)}}\n`],
  ["ten thousand lines of nothing", "x\n".repeat(10_000)],
];

describe("as every format", () => {
  aFew(2).each(contents)("%s: a finding with a position for each", async (what, content) => {
    const folder = scratchFolder();
    for (const path of paths) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), content);
    }

    const { files, mb } = await validated(folder, paths);
    expect(files.map(({ path }) => path)).toEqual(paths);

    for (const { path, format, violations } of files) {
      expect([path, violations.every(({ line }) => Number.isInteger(line) && line >= 1)]).toEqual([
        path,
        true,
      ]);

      for (const { message } of violations) {
        expect(message).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
      }

      // Some take an empty file: it says nothing, and so nothing wrong.
      const isTaken = what === "nothing" && /config|events|checkpoints|trace/.test(format);
      expect([path, format, violations.length > 0]).toEqual([path, format, !isTaken]);
    }

    expect(mb).toBeLessThan(memoryMbMax);
  });

  test("a folder, a pipe, a link out, a link to nothing, and nothing at all where the file is expected", async () => {
    const folder = scratchFolder();
    const outside = scratchFolder();
    const kinds = ["folder", "pipe", "link", "gone", "nothing"] as const;
    for (const kind of kinds) {
      for (const path of paths) {
        const at = join(folder, kind, path);
        mkdirSync(kind === "folder" ? at : join(at, ".."), { recursive: true });
        if (kind === "pipe") execFileSync("mkfifo", [at]);
        if (kind === "gone") symlinkSync(join(folder, "nowhere"), at);
        if (kind !== "link") continue;
        mkdirSync(join(outside, path, ".."), { recursive: true });
        writeFileSync(join(outside, path), "secret\n");
        symlinkSync(join(outside, path), at);
      }
    }

    const { files } = await validated(
      folder,
      kinds.flatMap((kind) => paths.map((path) => join(kind, path))),
    );

    const expected = {
      folder: "folder file",
      pipe: "unknown file",
      link: "unknown link",
      gone: "missing link",
      nothing: "missing exists",
    };

    for (const { path, format, valid, violations } of files) {
      const kind = path.split("/")[0] as keyof typeof expected;
      expect([path, valid, `${format} ${violations.map(({ rule }) => rule).join(",")}`]).toEqual([
        path,
        false,
        expected[kind],
      ]);

      expect(JSON.stringify(violations)).not.toContain("secret");
    }

    expect(files).toHaveLength(kinds.length * formats.length);
  });
});

describe("a line of a gigabyte", () => {
  const megabyte = 1_048_576;
  type Hole = { readonly before: string; readonly bytes: number; readonly after: string };

  /** A file with a hole in one of its lines: it takes no room, and reads as NULs. */
  function withHole(path: string, { before, bytes, after }: Hole): void {
    const fd = openSync(path, "w");
    writeSync(fd, before);
    ftruncateSync(fd, bytes);
    writeSync(fd, after, bytes);
    closeSync(fd);
  }

  test("is told with its number and skipped; the lines around it are judged, in the memory of any other file", async () => {
    const folder = scratchFolder();
    const [index, ...rest] = wholeRun.map((event) => JSON.stringify(event));
    withHole(join(folder, "long.jsonl"), {
      before: `${index}\n${rest[0]}\n{"event":"error","ts":"`,
      bytes: 1024 * megabyte,
      after: `"}\n${rest.slice(1).join("\n")}\n{"event":"error"}\n`,
    });

    const { files, mb } = await validated(folder, ["long.jsonl"]);
    expect(files[0]?.format).toBe("quality run_state");
    expect(files[0]?.violations.map(({ line, rule }) => `${line} ${rule}`)).toEqual([
      "3 RS2",
      `${wholeRun.length + 1} RS7`,
      `${wholeRun.length + 2} RS3`,
      `${wholeRun.length + 2} RS7`,
      `${wholeRun.length + 2} RS-field`,
      `${wholeRun.length + 2} RS-field`,
    ]);

    expect(mb).toBeLessThan(memoryMbMax);
  });

  test("and one that is shorter and still longer than what may be taken, in every other format: a finding, and no more memory", async () => {
    const folder = scratchFolder();
    const some = sampled(5, Object.entries(named));
    for (const [format, path] of some) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      withHole(join(folder, path), {
        before: (samples[format] ?? "x").slice(0, 40),
        bytes: 2 * memoryMbMax * megabyte,
        after: "\n",
      });
    }

    const { files, mb } = await validated(
      folder,
      some.map(([, path]) => path),
    );
    expect(files).toHaveLength(some.length);

    for (const { path, valid, violations } of files) {
      expect([path, valid, violations.length > 0]).toEqual([path, false, true]);
    }

    expect(mb).toBeLessThan(memoryMbMax);
  });
});

test("a million damaged lines are not read to the end, and few are listed", async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "run_state.jsonl"), '{"event":\n'.repeat(1_000_000));
  const { files, mb } = await validated(folder, ["run_state.jsonl"]);
  expect(files[0]?.violations).toHaveLength(250);
  expect(mb).toBeLessThan(memoryMbMax);
});

test("what a hazard is hidden in does not matter: every one of them is told with its line in a log that is otherwise in order", async () => {
  const folder = scratchFolder();
  const log = wholeRun.map((event) => JSON.stringify(event));

  const hidden = [
    '{"event":"error","ts":"2026-05-15T14:32:01Z","message":"a","recoverable":true,"recoverable":false}',
    '{"event":"error","ts":"2026-05-15T14:32:01Z","message":"a","recoverable":true,"deep":{"__proto__":{"recoverable":false}}}',
    '{"event":"error","ts":"2026-05-15T14:32:01Z","message":"\\uDC00","recoverable":true}',
    `{"event":"error","ts":"2026-05-15T14:32:01Z","message":"a","recoverable":true,"deep":${"[".repeat(deep)}${"]".repeat(deep)}}`,
    '{"event":"error","ts":"2026-05-15T14:32:01Z","message":"\\"message\\" :","recoverable":true,"m":{"x":1, "x" : 2}}',
  ];
  writeFileSync(join(folder, "log.jsonl"), log.toSpliced(8, 0, ...hidden).join("\n"));
  const { files } = await validated(folder, ["log.jsonl"]);
  expect(files[0]?.violations.map(({ line, rule }) => `${line} ${rule}`)).toEqual([
    "9 RS2",
    "10 RS2",
    "11 RS2",
    "12 RS2",
    "13 RS2",
  ]);
});

test("a log that is being written while it is read is judged as far as it was there", async () => {
  const folder = scratchFolder();
  const path = join(folder, "run_state.jsonl");
  const event = { event: "error", ts: "2026-05-15T14:32:01Z", message: "again", recoverable: true };
  write(folder, { "run_state.jsonl": lines(wholeRun.slice(0, 4)) });
  appendFileSync(path, lines(Array.from({ length: 100_000 }, () => event)));
  const { child, ended } = begin(folder, ["validate", "run_state.jsonl", "--json"]);
  let appended = 0;
  while (child.exitCode === null && appended < 100_000) {
    appendFileSync(path, JSON.stringify(event).slice(0, 20));
    appendFileSync(path, `${JSON.stringify(event).slice(20)}\n`);
    appended++;
    if (appended % 50 === 0) await new Promise((done) => setTimeout(done, 1));
  }

  const [file] = (await ended).json["files"] as readonly Reported[];
  expect(appended).toBeGreaterThan(0);
  expect(file?.valid).toBe(true);
  expect(file?.violations.map(({ rule }) => rule)).toEqual(["changed"]);
});

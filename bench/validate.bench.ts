// How long a log of a million lines takes to be validated, against reading and parsing the same
// lines and nothing else. Each pass in a process of its own, as the command is, the two taking
// turns. Counted is the processor's time, collecting garbage included: both only compute, and what
// else the machine does does not count. The memory is the whole process's at its peak.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { runEventNames } from "../src/contracts/quality/quality-run.ts";
import { openViolations } from "../src/documents/line-rules.ts";
import { openPortfolioEventRules } from "../src/portfolio/views/portfolio-rules.ts";
import { openQualityLogRules } from "../src/playbooks/quality/views/quality-log-rules.ts";
import { readLines } from "../src/commands/validate/validate-lines.ts";
import { isQuick, median, parseLines, plainEnv, report, withFolder } from "./measure.ts";

const lines = isQuick ? 200_000 : 1_000_000;
const rounds = isQuick ? 5 : 9;

const [, self = "", task, where = ""] = process.argv;
if (task === undefined) await measure();
else reportLine(task === "bare" ? bare(where) : validated(task, where));

type Reported = { readonly ms: number; readonly rssMb: number };

async function measure(): Promise<void> {
  await withFolder(async (folder) => {
    for (const [figure, kind, write] of [
      ["validate", "run-state", runStateLine],
      ["validate_portfolio", "portfolio", portfolioLine],
    ] as const) {
      const path = join(folder, `${kind}.jsonl`);
      const bytes = writeLog(path, write);
      const pairs = Array.from({ length: rounds }, () => ({
        bare: ask("bare", path),
        ours: ask(kind, path),
      }));
      const alone = median(pairs.map(({ bare }) => bare.ms));
      report(
        `${figure}_lines`,
        median(pairs.map(({ bare, ours }) => ours.ms / bare.ms)),
        `${lines.toLocaleString("en")} lines, ${Math.round(bytes / 1_000_000)} MB; reading and parsing them alone takes ${Math.round(alone)} ms`,
      );

      report(`${figure}_memory`, Math.max(...pairs.map(({ ours }) => ours.rssMb)));
    }
  });
}

function ask(what: string, path: string): Reported {
  const { stdout, stderr, status } = spawnSync(process.execPath, [self, what, path], {
    env: plainEnv,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${what}: ${stderr.slice(-300)}`);
  return JSON.parse(stdout) as Reported;
}

function spentMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function reportLine(ms: number): void {
  process.stdout.write(
    JSON.stringify({ ms, rssMb: process.resourceUsage().maxRSS / 1024 } satisfies Reported),
  );
}

function writeLog(path: string, line: (n: number) => object): number {
  const fd = openSync(path, "w");
  let bytes = 0;

  for (let n = 0; n < lines;) {
    let text = "";
    for (const end = Math.min(n + 2_000, lines); n < end; n++) {
      text += `${JSON.stringify(line(n))}\n`;
    }

    bytes += writeSync(fd, text);
  }

  closeSync(fd);
  return bytes;
}

/**
 * As a run writes them, a dozen in a second; every twentieth has an escape in it, every fiftieth a
 * letter beyond ASCII.
 */
function runStateLine(n: number): object {
  const ts = new Date(1_780_000_000_000 + n * 83).toISOString().replace(/\.\d+/, "");
  if (n === 0) {
    return {
      event: "_index",
      ts,
      schema_version: "1.5.6",
      event_types: runEventNames,
      benchmark: "chi",
      lever_state: "baseline",
      started_at: ts,
    };
  }

  if (n === 1) {
    return {
      event: "run_start",
      ts,
      runner: "claude",
      playbook_version: "1.5.6",
      target_path: ".",
    };
  }

  if (n === 2) return { event: "phase_start", ts, phase: 1 };
  const reason =
    n % 20 === 0
      ? 'the heading "### BUG-1" is there'
      : n % 50 === 1
        ? "geprüft – alles da"
        : "the heading is there";

  switch (n % 5) {
    case 0:
      return { event: "gate_check", ts, gate_name: "bugs_heading", verdict: "pass", reason };
    case 1:
      return {
        event: "artifact_written",
        ts,
        relative_path: `quality/writeups/BUG-${n}.md`,
        byte_size: n,
        line_count: 40,
        note: reason,
      };
    case 2:
      return {
        event: "pattern_walked",
        ts,
        phase: 1,
        pattern: (n % 7) + 1,
        findings_count: n % 9,
        duration_seconds: 12.5,
      };
    case 3:
      return { event: "error", ts, phase: 1, message: reason, recoverable: true };
    default:
      return {
        event: "finding_logged",
        ts,
        phase: 1,
        finding_id: `BUG-${n}`,
        category: "code-bug",
      };
  }
}

function portfolioLine(n: number): object {
  return {
    ts: new Date(1_780_000_000_000 + n * 83).toISOString(),
    event_type: "task_status_changed",
    project_id: `proj-${n % 50}`,
    task_id: `task-work-${n}`,
    block_id: null,
    from_status: "ready",
    to_status: "running",
    actor: "planner",
    summary: "dispatched",
    evidence: [`runs/${n}.log`],
    meta: { slot: n % 8 },
  };
}

function validated(kind: string, path: string): number {
  const began = spentMs();
  const violations = openViolations();
  const rules =
    kind === "portfolio" ? openPortfolioEventRules(violations) : openQualityLogRules(violations);
  const fd = openSync(path, "r");
  const read = readLines(fd, rules);
  closeSync(fd);
  const ms = spentMs() - began;

  if (violations.countErrors() > 0 || read.lineCount !== lines) {
    throw new Error(`not as written: ${JSON.stringify(violations.list()[0] ?? read)}`);
  }

  return ms;
}

function bare(path: string): number {
  const began = spentMs();
  parseLines(path);
  return spentMs() - began;
}

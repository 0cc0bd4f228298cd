// seed-reader: a reader of `run_state.jsonl` and PROGRESS.md that knows the published format and
// nothing of this product. Written from the format's own tables: required fields with their types,
// enums, the seven invariants, the rule of run_end. It imports nothing of ours.

type Line = Readonly<Record<string, unknown>>;
type Test = (value: unknown) => boolean;

const text: Test = (value) => typeof value === "string";
const whole: Test = (value) => Number.isInteger(value);
const number: Test = (value) => typeof value === "number";
const flag: Test = (value) => typeof value === "boolean";
const texts: Test = (value) => Array.isArray(value) && value.every(text);
const object: Test = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const time: Test = (value) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
const oneOf =
  (...values: readonly unknown[]): Test =>
  (value) =>
    values.includes(value);
const phase = oneOf(1, 2, 3, 4, 5, 6);

/** By event: its required fields, then its optional ones. */
const tables: Readonly<
  Record<string, readonly [Readonly<Record<string, Test>>, Readonly<Record<string, Test>>]>
> = {
  _index: [
    {
      schema_version: text,
      event_types: texts,
      benchmark: text,
      lever_state: text,
      started_at: time,
    },
    {},
  ],
  run_start: [{ runner: text, playbook_version: text, target_path: text }, {}],
  phase_start: [{ phase }, {}],
  pattern_walked: [
    { phase: oneOf(1), pattern: oneOf(1, 2, 3, 4, 5, 6, 7), findings_count: whole },
    { duration_seconds: number },
  ],
  pass_started: [{ phase: oneOf(4), pass: oneOf("A", "B", "C", "D") }, {}],
  pass_ended: [{ phase: oneOf(4), pass: oneOf("A", "B", "C", "D") }, { output_artifact: text }],
  finding_logged: [{ phase, finding_id: text, category: text }, {}],
  artifact_written: [{ relative_path: text }, { byte_size: whole, line_count: whole }],
  gate_check: [
    { gate_name: text, verdict: oneOf("pass", "fail", "warn", "skip") },
    { reason: text },
  ],
  phase_end: [
    { phase, key_counts: object, artifacts_produced: texts },
    { duration_seconds: number },
  ],
  error: [{ message: text, recoverable: flag }, { phase }],
  documentation_state: [{ state: text, reason: text }, {}],
  aborted_missing_docs: [{ reason: text }, {}],
  run_end: [
    { status: oneOf("success", "aborted", "failed") },
    { total_findings: whole, final_verdict: text },
  ],
};
const counts: Readonly<Record<number, readonly string[]>> = {
  1: ["findings_total", "patterns_walked"],
  2: ["findings_promoted", "findings_dropped"],
  3: ["bugs_identified", "bug_writeups"],
  4: ["req_count", "uc_count", "passes_complete"],
  5: ["gate_checks_total", "gate_failures"],
  6: ["bugs_md_count", "gate_verdict"],
};

/**
 * Everything that is wrong with a log, as the published rules have it; the count of BUGS.md is
 * handed in for the rule of run_end.
 */
export function faultsIn(log: string, bugs: number | null = null): readonly string[] {
  const faults: string[] = [];
  const lines = log.split("\n").filter((line) => line.trim() !== "");

  const events = lines.map((line, n): Line => {
    try {
      const value: unknown = JSON.parse(line);
      if (object(value)) return value as Line;
    } catch {
      // told below
    }

    faults.push(`2: line ${n + 1} is no JSON object`);
    return {};
  });
  const [first, second] = events;
  if (first?.["event"] !== "_index") faults.push("1: _index is not line 1");
  const types = Array.isArray(first?.["event_types"]) ? (first["event_types"] as unknown[]) : [];

  for (const [n, event] of events.entries()) {
    const name = String(event["event"]);
    if (!time(event["ts"]) || !text(event["event"])) {
      faults.push(`3: line ${n + 1} lacks ts or event`);
    }

    if (!types.includes(name)) faults.push(`4: ${name} is not in _index.event_types`);
    const [required, optional] = tables[name] ?? [{}, {}];
    if (tables[name] === undefined) faults.push(`unknown event ${name}`);
    for (const [field, test] of Object.entries(required)) {
      if (!test(event[field])) faults.push(`${name}.${field}: ${JSON.stringify(event[field])}`);
    }

    for (const [field, test] of Object.entries(optional)) {
      if (event[field] !== undefined && !test(event[field])) {
        faults.push(`${name}.${field}: ${JSON.stringify(event[field])}`);
      }
    }

    if (name === "phase_end") {
      for (const field of counts[event["phase"] as number] ?? []) {
        if ((event["key_counts"] as Line)[field] === undefined) {
          faults.push(`phase_end ${String(event["phase"])} lacks ${field}`);
        }
      }
    }
  }

  for (const marker of ["phase_start", "phase_end"]) {
    const of = events
      .filter(({ event }) => event === marker)
      .map((event) => event["phase"] as number);
    if (new Set(of).size !== of.length) faults.push(`6: ${marker} twice: ${of.join(", ")}`);
    if (of.some((one, n) => n > 0 && one < (of[n - 1] ?? 0))) {
      faults.push(`6: ${marker} out of order: ${of.join(", ")}`);
    }
  }

  if (second?.["event"] !== "run_start") faults.push("7: run_start is not line 2");
  const end = events.findIndex(({ event }) => event === "run_end");
  if (end !== -1 && end !== events.length - 1) faults.push("7: run_end is not the last line");
  if (end !== -1 && events[end]?.["status"] === "success") {
    const ended = events.filter(({ event }) => event === "phase_end");
    if (ended.length !== 6) faults.push(`run_end: ${ended.length} of 6 phase_end`);
    const last = ended.find((event) => event["phase"] === 6)?.["key_counts"] as Line | undefined;
    if (bugs !== null && last?.["bugs_md_count"] !== bugs) {
      faults.push(`run_end: BUGS.md has ${bugs}, the log says ${String(last?.["bugs_md_count"])}`);
    }
  }

  return faults;
}

/**
 * The phase that a session would take up: the last one started and not ended; null if there is
 * none.
 */
export function inProgress(log: string): number | null {
  const events = log
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Line);
  const ended = new Set(
    events.filter(({ event }) => event === "phase_end").map((event) => event["phase"]),
  );
  const open = events
    .filter((event) => event["event"] === "phase_start" && !ended.has(event["phase"]))
    .map((event) => event["phase"] as number);

  return open.at(-1) ?? null;
}

/** What of PROGRESS.md's four required sections is missing or out of form. */
export function faultsInProgress(page: string): readonly string[] {
  const lines = page.split("\n");
  const faults: string[] = [];
  const want = (holds: boolean, what: string): void => void (holds || faults.push(what));
  want(lines[0] === "# QPB Run Progress", "the title");
  want(
    /^\*\*Started:\*\* \S+Z \*\*Benchmark:\*\* .+ \*\*Lever:\*\* .+$/.test(lines[2] ?? ""),
    "the first line of the header",
  );

  want(
    /^\*\*Runner:\*\* .+ \*\*Playbook version:\*\* .+$/.test(lines[3] ?? ""),
    "the second line of the header",
  );

  const sections = lines.filter((line) => line.startsWith("## ")).slice(0, 3);
  want(
    sections.join("|") === "## Phases|## Recent events (last 10)|## Artifacts produced",
    `the sections: ${sections.join("|")}`,
  );

  const phases = lines.filter((line) => /^- \[[x ]\] Phase [1-6] — /.test(line));
  want(phases.length === 6, `the checklist: ${phases.length} of 6`);

  for (const line of phases) {
    want(
      /^- \[x\] Phase \d — [A-Za-z ]+ \(.+\)$|^- \[ \] Phase \d — [A-Za-z ]+( \*\(in progress, started \d\d:\d\d:\d\dZ\)\*)?$/.test(
        line,
      ),
      line,
    );
  }

  const recent = lines
    .slice(lines.indexOf("## Recent events (last 10)") + 2)
    .filter((line) => /^- \S+Z — /.test(line));
  want(recent.length > 0 && recent.length <= 10, `${recent.length} recent events`);
  want(
    recent.every((line, n) => n === 0 || (recent[n - 1] ?? "").slice(2, 26) >= line.slice(2, 26)),
    "recent events, newest first",
  );

  return faults;
}

// parse-staged-current: parses the section Current Step of a staged state file.
// Invariants R1 and on: playbooks/staged/views/parse-staged-state.ts.

import { CurrentStep, stagedStatuses } from "../../../contracts/staged-state.ts";
import { stagedSteps } from "./staged-steps.ts";
import { shown } from "../../../kit/finding.ts";
import { findIssues } from "../../../kit/located-issues.ts";
import {
  type Field,
  isEmptyMark,
  type KeepLines,
  parseField,
  type Report,
  type Section,
} from "./staged-state-lines.ts";

const fieldNames: readonly string[] = ["flow", "step", "name", "status", "sub_step", "retry_count"];

/** The fields of the section, and how an invalid one is refused. */
type CurrentFields = {
  readonly has: (name: string) => boolean;
  /** Empty if there is no such field. */
  readonly valueOf: (name: string) => string;
  readonly refuseField: (name: string, expected: string) => null;
};

/** Null if the project's step is not clear, which is reported. R2 */
export function parseCurrent(
  section: Section | null,
  report: Report,
  keep: KeepLines,
): CurrentStep | null {
  if (section === null) return null;
  const fields = openFields(section, report, keep);

  const step = parseStep(fields);
  const status = parseStatus(fields);
  const flow = parseFlow(fields);
  const retryCount = parseRetryCount(fields);
  if (!fields.has("retry_count")) {
    report("warning", section.line, "current_retry_count", "found no retry_count, read as 0");
  }

  const stepsMax = findStepsMax(flow);
  if (typeof step === "number" && stepsMax !== null && (step < 1 || step > stepsMax)) {
    return fields.refuseField("step", `1 to ${stepsMax} or done`);
  }

  if (step === null || status === null || flow === null || retryCount === null) return null;
  const subStep = fields.valueOf("sub_step");
  const { value, issues } = findIssues(CurrentStep, {
    flow,
    step,
    name: fields.valueOf("name"),
    status,
    sub_step: isEmptyMark(subStep) ? null : subStep,
    retry_count: retryCount,
  });
  return issues.length === 0 ? value : fields.refuseField("step", "a step of the flow");
}

/** The first field of each name counts; every other line is kept. */
function openFields(section: Section, report: Report, keep: KeepLines): CurrentFields {
  const fields = new Map<string, Field>();
  const remainingLines = section.lines.filter((line) => {
    const field = parseField(line);
    if (field === null || !fieldNames.includes(field.name) || fields.has(field.name)) {
      return line.text.trim() !== "";
    }

    fields.set(field.name, field);
    return false;
  });
  keep(remainingLines); // R3

  return {
    has: (name) => fields.has(name),
    valueOf: (name) => fields.get(name)?.value ?? "",
    refuseField: (name, expected) => {
      const field = fields.get(name);
      const actual = field === undefined ? "nothing" : shown(field.value);
      const message = `found ${actual} as ${name}, expected ${expected}`;
      report("error", field?.line ?? section.line, `current_${name}`, message);
      return null;
    },
  };
}

function parseStep({ valueOf, refuseField }: CurrentFields): number | "done" | null {
  const text = valueOf("step");
  if (/^done$/i.test(text)) return "done";
  return /^\d{1,2}$/.test(text) ? Number(text) : refuseField("step", "a number or done");
}

/** Also as `In Progress`. */
function parseStatus({ valueOf, refuseField }: CurrentFields): CurrentStep["status"] | null {
  const name = valueOf("status").toLowerCase().replaceAll(" ", "_");
  const status = stagedStatuses.find((candidate) => candidate === name);
  return status ?? refuseField("status", stagedStatuses.join(", "));
}

function parseFlow({ valueOf, refuseField }: CurrentFields): string | null {
  const name = valueOf("flow");
  const isFlowName = /^[a-z][a-z0-9_-]{0,63}$/.test(name);
  return isFlowName ? name : refuseField("flow", Object.keys(stagedSteps).join(" or "));
}

function parseRetryCount({ has, valueOf, refuseField }: CurrentFields): number | null {
  if (!has("retry_count")) return 0;
  const text = valueOf("retry_count");
  return /^[0-3]$/.test(text) ? Number(text) : refuseField("retry_count", "0 to 3");
}

/** Null for a flow that is not one of the known ones. */
const findStepsMax = (flow: string | null): number | null =>
  flow !== null && Object.hasOwn(stagedSteps, flow) ? (stagedSteps[flow]?.length ?? null) : null;

// lint-subject: the input of every lint rule, and how a rule reports findings.

import type { Flow } from "../contracts/flow.ts";
import type { DataPath, Finding } from "../kit/finding.ts";
import type { Positions } from "../kit/located.ts";
import type { SaysKind } from "./returns.ts";

/** The names a flow may use for code: passed in, because this layer knows none of it. */
export type LintRegistry = {
  readonly run: readonly string[];
  readonly proof: readonly string[];
  /** `from`: the task readers that need a file. */
  readonly readers: {
    readonly phases: readonly string[];
    readonly tasks: readonly string[];
    readonly from?: readonly string[];
  };
  readonly schemas: readonly string[];
  readonly checks: readonly string[];
  /** The playbooks a flow may name; left out, any name is accepted. */
  readonly playbooks?: readonly string[];
  /** Flows that may be called as children; left out, any name is accepted. */
  readonly flows?: CalledFlows;
  /** Per `run` function its effect; if given, every function must be listed. */
  readonly effectsByFunction?: Readonly<Record<string, string>>;
  /** Per `run` function the facts it returns; if one is listed, rows may name only these. */
  readonly factsByFunction?: Readonly<Record<string, readonly string[]>>;
  /** Per return schema the fields that become facts, from `listFactFields`. */
  readonly factFieldsBySchema?: Readonly<Record<string, Readonly<Record<string, SaysKind>>>>;
  /** The functions that land work; default `land`. */
  readonly landFunctions?: readonly string[];
};

/** Flows by their names; null if one cannot be read. */
export type CalledFlows = Readonly<Record<string, Flow | null>>;

export type LintSubject = {
  readonly flow: Flow;
  readonly positions: Positions;
  readonly prompts: Readonly<Record<string, string>>;
  /** The names of all files in the prompts folder, if known. */
  readonly promptFiles?: readonly string[];
  readonly registry: LintRegistry;
};

/** Reports a finding at a path in the flow's data; its line is looked up. */
export type ReportFinding = (
  path: DataPath,
  rule: string,
  message: string,
  severity?: Finding["severity"],
) => void;
export type Lint = LintSubject & {
  readonly reportAt: ReportFinding;
  readonly report: (finding: Finding) => void;
};

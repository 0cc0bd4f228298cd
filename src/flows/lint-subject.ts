// lint-subject: what every rule of lint looks at, and how it tells what it found.

import type { Flow } from "../contracts/flow.ts";
import type { DataPath, Finding } from "../kit/finding.ts";
import type { Positions } from "../kit/located.ts";
import type { SaysKind } from "./returns.ts";

/** The names a flow may use for what is code: handed in, for the flow's own room knows none of it. */
export type Registry = {
  readonly run: readonly string[];
  readonly proof: readonly string[];
  /** `from`: the readers of tasks that want a file named beside them. */
  readonly readers: { readonly phases: readonly string[]; readonly tasks: readonly string[]; readonly from?: readonly string[] };
  readonly schemas: readonly string[];
  readonly checks: readonly string[];
  /** The playbooks a flow may name; left out, any name will do. */
  readonly playbooks?: readonly string[];
  /** Flows that may be called as children; left out, any name will do. */
  readonly flows?: CalledFlows;
  /** Per `run` function what it does to the world; if this is given, every function must say it. */
  readonly effects?: Readonly<Record<string, string>>;
  /** Per `run` function the facts it makes; if one is listed, rows may name only these. */
  readonly facts?: Readonly<Record<string, readonly string[]>>;
  /** Per return schema the fields that become facts, as `saysFieldsOf` tells them. */
  readonly says?: Readonly<Record<string, Readonly<Record<string, SaysKind>>>>;
  /** The functions that land work; `land` unless told. */
  readonly lands?: readonly string[];
};

/** Flows by their names; null if one cannot be read. */
export type CalledFlows = Readonly<Record<string, Flow | null>>;

export type LintSubject = {
  readonly flow: Flow;
  readonly positions: Positions;
  readonly prompts: Readonly<Record<string, string>>;
  /** The names of all files that are in the prompts' folder, if they are known. */
  readonly promptFiles?: readonly string[];
  readonly registry: Registry;
};

export type Say = (path: DataPath, rule: string, message: string, severity?: Finding["severity"]) => void;
export type Lint = LintSubject & { readonly say: Say; readonly report: (finding: Finding) => void };

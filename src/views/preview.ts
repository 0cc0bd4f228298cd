// preview: describes what a run would do before it does anything: the dry run that must be
// acknowledged. As data for programs and for the hash that is acknowledged, and as a page for
// people.

import type { Budget } from "../contracts/budget.ts";
import { dimensions } from "../contracts/budget.ts";
import type { Base, Cast, IsolationInForce } from "../contracts/event.ts";
import type { Check } from "../contracts/evidence.ts";
import { type Flow, stepKind, type Phase, type Scalar, type Step } from "../contracts/flow.ts";
import type { Objective } from "../contracts/objective.ts";
import { type FlowProof, buildFlowProof } from "./flow-proof.ts";
import { hasOnlyGoal } from "./criteria-status.ts";
import { labelRows } from "./align-columns.ts";
import {
  formatAmount,
  formatNumber,
  firstFew,
  formatMoney,
  oneLine,
  plural,
  describeSandbox,
} from "./wording.ts";

export type Range = { readonly p50: number; readonly p90: number };
export type Estimate = {
  readonly tokens: Range | null;
  readonly minutes: Range | null;
  readonly usd: Range | null;
  readonly basis: string;
};

/** Something that checks need and this machine doesn't have. */
export type MissingTool = {
  readonly name: string;
  readonly needed_by: readonly string[];
  readonly install: string;
};
/** A variable that checks get, and who says so. */
export type CheckVariable = {
  readonly name: string;
  readonly value: string;
  readonly from: "config" | "shell";
};

/** Everything the preview shows, collected by the caller. */
export type PreviewInput = {
  readonly objective: Objective;
  readonly inferredDefaults: readonly string[];
  readonly flow: Flow;
  readonly options: Readonly<Record<string, Scalar>>;
  readonly cast: Readonly<Record<string, Cast>>;
  readonly commands?: Readonly<Record<string, string>>;
  /** How many files of the base tree the scope matches; null if that was not counted. */
  readonly scopeFiles: number | null;
  readonly checks: readonly Check[];
  readonly checkEnv?: readonly CheckVariable[];
  readonly missing?: readonly MissingTool[];
  readonly budget: Budget;
  readonly limits: {
    readonly run: Readonly<Record<string, number>>;
    readonly phase: Readonly<Record<string, number>>;
  };
  readonly isolation: IsolationInForce;
  readonly estimate: Estimate;
  readonly base: Base;
  /** Requirements from the project's documents, one per line, if the flow follows documents. */
  readonly wanted?: readonly string[];
};

export type PlannedStep = {
  readonly id: string;
  readonly kind: string;
  readonly role: string | null;
};
export type PlannedPhase = {
  readonly id: string;
  readonly name: string;
  readonly group: "before" | "phases" | "after";
  readonly steps: readonly PlannedStep[];
};

export type PreviewView = {
  readonly objective: Objective;
  readonly inferred_defaults: readonly string[];
  readonly flow: {
    readonly name: string;
    readonly version: number;
    readonly about: string;
    readonly options: Readonly<Record<string, Scalar>>;
    readonly proof: FlowProof;
  };
  readonly phases: readonly PlannedPhase[];
  readonly roles: Readonly<Record<string, string>>;
  /**
   * The command lines of agents, by the agent's name. They come from a config, which may be the
   * repository's, so they are shown.
   */
  readonly commands: Readonly<Record<string, string>>;
  readonly scope: { readonly patterns: readonly string[]; readonly files: number | null };
  readonly checks: readonly {
    readonly id: string;
    readonly kind: Check["kind"];
    readonly title: string;
    readonly command: string;
    readonly source: string;
  }[];
  readonly check_env: readonly CheckVariable[];
  readonly missing_tools: readonly MissingTool[];
  readonly budget: Budget;
  readonly limits: PreviewInput["limits"];
  readonly isolation: IsolationInForce;
  readonly estimate: Estimate;
  readonly base: Base;
  readonly wanted?: readonly string[];
};

export function buildPreview(input: PreviewInput): PreviewView {
  const { flow } = input;
  return {
    objective: input.objective,
    inferred_defaults: input.inferredDefaults,
    flow: {
      name: flow.flow,
      version: flow.version,
      about: flow.about ?? "",
      options: input.options,
      proof: buildFlowProof(flow),
    },
    phases: listPlannedPhases(flow),
    roles: Object.fromEntries(
      Object.entries(input.cast).map(([role, { agent, instead = [] }]) => [
        role,
        [agent, ...instead.map((fallback) => fallback.agent)].join(", then "),
      ]),
    ),
    commands: input.commands ?? {},
    scope: { patterns: input.objective.scope, files: input.scopeFiles },
    checks: input.checks.map(({ id, kind, title, command, source }) => ({
      id,
      kind,
      title,
      command,
      source,
    })),
    check_env: input.checkEnv ?? [],
    missing_tools: input.missing ?? [],
    budget: input.budget,
    limits: input.limits,
    isolation: input.isolation,
    estimate: input.estimate,
    base: input.base,
    ...(input.wanted === undefined ? {} : { wanted: input.wanted }),
  };
}

function listPlannedPhases(flow: Flow): readonly PlannedPhase[] {
  const planned = (
    group: PlannedPhase["group"],
    phases: readonly Phase[] | undefined,
  ): readonly PlannedPhase[] =>
    (phases ?? []).map(({ id, name, steps }) => ({
      id,
      name: name ?? id,
      group,
      steps: steps.map(toPlannedStep),
    }));
  const middle: readonly PlannedPhase[] = Array.isArray(flow.phases)
    ? planned("phases", flow.phases)
    : [
        {
          id: "*",
          name: `each phase of the ${flow.phases.read}`,
          group: "phases",
          steps: (flow.steps ?? []).map(toPlannedStep),
        },
      ];
  return [...planned("before", flow.before), ...middle, ...planned("after", flow.after)];
}

const toPlannedStep = (step: Step): PlannedStep => ({
  id: step.id,
  kind: stepKind(step),
  role: step.agent ?? null,
});

const listedMax = 12;
const commandCharsMax = 2000;
const labelColumns = 11;

/** The preview as a person reads it; `ack` is the name under which it is acknowledged. */
export function previewPage(
  view: PreviewView,
  ack: string,
  warnings: readonly string[] = [],
): readonly string[] {
  const { objective, scope, base } = view;
  const sandbox = describeSandbox(view.isolation);
  return [
    "Preview: nothing has run",
    ...row("Goal", [oneLine(objective.goal)]),
    ...row("Done when", doneLines(view)),
    ...row("Checks", checkLines(view)),
    ...row("May edit", [
      `${firstFew(scope.patterns)}${scope.files === null ? "" : ` (${plural(scope.files, "file")} now)`}`,
    ]),
    ...row("Agent", [
      `${describeAgents(view)}, ${sandbox === "none" ? "no sandbox" : `sandbox: ${sandbox}`}`,
    ]),
    ...Object.entries(view.commands).flatMap(([agent, command]) =>
      row("Command", [`${oneLine(agent)}: ${oneLine(command, commandCharsMax)}`]),
    ),
    ...row("Limits", [
      dimensions
        .flatMap((dimension) => describeLimit(dimension, view.limits.run[dimension]))
        .join(", "),
      `estimate: ${describeEstimate(view.estimate)}`,
    ]),
    ...row("Base", [
      `${base.commit.slice(0, 10)}${base.branch === null ? "" : ` on ${oneLine(base.branch)}`}`,
    ]),
    ...row("Defaults", describeDefaults(view)),
    ...environmentLines(view.check_env, "config"),
    ...warnings.map((warning) => `  ! ${warning}`),
    ...(view.wanted === undefined || view.wanted.length === 0
      ? []
      : ["", "Wanted", ...view.wanted.map((line) => `  ○ ${line}`)]),
    "",
    "→ autopilot go --yes",
    `→ autopilot ack ${ack.slice(0, 12)} (confirms it for a later autopilot go)`,
  ];
}

/** What -v adds: each step, its rules, and what the sandbox enforces. */
export function previewDetails(view: PreviewView): readonly string[] {
  const { objective } = view;
  return [
    "",
    "Details",
    ...row("Flow", [
      `${view.flow.name}${view.flow.about === "" ? "" : `: ${oneLine(view.flow.about)}`}`,
    ]),
    ...row("Ends", [describeEndCondition(view)]),
    ...row("Policy", [
      `risk ${objective.risk_level}, hand-off ${objective.handoff_mode}, approval ${objective.approval_policy}`,
    ]),
    ...row("Sandbox", [
      `${view.isolation.mechanism}; it blocks: ${view.isolation.enforced.map((action) => oneLine(action)).join(", ") || "nothing"}`,
    ]),
    ...environmentLines(view.check_env, "shell"),
    "",
    "Steps",
    ...view.phases.map(({ name, steps }) => {
      const stepNames = steps.map(({ id, role }) => (role === null ? id : `${id} (${role})`));
      return `  ○ ${oneLine(name)}: ${stepNames.join(", ")}`;
    }),
  ];
}

/** Defaulted fields and their values, in a few words; what other rows show is left out. */
function describeDefaults({ inferred_defaults, objective }: PreviewView): readonly string[] {
  const fieldTexts: Readonly<Record<string, string>> = {
    "risk-level": `risk ${objective.risk_level}`,
    "handoff-mode":
      objective.handoff_mode === "manual"
        ? "asks you when unsure"
        : "asks a reviewing agent when unsure",
    "approval-policy":
      objective.approval_policy === "none"
        ? "no approvals"
        : `approval ${objective.approval_policy}`,
  };
  const texts = inferred_defaults.flatMap((field) => fieldTexts[field] ?? []);
  return texts.length === 0 ? [] : [texts.join(", ")];
}
const row = (name: string, lines: readonly string[]): readonly string[] =>
  labelRows(labelColumns, name, lines);

/** `claude` if one agent has every role, else `claude as executor, codex as judge`. */
function describeAgents({ roles }: PreviewView): string {
  const names = new Set(Object.values(roles));
  return names.size === 1
    ? oneLine([...names][0] ?? "")
    : firstFew(Object.entries(roles).map(([role, agent]) => `${agent} as ${role}`));
}

/** The project's own checks, and those of the flow. The user's criteria are in the rows above. */
function checkLines({ checks, wanted, flow: { proof } }: PreviewView): readonly string[] {
  const commandLines = [
    ...checks
      .filter(({ kind }) => kind !== "criterion")
      .map(({ command, kind, source }) => {
        const kindText = kind === "project" ? "" : `${kind.replace("_", "-")}, `;
        return `${oneLine(command)} (${kindText}${oneLine(source)})`;
      }),
    ...proof.commands.map((command) => `${oneLine(command)} (flow)`),
  ];

  const gates =
    wanted !== undefined || proof.gates === 0
      ? []
      : [`what ${plural(proof.gates, "step")} must leave behind (flow)`];

  if (commandLines.length > 0) {
    return [...commandLines.slice(0, listedMax), ...moreLine(commandLines.length), ...gates];
  }

  if (wanted !== undefined) {
    return ["what each phase must show; the project itself has none that was found"];
  }

  if (gates.length > 0) return gates;
  return checks.length > 0 ? [] : ["! none found, so the result can't be verified"];
}

/** Variables set for checks beyond the default ones, with their origin. */
function environmentLines(
  variables: readonly CheckVariable[],
  from: CheckVariable["from"],
): readonly string[] {
  const assignments = variables
    .filter((variable) => variable.from === from)
    .map(({ name, value }) => `${name}=${oneLine(value)}`);
  if (assignments.length === 0) return [];
  return row("Checks get", [
    `${assignments.join(", ")} (${from === "config" ? "config checks.env" : "from your shell"})`,
  ]);
}

export const describeMissingTool = ({ name, needed_by, install }: MissingTool): string =>
  `${name}, which ${firstFew(needed_by)} ${needed_by.length === 1 ? "needs" : "need"}; get it with: ${install}`;

/**
 * The done criteria. A goal that stands in for them is left out if documents or gates say what is
 * wanted.
 */
function doneLines({ objective, wanted, flow }: PreviewView): readonly string[] {
  const { done_criteria } = objective;
  if ((wanted !== undefined || !flow.proof.isByCriteria) && hasOnlyGoal(objective)) return [];
  return [
    ...done_criteria
      .slice(0, listedMax)
      .map(
        ({ text, check }) =>
          `${oneLine(text)}${check === null ? " (no check, can't be proved)" : ` :: ${oneLine(check)}`}`,
      ),
    ...moreLine(done_criteria.length),
  ];
}

const moreLine = (count: number): readonly string[] =>
  count > listedMax ? [`… ${formatNumber(count - listedMax)} more`] : [];
const describeLimit = (dimension: string, limit: number | undefined): readonly string[] =>
  limit === undefined ? [] : [formatAmount(dimension, limit)];

function describeEndCondition({ wanted, flow, objective }: PreviewView): string {
  if (wanted !== undefined) return "when every phase is done and the runner's own checks hold";
  return flow.proof.isPromised
    ? describeObjectiveEnd(objective)
    : "when every phase is done: its gates and checks hold";
}

function describeObjectiveEnd({ completion_mode, completion_promise }: Objective): string {
  if (completion_mode === "objective") {
    return "when every criterion's cycle is done and its check holds";
  }

  return `when the agent says <promise>${oneLine(completion_promise)}</promise> and every check holds`;
}

function describeEstimate({ tokens, minutes, usd, basis }: Estimate): string {
  const range = (value: Range | null, format: (amount: number) => string): readonly string[] => {
    if (value === null) return [];
    return [
      value.p50 === value.p90 ? format(value.p50) : `${format(value.p50)} to ${format(value.p90)}`,
    ];
  };
  const parts = [
    ...range(tokens, (value) => formatAmount("tokens", value)),
    ...range(minutes, (value) => formatAmount("minutes", value)),
    ...range(usd, formatMoney),
  ];

  return `${parts.length === 0 ? "none yet" : parts.join(", ")} (${oneLine(basis)})`;
}

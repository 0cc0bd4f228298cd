// budget: shows a run's limits and usage, and raises the limits of an open run.

import type { CommandResponse } from "../contracts/command-response.ts";
import { type Dimension, dimensions } from "../contracts/budget.ts";
import { findLimit } from "../core/budget.ts";
import type { RunView } from "../core/state.ts";
import { buildBudgetView, budgetPage } from "../views/budget-view.ts";
import { readQuantity } from "../kit/quantity.ts";
import { sendToRun, refuseLate } from "../runner/send-to-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { requireStatus, loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";

/** Shows the limits of a run and what it has used of them. */
export function budget(
  context: CommandContext,
  input: { readonly run?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const { run, view } = await loadRun(context, input.run);
    const budgetFields = buildBudgetView(view);
    return respond("ok", {
      run_id: run,
      state: view.status,
      message: `Budget of ${run}.`,
      page: budgetPage(view),
      data: { budget: budgetFields },
    });
  });
}

type RaiseInput = {
  readonly run?: string | undefined;
  readonly limits: readonly string[];
  readonly reason?: string | undefined;
};

type Raise = { readonly scope: "run" | "phase"; readonly dimension: string; readonly to: number };

/**
 * Raises limits of an open run: `tokens=+100k` adds, `tokens=300k` sets, `phase.tokens=…` is what
 * one phase may use. Lowering is refused.
 */
export function raiseLimits(context: CommandContext, input: RaiseInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    requireStatus(loaded, "budget raise", "running", "paused");
    const words = input.limits.flatMap((limit) => limit.split(","));
    const raises = words.map((word) => parseRaise(loaded, word));
    if (raises.length === 0) {
      refuse("objective_schema_invalid", {
        message: "Say which limit, for instance tokens=+100k.",
      });
    }

    let { view } = loaded;
    for (const raise of raises) {
      view = await raiseLimit(context, { ...loaded, view }, raise, input.reason);
    }

    const text = raises.map(describeRaise).join(", ");
    return respond("limit_raised", {
      run_id: loaded.run,
      state: view.status,
      message: `Raised ${text}.`,
      page: [`Raised ${text}.`, "", ...budgetPage(view)],
      remediation: view.status === "paused" ? ["autopilot resume"] : [],
      data: { budget: buildBudgetView(view) },
    });
  });
}

/** Returns the run with the limit raised; refuses if it was raised further meanwhile. */
async function raiseLimit(
  context: CommandContext,
  loaded: LoadedRun,
  { scope, dimension, to }: Raise,
  reason: string | undefined,
): Promise<RunView> {
  const detail = reason === undefined ? {} : { detail: reason };
  const { view, outcome } = await sendToRun(
    context,
    loaded,
    { event: "limit_raised", scope, dimension, to, ...detail },
    (run) => (run.limits[scope][dimension] ?? 0) >= to,
  );

  if (outcome === "late") {
    const limit = view.limits[scope][dimension] ?? 0;
    refuseLate(
      loaded,
      view,
      `${dimension} was raised to ${limit} from somewhere else meanwhile; ${to} would not raise it.`,
    );
  }

  return view;
}

const describeRaise = ({ scope, dimension, to }: Raise): string =>
  `${dimension}${scope === "phase" ? " of a phase" : ""} to ${to}`;

const phasePrefix = "phase.";

/**
 * Parses `tokens=+100k` or `phase.minutes=30` into the limit's new value; refuses what would not
 * raise it.
 */
function parseRaise({ view, run }: LoadedRun, word: string): Raise {
  const [name = "", amount = ""] = word.split("=", 2);
  const scope = name.startsWith(phasePrefix) ? "phase" : "run";
  const dimension = scope === "phase" ? name.slice(phasePrefix.length) : name;
  const allowedNames: readonly string[] =
    scope === "phase" ? dimensions : [...dimensions, "retries"];
  const value = readQuantity(amount.replace(/^\+/, ""));
  const runFields = { run_id: run, state: view.status };

  if (!allowedNames.includes(dimension) || value === null || value <= 0) {
    return refuse("objective_schema_invalid", {
      ...runFields,
      message: `"${word}" is not a limit: expected one of ${allowedNames.join(", ")} with a number, for instance tokens=+100k or phase.tokens=+100k.`,
    });
  }

  const current = scope === "run" ? (view.limits.run[dimension] ?? 0) : phaseLimit(view, dimension);
  if (current === null) {
    return refuse("objective_schema_invalid", {
      ...runFields,
      message: `A phase of this run may use any amount of ${dimension}: there is no such limit to raise.`,
    });
  }

  const to = amount.startsWith("+") ? current + value : value;
  if (to <= current) {
    refuse("objective_schema_invalid", {
      ...runFields,
      message: `${name} stands at ${current}; ${to} would not raise it.`,
    });
  }

  return { scope, dimension, to };
}

/** The limit of the open phase, else of any phase; null if there is none. */
function phaseLimit(view: RunView, dimension: string): number | null {
  const phase = view.phases.find(({ status }) => status === "open");
  const limit =
    phase === undefined
      ? view.limits.phase[dimension]
      : findLimit(view, "phase", phase.id, dimension as Dimension);
  return limit ?? null;
}

// build-changes: builds what a fork or a replay changes in a run, from its flags: another agent,
// model, prompt or limit.

import { shellWord } from "../../kit/shell-word.ts";
import { resolve } from "node:path";
import { dimensions } from "../../contracts/budget.ts";
import type { Cast } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import type { Forked } from "../../contracts/run-parts.ts";
import type { ReasonCode } from "../../contracts/reason.ts";
import type { RunView } from "../../core/state.ts";
import { listAllSteps } from "../../flows/step-lists.ts";
import { placeholders, findUnknownPlaceholders } from "../../flows/prompt.ts";
import { readQuantity } from "../../kit/quantity.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireSettings } from "../../project/config/settings.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { refuse } from "../../project/respond.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { assignAgent } from "../draft/assign-agent.ts";
import { sha256 } from "../../project/sha256.ts";

const promptBytesMax = 262_144;

export type ChangeFlags = {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** `FILE`, or `STEP=FILE`. */
  readonly prompt?: string | undefined;
  /** `tokens=300k`, `tokens=+100k`, `phase.tokens=…`. */
  readonly limits?: readonly string[] | undefined;
};

/** Formats the flags for a suggested command: leaving one out would do something else. */
export function formatChangeFlags({ agent, model, prompt, limits = [] }: ChangeFlags): string {
  const flags = [
    ["--agent", agent],
    ["--model", model],
    ["--prompt", prompt],
    ...limits.map((limit) => ["--limit", limit] as const),
  ] as const;
  return flags
    .flatMap(([name, value]) => (value === undefined ? [] : [` ${name} ${shellWord(value)}`]))
    .join("");
}

/** The changes as they are journaled: texts by hash, and the texts themselves as blobs. */
export type RunChanges = Pick<Forked, "cast" | "prompts" | "limits"> & {
  readonly blobs: readonly string[];
};

type RunChangesInput = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly run: RunView;
  /** The step that `--prompt FILE` applies to; null if ambiguous. */
  readonly step: string | null;
  readonly flags: ChangeFlags;
  readonly code: ReasonCode;
};

export async function buildChanges(input: RunChangesInput): Promise<RunChanges> {
  const blobs: string[] = [];
  const storeText = (text: string): string => {
    blobs.push(text);
    return sha256(text);
  };
  const cast = await buildCast(input, storeText);
  const prompts = buildPrompts(input, storeText);
  const limits = buildLimits(input);

  return {
    blobs,
    ...(cast === null ? {} : { cast }),
    ...(prompts === null ? {} : { prompts }),
    ...(limits === null ? {} : { limits }),
  };
}

/** Assigns the named agent to every role, as with `go --agent`; a model alone keeps the agents. */
async function buildCast(
  { context, paths, run, flags }: RunChangesInput,
  storeText: (text: string) => string,
): Promise<Record<string, Cast> | null> {
  const { agent, model } = flags;
  if (agent === undefined && model === undefined) return null;
  const { config } = requireSettings(context, paths);
  const storeScript = (text: string): Promise<string> => Promise.resolve(storeText(text));
  const cast: Record<string, Cast> = {};

  for (const [role, recorded] of Object.entries(run.drafted.cast)) {
    const agentCast =
      agent === undefined
        ? (structuredClone(recorded) as Cast)
        : await assignAgent({ context, config, storeScript }, role, agent);

    const override = model === undefined ? {} : { override: { ...agentCast.override, model } };
    cast[role] = { ...agentCast, ...override };
  }

  return cast;
}

function buildPrompts(
  { context, run, step, flags, code }: RunChangesInput,
  storeText: (text: string) => string,
): Record<string, string> | null {
  if (flags.prompt === undefined) return null;
  const flow = run.drafted.flow as Flow;
  const steps = listAllSteps(flow).flatMap((located) =>
    located.step.prompt === undefined ? [] : [{ id: located.step.id, prompt: located.step.prompt }],
  );
  const stepIds = [...new Set(steps.map(({ id }) => id))];

  const onlyStep = stepIds.length === 1 ? stepIds[0] : undefined;
  const [, givenStep, givenPath] = /^([a-z][a-z0-9_-]{0,63})=(.+)$/.exec(flags.prompt) ?? [];
  const promptStep = givenStep ?? step ?? onlyStep;
  const remediation = [`--prompt STEP=FILE, with one of: ${stepIds.join(", ")}`];
  if (promptStep === undefined) {
    return refuse(code, { message: "It isn't clear which step's prompt is meant.", remediation });
  }

  const promptsOfStep = steps.filter(({ id }) => id === promptStep).map(({ prompt }) => prompt);
  const prompts = [...new Set(promptsOfStep)];
  if (prompts.length === 0) {
    const suggestion = didYouMean(promptStep, stepIds);
    const message = `The flow ${flow.flow} has no step ${promptStep} with a prompt.${suggestion}`;
    return refuse(code, { message, remediation });
  }

  const text = readPrompt(context, givenPath ?? flags.prompt, code);
  return Object.fromEntries(prompts.map((prompt) => [prompt, storeText(text)]));
}

/** The text of a new prompt; refuses one that is empty or has placeholders nothing fills. */
function readPrompt(context: CommandContext, path: string, code: ReasonCode): string {
  const text = readOwnFile(resolve(context.cwd, path), promptBytesMax);
  if (text === null || text.trim() === "") {
    return refuse(code, {
      message: `${path} holds no prompt: expected a file of text of at most ${promptBytesMax / 1024} KB.`,
      remediation: ["give the path of the new prompt"],
    });
  }

  const [unknown] = findUnknownPlaceholders(text);
  if (unknown === undefined) return text;

  const { name, line, column } = unknown;
  const names = Object.keys(placeholders);
  return refuse(code, {
    message: `${path}:${line}:${column}: found the unknown placeholder {${name}}.${didYouMean(name, names)}`,
    remediation: [`expected one of ${names.join(", ")}, or {{${name}}} for the text itself`],
  });
}

const phasePrefix = "phase.";

function buildLimits({ run, flags, code }: RunChangesInput): NonNullable<Forked["limits"]> | null {
  const settings = (flags.limits ?? []).flatMap((word) => word.split(","));
  if (settings.length === 0) return null;
  const limits: { run: Record<string, number>; phase: Record<string, number> } = {
    run: {},
    phase: {},
  };

  for (const setting of settings) {
    const [name = "", amount = ""] = setting.split("=", 2);
    const scope = name.startsWith(phasePrefix) ? "phase" : "run";
    const dimension = scope === "phase" ? name.slice(phasePrefix.length) : name;
    const dimensionNames: readonly string[] =
      scope === "phase" ? dimensions : [...dimensions, "retries"];
    const value = readQuantity(amount.replace(/^\+/, ""));
    if (!dimensionNames.includes(dimension) || value === null || value <= 0) {
      refuse(code, {
        message: `"${setting}" is not a limit.`,
        remediation: [
          `expected one of ${dimensionNames.join(", ")} with a number, for instance --limit tokens=300k or --limit phase.tokens=+100k`,
        ],
      });
    }

    limits[scope][dimension] = amount.startsWith("+")
      ? (run.limits[scope][dimension] ?? 0) + (value ?? 0)
      : (value ?? 0);
  }

  return {
    ...(Object.keys(limits.run).length === 0 ? {} : { run: limits.run }),
    ...(Object.keys(limits.phase).length === 0 ? {} : { phase: limits.phase }),
  };
}

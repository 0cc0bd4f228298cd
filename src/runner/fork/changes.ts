// changes: what a fork or a replay changes, from its flags: another agent, model, prompt or limit.

import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { dimensions } from "../../contracts/budget.ts";
import type { Cast } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import type { Forked } from "../../contracts/run-parts.ts";
import type { ReasonCode } from "../../contracts/reason.ts";
import type { RunView } from "../../core/state.ts";
import { stepsEverywhere } from "../../flows/lists.ts";
import { placeholders, unknownPlaceholders } from "../../flows/prompt.ts";
import { readQuantity } from "../../kit/quantity.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { settingsOf } from "../../project/config/settings.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { refuse } from "../../project/reply.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { castFor } from "../draft/assign-agents.ts";

const promptBytesMax = 262_144;

export type GivenChanges = {
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** `FILE`, or `STEP=FILE`. */
  readonly prompt?: string | undefined;
  /** `tokens=300k`, `tokens=+100k`, `phase.tokens=…`. */
  readonly limits?: readonly string[] | undefined;
};

/** The given flags, to be repeated in a suggested command: leaving one out would do something else. */
export function changeFlags({ agent, model, prompt, limits = [] }: GivenChanges): string {
  const words = [
    ["--agent", agent],
    ["--model", model],
    ["--prompt", prompt],
    ...limits.map((limit) => ["--limit", limit] as const),
  ] as const;
  return words.flatMap(([name, value]) => (value === undefined ? [] : [` ${name} ${quoted(value)}`])).join("");
}
const quoted = (word: string): string => (/^[\w.,:=+/@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** As they are journaled, with texts by hash. */
export type Changes = Pick<Forked, "cast" | "prompts" | "limits"> & { readonly blobs: readonly string[] };

type ChangesInput = {
  readonly context: CommandContext;
  readonly paths: ProjectPaths;
  readonly run: RunView;
  /** The step that `--prompt FILE` applies to; null if ambiguous. */
  readonly step: string | null;
  readonly given: GivenChanges;
  readonly code: ReasonCode;
};

export async function readChanges(request: ChangesInput): Promise<Changes> {
  const blobs: string[] = [];
  const keep = (text: string): string => {
    blobs.push(text);
    return createHash("sha256").update(text).digest("hex");
  };
  const cast = await assignAgents(request, keep);
  const prompts = changesPrompt(request, keep);
  const limits = changesLimits(request);
  return {
    blobs,
    ...(cast === null ? {} : { cast }),
    ...(prompts === null ? {} : { prompts }),
    ...(limits === null ? {} : { limits }),
  };
}

/** Every role gets the named agent, as with `go --agent`; a model alone keeps the agents. */
async function assignAgents(
  { context, paths, run, given }: ChangesInput,
  keep: (text: string) => string,
): Promise<Record<string, Cast> | null> {
  const { agent, model } = given;
  if (agent === undefined && model === undefined) return null;
  const { config } = settingsOf(context, paths);
  const cast: Record<string, Cast> = {};
  for (const [role, was] of Object.entries(run.drafted.cast)) {
    const plays =
      agent === undefined
        ? (structuredClone(was) as Cast)
        : await castFor(context, role, agent, config, (text) => Promise.resolve(keep(text)));
    cast[role] = model === undefined ? plays : { ...plays, override: { ...plays.override, model } };
  }
  return cast;
}

function changesPrompt({ context, run, step, given, code }: ChangesInput, keep: (text: string) => string): Record<string, string> | null {
  if (given.prompt === undefined) return null;
  const flow = run.drafted.flow as Flow;
  const steps = stepsEverywhere(flow).flatMap((located) =>
    located.step.prompt === undefined ? [] : [{ id: located.step.id, prompt: located.step.prompt }],
  );
  const known = [...new Set(steps.map(({ id }) => id))];
  const [, named, path] = /^([a-z][a-z0-9_-]{0,63})=(.+)$/.exec(given.prompt) ?? [null, null, given.prompt];
  const wanted = named ?? step ?? (known.length === 1 ? known[0] : null);
  const remediation = [`--prompt STEP=FILE, with one of: ${known.join(", ")}`];
  if (wanted === null || wanted === undefined)
    return refuse(code, { message: "It isn't clear which step's prompt is meant.", remediation });
  const prompts = [...new Set(steps.filter(({ id }) => id === wanted).map(({ prompt }) => prompt))];
  if (prompts.length === 0)
    return refuse(code, { message: `The flow ${flow.flow} has no step ${wanted} with a prompt.${didYouMean(wanted, known)}`, remediation });
  const file = resolve(context.cwd, path ?? "");
  const text = readOwnFile(file, promptBytesMax);
  if (text === null || text.trim() === "")
    return refuse(code, {
      message: `${path} holds no prompt: expected a file of text of at most ${promptBytesMax / 1024} KB.`,
      remediation: ["give the path of the new prompt"],
    });
  const [unknown] = unknownPlaceholders(text);
  if (unknown !== undefined)
    refuse(code, {
      message: `${path}:${unknown.line}:${unknown.column}: found the unknown placeholder {${unknown.name}}.${didYouMean(unknown.name, Object.keys(placeholders))}`,
      remediation: [`expected one of ${Object.keys(placeholders).join(", ")}, or {{${unknown.name}}} for the text itself`],
    });
  return Object.fromEntries(prompts.map((prompt) => [prompt, keep(text)]));
}

const ofPhase = "phase.";

function changesLimits({ run, given, code }: ChangesInput): NonNullable<Forked["limits"]> | null {
  const words = (given.limits ?? []).flatMap((word) => word.split(","));
  if (words.length === 0) return null;
  const limits: { run: Record<string, number>; phase: Record<string, number> } = { run: {}, phase: {} };
  for (const word of words) {
    const [name = "", amount = ""] = word.split("=", 2);
    const scope = name.startsWith(ofPhase) ? "phase" : "run";
    const dimension = scope === "phase" ? name.slice(ofPhase.length) : name;
    const known: readonly string[] = scope === "phase" ? dimensions : [...dimensions, "retries"];
    const value = readQuantity(amount.replace(/^\+/, ""));
    if (!known.includes(dimension) || value === null || value <= 0)
      refuse(code, {
        message: `"${word}" is not a limit.`,
        remediation: [`expected one of ${known.join(", ")} with a number, for instance --limit tokens=300k or --limit phase.tokens=+100k`],
      });
    limits[scope][dimension] = amount.startsWith("+") ? (run.limits[scope][dimension] ?? 0) + (value ?? 0) : (value ?? 0);
  }
  return {
    ...(Object.keys(limits.run).length === 0 ? {} : { run: limits.run }),
    ...(Object.keys(limits.phase).length === 0 ? {} : { phase: limits.phase }),
  };
}

// typed-lever: turns a lever that names a prompt, a limit, an agent or a model into edits of the
// files that travel with the repository: `.autopilot/flows` and `.autopilot/config.yaml`.
//
// Invariants:
//   Y1. A change that the settings in force would ignore, because a repository's file may only make
//       a run stricter, is refused: it would be measured and could show nothing. So is a role that
//       no flow has, and an unknown agent.
//   Y2. A lever changes one thing: a model's lever leaves the agent what it is, and other roles
//       theirs.

import { mkdtempSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { parseDocument } from "yaml";
import type { Config } from "../../contracts/config.ts";
import { limitRanges } from "../../contracts/tunable-limits.ts";
import { embedded } from "../../flows/catalog/embedded.ts";
import { loadFlow, listFlowNames } from "../../flows/load.ts";
import { listAllSteps } from "../../flows/step-lists.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { findingText } from "../../kit/finding.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { readConfig } from "../../project/config/config.ts";
import { readOwnFile } from "../../project/own-file.ts";
import type { CyclePlan } from "../cycle/plan.ts";
import {
  configPath,
  type DefaultAgent,
  isEveryRole,
  planSettings,
  type Refused,
  refused,
  type SettingPaths,
} from "./lever-settings.ts";
import { eraseSync } from "../../workspace/folder.ts";

type FileEdit = { readonly path: string; readonly text: string };
export type TypedEdits = { readonly files: readonly FileEdit[] } | Refused;
type TypedLeverInput = {
  readonly lever: CyclePlan["lever"];
  readonly id: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file in the commit that the lever is made on; null if there is none. */
  readonly readCommitted: (path: string) => Promise<string | null>;
  /** The default agent if no config names one; null if unknown. */
  readonly defaultAgent: DefaultAgent;
};

const fileBytesMax = 262_144;

/**
 * Parses `prompt:<flow>/<step>`, `limit:<name>`, `agent:<role>` and `model:<role>`; null if an id
 * is of no such kind.
 */
export function parseTypedLever(
  id: string,
): { readonly kind: "prompt" | "limit" | "agent" | "model"; readonly subject: string } | null {
  const [, kind, subject] =
    /^(prompt|limit|agent|model):([A-Za-z0-9][\w./*-]{0,200})$/.exec(id) ?? [];
  if (kind !== "prompt" && kind !== "limit" && kind !== "agent" && kind !== "model") return null;
  return { kind, subject: subject ?? "" };
}

/** The files that the lever changes, with their new texts, or why it cannot be made. */
export async function planTypedEdits(request: TypedLeverInput): Promise<TypedEdits> {
  return request.lever.kind === "prompt" ? planPromptEdits(request) : planConfigEdits(request);
}

async function planPromptEdits({
  lever,
  root,
  readCommitted,
}: TypedLeverInput): Promise<TypedEdits> {
  const [flow = "", promptName = ""] = lever.source.split("/");
  const file = lever.value ?? "";
  const text = readOwnFile(isAbsolute(file) ? file : resolve(root, file), fileBytesMax);
  if (text === null) {
    const problem = `There is no prompt ${file} that can be read.`;
    return refused(problem, "give the new prompt's file with --to FILE");
  }

  const loaded = await loadFlow(root, flow);
  if (loaded.kind === "missing") return refused(loaded.message, "autopilot flow list");
  if (loaded.kind === "invalid") {
    return refused(loaded.findings.map(findingText).join("; "), `autopilot flow lint ${flow}`);
  }

  const prompt = findPrompt(loaded, flow, promptName);
  if (typeof prompt !== "string") return prompt;

  const folder = `.autopilot/flows/${flow}`;
  const promptEdit = { path: `${folder}/prompts/${prompt}`, text };
  const isInRepository = (await readCommitted(`${folder}/flow.yaml`)) !== null;
  if (isInRepository) return { files: [promptEdit] };

  const builtIn = Object.hasOwn(embedded, flow) ? embedded[flow] : undefined;
  if (builtIn === undefined) {
    return refused(`${folder}/flow.yaml is not committed.`, "commit the flow, then start again");
  }

  return { files: copyBuiltIn(folder, builtIn, promptEdit) };
}

type LoadedFlow = Extract<Awaited<ReturnType<typeof loadFlow>>, { readonly kind: "loaded" }>;

/** The file of the prompt that a step of this name has, or that is called so itself. */
function findPrompt(
  { flow, prompts }: LoadedFlow,
  flowName: string,
  promptName: string,
): string | TypedEdits {
  const steps = listAllSteps(flow).flatMap(({ step: { id, prompt } }) =>
    prompt === undefined ? [] : [{ id, prompt }],
  );
  const ofSteps = steps.filter(({ id }) => id === promptName);
  const matches = [...new Set(ofSteps.map(({ prompt }) => prompt))];
  if (matches.length === 0 && Object.hasOwn(prompts, `${promptName}.md`)) {
    return `${promptName}.md`;
  }

  const [match] = matches;
  if (match === undefined) {
    const promptNames = Object.keys(prompts).map(withoutEnding);
    const names = [...new Set([...steps.map(({ id }) => id), ...promptNames])];
    const suggestion = didYouMean(promptName, names);
    const problem = `The flow ${flowName} has no prompt ${promptName}.${suggestion}`;
    return refused(problem, `it has: ${names.join(", ")}`);
  }

  if (matches.length === 1) return match;
  const leverIds = matches.map((name) => `prompt:${flowName}/${withoutEnding(name)}`);
  return refused(
    `${matches.length} prompts of ${flowName} belong to steps called ${promptName}.`,
    `name the prompt itself: ${leverIds.join(", ")}`,
  );
}

const withoutEnding = (name: string): string => name.replace(/\.md$/, "");

/** A built-in flow is copied whole, so that exactly its prompt differs. */
function copyBuiltIn(
  folder: string,
  builtIn: (typeof embedded)[string],
  promptEdit: FileEdit,
): readonly FileEdit[] {
  const prompts = Object.entries(builtIn.prompts).map(([name, text]) => ({
    path: `${folder}/prompts/${name}`,
    text,
  }));
  const files = [{ path: `${folder}/flow.yaml`, text: builtIn.flow }, ...prompts];

  return files.map((file) => (file.path === promptEdit.path ? promptEdit : file));
}

async function planConfigEdits(request: TypedLeverInput): Promise<TypedEdits> {
  const { lever, id, root, env, defaultAgent } = request;
  const value = lever.value ?? "";
  if (value.trim() === "") {
    return refused(`The lever ${id} has no value.`, "give it with --to VALUE");
  }

  if (lever.kind === "limit" && !Object.hasOwn(limitRanges, lever.source)) {
    const suggestion = didYouMean(lever.source, Object.keys(limitRanges));
    const problem = `There is no limit ${lever.source}.${suggestion}`;
    return refused(problem, "docs/FLOWS.md lists them: Limits of the config");
  }

  const document = await readCommittedConfig(request);
  if ("problem" in document) return document;

  const current = readConfig({ env, root });
  if (current.kind === "invalid") return refused("The config is not valid.", "autopilot config");

  const unknownRole = await refuseUnknownRole(lever, root);
  if (unknownRole !== null) return unknownRole; // Y1

  const settings = await planSettings(lever, current.config, defaultAgent);
  if ("problem" in settings) return settings;

  for (const [path, content] of settings.paths) document.setIn([...path], content);
  const text = document.toString();
  const ineffective = refuseIneffective(request, settings.paths, text);
  return ineffective ?? { files: [{ path: configPath, text }] };
}

/** The repository's config as it is committed, for edits; a new one if it has none. */
async function readCommittedConfig({
  root,
  readCommitted,
}: TypedLeverInput): Promise<ReturnType<typeof parseDocument> | Refused> {
  const committedText = await readCommitted(configPath);
  const checkoutText = readOwnFile(join(root, configPath), fileBytesMax);
  if (committedText === null && checkoutText !== null) {
    const remedy = `git add ${configPath}, commit it, then start again`;
    return refused(`${configPath} is there and not committed.`, remedy);
  }

  const document = parseDocument(committedText ?? "version: 1\n");
  const [error] = document.errors;
  if (error === undefined) return document;
  return refused(`${configPath} is not YAML: ${error.message}`, `autopilot validate ${configPath}`);
}

async function refuseUnknownRole(
  { kind, source }: CyclePlan["lever"],
  root: string,
): Promise<Refused | null> {
  if (kind === "limit" || isEveryRole(source)) return null;

  const roles = await readRoles(root);
  if (roles.includes(source)) return null;
  return refused(
    `No flow here has a role ${source}.${didYouMean(source, roles)}`,
    `the roles are: ${roles.join(", ")}, and all`,
  );
}

/** A config that would be invalid, or would not have the lever's values in force (Y1). */
function refuseIneffective(
  { id, lever, env }: TypedLeverInput,
  paths: SettingPaths,
  text: string,
): Refused | null {
  const leverConfig = readConfigText(text, env);
  if ("problem" in leverConfig) {
    const problem = `The lever ${id} makes no valid config: ${leverConfig.problem}`;
    return refused(problem, "autopilot config shows the keys and their ranges");
  }

  const { config, warnings } = leverConfig;
  const isInForce = paths.every(
    ([path, content]) => canonicalJson(getValueAt(config, path) ?? null) === canonicalJson(content),
  );
  if (isInForce) return null;

  const why = warnings[0] ?? "another setting is in force";
  return refused(
    `The lever ${id}=${lever.value ?? ""} would have no effect: ${why}`,
    "give a value that a repository's own config may set",
  );
}

/** The roles of all flows here. */
async function readRoles(root: string): Promise<readonly string[]> {
  const names = await listFlowNames(root);
  const flows = await Promise.all(names.map((name) => loadFlow(root, name)));
  const steps = flows.flatMap((flow) => (flow.kind === "loaded" ? listAllSteps(flow.flow) : []));
  return [...new Set(steps.flatMap(({ step }) => step.agent ?? []))].toSorted();
}

/** The value at a path in nested objects; undefined if the path ends before. */
function getValueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }

  return value;
}

/**
 * The settings that would be in force in a repository with this config, read as a run would: from a
 * file in a temporary folder.
 */
export function readConfigText(
  text: string,
  env: TypedLeverInput["env"],
):
  | { readonly config: Config; readonly warnings: readonly string[] }
  | { readonly problem: string } {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-lever-"));
  try {
    mkdirSync(join(folder, ".autopilot"));
    if (text !== "") writeFileSync(join(folder, configPath), text);
    const result = readConfig({ env, root: folder });
    if (result.kind === "invalid") {
      return {
        problem: result.findings.map(({ message, line }) => `line ${line}: ${message}`).join("; "),
      };
    }

    return {
      config: result.config,
      warnings: result.warnings.map((warning) => warning.replaceAll(`${folder}/`, "")),
    };
  } finally {
    eraseSync(folder);
  }
}

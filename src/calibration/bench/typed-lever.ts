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
import { extendableProfiles } from "../../agents/profiles/resolve-profile.ts";
import type { Config } from "../../contracts/config.ts";
import { limitRanges } from "../../contracts/limit-ranges.ts";
import { embedded } from "../../flows/catalog/embedded.ts";
import { loadFlow, listFlowNames } from "../../flows/load.ts";
import { listAllSteps } from "../../flows/step-lists.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { findingText } from "../../kit/finding.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { readConfig } from "../../project/config/config.ts";
import { readOwnFile } from "../../project/own-file.ts";
import type { CyclePlan } from "../cycle/plan.ts";
import { eraseSync } from "../../workspace/folder.ts";

type FileEdit = { readonly path: string; readonly text: string };
export type TypedEdits =
  | { readonly files: readonly FileEdit[] }
  | { readonly problem: string; readonly remedy: string };
type TypedLeverInput = {
  readonly lever: CyclePlan["lever"];
  readonly id: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file in the commit that the lever is made on; null if there is none. */
  readonly readCommitted: (path: string) => Promise<string | null>;
  /** The default agent if no config names one; null if unknown. */
  readonly defaultAgent: () => Promise<string | null>;
};

const fileBytesMax = 262_144;
export const configPath = ".autopilot/config.yaml";
const refused = (problem: string, remedy: string): TypedEdits => ({ problem, remedy });

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
    return refused(
      `There is no prompt ${file} that can be read.`,
      "give the new prompt's file with --to FILE",
    );
  }

  const loaded = await loadFlow(root, flow);
  if (loaded.kind === "missing") return refused(loaded.message, "autopilot flow list");
  if (loaded.kind === "invalid") {
    return refused(loaded.findings.map(findingText).join("; "), `autopilot flow lint ${flow}`);
  }

  const steps = listAllSteps(loaded.flow).filter(({ step }) => step.prompt !== undefined);
  const stepPrompts = [
    ...new Set(
      steps.filter(({ step }) => step.id === promptName).map(({ step }) => step.prompt ?? ""),
    ),
  ];
  const isPromptFile =
    stepPrompts.length === 0 && Object.hasOwn(loaded.prompts, `${promptName}.md`);
  const matches = isPromptFile ? [`${promptName}.md`] : stepPrompts;
  const promptNames = Object.keys(loaded.prompts).map((name) => name.replace(/\.md$/, ""));
  const validNames = [...new Set([...steps.map(({ step }) => step.id), ...promptNames])];
  const [prompt] = matches;
  if (prompt === undefined) {
    return refused(
      `The flow ${flow} has no prompt ${promptName}.${didYouMean(promptName, validNames)}`,
      `it has: ${validNames.join(", ")}`,
    );
  }

  if (matches.length > 1) {
    const leverIds = matches.map((name) => `prompt:${flow}/${name.replace(/\.md$/, "")}`);
    return refused(
      `${matches.length} prompts of ${flow} belong to steps called ${promptName}.`,
      `name the prompt itself: ${leverIds.join(", ")}`,
    );
  }

  const folder = `.autopilot/flows/${flow}`;
  const builtIn = Object.hasOwn(embedded, flow) ? embedded[flow] : undefined;
  const isInRepository = (await readCommitted(`${folder}/flow.yaml`)) !== null;
  if (isInRepository) return { files: [{ path: `${folder}/prompts/${prompt}`, text }] };
  if (builtIn === undefined) {
    return refused(`${folder}/flow.yaml is not committed.`, "commit the flow, then start again");
  }

  // A built-in flow is copied whole, so that exactly its prompt differs.
  const files = [
    { path: `${folder}/flow.yaml`, text: builtIn.flow },
    ...Object.entries(builtIn.prompts).map(([name, content]) => ({
      path: `${folder}/prompts/${name}`,
      text: content,
    })),
  ];

  return {
    files: files.map((item) =>
      item.path === `${folder}/prompts/${prompt}` ? { ...item, text } : item,
    ),
  };
}

async function planConfigEdits({
  lever,
  id,
  root,
  env,
  readCommitted,
  defaultAgent,
}: TypedLeverInput): Promise<TypedEdits> {
  const value = lever.value ?? "";
  if (value.trim() === "") {
    return refused(`The lever ${id} has no value.`, "give it with --to VALUE");
  }

  if (lever.kind === "limit" && !Object.hasOwn(limitRanges, lever.source)) {
    return refused(
      `There is no limit ${lever.source}.${didYouMean(lever.source, Object.keys(limitRanges))}`,
      "docs/FLOWS.md lists them: Limits of the config",
    );
  }

  const committedText = await readCommitted(configPath);
  const checkoutText = readOwnFile(join(root, configPath), fileBytesMax);
  if (committedText === null && checkoutText !== null) {
    return refused(
      `${configPath} is there and not committed.`,
      `git add ${configPath}, commit it, then start again`,
    );
  }

  const document = parseDocument(committedText ?? "version: 1\n");
  if (document.errors.length > 0) {
    return refused(
      `${configPath} is not YAML: ${document.errors[0]?.message ?? ""}`,
      `autopilot validate ${configPath}`,
    );
  }

  const current = readConfig({ env, root });
  if (current.kind === "invalid") return refused("The config is not valid.", "autopilot config");
  if (lever.kind !== "limit" && !isEveryRole(lever.source)) {
    const roles = await readRoles(root);
    if (!roles.includes(lever.source)) {
      return refused(
        `No flow here has a role ${lever.source}.${didYouMean(lever.source, roles)}`,
        `the roles are: ${roles.join(", ")}, and all`,
      );
    } // Y1
  }

  const settings = await planSettings(lever, current.config, defaultAgent);
  if ("problem" in settings) return settings;
  for (const [path, content] of settings.paths) document.setIn([...path], content);
  const text = document.toString();
  const leverConfig = readConfigText(text, env);
  if ("problem" in leverConfig) {
    return refused(
      `The lever ${id} makes no valid config: ${leverConfig.problem}`,
      "autopilot config shows the keys and their ranges",
    );
  }

  const isInForce = settings.paths.every(
    ([path, content]) =>
      canonicalJson(getValueAt(leverConfig.config, path) ?? null) === canonicalJson(content),
  ); // Y1
  if (!isInForce) {
    return refused(
      `The lever ${id}=${value} would have no effect: ${leverConfig.warnings[0] ?? "another setting is in force"}`,
      "give a value that a repository's own config may set",
    );
  }

  return { files: [{ path: configPath, text }] };
}

const isEveryRole = (source: string): boolean => source === "*" || source === "all";

/** The roles of all flows here. */
async function readRoles(root: string): Promise<readonly string[]> {
  const flows = await Promise.all((await listFlowNames(root)).map((name) => loadFlow(root, name)));
  const steps = flows.flatMap((flow) => (flow.kind === "loaded" ? listAllSteps(flow.flow) : []));
  return [...new Set(steps.flatMap(({ step }) => step.agent ?? []))].toSorted();
}

type Settings =
  | { readonly paths: readonly (readonly [readonly string[], unknown])[] }
  | { readonly problem: string; readonly remedy: string };

/** The config's keys that the lever sets, with their values. */
async function planSettings(
  { kind, source, value = "" }: CyclePlan["lever"],
  config: Config,
  defaultAgent: TypedLeverInput["defaultAgent"],
): Promise<Settings> {
  if (kind === "limit") {
    return {
      paths: [[["limits", source], Number.isFinite(Number(value)) ? Number(value) : value]],
    };
  }

  const rolesWithAgent = Object.keys(config.roles ?? {});
  // A role that has an agent of its own would not follow `agent`.
  const keys = isEveryRole(source)
    ? [["agent"], ...rolesWithAgent.map((role) => ["roles", role])]
    : [["roles", source]];

  if (kind === "agent") {
    const unknownName = splitNames(value).find((name) => !isKnownAgent(name, config));
    if (unknownName !== undefined) {
      return {
        problem: `There is no agent called ${unknownName}.${didYouMean(unknownName, listAgentNames(config))}`,
        remedy: "autopilot agents lists them",
      };
    } // Y1

    return { paths: keys.map((path) => [path, value]) };
  }

  return planModelSettings({ source, value, keys }, config, defaultAgent);
}

/** A model's lever gives the role an agent that differs in its model alone. Y2 */
async function planModelSettings(
  {
    source,
    value,
    keys,
  }: {
    readonly source: string;
    readonly value: string;
    readonly keys: readonly (readonly string[])[];
  },
  config: Config,
  defaultAgent: TypedLeverInput["defaultAgent"],
): Promise<Settings> {
  const assigned = isEveryRole(source)
    ? [config.agent, ...Object.values(config.roles ?? {})]
    : [config.roles?.[source] ?? config.agent];
  // Without any installed agent the lever is still made: the preflight says that the agent is
  // missing.
  const fallbackAgent = assigned.includes(undefined) ? ((await defaultAgent()) ?? "claude") : "";
  const agents = [...new Set(assigned.flatMap((names) => splitNames(names ?? fallbackAgent)))];
  const [agent = ""] = agents;

  if (agents.length > 1) {
    return {
      problem: `A model belongs to one agent, and ${agents.join(", ")} work here.`,
      remedy: isEveryRole(source)
        ? "name a role: model:ROLE"
        : `name one agent for it: roles.${source} in ${configPath}`,
    };
  }

  const override = config.agents?.[agent] ?? {};
  const profile = override.like ?? agent;
  const isPlain =
    extendableProfiles.includes(profile) &&
    Object.keys(override).every((key) => key === "like" || key === "model");
  if (isPlain) {
    const name = chooseFreshName(agent.replace(/-lever(-\d+)?$/, ""), config);
    return {
      paths: [
        [["agents", name], { like: profile, model: value }],
        ...keys.map((path) => [path, name] as const),
      ],
    }; // Y2
  }

  // The agent's other settings, such as a key's variable, must stay where they are: a repository's
  // file could not set them.
  const otherRoles = Object.keys(config.roles ?? {}).filter((role) => role !== source);
  const otherAgents = isEveryRole(source)
    ? []
    : [config.agent, ...otherRoles.map((role) => config.roles?.[role])];
  const isShared = otherAgents.some((names) => splitNames(names ?? "").includes(agent));

  if (!Object.hasOwn(config.agents ?? {}, agent) || isShared) {
    return {
      problem: `The model of ${agent} can't be changed for ${source} alone.`,
      remedy: `name an agent of its own for it: roles.${source}`,
    };
  }

  return { paths: [[["agents", agent, "model"], value]] };
}

/** `claude, codex` → two names */
const splitNames = (names: string): readonly string[] =>
  names
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const listAgentNames = (config: Config): readonly string[] => [
  ...extendableProfiles.filter((name) => name !== "custom"),
  ...Object.keys(config.agents ?? {}),
];
const isKnownAgent = (name: string, config: Config): boolean =>
  name.startsWith("scripted:") || listAgentNames(config).includes(name);

/**
 * A name that the config has not used: a second lever on a model must not change the agent of
 * another role.
 */
function chooseFreshName(base: string, config: Config): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? `${base}-lever` : `${base}-lever-${count}`;
    if (!Object.hasOwn(config.agents ?? {}, name)) return name;
  }
}

/** The value at a path in nested objects; undefined if the path ends before. */
const getValueAt = (root: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null
        ? (value as Record<string, unknown>)[key]
        : undefined,
    root,
  );

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

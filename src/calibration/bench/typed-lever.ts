// typed-lever: a prompt, a limit, an agent or a model as a change to the files that travel with the repository: `.autopilot/flows` and
// `.autopilot/config.yaml`.
//
// Invariants:
//   Y1. A change that the settings in force would ignore, because a repository's file may only make a run stricter, is refused: it would be
//       measured and could show nothing. So is a role that no flow has, and an unknown agent.
//   Y2. A lever changes one thing: a model's lever leaves the agent what it is, and other roles theirs.

import { mkdtempSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { parseDocument } from "yaml";
import { extendableProfiles } from "../../agents/profiles/resolve.ts";
import type { Config } from "../../contracts/config.ts";
import { limitRanges } from "../../contracts/limit-ranges.ts";
import { embedded } from "../../flows/catalog/embedded.ts";
import { loadFlow, namesOfFlows } from "../../flows/load.ts";
import { stepsEverywhere } from "../../flows/lists.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { findingText } from "../../kit/finding.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { readConfig } from "../../project/config/config.ts";
import { readOwnFile } from "../../project/own-file.ts";
import type { CyclePlan } from "../cycle/plan.ts";
import { eraseSync } from "../../workspace/folder.ts";

type Edit = { readonly path: string; readonly text: string };
export type TypedEdits = { readonly files: readonly Edit[] } | { readonly problem: string; readonly remedy: string };
type LeverInput = {
  readonly lever: CyclePlan["lever"];
  readonly id: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly textAt: (path: string) => Promise<string | null>;
  /** The default agent if no config names one; null if unknown. */
  readonly agentHere: () => Promise<string | null>;
};

const promptBytesMax = 262_144;
export const configPath = ".autopilot/config.yaml";
const no = (problem: string, remedy: string): TypedEdits => ({ problem, remedy });

/** `prompt:<flow>/<step>`, `limit:<name>`, `agent:<role>`, `model:<role>`; null if an id is of no such kind. */
export function typedLever(id: string): { readonly kind: "prompt" | "limit" | "agent" | "model"; readonly subject: string } | null {
  const [, kind, subject] = /^(prompt|limit|agent|model):([A-Za-z0-9][\w./*-]{0,200})$/.exec(id) ?? [];
  if (kind !== "prompt" && kind !== "limit" && kind !== "agent" && kind !== "model") return null;
  return { kind, subject: subject ?? "" };
}

export async function typedEdits(request: LeverInput): Promise<TypedEdits> {
  return request.lever.kind === "prompt" ? promptEdits(request) : configEdits(request);
}

async function promptEdits({ lever, root, textAt }: LeverInput): Promise<TypedEdits> {
  const [flow = "", wanted = ""] = lever.source.split("/");
  const file = lever.value ?? "";
  const text = readOwnFile(isAbsolute(file) ? file : resolve(root, file), promptBytesMax);
  if (text === null) return no(`There is no prompt ${file} that can be read.`, "give the new prompt's file with --to FILE");
  const loaded = await loadFlow(root, flow);
  if (loaded.kind === "missing") return no(loaded.message, "autopilot flow list");
  if (loaded.kind === "invalid") return no(loaded.findings.map(findingText).join("; "), `autopilot flow lint ${flow}`);
  const steps = stepsEverywhere(loaded.flow).filter(({ step }) => step.prompt !== undefined);
  const prompts = [...new Set(steps.filter(({ step }) => step.id === wanted).map(({ step }) => step.prompt ?? ""))];
  const named = prompts.length === 0 && Object.hasOwn(loaded.prompts, `${wanted}.md`) ? [`${wanted}.md`] : prompts;
  const known = [
    ...new Set([...steps.map(({ step }) => step.id), ...Object.keys(loaded.prompts).map((name) => name.replace(/\.md$/, ""))]),
  ];
  const [prompt] = named;
  if (prompt === undefined)
    return no(`The flow ${flow} has no prompt ${wanted}.${didYouMean(wanted, known)}`, `it has: ${known.join(", ")}`);
  if (named.length > 1)
    return no(
      `${named.length} prompts of ${flow} belong to steps called ${wanted}.`,
      `name the prompt itself: ${named.map((name) => `prompt:${flow}/${name.replace(/\.md$/, "")}`).join(", ")}`,
    );
  const folder = `.autopilot/flows/${flow}`;
  const own = Object.hasOwn(embedded, flow) ? embedded[flow] : undefined;
  const isBuiltIn = (await textAt(`${folder}/flow.yaml`)) === null;
  if (!isBuiltIn) return { files: [{ path: `${folder}/prompts/${prompt}`, text }] };
  if (own === undefined) return no(`${folder}/flow.yaml is not committed.`, "commit the flow, then start again");
  // A built-in flow is copied whole, so that exactly its prompt differs.
  const files = [
    { path: `${folder}/flow.yaml`, text: own.flow },
    ...Object.entries(own.prompts).map(([name, content]) => ({ path: `${folder}/prompts/${name}`, text: content })),
  ];
  return { files: files.map((item) => (item.path === `${folder}/prompts/${prompt}` ? { ...item, text } : item)) };
}

async function configEdits({ lever, id, root, env, textAt, agentHere }: LeverInput): Promise<TypedEdits> {
  const value = lever.value ?? "";
  if (value.trim() === "") return no(`The lever ${id} has no value.`, "give it with --to VALUE");
  if (lever.kind === "limit" && !Object.hasOwn(limitRanges, lever.source))
    return no(
      `There is no limit ${lever.source}.${didYouMean(lever.source, Object.keys(limitRanges))}`,
      "docs/FLOWS.md lists them: Limits of the config",
    );
  const committed = await textAt(configPath);
  const here = readOwnFile(join(root, configPath), promptBytesMax);
  if (committed === null && here !== null)
    return no(`${configPath} is there and not committed.`, `git add ${configPath}, commit it, then start again`);
  const document = parseDocument(committed ?? "version: 1\n");
  if (document.errors.length > 0)
    return no(`${configPath} is not YAML: ${document.errors[0]?.message ?? ""}`, `autopilot validate ${configPath}`);
  const now = readConfig({ env, root });
  if (now.kind === "invalid") return no("The config is not valid.", "autopilot config");
  if (lever.kind !== "limit" && !isEveryRole(lever.source)) {
    const roles = await readRoles(root);
    if (!roles.includes(lever.source))
      return no(
        `No flow here has a role ${lever.source}.${didYouMean(lever.source, roles)}`,
        `the roles are: ${roles.join(", ")}, and all`,
      ); // Y1
  }
  const settings = await settingsFor(lever, now.config, agentHere);
  if ("problem" in settings) return settings;
  const wanted = settings.paths;
  for (const [path, content] of wanted) document.setIn([...path], content);
  const text = document.toString();
  const after = configWith(text, env);
  if ("problem" in after)
    return no(`The lever ${id} makes no valid config: ${after.problem}`, "autopilot config shows the keys and their ranges");
  const isKept = wanted.every(([path, content]) => canonicalJson(valueAt(after.config, path) ?? null) === canonicalJson(content)); // Y1
  if (!isKept)
    return no(
      `The lever ${id}=${value} would have no effect: ${after.warnings[0] ?? "another setting is in force"}`,
      "give a value that a repository's own config may set",
    );
  return { files: [{ path: configPath, text }] };
}

const isEveryRole = (source: string): boolean => source === "*" || source === "all";

async function readRoles(root: string): Promise<readonly string[]> {
  const flows = await Promise.all((await namesOfFlows(root)).map((name) => loadFlow(root, name)));
  const steps = flows.flatMap((flow) => (flow.kind === "loaded" ? stepsEverywhere(flow.flow) : []));
  return [...new Set(steps.flatMap(({ step }) => step.agent ?? []))].toSorted();
}

type Settings =
  | { readonly paths: readonly (readonly [readonly string[], unknown])[] }
  | { readonly problem: string; readonly remedy: string };

async function settingsFor(
  { kind, source, value = "" }: CyclePlan["lever"],
  config: Config,
  agentHere: LeverInput["agentHere"],
): Promise<Settings> {
  if (kind === "limit") return { paths: [[["limits", source], Number.isFinite(Number(value)) ? Number(value) : value]] };
  const named = Object.keys(config.roles ?? {});
  // A role that has its own name would not follow `agent`.
  const places = isEveryRole(source) ? [["agent"], ...named.map((role) => ["roles", role])] : [["roles", source]];
  if (kind === "agent") {
    const strangers = wordsOf(value).filter((name) => !isAgent(name, config));
    const [stranger] = strangers;
    if (stranger !== undefined)
      return {
        problem: `There is no agent called ${stranger}.${didYouMean(stranger, findAgents(config))}`,
        remedy: "autopilot agents lists them",
      }; // Y1
    return { paths: places.map((path) => [path, value]) };
  }
  const playing = isEveryRole(source) ? [config.agent, ...Object.values(config.roles ?? {})] : [config.roles?.[source] ?? config.agent];
  const stand = playing.includes(undefined) ? ((await agentHere()) ?? "claude") : "";
  const agents = [...new Set(playing.flatMap((name) => wordsOf(name ?? stand)))];
  const [agent = ""] = agents;
  if (agents.length > 1)
    return {
      problem: `A model belongs to one agent, and ${agents.join(", ")} work here.`,
      remedy: isEveryRole(source) ? "name a role: model:ROLE" : `name one agent for it: roles.${source} in ${configPath}`,
    };
  const own = config.agents?.[agent] ?? {};
  const like = own.like ?? agent;
  const isPlain = extendableProfiles.includes(like) && Object.keys(own).every((key) => key === "like" || key === "model");
  if (isPlain) {
    const name = freshName(agent.replace(/-lever(-\d+)?$/, ""), config);
    return { paths: [[["agents", name], { like, model: value }], ...places.map((path) => [path, name] as const)] }; // Y2
  }
  // What else is said of it, a key's variable say, stays where it is said: a repository's file could not say it again.
  const others = isEveryRole(source) ? [] : [config.agent, ...named.filter((role) => role !== source).map((role) => config.roles?.[role])];
  if (!Object.hasOwn(config.agents ?? {}, agent) || others.some((name) => wordsOf(name ?? "").includes(agent)))
    return {
      problem: `The model of ${agent} can't be changed for ${source} alone.`,
      remedy: `name an agent of its own for it: roles.${source}`,
    };
  return { paths: [[["agents", agent, "model"], value]] };
}

const wordsOf = (names: string): readonly string[] =>
  names
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const findAgents = (config: Config): readonly string[] => [
  ...extendableProfiles.filter((name) => name !== "custom"),
  ...Object.keys(config.agents ?? {}),
];
const isAgent = (name: string, config: Config): boolean => name.startsWith("scripted:") || findAgents(config).includes(name);

/** A name that the config has not used: a second lever on a model must not change what another role plays. */
function freshName(base: string, config: Config): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? `${base}-lever` : `${base}-lever-${count}`;
    if (!Object.hasOwn(config.agents ?? {}, name)) return name;
  }
}

const valueAt = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[key] : undefined), tree);

/** What a repository with this config would be run with. */
export function configWith(
  text: string,
  env: LeverInput["env"],
): { readonly config: Config; readonly warnings: readonly string[] } | { readonly problem: string } {
  const folder = mkdtempSync(join(tmpdir(), "autopilot-lever-"));
  try {
    mkdirSync(join(folder, ".autopilot"));
    if (text !== "") writeFileSync(join(folder, configPath), text);
    const read = readConfig({ env, root: folder });
    if (read.kind === "invalid") return { problem: read.findings.map(({ message, line }) => `line ${line}: ${message}`).join("; ") };
    return { config: read.config, warnings: read.warnings.map((warning) => warning.replaceAll(`${folder}/`, "")) };
  } finally {
    eraseSync(folder);
  }
}

// typed-lever: a prompt, a limit, an agent or a model as a change to the files that travel with the repository: `.autopilot/flows` and
// `.autopilot/config.yaml`.
//
// Invariants:
//   Y1. A change that the settings in force would ignore, because a repository's file may only make a run stricter, is refused: it would be
//       measured and could show nothing.

import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { parseDocument } from "yaml";
import type { Config } from "../../contracts/config.ts";
import { limitRanges } from "../../contracts/limit-ranges.ts";
import { embedded } from "../../flows/catalog/embedded.ts";
import { loadFlow } from "../../flows/load.ts";
import { stepsEverywhere } from "../../flows/lists.ts";
import { canonicalJson } from "../../kit/canonical-json.ts";
import { findingText } from "../../kit/finding.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { readConfig } from "../../project/config/config.ts";
import { readOwnFile } from "../../project/own-file.ts";
import type { CyclePlan } from "../cycle/plan.ts";

type Edit = { readonly path: string; readonly text: string };
export type TypedEdits = { readonly files: readonly Edit[] } | { readonly problem: string; readonly remedy: string };
type LeverInput = {
  readonly lever: CyclePlan["lever"];
  readonly id: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly textAt: (path: string) => Promise<string | null>;
};

const promptBytesMax = 262_144;
const configPath = ".autopilot/config.yaml";
const no = (problem: string, remedy: string): TypedEdits => ({ problem, remedy });

/** `prompt:<flow>/<step>`, `limit:<name>`, `agent:<role>`, `model:<role>`; null where an id is of no such kind. */
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
  return { files: files.map((one) => (one.path === `${folder}/prompts/${prompt}` ? { ...one, text } : one)) };
}

async function configEdits({ lever, id, root, env, textAt }: LeverInput): Promise<TypedEdits> {
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
  const wanted = settingsFor(lever, env, root);
  for (const [path, content] of wanted) document.setIn([...path], content);
  const text = document.toString();
  const after = effective(text, env);
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

/** `*` is every role. */
function settingsFor(
  { kind, source, value = "" }: CyclePlan["lever"],
  env: LeverInput["env"],
  root: string,
): readonly (readonly [readonly string[], unknown])[] {
  const isAll = source === "*" || source === "all";
  if (kind === "limit") return [[["limits", source], Number.isFinite(Number(value)) ? Number(value) : value]];
  if (kind === "agent") return [[isAll ? ["agent"] : ["roles", source], value]];
  const read = readConfig({ env, root });
  const config = read.kind === "config" ? read.config : {};
  const agent = (isAll ? undefined : config.roles?.[source]) ?? config.agent ?? "claude";
  const name = `${agent}-lever`;
  return [
    [["agents", name], { like: agent, model: value }],
    [isAll ? ["agent"] : ["roles", source], name],
  ];
}

const valueAt = (tree: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[key] : undefined), tree);

/** What a repository with this config would be run with. */
function effective(
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
    rmSync(folder, { recursive: true, force: true });
  }
}

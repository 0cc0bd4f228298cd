// load: loads a flow by its name, with its prompts: the user's own first, else a built-in one.
//
// Invariants:
//   F1. A flow is read from its own folder only: no link, no name with a path in it, no special file.
//   F2. The hash covers the content, the flow and its prompts, not the file's layout.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { Flow } from "../contracts/flow.ts";
import { canonicalJson } from "../kit/canonical-json.ts";
import type { Finding } from "../kit/finding.ts";
import { documentBytesMax, fitLocated, isRefused, type Parsed, parseLocated, type Positions, type Refused } from "../kit/located.ts";
import { didYouMean } from "../kit/suggest.ts";
import { embedded } from "./catalog/embedded.ts";
import { stepsEverywhere } from "./lists.ts";

export type LoadedFlow = {
  readonly kind: "loaded";
  readonly flow: Flow;
  readonly prompts: Readonly<Record<string, string>>;
  /** The names of all files beside the prompts it names. */
  readonly promptFiles: readonly string[];
  readonly hash: string;
  /** The file's path, or `built-in:<name>`. */
  readonly source: string;
  readonly positions: Positions;
};
export type FlowResult =
  | LoadedFlow
  | { readonly kind: "missing"; readonly name: string; readonly message: string }
  | { readonly kind: "invalid"; readonly source: string; readonly findings: readonly Finding[] };

const promptBytesMax = 262_144;
const flowName = /^[a-z][a-z0-9_-]{0,63}$/;
const promptName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.md$/;

/** The folder of a user's own flows, below the repository's root. */
export const flowsFolder = join(".autopilot", "flows");

/** Finds and reads a flow. It is validated by its schema here; `lintFlow` does the rest. */
export async function loadFlow(root: string, name: string): Promise<FlowResult> {
  if (!flowName.test(name)) return misnamed(name); // F1
  const file = join(root, flowsFolder, name, "flow.yaml");
  const text = await readPlain(root, join(flowsFolder, name), "flow.yaml", documentBytesMax);
  if (text.kind === "refused") return { kind: "invalid", source: file, findings: [finding(file, "flow_file", text.message)] };
  if (text.kind === "text")
    return read(name, file, parseLocated(file, text.text), {
      names: await readPrompts(join(root, flowsFolder, name, "prompts")),
      textOf: (prompt) => readPlain(root, join(flowsFolder, name), join("prompts", prompt), promptBytesMax),
    });
  const builtIn = await builtInFlow(name);
  if (builtIn !== null) return builtIn;
  const flowNames = await namesOfFlows(root);
  if (!flowNames.includes(name)) return missing(name, flowNames);
  return { kind: "invalid", source: file, findings: [finding(file, "flow_file", "found no such file in the flow's folder, expected one")] };
}

/** A flow file at any path, with the prompts beside it. For inspection; runs load theirs by name. */
export async function loadFlowFile(path: string): Promise<FlowResult> {
  const [folder, file] = [dirname(path), basename(path)];
  const text = await readPlain(folder, ".", file, documentBytesMax);
  if (text.kind === "absent") return { kind: "missing", name: path, message: `There is no file ${path}.` };
  if (text.kind === "refused") return { kind: "invalid", source: path, findings: [finding(path, "flow_file", text.message)] };
  return read(null, path, parseLocated(path, text.text), {
    names: await readPrompts(join(folder, "prompts")),
    textOf: (prompt) => readPlain(folder, ".", join("prompts", prompt), promptBytesMax),
  });
}

/** A flow of the catalog that is bundled with the product, or null. */
export async function builtInFlow(name: string): Promise<FlowResult | null> {
  const builtIn = Object.hasOwn(embedded, name) ? embedded[name] : undefined;
  if (builtIn === undefined) return null;
  const source = `built-in:${name}`;
  return read(
    name,
    source,
    { value: JSON.parse(builtIn.data) as unknown, positions: findPositions(source, builtIn.flow) },
    {
      names: Object.keys(builtIn.prompts),
      textOf: async (prompt) => {
        const text = Object.hasOwn(builtIn.prompts, prompt) ? builtIn.prompts[prompt] : undefined;
        return text === undefined ? { kind: "absent" } : { kind: "text", text: Buffer.from(text) };
      },
    },
  );
}

/** Positions in a flow whose data is known: computed on demand, which is when something is wrong. */
function findPositions(file: string, text: string): Positions {
  let knownPositions: Positions | null = null;
  const places = (): Positions => {
    const parsed = knownPositions === null ? parseLocated(file, text) : null;
    if (parsed !== null && !isRefused(parsed)) knownPositions = parsed.positions;
    return knownPositions ?? { file, placeOf: () => ({ line: 1, column: 1 }), keyPlaceOf: () => ({ line: 1, column: 1 }) };
  };
  return { file, placeOf: (path) => places().placeOf(path), keyPlaceOf: (path) => places().keyPlaceOf(path) };
}

/** Every flow available here, the user's own and the built-in ones, sorted. */
export async function namesOfFlows(root: string): Promise<string[]> {
  const entries = await readdir(join(root, flowsFolder), { withFileTypes: true }).catch(() => []);
  const userFlows = entries.filter((entry) => entry.isDirectory() && flowName.test(entry.name)).map((entry) => entry.name);
  return [...new Set([...userFlows, ...Object.keys(embedded)])].sort();
}

type Text =
  | { readonly kind: "text"; readonly text: Uint8Array }
  | { readonly kind: "absent" }
  | { readonly kind: "refused"; readonly message: string };

/** The prompts beside a flow: their names, and the text of one. */
type Beside = { readonly names: readonly string[]; readonly textOf: (prompt: string) => Promise<Text> };

const promptFilesMax = 1_000;

async function readPrompts(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => name)
    .sort()
    .slice(0, promptFilesMax);
}

async function read(name: string | null, source: string, parsed: Parsed | Refused, beside: Beside): Promise<FlowResult> {
  const located = isRefused(parsed) ? parsed : fitLocated(parsed, Flow);
  if (isRefused(located)) return { kind: "invalid", source, findings: located.findings };
  const { value: flow, positions } = located;
  const findings: Finding[] = [];
  if (name !== null && flow.flow !== name) {
    findings.push({
      ...finding(source, "flow_name", `found the name ${flow.flow}, expected ${name}, as its folder is called`),
      ...positions.placeOf(["flow"]),
      path: "flow",
    });
  }
  const prompts: Record<string, string> = {};
  for (const { step, path } of stepsEverywhere(flow)) {
    const prompt = step.prompt;
    if (prompt === undefined || Object.hasOwn(prompts, prompt)) continue;
    const at = (): Pick<Finding, "line" | "column" | "path"> => ({ ...positions.placeOf([...path, "prompt"]), path: "prompt" });
    if (!promptName.test(prompt)) {
      findings.push({
        ...finding(source, "prompt_name", `found ${JSON.stringify(prompt)}, expected the name of a .md file in prompts/`),
        ...at(),
      });
      continue;
    }
    const text = await beside.textOf(prompt);
    if (text.kind === "refused") findings.push({ ...finding(source, "prompt_file", `prompts/${prompt}: ${text.message}`), ...at() });
    if (text.kind !== "text") continue; // Lint reports a missing one, with the step that uses it.
    const wording = decodeText(text.text);
    if (wording === null)
      findings.push({ ...finding(source, "prompt_file", `prompts/${prompt}: found bytes that are no UTF-8 text`), ...at() });
    else prompts[prompt] = wording;
  }
  if (findings.length > 0) return { kind: "invalid", source, findings };
  return { kind: "loaded", flow, prompts, promptFiles: beside.names, hash: flowHash(flow, prompts), source, positions };
}

/** The hash of a flow's content. F2 */
export function flowHash(flow: Flow, prompts: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(canonicalJson({ flow, prompts })).digest("hex");
}

/** A regular file inside a folder below the root, reached without a link. F1 */
async function readPlain(root: string, folder: string, path: string, bytesMax: number): Promise<Text> {
  try {
    const home = join(await realpath(root), folder);
    const real = await realpath(join(root, folder, path));
    if (real !== join(home, path) || !real.startsWith(home + sep))
      return { kind: "refused", message: "found a link, expected a file of the flow's own folder" };
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return { kind: "refused", message: "found something that isn't a regular file" };
      if (stat.size > bytesMax) return { kind: "refused", message: `found ${stat.size} bytes, expected at most ${bytesMax}` };
      return { kind: "text", text: await handle.readFile() };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
    return { kind: "refused", message: `cannot be read (${code ?? String(error)})` };
  }
}

function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

function missing(name: string, known: readonly string[]): FlowResult {
  const list = known.length === 0 ? "" : ` There are: ${known.join(", ")}.`;
  return { kind: "missing", name, message: `There is no flow called ${JSON.stringify(name)}.${didYouMean(name, known)}${list}` };
}

const misnamed = (name: string): FlowResult => ({
  kind: "missing",
  name,
  message: `There is no flow called ${JSON.stringify(name)}: a flow's name has small letters, digits, - and _, and begins with a letter.`,
});

const finding = (file: string, rule: string, message: string): Finding => ({
  file,
  line: 1,
  column: 1,
  path: "",
  rule,
  message,
  severity: "error",
});

// load: loads a flow by its name, with its prompts: the user's own first, else a built-in one.
//
// Invariants:
//   F1. A flow is read from its own folder only: no link, no name with a path in it, no special
//       file.
//   F2. The hash covers the content, the flow and its prompts, not the file's layout.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { Flow } from "../contracts/flow.ts";
import { canonicalJson } from "../kit/canonical-json.ts";
import type { Finding } from "../kit/finding.ts";
import {
  documentBytesMax,
  fitLocated,
  isRefused,
  type Parsed,
  parseLocated,
  type Positions,
  type Refused,
} from "../kit/located.ts";
import { didYouMean } from "../kit/suggest.ts";
import { embedded } from "./catalog/embedded.ts";
import { listAllSteps } from "./step-lists.ts";

export type LoadedFlow = {
  readonly kind: "loaded";
  readonly flow: Flow;
  readonly prompts: Readonly<Record<string, string>>;
  /** The names of the Markdown files in its prompts folder, used or not. */
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
  const folder = join(flowsFolder, name);
  const file = join(root, folder, "flow.yaml");
  const content = await readPlain(root, folder, "flow.yaml", documentBytesMax);
  if (content.kind === "refused") {
    return {
      kind: "invalid",
      source: file,
      findings: [buildFinding(file, "flow_file", content.message)],
    };
  }

  if (content.kind === "text") {
    return buildFlow(name, file, parseLocated(file, content.bytes), {
      names: await listPrompts(join(root, folder, "prompts")),
      readPrompt: (prompt) => readPlain(root, folder, join("prompts", prompt), promptBytesMax),
    });
  }

  const builtIn = await loadBuiltInFlow(name);
  if (builtIn !== null) return builtIn;
  const flowNames = await listFlowNames(root);
  if (!flowNames.includes(name)) return missing(name, flowNames);
  const message = "found no such file in the flow's folder, expected one";

  return { kind: "invalid", source: file, findings: [buildFinding(file, "flow_file", message)] };
}

/**
 * A flow file at any path, with the prompts beside it. For inspection; runs load theirs by name.
 */
export async function loadFlowFile(path: string): Promise<FlowResult> {
  const [folder, file] = [dirname(path), basename(path)];
  const content = await readPlain(folder, ".", file, documentBytesMax);
  if (content.kind === "absent") {
    return { kind: "missing", name: path, message: `There is no file ${path}.` };
  }

  if (content.kind === "refused") {
    return {
      kind: "invalid",
      source: path,
      findings: [buildFinding(path, "flow_file", content.message)],
    };
  }

  return buildFlow(null, path, parseLocated(path, content.bytes), {
    names: await listPrompts(join(folder, "prompts")),
    readPrompt: (prompt) => readPlain(folder, ".", join("prompts", prompt), promptBytesMax),
  });
}

/** A flow of the catalog that is bundled with the product, or null. */
export async function loadBuiltInFlow(name: string): Promise<FlowResult | null> {
  const builtIn = Object.hasOwn(embedded, name) ? embedded[name] : undefined;
  if (builtIn === undefined) return null;
  const source = `built-in:${name}`;
  const parsed = {
    value: JSON.parse(builtIn.data) as unknown,
    positions: findPositions(source, builtIn.flow),
  };

  return buildFlow(name, source, parsed, {
    names: Object.keys(builtIn.prompts),
    readPrompt: async (prompt) => {
      const text = Object.hasOwn(builtIn.prompts, prompt) ? builtIn.prompts[prompt] : undefined;
      return text === undefined ? { kind: "absent" } : { kind: "text", bytes: Buffer.from(text) };
    },
  });
}

/**
 * Positions in a flow whose data is known: computed on demand, which is when something is wrong.
 */
function findPositions(file: string, text: string): Positions {
  let knownPositions: Positions | null = null;
  const computePositions = (): Positions => {
    const parsed = knownPositions === null ? parseLocated(file, text) : null;
    if (parsed !== null && !isRefused(parsed)) knownPositions = parsed.positions;
    return (
      knownPositions ?? {
        file,
        placeOf: () => ({ line: 1, column: 1 }),
        keyPlaceOf: () => ({ line: 1, column: 1 }),
      }
    );
  };

  return {
    file,
    placeOf: (path) => computePositions().placeOf(path),
    keyPlaceOf: (path) => computePositions().keyPlaceOf(path),
  };
}

/** Every flow available here, the user's own and the built-in ones, sorted. */
export async function listFlowNames(root: string): Promise<string[]> {
  const entries = await readdir(join(root, flowsFolder), { withFileTypes: true }).catch(() => []); // there need be no such folder
  const userFlows = entries
    .filter((entry) => entry.isDirectory() && flowName.test(entry.name))
    .map((entry) => entry.name);
  return [...new Set([...userFlows, ...Object.keys(embedded)])].sort();
}

type FileContent =
  | { readonly kind: "text"; readonly bytes: Uint8Array }
  | { readonly kind: "absent" }
  | { readonly kind: "refused"; readonly message: string };

/** The prompts beside a flow. */
type PromptFolder = {
  readonly names: readonly string[];
  readonly readPrompt: (prompt: string) => Promise<FileContent>;
};

const promptFilesMax = 1_000;

async function listPrompts(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // there need be no such folder
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => name)
    .sort()
    .slice(0, promptFilesMax);
}

/**
 * Validates the data of a flow, and reads the prompts it names. `name` is null if the flow may have
 * any.
 */
async function buildFlow(
  name: string | null,
  source: string,
  parsed: Parsed | Refused,
  promptFolder: PromptFolder,
): Promise<FlowResult> {
  const located = isRefused(parsed) ? parsed : fitLocated(parsed, Flow);
  if (isRefused(located)) return { kind: "invalid", source, findings: located.findings };
  const { value: flow, positions } = located;
  const findings: Finding[] = [];

  if (name !== null && flow.flow !== name) {
    findings.push({
      ...buildFinding(
        source,
        "flow_name",
        `found the name ${flow.flow}, expected ${name}, as its folder is called`,
      ),
      ...positions.placeOf(["flow"]),
      path: "flow",
    });
  }

  const prompts: Record<string, string> = {};
  for (const { step, path } of listAllSteps(flow)) {
    const { prompt } = step;
    if (prompt === undefined || Object.hasOwn(prompts, prompt)) continue;
    const text = await readPromptText(promptFolder, prompt);
    if ("text" in text) prompts[prompt] = text.text;
    if ("rule" in text) {
      findings.push({
        ...buildFinding(source, text.rule, text.message),
        ...positions.placeOf([...path, "prompt"]),
        path: "prompt",
      });
    }
  }

  if (findings.length > 0) return { kind: "invalid", source, findings };
  return {
    kind: "loaded",
    flow,
    prompts,
    promptFiles: promptFolder.names,
    hash: hashFlow(flow, prompts),
    source,
    positions,
  };
}

type PromptText =
  | { readonly text: string }
  | { readonly rule: string; readonly message: string }
  | { readonly isMissing: true };

/**
 * The text of a prompt, or the rule that it breaks. Lint reports a missing one, with the step that
 * uses it.
 */
async function readPromptText({ readPrompt }: PromptFolder, prompt: string): Promise<PromptText> {
  if (!promptName.test(prompt)) {
    return {
      rule: "prompt_name",
      message: `found ${JSON.stringify(prompt)}, expected the name of a .md file in prompts/`,
    };
  }

  const content = await readPrompt(prompt);
  if (content.kind === "absent") return { isMissing: true };
  if (content.kind === "refused") {
    return { rule: "prompt_file", message: `prompts/${prompt}: ${content.message}` };
  }

  const text = decodeText(content.bytes);
  return text === null
    ? { rule: "prompt_file", message: `prompts/${prompt}: found bytes that are no UTF-8 text` }
    : { text };
}

/** The hash of a flow's content. F2 */
export function hashFlow(flow: Flow, prompts: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(canonicalJson({ flow, prompts })).digest("hex");
}

/** A regular file inside a folder below the root, reached without a link. F1 */
async function readPlain(
  root: string,
  folder: string,
  path: string,
  bytesMax: number,
): Promise<FileContent> {
  try {
    const realFolder = join(await realpath(root), folder);
    const realFile = await realpath(join(root, folder, path));
    if (realFile !== join(realFolder, path) || !realFile.startsWith(realFolder + sep)) {
      return { kind: "refused", message: "found a link, expected a file of the flow's own folder" };
    }

    const handle = await open(
      realFile,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );

    try {
      const stat = await handle.stat();
      if (!stat.isFile()) {
        return { kind: "refused", message: "found something that isn't a regular file" };
      }

      if (stat.size > bytesMax) {
        return {
          kind: "refused",
          message: `found ${stat.size} bytes, expected at most ${bytesMax}`,
        };
      }

      return { kind: "text", bytes: await handle.readFile() };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
    return { kind: "refused", message: `cannot be read (${code ?? String(error)})` };
  }
}

/** Null if the bytes are no text. */
function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

function missing(name: string, flowNames: readonly string[]): FlowResult {
  const renderList = flowNames.length === 0 ? "" : ` There are: ${flowNames.join(", ")}.`;
  return {
    kind: "missing",
    name,
    message: `There is no flow called ${JSON.stringify(name)}.${didYouMean(name, flowNames)}${renderList}`,
  };
}

const misnamed = (name: string): FlowResult => ({
  kind: "missing",
  name,
  message: `There is no flow called ${JSON.stringify(name)}: a flow's name has small letters, digits, - and _, and begins with a letter.`,
});

const buildFinding = (file: string, rule: string, message: string): Finding => ({
  file,
  line: 1,
  column: 1,
  path: "",
  rule,
  message,
  severity: "error",
});

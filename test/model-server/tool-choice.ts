// tool-choice: turns an action of the script into a call of a tool that the request offers,
// whatever the agent calls it.

import { type Asked, type Tool, workFolderOf } from "./conversation.ts";
import { type Json, type JsonObject, objectOf, textOf } from "./json.ts";
import type { Action } from "./script.ts";

export type Call = {
  readonly name: string;
  readonly group: string | null;
  /** A free text for custom tools, an object for all others. */
  readonly input: JsonObject | string;
};

const writers = [
  "Write",
  "write",
  "write_file",
  "WriteFile",
  "create",
  "create_file",
  "apply_patch",
];
const runners = [
  "Bash",
  "bash",
  "exec_command",
  "shell_command",
  "shell",
  "local_shell",
  "run_shell_command",
  "Shell",
  "execute",
  "run_command",
];
const pathNames = ["file_path", "filePath", "path", "absolute_path", "filename"];
const contentNames = ["content", "file_text", "contents", "text"];
const commandNames = ["command", "cmd", "script"];

export function callOf(action: Action, asked: Asked): Call {
  if (action.action === "tool") return namedCall(action, asked);
  if (action.action === "bash") return runCall(action.text, asked.tools);
  return writeCall(action, asked);
}

/**
 * Agents put the tools of a server under their own names: `mcp__server__tool`, `server_tool`, or a
 * group. Some list them only when asked, and take the long name anyway; so the script says that
 * one.
 */
function namedCall({ name, text }: Action, { api, tools }: Asked): Call {
  const short = name.split("__").at(-1) ?? name;
  const found =
    tools.find((tool) => tool.name === name) ??
    tools.find(
      (tool) =>
        tool.name === short || tool.name.endsWith(`_${short}`) || tool.name.endsWith(`-${short}`),
    );
  if (found?.kind === "custom") return { name: found.name, group: found.group, input: text };
  const input = objectOf(JSON.parse(text) as Json);
  if (found !== undefined) return { name: found.name, group: found.group, input };
  // Codex keeps a server's tools in a group.
  const group = api === "responses" && short !== name ? name.slice(0, -short.length - 2) : null;

  return { name: group === null ? name : short, group, input };
}

function writeCall({ name: file, text }: Action, asked: Asked): Call {
  const tool = firstOf(writers, asked.tools);
  if (tool === null) {
    return runCall(
      `mkdir -p "$(dirname '${file}')" && printf %s ${quoted(text)} > '${file}'`,
      asked.tools,
    );
  }

  if (tool.name === "apply_patch") {
    const lines = text.replace(/\n$/, "").split("\n");
    const patch = `*** Begin Patch\n*** Add File: ${file}\n${lines.map((line) => `+${line}`).join("\n")}\n*** End Patch`;
    return {
      name: tool.name,
      group: tool.group,
      input: tool.kind === "custom" ? patch : { [firstKey(tool, ["input", "patch"])]: patch },
    };
  }

  const cwd = workFolderOf(asked);
  const path = file.startsWith("/") || cwd === null ? file : `${cwd}/${file}`;
  const input = { [firstKey(tool, pathNames)]: path, [firstKey(tool, contentNames)]: text };

  return { name: tool.name, group: tool.group, input: { ...whatIsRequired(tool), ...input } };
}

function runCall(command: string, tools: readonly Tool[]): Call {
  const tool = firstOf(runners, tools);
  if (tool === null) return { name: "bash", group: null, input: { command } };
  const key = firstKey(tool, commandNames);
  const isList = textOf(objectOf(tool.properties[key])["type"]) === "array";

  return {
    name: tool.name,
    group: tool.group,
    input: { ...whatIsRequired(tool), [key]: isList ? ["bash", "-lc", command] : command },
  };
}

const firstOf = (names: readonly string[], tools: readonly Tool[]): Tool | null =>
  names
    .map((name) => tools.find((tool) => tool.name === name))
    .find((tool) => tool !== undefined) ?? null;

const firstKey = (tool: Tool, names: readonly string[]): string =>
  names.find((name) => Object.hasOwn(tool.properties, name)) ?? names[0] ?? "";

/** Something harmless for every other property that the tool insists on. */
function whatIsRequired(tool: Tool): JsonObject {
  const values: Readonly<Record<string, Json>> = {
    string: "as scripted",
    boolean: false,
    number: 1,
    integer: 1,
    array: [],
    object: {},
  };

  return Object.fromEntries(
    tool.required.map((name) => {
      const { type, enum: choices } = objectOf(tool.properties[name]);
      const [first] = Array.isArray(choices) ? (choices as readonly Json[]) : [];
      return [name, first ?? values[textOf(type)] ?? "as scripted"];
    }),
  );
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

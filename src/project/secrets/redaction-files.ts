// redaction-files: collects the secrets in login files of other programs, to know what must not be
// written anywhere.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { AgentProfile } from "../../agents/profiles/profile.ts";
import { agentProfiles } from "../../agents/profiles/shipped-profiles.ts";
import type { Secret } from "../../kit/redact-needles.ts";
import { isSecretName } from "./redaction-names.ts";

type FileFormat = "netrc" | "urls" | "lines" | "json";

/** What an agent that autopilot knows signs in with. */
const agentFiles = Object.values(agentProfiles)
  .flatMap(({ ownLogin }: AgentProfile) => ownLogin?.files ?? [])
  .map(({ path }): readonly [string, FileFormat] => [
    path,
    path.endsWith(".json") ? "json" : "lines",
  ]);

/** Below the user's home; any may be missing. */
const files: readonly (readonly [path: string, format: FileFormat])[] = [
  [".netrc", "netrc"],
  [".git-credentials", "urls"],
  [".config/git/credentials", "urls"],
  [".npmrc", "lines"],
  [".pypirc", "lines"],
  [".cargo/credentials.toml", "lines"],
  [".aws/credentials", "lines"],
  [".config/gh/hosts.yml", "lines"],
  [".config/glab-cli/config.yml", "lines"],
  [".docker/config.json", "json"],
  [".config/github-copilot/apps.json", "json"],
  [".config/github-copilot/hosts.json", "json"],
  ...agentFiles,
];
const fileBytesMax = 256 * 1024;
const secretsPerFileMax = 200;
const depthMax = 20;

export function readLoginFiles(home: string | undefined): readonly Secret[] {
  if (home === undefined || home === "") return [];
  return files.flatMap(([path, format]) => {
    const text = readBounded(join(home, path));
    if (text === null) return [];
    const name = path.replace(/^\./, "").replaceAll(/[/.]+/g, "_");

    return parsers[format](text)
      .slice(0, secretsPerFileMax)
      .map((value) => ({ name, value }));
  });
}

/**
 * Each returns the secrets in a file's text: `password x`, `https://user:x@host`, `token = x`,
 * `{"token": "x"}`.
 */
const parsers: Readonly<Record<FileFormat, (text: string) => readonly string[]>> = {
  netrc: (text) => [...text.matchAll(/\bpassword\s+(\S+)/g)].map((match) => match[1] ?? ""),
  urls: (text) =>
    [...text.matchAll(/:\/\/[^\s:@/]*:([^\s@]+)@/g)].flatMap((match) => [
      match[1] ?? "",
      decodeOrKeep(match[1] ?? ""),
    ]),
  lines: (text) =>
    [...text.matchAll(/^[ \t]*(?:[^\s=]*:)?([\w-]+)[ \t]*[:=][ \t]*(\S.*)$/gm)].flatMap(
      ([, key = "", value = ""]) => (namesLogin(key) ? listPossibleValues(value.trim()) : []),
    ),
  json: (text) => {
    try {
      return findSecretLeaves(JSON.parse(text) as unknown, "", 0);
    } catch {
      return []; // half written or damaged
    }
  },
};

const namesLogin = (key: string): boolean =>
  isSecretName(key) || /authtoken|refresh|^access$|^auth$/i.test(key);

/**
 * What a value may be read as: programs differ in whether `#`, `;` or a quote in it ends it, and
 * whether `\\` escapes.
 */
function listPossibleValues(value: string): readonly string[] {
  const quote = /^["']/.exec(value)?.[0];
  const values =
    quote === undefined
      ? [value, value.replace(/\s+[#;].*$/, ""), value.replace(/\s*[#;].*$/, "")]
      : [
          value.slice(1, Math.max(1, value.lastIndexOf(quote))) || value,
          value.slice(1).split(quote, 1)[0] ?? "",
        ];
  return [...new Set(values.flatMap((text) => [text, text.replaceAll(/\\(.)/g, "$1")]))].filter(
    (text) => text !== "",
  );
}

/** The strings inside a JSON value whose key marks them as a login. */
export function findSecretLeaves(value: unknown, key: string, depth: number): readonly string[] {
  if (typeof value === "string") {
    return namesLogin(key.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")) ? [value] : [];
  }

  if (typeof value !== "object" || value === null || depth > depthMax) return [];
  if (Array.isArray(value)) {
    return value.flatMap((element) => findSecretLeaves(element, key, depth + 1));
  }

  return Object.entries(value).flatMap(([name, inner]) => findSecretLeaves(inner, name, depth + 1));
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The file's text, or null if it is missing, larger than any of these, or not a file. */
function readBounded(path: string): string | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }

  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > fileBytesMax) return null;
    const bytes = Buffer.alloc(fileBytesMax);

    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, fileBytesMax, 0));
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

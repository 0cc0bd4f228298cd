// section-parts: extracts tables of a TOML file, sections of an INI file and lines of a properties
// file by their names.

import { parse } from "smol-toml";
import { isRecord } from "../../detect/manifest.ts";
import { type ProtectedParts, squeezeSpace } from "./protected-parts.ts";
import { toWorkspaceParts } from "./workspace-parts.ts";

const tableDepthMax = 4;
/** The packages of a Cargo workspace. */
const workspaceList = /^workspace\.(?:members|exclude)$/;

/** The tables and keys of a TOML file whose dotted path matches. */
export function extractTables(text: string, protectedPath: RegExp): ProtectedParts {
  const parts: Record<string, string> = {};

  const visit = (value: unknown, path: string, depth: number): void => {
    if (workspaceList.test(path) && Array.isArray(value)) {
      const prefix = path.endsWith("exclude") ? "!" : "";
      const names = value.map((name) => `${prefix}${String(name)}`);
      Object.assign(parts, toWorkspaceParts(names));
      return;
    }

    if (protectedPath.test(path)) {
      parts[path] = JSON.stringify(value);
      return;
    }

    if (!isRecord(value) || depth >= tableDepthMax) return;
    for (const [key, inner] of Object.entries(value)) {
      visit(inner, path === "" ? key : `${path}.${key}`, depth + 1);
    }
  };

  visit(parse(text), "", 0);
  return parts;
}

/** The sections of an INI file whose name matches, without comments and blank lines. */
export function extractSections(text: string, protectedName: RegExp): ProtectedParts {
  const parts: Record<string, string> = {};
  let section: string | null = null;

  for (const line of text.split("\n")) {
    const name = /^\[([^\]]{1,200})\]/.exec(line)?.[1]?.trim();
    if (name !== undefined) {
      section = protectedName.test(name) ? `[${name}]` : null;
      continue;
    }

    const isBlank = /^\s*(?:[#;].*)?$/.test(line);
    if (section === null || isBlank) continue;
    parts[section] = `${parts[section] ?? ""}${line.trimEnd()}\n`;
  }

  return parts;
}

/** The lines of a properties file that match, each by the key before its `=`. */
export function extractProperties(text: string, protectedLine: RegExp): ProtectedParts {
  const lines = text.split("\n").filter((line) => protectedLine.test(line));
  const settings = lines.filter((line) => !/^\s*[#!]|version/i.test(line));

  return Object.fromEntries(
    settings.map((line) => {
      const key = line.split(/[=:]/, 1)[0] ?? "";
      return [key.trim(), squeezeSpace(line)];
    }),
  );
}

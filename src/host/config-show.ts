import type { Answer } from "../contracts/answer.ts";
import { findingText } from "../kit/finding.ts";
import { readConfig, type Origin } from "./config.ts";
import { findHome } from "./home.ts";
import type { Place } from "./place.ts";
import { reply } from "./reply.ts";

/** Every setting in force, and where it came from. */
export function config(place: Place, _input: object): Promise<Answer> {
  const read = readConfig({ env: place.env, root: findHome(place.cwd)?.root ?? null });
  if (read.kind === "invalid") {
    const page = read.findings.map(findingText);
    return Promise.resolve(
      reply("config_invalid", { message: page[0] ?? "A config file is not valid.", page, data: { findings: read.findings } }),
    );
  }
  const settings = Object.entries(read.origins)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, origin]) => ({ key, value: at(read.config, key), ...origin }));
  const page = settings.map((setting) => `${setting.key.padEnd(32)} ${JSON.stringify(setting.value)}  (${originText(setting)})`);
  const message = `${settings.length} settings.`;
  return Promise.resolve(reply("ok", { message, warnings: read.warnings, page, data: { settings, config_hash: read.hash } }));
}

function originText({ from, file, line }: Origin): string {
  return file === undefined ? from : `${from}: ${file}:${line ?? 1}`;
}

function at(value: unknown, key: string): unknown {
  let found = value;
  for (const part of key.split("."))
    found = typeof found === "object" && found !== null ? (found as Record<string, unknown>)[part] : undefined;
  return found;
}

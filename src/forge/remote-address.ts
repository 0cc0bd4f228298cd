// remote-address: parses the address of a git remote into its host and project, and chooses the program for that host. Pure.

import type { ForgeTool } from "../contracts/forge/pull-request.ts";

export type RemoteAddress = { readonly host: string; readonly project: string };

/** Names under which a host answers git only, and its real name. */
const aliases: Readonly<Record<string, string>> = { "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com" };
const hostForm = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
/** Two or more names with slashes between; no name begins with a dot or a dash. */
const projectForm = /^(?:[\w][\w.-]*\/)+[\w][\w.-]*$/;

/** Null if it isn't an address of a project on a host: a folder, say. */
export function parseAddress(url: string): RemoteAddress | null {
  // `https://host/group/project.git`, or `git@host:group/project.git` as scp writes it.
  const urlMatch = /^(?:https?|ssh|git\+ssh):\/\/(?:[^@/\s]*@)?([^/:\s]+)(?::\d+)?\/(\S+)$/i.exec(url);
  const scpMatch = /^(?:[^@/\s:]+@)?([^/:\s]+):(?!\/\/)(\S+)$/.exec(url);
  const [, rawHost = "", path = ""] = urlMatch ?? scpMatch ?? [];
  const host = rawHost.toLowerCase();
  const project = path
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  if (!hostForm.test(host) || !projectForm.test(project)) return null;
  return { host: aliases[host] ?? host, project };
}

/** By the host's name; null if that is not conclusive. */
export function toolFor(host: string): ForgeTool | null {
  if (/(?:^|[.-])github(?:[.-]|$)/.test(host)) return "gh";
  return /(?:^|[.-])gitlab(?:[.-]|$)/.test(host) ? "glab" : null;
}

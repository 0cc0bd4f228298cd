// remote-address: parses the address of a git remote into its host and project, and chooses the
// program for that host. Pure.

import type { ForgeTool } from "../contracts/forge/pull-request.ts";

export type RemoteAddress = { readonly host: string; readonly project: string };

/**
 * Names under which a host answers git alone (port 443 for ssh), and the name at which its API is.
 */
const apiHosts: Readonly<Record<string, string>> = {
  "ssh.github.com": "github.com",
  "altssh.gitlab.com": "gitlab.com",
};
/** `git.example.org` */
const hostPattern = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
/** `group/project`: two or more names with slashes between; no name begins with a dot or a dash. */
const projectPattern = /^(?:[\w][\w.-]*\/)+[\w][\w.-]*$/;

/** Null if it isn't an address of a project on a host: a folder, say. */
export function parseAddress(url: string): RemoteAddress | null {
  // `https://host/group/project.git`, or `git@host:group/project.git` as scp writes it.
  const urlMatch = /^(?:https?|ssh|git\+ssh):\/\/(?:[^@/\s]*@)?([^/:\s]+)(?::\d+)?\/(\S+)$/i.exec(
    url,
  );

  const scpMatch = /^(?:[^@/\s:]+@)?([^/:\s]+):(?!\/\/)(\S+)$/.exec(url);
  const [, rawHost = "", path = ""] = urlMatch ?? scpMatch ?? [];
  const host = rawHost.toLowerCase();
  const project = path
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  if (!hostPattern.test(host) || !projectPattern.test(project)) return null;

  return { host: apiHosts[host] ?? host, project };
}

/** By the host's name: `github.com`, `git.gitlab-example.org`. Null if that is not conclusive. */
export function chooseForgeTool(host: string): ForgeTool | null {
  if (/(?:^|[.-])github(?:[.-]|$)/.test(host)) return "gh";
  return /(?:^|[.-])gitlab(?:[.-]|$)/.test(host) ? "glab" : null;
}

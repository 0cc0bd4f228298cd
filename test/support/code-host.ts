// code-host: a stand-in for GitHub or GitLab as `gh api` and `glab api` show it: a program that
// records every call and plays answers from a file, with a real bare repository behind the remote's
// address.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { git } from "./scratch-repository.ts";

export type HostState = {
  isLoggedIn: boolean;
  /** Ends the process that asked, by SIGKILL, after this many calls that made something. */
  killsAfterPosts?: number;
  /** A text that every call fails with. */
  fails?: string;
  pulls: {
    number: number;
    branch: string;
    state: string;
    merged_at: string | null;
    draft: boolean;
    title: string;
    body: string;
    base: string;
  }[];
  checks: { id: number; name: string; status: string; conclusion: string | null; log: string }[];
  comments: {
    id: number;
    body: string;
    login: string;
    association: string;
    /** Where it is not that of the association. */
    permission?: "read";
    path?: string;
    line?: number;
    kind: "issue" | "line" | "review";
  }[];
  issues: { number: number; title: string; body: string; labels: string[]; isPull?: true }[];
};
export type Called = {
  readonly argv: readonly string[];
  readonly body: Record<string, unknown> | null;
  readonly token: string | null;
};

const program = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const { basename, join } = require("node:path");
const here = __dirname, tool = basename(process.argv[1]), argv = process.argv.slice(2);
const input = argv.includes("--input") ? readFileSync(0, "utf8") : "";
const body = input === "" ? null : JSON.parse(input);
appendFileSync(join(here, "calls.jsonl"), JSON.stringify({ argv, body, token: process.env.GH_TOKEN ?? null }) + "\\n");
const state = JSON.parse(readFileSync(join(here, "state.json"), "utf8"));
const save = () => writeFileSync(join(here, "state.json"), JSON.stringify(state));
const fail = (code, words) => { process.stderr.write(words + "\\n"); process.exit(code); };
if (!state.isLoggedIn) fail(tool === "gh" ? 4 : 1, "To get started with GitHub CLI, please run:  " + tool + " auth login");
if (state.fails) fail(1, state.fails);
const path = argv.at(-1), [where, query = ""] = path.split("?"), asked = new URLSearchParams(query);
const headOf = (branch) => { try { return require("node:child_process").execFileSync("git", ["--git-dir", join(here, "remote.git"), "rev-parse", "refs/heads/" + branch], { encoding: "utf8" }).trim(); } catch { return "0".repeat(40); } };
const isGh = tool === "gh";
const shown = (p) => isGh
  ? { number: p.number, html_url: "https://github.com/acme/shop/pull/" + p.number, state: p.state, merged_at: p.merged_at, draft: p.draft, head: { sha: headOf(p.branch) } }
  : { iid: p.number, web_url: "https://gitlab.com/acme/shop/-/merge_requests/" + p.number, state: p.merged_at ? "merged" : p.state === "open" ? "opened" : "closed", draft: p.draft, sha: headOf(p.branch), source_project_id: 1, target_project_id: 1,
      head_pipeline: state.checks.length === 0 ? null : { id: 5, status: state.checks.some((c) => c.status !== "completed") ? "running" : state.checks.some((c) => c.conclusion === "failure") ? "failed" : "success" } };
const first = (list) => (asked.get("page") ?? "1") === "1" ? list : [];
const said = (kind) => first(state.comments.filter((c) => c.kind === kind).map((c) => ({ id: c.id, body: c.body, user: { login: c.login }, author_association: c.association, path: c.path, line: c.line })));
const answer = () => {
  if (body !== null) {
    const branch = isGh ? body.head : body.source_branch;
    if (state.pulls.some((p) => p.branch === branch && p.state === "open")) fail(1, "gh: A pull request already exists for " + branch + ". (HTTP 422)");
    const made = { number: state.pulls.length + 7, branch, state: "open", merged_at: null, draft: isGh ? body.draft : body.title.startsWith("Draft: "), title: body.title, body: isGh ? body.body : body.description, base: isGh ? body.base : body.target_branch };
    state.pulls.push(made);
    save();
    if (state.killsAfterPosts > 0) { process.kill(process.ppid, "SIGKILL"); }
    return shown(made);
  }
  if (/(pulls|merge_requests)$/.test(where)) {
    const branch = isGh ? (asked.get("head") ?? "").split(":")[1] : asked.get("source_branch");
    return first(state.pulls.filter((p) => p.branch === branch).map(shown));
  }
  const one = /(?:pulls|merge_requests)\\/(\\d+)$/.exec(where);
  if (one) return shown(state.pulls.find((p) => p.number === Number(one[1])));
  if (where.endsWith("/check-runs")) return { check_runs: first(state.checks.map((c) => ({ ...c, app: { slug: "github-actions" } }))) };
  if (where.endsWith("/status")) return { statuses: [] };
  if (where.endsWith("/reviews")) return said("review");
  if (/pulls\\/\\d+\\/comments$/.test(where)) return said("line");
  if (/issues\\/\\d+\\/comments$/.test(where)) return said("issue");
  if (where.endsWith("/jobs")) return first(state.checks.map((c) => ({ id: c.id, name: c.name, status: c.conclusion === "failure" ? "failed" : "success" })));
  if (where.endsWith("/notes")) return first(state.comments.map((c) => ({ id: c.id, body: c.body, author: { id: state.comments.findIndex((d) => d.login === c.login), username: c.login }, position: c.path ? { new_path: c.path, new_line: c.line } : null })));
  const member = state.comments[/members\\/all\\/(\\d+)$/.exec(where)?.[1] ?? -1];
  if (member?.association === "MEMBER") return { username: member.login, access_level: member.permission === "read" ? 20 : 40 };
  const asking = /collaborators\\/([^/]+)\\/permission$/.exec(where);
  if (asking) return { permission: state.comments.find((c) => c.login === asking[1])?.permission ?? "write" };
  if (where.endsWith("/issues")) return first(state.issues.filter((i) => !asked.get("labels") || i.labels.includes(asked.get("labels"))).map((i) => isGh
    ? { html_url: "https://github.com/acme/shop/issues/" + i.number, title: i.title, body: i.body, labels: i.labels.map((name) => ({ name })), ...(i.isPull ? { pull_request: {} } : {}) }
    : { web_url: "https://gitlab.com/acme/shop/-/issues/" + i.number, title: i.title, description: i.body, labels: i.labels }));
  return fail(1, tool + ": Not Found (HTTP 404) " + where);
};
const job = /jobs\\/(\\d+)\\/(logs|trace)$/.exec(where);
process.stdout.write(job ? state.checks.find((c) => c.id === Number(job[1])).log : JSON.stringify(answer()));
`;

/** Gives a repository a remote at the host, and the host's program a place on the PATH. */
export function codeHost(folder: string, tool: "gh" | "glab" = "gh") {
  const place = join(dirname(folder), "code-host");
  const remote = join(place, "remote.git");
  mkdirSync(place, { recursive: true });
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", remote]);
  git(folder, "push", "-q", remote, "main");
  const url = `https://${tool === "gh" ? "github.com" : "gitlab.com"}/acme/shop.git`;
  git(folder, "remote", "add", "origin", url);
  const home = join(dirname(folder), "home");
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, ".gitconfig"),
    `[url "${remote}"]\n\tinsteadOf = ${url}\n[user]\n\tname = Tester\n\temail = tester@example.invalid\n`,
  );

  writeFileSync(join(place, tool), program);
  chmodSync(join(place, tool), 0o755);
  const file = join(place, "state.json");
  const read = (): HostState => JSON.parse(readFileSync(file, "utf8")) as HostState;
  const set = (change: Partial<HostState>): void =>
    writeFileSync(file, JSON.stringify({ ...read(), ...change }));
  writeFileSync(
    file,
    JSON.stringify({ isLoggedIn: true, pulls: [], checks: [], comments: [], issues: [] }),
  );

  return {
    env: {
      PATH: `${place}${delimiter}${process.env["PATH"] ?? ""}`,
      GH_TOKEN: "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    },
    remote,
    read,
    set,
    calls: (): readonly Called[] =>
      existsSync(join(place, "calls.jsonl"))
        ? readFileSync(join(place, "calls.jsonl"), "utf8")
            .trimEnd()
            .split("\n")
            .map((line) => JSON.parse(line) as Called)
        : [],
    /** What the host has of a branch; null if it has none. */
    branch: (name: string): string | null => {
      try {
        return git(remote, "rev-parse", `refs/heads/${name}`);
      } catch {
        return null;
      }
    },
  };
}

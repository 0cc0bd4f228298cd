// github: pull requests, checks, comments and issues of a GitHub project, through `gh api`.
//
// Invariants:
//   S1. Only comments of people with write access count. Others are counted, not passed on.

import * as v from "valibot";
import type { OutsideEvidence } from "../contracts/forge/pull-request.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { askAll, askOne, askUpTo, cutText, excerptOf, fetchLog, ShownUrl } from "./answers.ts";
import { part, type ToolPlace } from "./call-tool.ts";
import type { Forge, PullRequestFound } from "./forge.ts";

const text = v.string();
const Pull = v.looseObject({
  number: v.number(),
  html_url: ShownUrl,
  state: text,
  merged_at: v.optional(v.nullable(text)),
  draft: v.optional(v.boolean()),
  head: v.looseObject({ sha: text }),
});
const CheckRun = v.looseObject({
  id: v.number(),
  name: text,
  status: text,
  conclusion: v.nullable(text),
  app: v.optional(v.nullable(v.looseObject({ slug: v.optional(v.nullable(text)) }))),
  output: v.optional(v.nullable(v.looseObject({ title: v.optional(v.nullable(text)), summary: v.optional(v.nullable(text)) }))),
});
const Status = v.looseObject({ context: text, state: text, description: v.optional(v.nullable(text)), updated_at: v.optional(text) });
const Said = v.looseObject({
  id: v.number(),
  body: v.nullable(text),
  user: v.nullable(v.looseObject({ login: text })),
  author_association: v.optional(text),
  path: v.optional(text),
  line: v.optional(v.nullable(v.number())),
});
const IssueRow = v.looseObject({
  html_url: text,
  title: text,
  body: v.nullable(text),
  labels: v.optional(v.array(v.union([text, v.looseObject({ name: v.optional(v.nullable(text)) })])), []),
  pull_request: v.optional(v.unknown()),
});

const failed = new Set(["failure", "timed_out", "startup_failure", "action_required", "error"]);
/** Only for these is write access checked: a member of an organization may often only read. */
const near = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);
const Permission = v.looseObject({ permission: text });
const writing = new Set(["admin", "maintain", "write"]);

export function openGitHub(place: ToolPlace, project: string): Forge {
  const [owner = ""] = project.split("/");
  const root = `repos/${project.split("/").map(part).join("/")}`;
  const find: Forge["find"] = async (branch) => {
    const rows = await askAll(place, Pull, `${root}/pulls?state=all&head=${part(`${owner}:${branch}`)}`);
    const found = rows.map(readPull);
    return found.find(({ state }) => state === "open") ?? found[0] ?? null;
  };
  return {
    find,
    create: async ({ branch, base, title, body, isDraft }) => {
      try {
        return readPull(await askOne(place, Pull, `${root}/pulls`, { title, body, head: branch, base, draft: isDraft }));
      } catch (error) {
        const known = error instanceof WorkspaceFailed && error.reason === "forge_refused" ? await find(branch) : null; // it was there already
        if (known?.state === "open") return known;
        throw error;
      }
    },
    look: async (number) => {
      const pull = readPull(await askOne(place, Pull, `${root}/pulls/${number}`));
      if (pull.state !== "open" || pull.head === null) return { ...pull, pending: 0, evidence: [], ignored: 0 };
      const ci = await fetchChecks(place, root, pull.head);
      const said = await fetchComments(place, root, number);
      return { ...pull, pending: ci.pending, evidence: [...ci.evidence, ...said.evidence], ignored: said.ignored };
    },
    issues: async ({ label, countMax }) => {
      const wanted = label === undefined ? "" : `&labels=${part(label)}`;
      const { found, isWhole } = await askUpTo(place, IssueRow, `${root}/issues?state=open${wanted}`, {
        countMax,
        keep: ({ pull_request }) => pull_request === undefined, // GitHub lists pull requests among the issues
      });
      const issues = found.map(({ html_url, title, body, labels }) => ({
        url: html_url,
        title,
        body: body ?? "",
        labels: labels.map((item) => (typeof item === "string" ? item : (item.name ?? ""))),
      }));
      return { issues, isWhole };
    },
  };
}

const readPull = ({ number, html_url, state, merged_at, draft, head }: v.InferOutput<typeof Pull>): PullRequestFound => ({
  number,
  url: html_url,
  state: state === "open" ? "open" : merged_at === null || merged_at === undefined ? "closed" : "merged",
  isDraft: draft === true,
  head: head.sha,
});

async function fetchChecks(
  place: ToolPlace,
  root: string,
  head: string,
): Promise<{ readonly pending: number; readonly evidence: readonly OutsideEvidence[] }> {
  const runs = await askAll(place, CheckRun, `${root}/commits/${part(head)}/check-runs?filter=latest`, { at: "check_runs" });
  const statuses = await askAll(place, Status, `${root}/commits/${part(head)}/status`, { at: "statuses" });
  const evidence: OutsideEvidence[] = [];
  for (const { id, name, conclusion, app, output } of runs.filter((run) => failed.has(run.conclusion ?? ""))) {
    const log = app?.slug === "github-actions" ? await fetchLog(place, `${root}/actions/jobs/${id}/logs`) : ""; // a job has its check's number
    const reported = [output?.title, output?.summary].filter((line) => line !== null && line !== undefined).join("\n");
    evidence.push({
      key: `check:${head}:${id}`,
      kind: "check",
      by: name.slice(0, 200) || "check",
      text: excerptOf(log === "" ? reported : log) || (conclusion ?? ""),
    });
  }
  for (const { context, state, description, updated_at = "" } of statuses.filter((status) => failed.has(status.state)))
    evidence.push({
      key: `status:${head}:${context}:${updated_at}`.slice(0, 300),
      kind: "check",
      by: context.slice(0, 200) || "status",
      text: cutText(description ?? state),
    });
  const pending = runs.filter(({ status }) => status !== "completed").length + statuses.filter(({ state }) => state === "pending").length;
  return { pending, evidence };
}

async function fetchComments(
  place: ToolPlace,
  root: string,
  number: number,
): Promise<{ readonly ignored: number; readonly evidence: readonly OutsideEvidence[] }> {
  const lists = [
    ["review", `${root}/pulls/${number}/reviews`],
    ["line", `${root}/pulls/${number}/comments`],
    ["comment", `${root}/issues/${number}/comments`],
  ] as const;
  const evidence: OutsideEvidence[] = [];
  const known = new Map<string, boolean>();
  const mayWrite = async (login: string): Promise<boolean> => {
    const may = known.get(login) ?? (await writesTo(place, root, login));
    known.set(login, may);
    return may;
  };
  let ignored = 0;
  for (const [kind, path] of lists)
    for (const { id, body, user, author_association = "", path: file, line } of await askAll(place, Said, path)) {
      if (body === null || body.trim() === "") continue;
      if (user === null || !near.has(author_association) || !(await mayWrite(user.login))) ignored += 1; // S1
      else
        evidence.push({
          key: `${kind}:${id}`,
          kind: "comment",
          by: user.login.slice(0, 200) || "somebody",
          ...(file === undefined || file === "" ? {} : { at: `${file.slice(0, 4_096)}${line == null ? "" : `:${line}`}` }),
          text: cutText(body),
        });
    }
  return { ignored, evidence };
}

/** S1. Where the host does not say, they may not. */
async function writesTo(place: ToolPlace, root: string, login: string): Promise<boolean> {
  try {
    return writing.has((await askOne(place, Permission, `${root}/collaborators/${part(login)}/permission`)).permission);
  } catch (error) {
    if (error instanceof WorkspaceFailed && error.reason === "forge_refused") return false;
    throw error;
  }
}

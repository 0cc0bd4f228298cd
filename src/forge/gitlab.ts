// gitlab: merge requests, pipelines, comments and issues of a GitLab project, through `glab api`.
//
// Invariants:
//   S1. Only comments of people with write access count. Others are counted, not passed on.

import * as v from "valibot";
import type { OutsideEvidence } from "../contracts/forge/pull-request.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { fetchAll, fetchOne, fetchUpTo, cutText, excerptOf, fetchLog, ShownUrl } from "./answers.ts";
import { escapePart, type ToolContext } from "./call-tool.ts";
import type { Forge, PullRequest } from "./forge.ts";

const text = v.string();
const Merge = v.looseObject({
  iid: v.number(),
  web_url: ShownUrl,
  state: text,
  draft: v.optional(v.boolean()),
  sha: v.nullable(text),
  source_project_id: v.optional(v.nullable(v.number())),
  target_project_id: v.optional(v.number()),
  head_pipeline: v.optional(v.nullable(v.looseObject({ id: v.number(), status: text }))),
});
const Job = v.looseObject({ id: v.number(), name: text, status: text, allow_failure: v.optional(v.boolean()) });
const Note = v.looseObject({
  id: v.number(),
  body: text,
  system: v.optional(v.boolean()),
  resolved: v.optional(v.boolean()),
  author: v.looseObject({ username: text }),
  position: v.optional(v.nullable(v.looseObject({ new_path: v.optional(v.nullable(text)), new_line: v.optional(v.nullable(v.number())) }))),
});
const Member = v.looseObject({ username: text, access_level: v.number() });
const IssueRow = v.looseObject({ web_url: text, title: text, description: v.nullable(text), labels: v.optional(v.array(text), []) });

/** GitLab's access level "Developer", the lowest that may push. */
const developer = 30;
const pathCharsMax = 4_096;
const finishedStatuses = new Set(["success", "failed", "canceled", "skipped", "manual"]);

export function openGitLab(tool: ToolContext, project: string): Forge {
  const root = `projects/${escapePart(project)}`;
  const find: Forge["find"] = async (branch) => {
    const rows = await fetchAll(tool, Merge, `${root}/merge_requests?state=all&source_branch=${escapePart(branch)}`);
    const requests = rows.filter(({ source_project_id, target_project_id }) => source_project_id === target_project_id).map(toPullRequest);
    return requests.find(({ state }) => state === "open") ?? requests[0] ?? null;
  };
  return {
    find,
    create: async ({ branch, base, title, body, isDraft }) => {
      const request = { source_branch: branch, target_branch: base, title: isDraft ? `Draft: ${title}` : title, description: body };
      try {
        return toPullRequest(await fetchOne(tool, Merge, `${root}/merge_requests`, request));
      } catch (error) {
        // GitLab refuses a second merge request of a branch: then the first is meant.
        const existing = error instanceof WorkspaceFailed && error.reason === "forge_refused" ? await find(branch) : null;
        if (existing?.state === "open") return existing;
        throw error;
      }
    },
    look: async (number) => {
      const merge = await fetchOne(tool, Merge, `${root}/merge_requests/${number}`);
      const request = toPullRequest(merge);
      if (request.state !== "open") return { ...request, pending: 0, evidence: [], ignored: 0 };
      const pipeline = merge.head_pipeline ?? null;
      const failures = pipeline?.status === "failed" ? await failedJobs(tool, root, pipeline.id) : [];
      const notes = await fetchNotes(tool, root, number);
      return {
        ...request,
        pending: pipeline === null || finishedStatuses.has(pipeline.status) ? 0 : 1,
        evidence: [...failures, ...notes.evidence],
        ignored: notes.ignored,
      };
    },
    issues: async ({ label, countMax }) => {
      const labelQuery = label === undefined ? "" : `&labels=${escapePart(label)}`;
      const { found, isWhole } = await fetchUpTo(tool, IssueRow, `${root}/issues?state=opened${labelQuery}`, { countMax });
      return {
        issues: found.map(({ web_url, title, description, labels }) => ({ url: web_url, title, body: description ?? "", labels })),
        isWhole,
      };
    },
  };
}

const toPullRequest = ({ iid, web_url, state, draft, sha }: v.InferOutput<typeof Merge>): PullRequest => ({
  number: iid,
  url: web_url,
  state: state === "merged" || state === "closed" ? state : "open",
  isDraft: draft === true,
  head: sha,
});

async function failedJobs(tool: ToolContext, root: string, pipeline: number): Promise<readonly OutsideEvidence[]> {
  const jobs = await fetchAll(tool, Job, `${root}/pipelines/${pipeline}/jobs`);
  const evidence: OutsideEvidence[] = [];
  for (const { id, name, status, allow_failure } of jobs) {
    if (status !== "failed" || allow_failure === true) continue;
    const log = await fetchLog(tool, `${root}/jobs/${id}/trace`);
    evidence.push({ key: `job:${id}`, kind: "check", by: name.slice(0, 200) || "job", text: excerptOf(log) || status });
  }
  return evidence;
}

async function fetchNotes(
  tool: ToolContext,
  root: string,
  number: number,
): Promise<{ readonly ignored: number; readonly evidence: readonly OutsideEvidence[] }> {
  const notes = (await fetchAll(tool, Note, `${root}/merge_requests/${number}/notes?sort=asc`)).filter(
    ({ system, resolved, body }) => system !== true && resolved !== true && body.trim() !== "",
  );
  if (notes.length === 0) return { ignored: 0, evidence: [] };
  const members = await fetchAll(tool, Member, `${root}/members/all`);
  const writers = new Set(members.filter(({ access_level }) => access_level >= developer).map(({ username }) => username));
  const fromWriters = notes.filter(({ author }) => writers.has(author.username)); // S1
  return {
    ignored: notes.length - fromWriters.length,
    evidence: fromWriters.map(({ id, body, author, position }): OutsideEvidence => {
      const path = position?.new_path ?? "";
      const line = position?.new_line == null ? "" : `:${position.new_line}`;
      const place = path === "" ? {} : { at: `${path.slice(0, pathCharsMax)}${line}` };
      return { key: `note:${id}`, kind: "comment", by: author.username.slice(0, 200), ...place, text: cutText(body) };
    }),
  };
}

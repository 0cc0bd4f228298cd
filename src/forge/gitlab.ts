// gitlab: merge requests, pipelines, comments and issues of a GitLab project, through `glab api`.
//
// Invariants:
//   S1. Only comments of people with write access count. Others are counted, not passed on.

import * as v from "valibot";
import type { OutsideEvidence } from "../contracts/forge/pull-request.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { escapePart, type ToolContext } from "./call-tool.ts";
import { cutAuthor, cutComment, excerptLogEnd, placeField } from "./evidence-text.ts";
import { fetchAll, fetchLog, fetchOne, fetchUpTo, ShownUrl } from "./fetch-answers.ts";
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
const Job = v.looseObject({
  id: v.number(),
  name: text,
  status: text,
  allow_failure: v.optional(v.boolean()),
});
const Note = v.looseObject({
  id: v.number(),
  body: text,
  system: v.optional(v.boolean()),
  resolved: v.optional(v.boolean()),
  author: v.looseObject({ id: v.number(), username: text }),
  position: v.optional(
    v.nullable(
      v.looseObject({
        new_path: v.optional(v.nullable(text)),
        new_line: v.optional(v.nullable(v.number())),
      }),
    ),
  ),
});
const Member = v.looseObject({ access_level: v.number() });
const IssueRow = v.looseObject({
  web_url: text,
  title: text,
  description: v.nullable(text),
  labels: v.optional(v.array(text), []),
});

/** GitLab's access level "Developer", the lowest that may push. */
const developerLevel = 30;
/** Of a pipeline; `manual`: it waits for a person, so nothing more comes by itself. */
const finishedStatuses = new Set(["success", "failed", "canceled", "skipped", "manual"]);

export function openGitLab(tool: ToolContext, project: string): Forge {
  const root = `projects/${escapePart(project)}`;
  const findPullRequest: Forge["findPullRequest"] = async (branch) => {
    const rows = await fetchAll(
      tool,
      Merge,
      `${root}/merge_requests?state=all&source_branch=${escapePart(branch)}`,
    );
    const requests = rows
      .filter(({ source_project_id, target_project_id }) => source_project_id === target_project_id)
      .map(toPullRequest);
    return requests.find(({ state }) => state === "open") ?? requests[0] ?? null;
  };

  return {
    findPullRequest,
    createPullRequest: async ({ branch, base, title, body, isDraft }) => {
      const request = {
        source_branch: branch,
        target_branch: base,
        title: isDraft ? `Draft: ${title}` : title,
        description: body,
      };

      try {
        return toPullRequest(await fetchOne(tool, Merge, `${root}/merge_requests`, request));
      } catch (error) {
        // GitLab refuses a second merge request of a branch: then the first is meant.
        const existing =
          error instanceof WorkspaceFailed && error.reason === "forge_refused"
            ? await findPullRequest(branch)
            : null;
        if (existing?.state === "open") return existing;
        throw error;
      }
    },
    inspectPullRequest: async (number) => {
      const merge = await fetchOne(tool, Merge, `${root}/merge_requests/${number}`);
      const request = toPullRequest(merge);
      if (request.state !== "open") return { ...request, pending: 0, evidence: [], ignored: 0 };
      const pipeline = merge.head_pipeline ?? null;
      const failures =
        pipeline?.status === "failed" ? await fetchFailedJobs(tool, root, pipeline.id) : [];
      const notes = await fetchNotes(tool, root, number);

      return {
        ...request,
        pending: pipeline === null || finishedStatuses.has(pipeline.status) ? 0 : 1,
        evidence: [...failures, ...notes.evidence],
        ignored: notes.ignored,
      };
    },
    listIssues: async ({ label, countMax }) => {
      const labelQuery = label === undefined ? "" : `&labels=${escapePart(label)}`;
      const { values, isWhole } = await fetchUpTo(
        tool,
        IssueRow,
        `${root}/issues?state=opened${labelQuery}`,
        { countMax },
      );

      return {
        issues: values.map(({ web_url, title, description, labels }) => ({
          url: web_url,
          title,
          body: description ?? "",
          labels,
        })),
        isWhole,
      };
    },
  };
}

const toPullRequest = ({
  iid,
  web_url,
  state,
  draft,
  sha,
}: v.InferOutput<typeof Merge>): PullRequest => ({
  number: iid,
  url: web_url,
  state: state === "merged" || state === "closed" ? state : "open",
  isDraft: draft === true,
  head: sha,
});

async function fetchFailedJobs(
  tool: ToolContext,
  root: string,
  pipeline: number,
): Promise<readonly OutsideEvidence[]> {
  const jobs = await fetchAll(tool, Job, `${root}/pipelines/${pipeline}/jobs`);
  const evidence: OutsideEvidence[] = [];

  for (const { id, name, status, allow_failure } of jobs) {
    if (status !== "failed" || allow_failure === true) continue;
    const log = await fetchLog(tool, `${root}/jobs/${id}/trace`);
    evidence.push({
      key: `job:${id}`,
      kind: "check",
      by: cutAuthor(name, "job"),
      text: excerptLogEnd(log) || status,
    });
  }

  return evidence;
}

async function fetchNotes(
  tool: ToolContext,
  root: string,
  number: number,
): Promise<{ readonly ignored: number; readonly evidence: readonly OutsideEvidence[] }> {
  const notes = (
    await fetchAll(tool, Note, `${root}/merge_requests/${number}/notes?sort=asc`)
  ).filter(
    ({ system, resolved, body }) => system !== true && resolved !== true && body.trim() !== "",
  );
  if (notes.length === 0) return { ignored: 0, evidence: [] };
  const writers = new Set<number>();

  for (const id of new Set(notes.map(({ author }) => author.id))) {
    if (await hasWriteAccess(tool, root, id)) writers.add(id);
  }

  const fromWriters = notes.filter(({ author }) => writers.has(author.id)); // S1
  return {
    ignored: notes.length - fromWriters.length,
    evidence: fromWriters.map(({ id, body, author, position }): OutsideEvidence => {
      const place = placeField(position?.new_path ?? "", position?.new_line ?? null);
      return {
        key: `note:${id}`,
        kind: "comment",
        by: cutAuthor(author.username, "somebody"),
        ...place,
        text: cutComment(body),
      };
    }),
  };
}

/**
 * Whether a person may write to the project, as a member of it or of a group above it (S1). Who is
 * no member is refused by the host.
 */
async function hasWriteAccess(tool: ToolContext, root: string, id: number): Promise<boolean> {
  try {
    return (
      (await fetchOne(tool, Member, `${root}/members/all/${id}`)).access_level >= developerLevel
    );
  } catch (error) {
    if (error instanceof WorkspaceFailed && error.reason === "forge_refused") return false;
    throw error;
  }
}

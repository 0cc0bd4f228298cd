// github: pull requests, checks, comments and issues of a GitHub project, through `gh api`.
//
// Invariants:
//   S1. Only comments of people with write access count. Others are counted, not passed on.

import * as v from "valibot";
import { evidenceKeyCharsMax, type OutsideEvidence } from "../contracts/forge/pull-request.ts";
import { WorkspaceFailed } from "../workspace/failure.ts";
import { escapePart, type ToolContext } from "./call-tool.ts";
import { cutAuthor, cutComment, excerptLogEnd, placeField } from "./evidence-text.ts";
import { fetchAll, fetchLog, fetchOne, fetchUpTo, ShownUrl } from "./fetch-answers.ts";
import type { Forge, PullRequest } from "./forge.ts";

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
  output: v.optional(
    v.nullable(
      v.looseObject({ title: v.optional(v.nullable(text)), summary: v.optional(v.nullable(text)) }),
    ),
  ),
});
const Status = v.looseObject({
  context: text,
  state: text,
  description: v.optional(v.nullable(text)),
  updated_at: v.optional(text),
});
const Comment = v.looseObject({
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
  labels: v.optional(
    v.array(v.union([text, v.looseObject({ name: v.optional(v.nullable(text)) })])),
    [],
  ),
  pull_request: v.optional(v.unknown()),
});

/**
 * Of check runs, and of the older commit statuses (`failure`, `error`). A cancelled or skipped
 * check is no finding.
 */
const failedConclusions = new Set([
  "failure",
  "timed_out",
  "startup_failure",
  "action_required",
  "error",
]);
/**
 * Only of these is the write access asked for; of others it is known. A member of an organization
 * may often only read.
 */
const trustedAssociations = new Set(["OWNER", "MEMBER", "COLLABORATOR"]);
const Permission = v.looseObject({ permission: text });
const writePermissions = new Set(["admin", "maintain", "write"]);

export function openGitHub(tool: ToolContext, project: string): Forge {
  const [owner = ""] = project.split("/");
  const root = `repos/${project.split("/").map(escapePart).join("/")}`;

  const findPullRequest: Forge["findPullRequest"] = async (branch) => {
    const rows = await fetchAll(
      tool,
      Pull,
      `${root}/pulls?state=all&head=${escapePart(`${owner}:${branch}`)}`,
    );
    const pulls = rows.map(toPullRequest);
    return pulls.find(({ state }) => state === "open") ?? pulls[0] ?? null;
  };

  return {
    findPullRequest,
    createPullRequest: async ({ branch, base, title, body, isDraft }) => {
      try {
        return toPullRequest(
          await fetchOne(tool, Pull, `${root}/pulls`, {
            title,
            body,
            head: branch,
            base,
            draft: isDraft,
          }),
        );
      } catch (error) {
        // GitHub refuses a second pull request of a branch: then the first is meant.
        const existing =
          error instanceof WorkspaceFailed && error.reason === "forge_refused"
            ? await findPullRequest(branch)
            : null;
        if (existing?.state === "open") return existing;
        throw error;
      }
    },
    inspectPullRequest: async (number) => {
      const pull = toPullRequest(await fetchOne(tool, Pull, `${root}/pulls/${number}`));
      if (pull.state !== "open" || pull.head === null) {
        return { ...pull, pending: 0, evidence: [], ignored: 0 };
      }

      const checks = await fetchChecks(tool, root, pull.head);
      const comments = await fetchComments(tool, root, number);
      return {
        ...pull,
        pending: checks.pending,
        evidence: [...checks.evidence, ...comments.evidence],
        ignored: comments.ignored,
      };
    },
    listIssues: async ({ label, countMax }) => {
      const labelQuery = label === undefined ? "" : `&labels=${escapePart(label)}`;
      const { values, isWhole } = await fetchUpTo(
        tool,
        IssueRow,
        `${root}/issues?state=open${labelQuery}`,
        {
          countMax,
          keep: ({ pull_request }) => pull_request === undefined, // GitHub lists pull requests among the issues
        },
      );

      const issues = values.map(({ html_url, title, body, labels }) => ({
        url: html_url,
        title,
        body: body ?? "",
        labels: labels.map((item) => (typeof item === "string" ? item : (item.name ?? ""))),
      }));

      return { issues, isWhole };
    },
  };
}

function toPullRequest({
  number,
  html_url,
  state,
  merged_at,
  draft,
  head,
}: v.InferOutput<typeof Pull>): PullRequest {
  const endState = merged_at == null ? "closed" : "merged";
  return {
    number,
    url: html_url,
    state: state === "open" ? "open" : endState,
    isDraft: draft === true,
    head: head.sha,
  };
}

async function fetchChecks(
  tool: ToolContext,
  root: string,
  head: string,
): Promise<{ readonly pending: number; readonly evidence: readonly OutsideEvidence[] }> {
  const runs = await fetchAll(
    tool,
    CheckRun,
    `${root}/commits/${escapePart(head)}/check-runs?filter=latest`,
    { listField: "check_runs" },
  );

  const statuses = await fetchAll(tool, Status, `${root}/commits/${escapePart(head)}/status`, {
    listField: "statuses",
  });

  const evidence: OutsideEvidence[] = [];
  for (const { id, name, conclusion, app, output } of runs.filter((run) =>
    failedConclusions.has(run.conclusion ?? ""),
  )) {
    const log =
      app?.slug === "github-actions" ? await fetchLog(tool, `${root}/actions/jobs/${id}/logs`) : ""; // a job has its check's number
    const summary = [output?.title, output?.summary]
      .filter((line) => line !== null && line !== undefined)
      .join("\n");

    evidence.push({
      key: `check:${head}:${id}`,
      kind: "check",
      by: cutAuthor(name, "check"),
      text: excerptLogEnd(log === "" ? summary : log) || (conclusion ?? ""),
    });
  }

  for (const { context, state, description, updated_at = "" } of statuses.filter((status) =>
    failedConclusions.has(status.state),
  )) {
    evidence.push({
      key: `status:${head}:${context}:${updated_at}`.slice(0, evidenceKeyCharsMax),
      kind: "check",
      by: cutAuthor(context, "status"),
      text: cutComment(description ?? state),
    });
  }

  const pending =
    runs.filter(({ status }) => status !== "completed").length +
    statuses.filter(({ state }) => state === "pending").length;

  return { pending, evidence };
}

async function fetchComments(
  tool: ToolContext,
  root: string,
  number: number,
): Promise<{ readonly ignored: number; readonly evidence: readonly OutsideEvidence[] }> {
  const lists = [
    ["review", `${root}/pulls/${number}/reviews`],
    ["line", `${root}/pulls/${number}/comments`],
    ["comment", `${root}/issues/${number}/comments`],
  ] as const;

  const evidence: OutsideEvidence[] = [];
  const writeAccess = new Map<string, boolean>();

  const mayWrite = async (login: string): Promise<boolean> => {
    const canWrite = writeAccess.get(login) ?? (await hasWriteAccess(tool, root, login));
    writeAccess.set(login, canWrite);
    return canWrite;
  };

  let ignored = 0;
  for (const [kind, path] of lists) {
    for (const { id, body, user, author_association = "", path: file, line } of await fetchAll(
      tool,
      Comment,
      path,
    )) {
      if (body === null || body.trim() === "") continue;
      if (
        user === null ||
        !trustedAssociations.has(author_association) ||
        !(await mayWrite(user.login))
      ) {
        ignored += 1;
      } // S1
      else {
        evidence.push({
          key: `${kind}:${id}`,
          kind: "comment",
          by: cutAuthor(user.login, "somebody"),
          ...placeField(file ?? "", line ?? null),
          text: cutComment(body),
        });
      }
    }
  }

  return { ignored, evidence };
}

/** Whether a person may write to the project (S1). If the host refuses to say, the answer is no. */
async function hasWriteAccess(tool: ToolContext, root: string, login: string): Promise<boolean> {
  try {
    return writePermissions.has(
      (await fetchOne(tool, Permission, `${root}/collaborators/${escapePart(login)}/permission`))
        .permission,
    );
  } catch (error) {
    if (error instanceof WorkspaceFailed && error.reason === "forge_refused") return false;
    throw error;
  }
}

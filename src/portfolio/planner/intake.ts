// intake: turns issues of a tracker into proposed tasks.
//
// Invariants:
//   I1. An issue's author starts nothing: a task made from one is proposed, and a person makes it ready.
//   I2. Its title names the task; everything else it says is quoted, never part of a goal. Neither gives a command to run.
//   I3. An issue is imported once, recognised by its link.

import { evidenceCharsMax } from "../../contracts/forge/pull-request.ts";
import { visible } from "../../kit/visible.ts";
import type { TaskDraft } from "./backlog.ts";
import type { PortfolioView } from "./state.ts";

export type TrackedIssue = { readonly link: string; readonly title: string; readonly body: string };

export type IssueIntake = { readonly tasks: readonly TaskDraft[]; readonly known: number; readonly problems: readonly string[] };

const titleCharsMax = 300;
const linkForm = /^(?:https?:\/\/[!#-;=?-_a-~]{1,1900}|linear:[A-Za-z][A-Za-z0-9_]{0,15}-\d{1,9})$/;

export function tasksOfIssues(state: Pick<PortfolioView, "tasks">, project: string, issues: readonly TrackedIssue[]): IssueIntake {
  const links = new Set(Object.values(state.tasks).flatMap(({ link }) => (link === undefined ? [] : [link])));
  const problems: string[] = [];
  const tasks: TaskDraft[] = [];
  let known = 0;
  for (const [index, { link, title, body }] of issues.entries()) {
    const objective = titleOf(title);
    if (!linkForm.test(link)) problems.push(`issue ${index + 1}: ${visible(link).slice(0, 100) || "nothing"} is no link back to it`);
    else if (objective === "") problems.push(`${link}: it has no title`);
    else if (links.has(link)) known += 1; // I3
    else {
      links.add(link);
      tasks.push({ place: link, project, objective, propose: true, link, quoted: body.slice(0, evidenceCharsMax) }); // I1
    }
  }
  return { tasks, known, problems };
}

/** One line, and no `::` in it: after that a criterion has its command. I2 */
const titleOf = (title: string): string =>
  visible(title.replace(/\s+/g, " ").trim())
    .slice(0, titleCharsMax)
    .replaceAll(/:(?=:)/g, ": ");

// intake: turns issues of a tracker into proposed tasks.
//
// Invariants:
//   I1. An issue's author starts nothing: a task made from one is proposed, and a person makes it
//       ready.
//   I2. Its title names the task; its text is only quoted, never part of a goal. Neither can give a
//       command to run.
//   I3. An issue is imported once, recognised by its link.

import { evidenceCharsMax } from "../../contracts/forge/pull-request.ts";
import { visible } from "../../kit/visible.ts";
import type { TaskDraft } from "./draft-tasks.ts";
import type { PortfolioView } from "./state.ts";

export type TrackedIssue = { readonly link: string; readonly title: string; readonly body: string };

/** `knownCount`: how many of the issues are tasks already. */
export type IssueIntake = {
  readonly tasks: readonly TaskDraft[];
  readonly knownCount: number;
  readonly problems: readonly string[];
};

const titleCharsMax = 300;
/** `https://github.com/o/r/issues/7`, or `linear:ABC-12` for an export without addresses. */
const linkPattern =
  /^(?:https?:\/\/[!#-;=?-_a-~]{1,1900}|linear:[A-Za-z][A-Za-z0-9_]{0,15}-\d{1,9})$/;

/** Drafts a task for each new issue, and names the issues that can't be one. */
export function draftIssueTasks(
  state: Pick<PortfolioView, "tasks">,
  project: string,
  issues: readonly TrackedIssue[],
): IssueIntake {
  const links = new Set(
    Object.values(state.tasks).flatMap(({ link }) => (link === undefined ? [] : [link])),
  );

  const problems: string[] = [];
  const tasks: TaskDraft[] = [];
  let knownCount = 0;

  for (const [index, { link, title, body }] of issues.entries()) {
    const objective = toObjective(title);
    if (!linkPattern.test(link)) {
      problems.push(
        `issue ${index + 1}: ${visible(link).slice(0, 100) || "nothing"} is no link back to it`,
      );
    } else if (objective === "") {
      problems.push(`${link}: it has no title`);
    } else if (links.has(link)) {
      knownCount += 1;
    } // I3
    else {
      links.add(link);
      tasks.push({
        place: link,
        project,
        objective,
        propose: true,
        link,
        quoted: body.slice(0, evidenceCharsMax),
      }); // I1, I2
    }
  }

  return { tasks, knownCount, problems };
}

/** The title as one line without `::`, after which a criterion would have its command (I2). */
const toObjective = (title: string): string =>
  visible(title.replace(/\s+/g, " ").trim())
    .slice(0, titleCharsMax)
    .replaceAll(/:(?=:)/g, ": ");

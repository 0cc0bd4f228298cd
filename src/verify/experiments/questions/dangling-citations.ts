// dangling-citations: finds positions such as `src/slug.js:41`, code quoted from there, and
// commits, that documents of the work name and that do not exist.

import { listSome } from "../../../kit/list-some.ts";
import { type Citation, findCitations } from "../../gates/citations.ts";
import { findListedCommits, findNamedCommits } from "../../gates/commit-names.ts";
import { findWrongCitations } from "../../gates/dangling-positions.ts";
import type { QuestionContext } from "./question-context.ts";

const documentFile =
  /\.(?:md|mdx|rst|adoc)$|(?:^|\/)(?:CHANGELOG|CHANGES|HISTORY|NEWS)[^/.]*(?:\.txt)?$/;
const documentsMax = 20;
/** "the commit that introduced it", "with commit hashes": not "commit your work". */
const commitGoal =
  /\b(?:names?|lists?|which|the|each|every|with|of) (?:git )?commits?\b(?! (?:your|the|all|it)\b)|\b(?:last|latest|recent|past|previous|newest|these|those|\d+|two|three|four|five|six|seven|eight|nine|ten) commits\b|\bcommit (?:hash|id|sha)\w*|\bchangesets?\b|\bhashes\b/i;

/**
 * Only what a document did not name before. Positions count if no file had them before the work
 * either: it may speak of what it removed.
 */
export async function findDanglingCitations({
  lab,
  differences,
  hasCommit,
  goal = "",
}: Pick<QuestionContext, "lab" | "differences" | "hasCommit" | "goal">): Promise<string | null> {
  const documents = differences
    .filter(({ path, kind }) => kind !== "deleted" && documentFile.test(path))
    .slice(0, documentsMax);
  if (documents.length === 0) return null;
  const sides = ["work", "base"] as const;

  const versions = await Promise.all(
    sides.map(async (side) => ({
      paths: await lab.pathsAt(side),
      read: (path: string) => lab.textAt(side, path),
    })),
  );

  const missing: string[] = [];
  for (const { path } of documents) {
    const [was, is] = [
      (await lab.textAt("base", path)) ?? "",
      (await lab.textAt("work", path)) ?? "",
    ];
    const before = new Set(findCitations(was).map(formatPosition));
    const isNew = (citation: Citation): boolean => !before.has(formatPosition(citation));
    const wrong = await findWrongCitations(versions, is, isNew);
    missing.push(...wrong.map((position) => `${position} in ${path}`));

    for (const name of new Set([
      ...findNamedCommits(is, commitGoal.test(goal)),
      ...findListedCommits(path, is, goal),
    ])) {
      if (!was.toLowerCase().includes(name) && (await hasCommit(name)) === false) {
        missing.push(`commit ${name} in ${path}`);
      }
    }
  }

  return missing.length === 0 ? null : `the work cites what is not there (${listSome(missing)})`;
}

const formatPosition = ({ path, lines }: Citation): string => `${path}:${lines.join(",")}`;

// dangling-citations: finds positions such as `src/slug.js:41` that documents of the work cite and that do not exist.

import { listSome } from "../../../kit/list-some.ts";
import { type Citation, findCitations } from "../../gates/citations.ts";
import { findDanglingPositions } from "../../gates/dangling-positions.ts";
import type { QuestionContext } from "./question-context.ts";

const documentFile = /\.(?:md|mdx|rst|adoc)$/;
const documentsMax = 20;

/** Only positions that a document did not cite before, and that no file had before the work either: it may speak of what it removed. */
export async function findDanglingCitations({ lab, differences }: Pick<QuestionContext, "lab" | "differences">): Promise<string | null> {
  const documents = differences.filter(({ path, kind }) => kind !== "deleted" && documentFile.test(path)).slice(0, documentsMax);
  if (documents.length === 0) return null;
  const sides = ["work", "base"] as const;
  const versions = await Promise.all(
    sides.map(async (side) => ({ paths: await lab.pathsAt(side), read: (path: string) => lab.textAt(side, path) })),
  );
  const missing: string[] = [];
  for (const { path } of documents) {
    const before = new Set(findCitations((await lab.textAt("base", path)) ?? "").map(formatPosition));
    const isNew = (citation: Citation): boolean => citation.quote === undefined && !before.has(formatPosition(citation));
    const dangling = await findDanglingPositions(versions, (await lab.textAt("work", path)) ?? "", isNew);
    missing.push(...dangling.map((position) => `${position} in ${path}`));
  }
  return missing.length === 0 ? null : `the work cites what is not there (${listSome(missing)})`;
}

const formatPosition = ({ path, lines }: Citation): string => `${path}:${lines.join(",")}`;

// dangling-citations: finds positions such as `src/slug.js:41` that documents of the work cite and that do not exist.

import { findCitations, findCitedFiles, findMissingCitations } from "../../gates/citations.ts";
import type { QuestionContext } from "./question-context.ts";

const documentFile = /\.(?:md|mdx|rst|adoc)$/;
const documentsMax = 20;
const shownMax = 3;

/** Only positions that a document did not cite before: the others are not the work's. */
export async function findDanglingCitations({ lab, differences }: Pick<QuestionContext, "lab" | "differences">): Promise<string | null> {
  const documents = differences.filter(({ path, kind }) => kind !== "deleted" && documentFile.test(path)).slice(0, documentsMax);
  if (documents.length === 0) return null;
  const paths = new Set(await lab.pathsAt("work"));
  const missing: string[] = [];
  for (const { path } of documents) {
    const before = new Set(
      findCitations((await lab.textAt("base", path)) ?? "").map(({ path: cited, lines }) => `${cited} ${lines.join(",")}`),
    );
    const citations = findCitations((await lab.textAt("work", path)) ?? "").filter(
      (citation) => citation.quote === undefined && !before.has(`${citation.path} ${citation.lines.join(",")}`),
    );
    const texts = new Map<string, readonly string[]>();
    for (const file of new Set([...findCitedFiles(citations, paths).values()].flat())) {
      const text = await lab.textAt("work", file);
      if (text !== null) texts.set(file, [text]);
    }
    const found = findMissingCitations(citations, { paths, texts: (file) => texts.get(file) ?? null });
    missing.push(...found.map((citation) => `${citation} in ${path}`));
  }
  if (missing.length === 0) return null;
  const more = missing.length > shownMax ? ` and ${missing.length - shownMax} more` : "";
  return `the work cites what is not there (${missing.slice(0, shownMax).join(", ")}${more})`;
}

// maven-parts: extracts the settings of a pom.xml that concern tests: of plugins that run or measure
// them, single elements, and the list of modules.

import { mavenTestElement, mavenTestPlugin } from "./part-patterns.ts";
import { type ProtectedParts, squeezeSpace } from "./protected-parts.ts";
import { toWorkspaceParts } from "./workspace-parts.ts";

export function extractMavenParts(text: string): ProtectedParts {
  const code = removeComments(text);
  const settings = [...findTestPlugins(code), ...(code.match(mavenTestElement) ?? [])];
  const modules = [...text.matchAll(/<module>([^<]{1,200})<\/module>/g)];
  const moduleParts = toWorkspaceParts(modules.map(([, name = ""]) => name.trim()));

  if (settings.length === 0) return moduleParts;
  return { "what runs the tests": settings.map(squeezeSpace).join("\n"), ...moduleParts };
}

/** What is inside each `<plugin>` element that runs or measures tests. */
function findTestPlugins(code: string): readonly string[] {
  const [, ...openings] = code.split("<plugin>");
  const plugins = openings.map((afterOpening) => afterOpening.split("</plugin>", 1)[0] ?? "");
  return plugins.filter((plugin) => mavenTestPlugin.test(plugin));
}

/** A comment without an end reaches to the end of the file. */
function removeComments(text: string): string {
  const [beforeComments = "", ...comments] = text.split("<!--");
  const textsBehind = comments.map((comment) => {
    const end = comment.indexOf("-->");
    return end === -1 ? "" : comment.slice(end + "-->".length);
  });

  return beforeComments + textsBehind.join("");
}

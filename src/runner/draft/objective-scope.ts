// objective-scope: parses and validates the glob patterns that say which files may change.

export type ParsedScope = { readonly scope: readonly string[] } | { readonly fault: string };

const patternsMax = 200;
const patternCharactersMax = 512;

/**
 * Parses globs, split on `,`, `;` and newlines outside braces; `!` excludes. If every glob
 * excludes, everything else is in scope.
 */
export function parseScope(texts: readonly string[]): ParsedScope {
  const scope: string[] = [];
  for (const text of texts) {
    const parts = splitOutsideBraces(text);
    if (parts === null) return { fault: `"${text}" has a brace that is not closed.` };
    for (const part of parts) {
      const pattern = part.trim().replace(/^(!?)(?:\.\/)+/, "$1");
      if (pattern === "") continue;
      const fault = findFault(pattern);
      if (fault !== null) return { fault };
      if (!scope.includes(pattern)) scope.push(pattern);
    }
  }

  if (scope.length > patternsMax) {
    return { fault: `${scope.length} patterns are too many: at most ${patternsMax}.` };
  }

  // A pattern meant to restrict the run must not end up matching every file.
  if (scope.length === 0 && texts.length > 0) {
    return {
      fault: `"${texts.join(", ")}" names nothing: expected a pattern, or no scope at all.`,
    };
  }

  if (scope.length > 0 && scope.every((pattern) => pattern.startsWith("!"))) scope.unshift("**");
  return { scope };
}

function findFault(pattern: string): string | null {
  const bareGlob = pattern.replace(/^!/, "").trim();
  if (bareGlob === "") return `"${pattern}" excludes nothing: expected a pattern after the !.`;
  if (/^[/\\~]/.test(bareGlob) || /^[A-Za-z]:/.test(bareGlob)) {
    return `"${pattern}" is an absolute path: expected a pattern inside the repository.`;
  }

  // Braces can hide a `..`: {a,..}/b.
  if (bareGlob.split(/[/\\,{}]/).includes("..")) {
    return `"${pattern}" climbs out of the repository: expected a pattern without "..".`;
  }

  if (bareGlob.includes("\\")) return `"${pattern}" has a backslash: expected / between folders.`;
  if (/[\u0000-\u001f\u007f]/.test(bareGlob)) return `a pattern has a control character in it.`;
  if (bareGlob.length > patternCharactersMax) {
    return `a pattern is ${bareGlob.length} characters long: at most ${patternCharactersMax}.`;
  }

  return null;
}

function splitOutsideBraces(text: string): readonly string[] | null {
  const parts: string[] = [];
  let depth = 0;
  let part = "";

  for (const letter of text) {
    if (letter === "{") depth += 1;
    if (letter === "}") depth -= 1;
    if (depth < 0) return null;
    if (depth === 0 && /[,;\n]/.test(letter)) {
      parts.push(part);
      part = "";
    } else {
      part += letter;
    }
  }

  return depth === 0 ? [...parts, part] : null;
}

// only-more: whether a test file has everything it had, in the same order, and more. Pure.
//
// Invariants:
//   O1. An import may add names, however it is broken into lines. Everything else stays as it was.

/** JavaScript's imports and requires of names, and Python's. */
const imports: readonly RegExp[] = [
  /^[ \t]*(import\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?)\{([^{}]*)\}(\s*from\s*["'][^"'\n]+["'][ \t]*;?)[ \t]*$/gm,
  /^[ \t]*((?:const|let|var)\s+)\{([^{}]*)\}(\s*=\s*require\(\s*["'][^"'\n]+["']\s*\)[ \t]*;?)[ \t]*$/gm,
  /^[ \t]*(from[ \t]+[\w.]+[ \t]+import[ \t]+)\(([^()]*)\)()[ \t]*$/gm,
  /^[ \t]*(from[ \t]+[\w.]+[ \t]+import[ \t]+)(\w[^()\n#]*)()$/gm,
];

type Import = { readonly from: string; readonly names: ReadonlySet<string> };

export function hasOnlyMore(before: string, after: string): boolean {
  const [old, updated] = [splitImports(before), splitImports(after)];
  const remaining = [...updated.imports];
  for (const { from, names } of old.imports) {
    const index = remaining.findIndex((candidate) => candidate.from === from && [...names].every((name) => candidate.names.has(name)));
    if (index === -1) return false;
    remaining.splice(index, 1);
  }
  let position = 0;
  for (const line of old.lines) {
    position = updated.lines.indexOf(line, position) + 1;
    if (position === 0) return false;
  }
  return true;
}

/** O1: the imported names by module, and the remaining lines. */
function splitImports(text: string): { readonly imports: readonly Import[]; readonly lines: readonly string[] } {
  const parsed: Import[] = [];
  let rest = text;
  for (const form of imports)
    rest = rest.replaceAll(form, (_all, head: string, names: string, tail: string) => {
      const from = `${head}${tail}`.replaceAll(/[\s;]+/g, " ").trim();
      const trimmed = names.split(",").map((name) => name.replaceAll(/\s+/g, " ").trim());
      parsed.push({ from, names: new Set(trimmed.filter((name) => name !== "")) });
      return "";
    });
  return { imports: parsed, lines: rest.trimEnd().split("\n") };
}

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

export function isExtended(before: string, after: string): boolean {
  const [was, is] = [apart(before), apart(after)];
  const left = [...is.imports];
  for (const { from, names } of was.imports) {
    const index = left.findIndex((one) => one.from === from && [...names].every((name) => one.names.has(name)));
    if (index === -1) return false;
    left.splice(index, 1);
  }
  let position = 0;
  for (const line of was.lines) {
    position = is.lines.indexOf(line, position) + 1;
    if (position === 0) return false;
  }
  return true;
}

/** O1: the imported names by module, and the remaining lines. */
function apart(text: string): { readonly imports: readonly Import[]; readonly lines: readonly string[] } {
  const found: Import[] = [];
  let rest = text;
  for (const form of imports)
    rest = rest.replaceAll(form, (_all, head: string, names: string, tail: string) => {
      const from = `${head}${tail}`.replaceAll(/[\s;]+/g, " ").trim();
      const listed = names.split(",").map((name) => name.replaceAll(/\s+/g, " ").trim());
      found.push({ from, names: new Set(listed.filter((name) => name !== "")) });
      return "";
    });
  return { imports: found, lines: rest.trimEnd().split("\n") };
}

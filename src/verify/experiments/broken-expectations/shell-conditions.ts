// shell-conditions: finds the expectations of shell tests that compare nothing: a condition whose
// branch fails (`if lower 1.9 1.10; then :; else fails=$((fails + 1)); fi`, `lower 1 2 || fail`).
// Each is negated. Pure; there is no parser. How a branch fails is a list of words.

const branchLinesMax = 40;
const failure =
  /\b(?:fail\w*|errors?|bad|wrong|status|rc|ret)=(?:[1-9]|\$\(\()|\(\(\s*(?:fail\w*|errors?|bad|wrong)\s*(?:\+\+|\+=)|\b(?:exit|return)\s+[1-9]|^\s*(?:fail|die|not_ok|bad)\b|\{\s*(?:fail|die)\b/m;
/** About what the test itself needs, not what the code answers. */
const aboutSurroundings = /\bcommand\s+-v\b|\[\[?\s+!?\s*-[a-zA-Z]\s|\bmkdir\b|^\s*cd\b/;

/** The lines whose condition can be negated, by their index. */
export function negateShellConditions(lines: readonly string[]): ReadonlyMap<number, string> {
  const negated = new Map<number, string>();

  for (const [index, line] of lines.entries()) {
    if (aboutSurroundings.test(line)) continue;
    const [, head = "", condition = "", then = ""] =
      /^(\s*(?:if|elif)\s+)(.+?)(;\s*then\b.*|\s*)$/.exec(line) ?? [];
    const isIf =
      condition !== "" && (then.trim() !== "" || /^\s*then\b/.test(lines[index + 1] ?? ""));
    if (isIf && failure.test(readBranches(lines, index))) {
      negated.set(index, `${head}${negate(condition)}${then}`);
      continue;
    }

    const [, indent = "", command = "", rest = ""] =
      /^(\s*)((?!(?:if|elif|while|until|for|\[\[?|test)\b)[^|&;#]+?)(\s*(?:\|\||&&)\s*[^|&]+)$/.exec(
        line,
      ) ?? [];
    const branch = /\{\s*$/.test(rest)
      ? readBranches(lines, index)
      : rest.replace(/^\s*(?:\|\||&&)/, "");
    if (command !== "" && failure.test(branch))
      negated.set(index, `${indent}${negate(command)}${rest}`);
  }

  return negated;
}

const negate = (command: string): string =>
  command.startsWith("! ") ? command.slice("! ".length) : `! ${command}`;

/** The lines below that are indented further, and an `else` between them. */
function readBranches(lines: readonly string[], index: number): string {
  const indent = /^\s*/.exec(lines[index] ?? "")?.[0] ?? "";
  const below = lines.slice(index + 1, index + 1 + branchLinesMax);
  const end = below.findIndex((line) => {
    const isFurther = line.trim() === "" || /^\s/.test(line.slice(indent.length));
    return !isFurther && !/^\s*(?:then|else)\b/.test(line);
  });
  const body = below.slice(0, end === -1 ? below.length : end);

  return body.map((line) => line.trim()).join("\n");
}

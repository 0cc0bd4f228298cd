// rewrite-shell: gives the variables of a shell test other names. A function that is called in a
// shell sees its caller's variables, the expected answer too; under another name it finds nothing
// there. Pure.
//
// Invariants:
//   S1. Only names that this file sets, and that no other file uses unless it declares them
//       `local`. What tests share with code stays.
//   S2. A file in which a name may also be used in a way that isn't recognised is left alone.

const namesMax = 40;
/**
 * Builtins that take names of variables as words, and programs whose own `$name` would look the
 * same (S2).
 */
const namesVariables =
  /\$\{!|\b(?:unset|mapfile|readarray|getopts|eval|export|envsubst|awk|perl|python3?|jq|trap)\b|\b(?:ba)?sh\s+-\w*c\b|\bprintf\s+-v|\b(?:local|declare|typeset)\s+-[a-zA-Z]*n|\[\[?\s+-v\b/;

/**
 * Null if there is nothing to rename. `others`: the other shell files of the project, as they were
 * before the work.
 */
export function renameShellVariables(
  text: string,
  others: readonly string[],
  seed: string,
): string | null {
  if (namesVariables.test(text)) return null;
  const names = new Set(
    [...text.matchAll(assigned)].flatMap(
      ([, declared, counted, set]) =>
        (declared?.replaceAll(/=\S*/g, "") ?? counted ?? set ?? "").match(
          /(?<![\w-])[a-z_][a-z0-9_]+/g,
        ) ?? [],
    ),
  );
  const renamed = [...names]
    .slice(0, namesMax)
    .filter((name) => !isPassedOn(text, name) && others.every((other) => isUnrelated(other, name)));
  const done = renamed.reduce(
    (changed, name) =>
      changed.replaceAll(usesOf(name), (_, before: string) => `${before}${name}_${seed}`),
    text,
  );

  return done === text ? null : done;
}

/** `name=`, `local name other`, `read -r name`, `for name in`. */
const assigned =
  /(?:^|[\s;&|(])(?:(?:local|declare|read)((?:[ \t]+-\w+)*(?:[ \t]+[a-z_]\w*(?:=\S*)?)+)|for[ \t]+([a-z_]\w*)[ \t]+in\b|([a-z_]\w*)(?=\+?=))/gm;

/** Where a variable is used: expanded, set, declared, counted. */
const usesOf = (name: string): RegExp =>
  new RegExp(
    `(\\$\\{?#?|(?:^|[\\s;&|(])for[ \\t]+|\\b(?:local|declare|read)\\b[^;|&\\n$"']*[ \\t]|\\(\\([^)\\n]*?|(?:^|[\\s;&|(])(?=${name}\\+?=))${name}(?!\\w)`,
    "gm",
  );

/** Whether a variable is set for one command alone (`name=1 ./program`): a program may read it. */
const isPassedOn = (text: string, name: string): boolean =>
  new RegExp(
    `(?:^|[;&|(]|\\bdo\\b|\\bthen\\b)[ \\t]*${name}=(?:"[^"\\n]*"|'[^'\\n]*'|[^\\s;"']*)[ \\t]+[\\w./$"]`,
    "m",
  ).test(text);

/** Whether another file does not use a name, or has a variable of its own for it (S1). */
const isUnrelated = (text: string, name: string): boolean =>
  !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(text) ||
  new RegExp(`\\blocal\\b[^;\\n]*\\b${name}\\b`).test(text);

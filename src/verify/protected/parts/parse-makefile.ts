// parse-makefile: reads the rules, variables and included files of a makefile, line by line.

export type Rule = { readonly prerequisites: readonly string[]; readonly text: string };
export type Makefile = {
  /** By target. */
  readonly rules: ReadonlyMap<string, Rule>;
  /** By variable: the lines that set it. */
  readonly variables: ReadonlyMap<string, string>;
};

/** `CC = gcc`, `export PATH := bin:$(PATH)`. */
const variableLine = /^\s*(?:export\s+|override\s+)*([\w.-]+)\s*(?:::?:?|\?|\+|!)?=(.*)$/;
/** `targets: prerequisites ; recipe`. */
const ruleLine = /^([^\s#=:][^#=:]*)::?(?!=)(.*)$/;
/** `include common.mk`, `-include *.mk`. */
const includeLine = /^\s*[-s]?include\s+([^#]*)/;

/** A file with a rule for more targets than this is protected as a whole. */
const targetsMax = 100;

/** Throws on a rule for too many targets. */
export function parseMakefile(text: string): Makefile {
  const rules = new Map<string, Rule>();
  const variables = new Map<string, string>();
  let currentTargets: readonly string[] = [];

  /** Several rules for one target add up, as in make. */
  const extendRules = (prerequisites: readonly string[], addedText: string): void => {
    for (const target of currentTargets) {
      const earlier = rules.get(target) ?? { prerequisites: [], text: "" };
      rules.set(target, {
        prerequisites: [...earlier.prerequisites, ...prerequisites],
        text: `${earlier.text}${addedText}`,
      });
    }
  };

  for (const line of text.replaceAll("\\\n", " ").split("\n")) {
    if (line.startsWith("\t")) {
      extendRules([], `\n${line.trim()}`);
      continue;
    }

    const variable = variableLine.exec(line)?.[1];
    if (variable !== undefined) {
      variables.set(variable, `${variables.get(variable) ?? ""}${line.trim()}`);
      continue;
    }

    const [, targetText, ruleText = ""] = ruleLine.exec(line) ?? [];
    if (targetText !== undefined) {
      currentTargets = targetText.trim().split(/\s+/);
      if (currentTargets.length > targetsMax) throw new Error("a rule for too many targets");

      const { prerequisites, recipe } = parseRule(ruleText);
      extendRules(prerequisites, `${prerequisites.join(" ")}${recipe}`);
      continue;
    }

    const isComment = line.trim().startsWith("#");
    if (line.trim() !== "" && !isComment) currentTargets = [];
  }

  return { rules, variables };
}

/** `a.o b.o ; cc -o sum a.o b.o`: what stands behind the colon of a rule. */
function parseRule(ruleText: string): {
  readonly prerequisites: readonly string[];
  readonly recipe: string;
} {
  const [prerequisiteText = "", recipe = ""] = ruleText.split(";", 2);
  const words = prerequisiteText.split(/\s+/);

  return {
    prerequisites: words.filter((word) => word !== "" && word !== "|"),
    recipe: recipe.trim() === "" ? "" : `\n${recipe.trim()}`,
  };
}

/**
 * Whether a makefile does nothing but give variables values: no rule, nothing that make computes or
 * runs, and none of the variables by which make itself runs.
 */
export const setsVariablesOnly = (text: string): boolean =>
  text
    .replaceAll("\\\n", " ")
    .split("\n")
    .every((line) => /^\s*(?:#.*)?$/.test(line) || plainVariableLine.test(line));
const plainVariableLine =
  /^(?!(?:SHELL|PATH|MAKE\w*|VPATH|GNUMAKEFLAGS)\b)[A-Za-z_]\w*\s*(?:::?|\?|\+)?=(?:[^$`]|\$[({]\w+[)}])*$/;

/** The files that makefiles include, as written: `*.mk` of `include $(wildcard *.mk)`. */
export function listIncludedFiles(makefiles: readonly string[]): readonly string[] {
  const lines = makefiles.flatMap((text) => text.split("\n"));
  const includes = lines.flatMap((line) => includeLine.exec(line)?.[1] ?? []);
  const words = includes.flatMap((args) =>
    args.replaceAll(/\$\(wildcard\s+([^()]*)\)/g, "$1").split(/\s+/),
  );

  const paths = words.filter((word) => word !== "" && !word.includes("$"));
  return paths.map((path) => path.replace(/^\.\//, ""));
}

// generator-commands: finds out of which program of the project a file says that it was made, and
// by which commands that program may be run. Pure.
//
// Invariants:
//   M1. Only comments in a file's first lines count, and only programs of the project: by their
//       path or their name there, by a script of `package.json`, a rule of a makefile or a
//       `//go:generate` that names the program or the file.
//   M2. What reaches out by its words is not run.

import { basename, dirname, join, normalize } from "node:path/posix";
import { listMakeTargets } from "../../gates/named-commands.ts";
import { reachesOut } from "../documents/one-liners.ts";
import { shellWord } from "../../../kit/shell-word.ts";
import type { TextFile } from "../questions/question-context.ts";

/** What a project has to make files with. */
export type GeneratorProject = {
  /** The paths of its programs, by which files may be made. */
  readonly programs: readonly string[];
  /** The text of its `package.json`. */
  readonly manifest: string | null;
  readonly makefiles: readonly string[];
  /** Files with a `//go:generate`. */
  readonly goFiles?: readonly TextFile[];
};
/** `maker`: what is told to make it; `command`: how it is run at the project's root. */
export type Generator = { readonly maker: string; readonly command: string };

const headerLinesMax = 8;
const generatorsMax = 4;
const commentLine =
  /^\s*(?:\/[/*]|\*|#|--|;|%|<!--|\(\*|"""|'''|\{-|@?rem\b|dnl\b|"(?:\/\/|[_$]?comment|@?_?generated\w*)"\s*:)/i;
const generatedMark =
  /\b(?:do not|don['’]t|never) (?:edit|modify|change|touch)\b|@generated\b|\b(?:auto[- ]?)?generated\b|\b(?:made|written|created|produced|built|rendered|compiled) (?:by|from|with)\b/i;

/**
 * The comment at the top of a file that says that a program made it, from the line that says so on;
 * an empty text if there is none (M1).
 */
export function readGeneratedHeader(text: string): string {
  const lines: string[] = [];
  let isInside = false;

  for (const line of text.split("\n", headerLinesMax)) {
    const isBlock = /\/\*|<!--|\(\*|\{-|^\s*(?:"""|''')/.test(line);
    if (isInside || commentLine.test(line)) lines.push(line);
    const ends = /\*\/|-->|\*\)|-\}|.(?:"""|''')\s*$/.test(line);
    isInside = (isInside || isBlock) && !ends;
  }

  const header = lines.join("\n");
  return generatedMark.test(header) ? header : "";
}

/**
 * The part of a goal that says which program makes a file, by their paths; an empty text if none
 * does. Programs themselves are not asked about: they may be what somebody is to write.
 */
export function readGoalOfMaking(path: string, goal: string): string {
  if (isGeneratorProgram(path)) return "";
  const clauses = goal.split(/(?<=[.;!?])\s+|\n/);
  return (
    clauses.find((clause) => {
      const at = clause.search(
        new RegExp(`(?<![\\w./-])(?:\\./)?${escape(path)}(?![\\w/-]|\\.\\w)`),
      );
      const making = makingWords.exec(clause)?.index ?? -1;
      return at > making && making !== -1 && findFirstProgram(clause) < making;
    }) ?? ""
  );
}
const makingWords = /\b(?:generat|writ|mak|creat|produc|emit|render|build|output)\w*\b/i;

function findFirstProgram(clause: string): number {
  const first = listPaths(clause).find(isGeneratorProgram);
  return first === undefined ? Number.POSITIVE_INFINITY : clause.indexOf(first);
}

/** The commands that may make a file with this header, the likeliest first. */
export function findGenerators(
  path: string,
  header: string,
  project: GeneratorProject,
): readonly Generator[] {
  if (header === "") return [];
  const named = findNamedPrograms(path, header, project.programs);
  const wanted = [path, ...named];
  const maker = named[0];

  const bare = named.flatMap((program): readonly Generator[] => {
    const interpreter = interpreterOf(program);
    if (interpreter === null) return [];
    const args = findArguments(header, program);
    const ways = [
      ...(args === "" ? [] : [`${interpreter} ${shellWord(program)} ${args}`]),
      `${interpreter} ${shellWord(program)}`,
      ...(dirname(program) === "."
        ? []
        : [`cd ${shellWord(dirname(program))} && ${interpreter} ${basename(program)}`]),
    ];
    return ways.map((command) => ({ maker: program, command }));
  });

  const tasks = [
    ...findScripts(project.manifest, wanted, header),
    ...project.makefiles.flatMap((makefile) => findRules(makefile, path, wanted, header)),
    ...(project.goFiles ?? []).flatMap((file) => findGoGenerate(file, wanted)),
  ];

  const found = [
    ...tasks.map(({ maker: task, command }) => ({ maker: maker ?? task, command })),
    ...bare,
  ].filter(({ command }) => !reachesOut.test(command)); // M2
  const isFirst = ({ command }: Generator, index: number): boolean =>
    found.findIndex((other) => other.command === command) === index;
  return found.filter(isFirst).slice(0, generatorsMax);
}

/** Whether a program can be run as it lies there. */
export const isGeneratorProgram = (path: string): boolean => interpreterOf(path) !== null;

function interpreterOf(path: string): string | null {
  const ending = /\.(\w+)$/.exec(basename(path))?.[1] ?? "";
  return interpreters.get(ending) ?? null;
}
const interpreters: ReadonlyMap<string, string> = new Map([
  ["js", "node"],
  ["mjs", "node"],
  ["cjs", "node"],
  ["ts", "node"],
  ["mts", "node"],
  ["py", "python3"],
  ["sh", "sh"],
  ["bash", "bash"],
  ["pl", "perl"],
  ["rb", "ruby"],
  ["go", "go run"],
]);

/** Whether a header names a file: by its path, or its path from where the file lies, or its name. */
export function isNamedIn(header: string, path: string, program: string): boolean {
  const name = basename(program);
  return listPaths(header).some(
    (word) =>
      normalize(word) === program ||
      normalize(join(dirname(path), word)) === program ||
      (word === name && name.length >= nameCharsMin),
  );
}
const nameCharsMin = 4;

const listPaths = (header: string): readonly string[] =>
  (header.match(/[\w@.-]*\/?[\w@./-]*\w/g) ?? []).filter((word) => /[./]/.test(word));

function findNamedPrograms(
  path: string,
  header: string,
  programs: readonly string[],
): readonly string[] {
  const named = programs.filter(
    (program) =>
      program !== path && isGeneratorProgram(program) && isNamedIn(header, path, program),
  );
  // A name that several programs have says nothing, unless one is named by its path.
  const byPath = named.filter((program) => header.includes(program));
  if (byPath.length > 0) return byPath;
  return named.filter(
    (program) => named.filter((other) => basename(other) === basename(program)).length === 1,
  );
}

/** `--lang en` of "made by `node tools/gen.mjs --lang en`, do not edit". */
function findArguments(header: string, program: string): string {
  const start = header.indexOf(program);
  if (start === -1) return "";
  const [rest = ""] = header.slice(start + program.length).split("\n");
  return (
    /^((?: +(?:--?[\w-]+(?:[= ][\w./:@-]+)?|[\w./-]*[./][\w./-]+))+)(?= *(?:$|[`"'),;*]|\. ))/
      .exec(rest)?.[1]
      ?.replace(/\.$/, "")
      .trim() ?? ""
  );
}

/** Scripts whose body names the program or the file, or that the header names. */
function findScripts(
  manifest: string | null,
  wanted: readonly string[],
  header: string,
): readonly Generator[] {
  const scripts = Object.entries(readScripts(manifest)).filter(
    ([name, body]) => !otherScript.test(name) && !reachesOut.test(`${name} ${body}`),
  ); // M2
  const isNamed = (name: string): boolean =>
    new RegExp(
      `\\b(?:npm|pnpm|yarn|bun)(?: run)?(?: -s| --silent)? ${escape(name)}(?![\\w:-])`,
    ).test(header);

  return scripts
    .filter(([name, body]) => isNamed(name) || wanted.some((path) => isWordOf(body, path)))
    .map(([name]) => ({
      maker: `npm run ${name}`,
      command: `npm run --silent ${shellWord(name)}`,
    }));
}
/** Scripts that npm starts by itself, that end with no file, or that never end. */
const otherScript = /^(?:pre|post)|^(?:test|lint|start|dev|serve|watch|check|ci)\b/;

function readScripts(manifest: string | null): Readonly<Record<string, string>> {
  try {
    const { scripts } = JSON.parse(manifest ?? "{}") as { scripts?: Record<string, unknown> };
    return Object.fromEntries(
      Object.entries(scripts ?? {}).filter(
        (entry): entry is [string, string] => typeof entry[1] === "string",
      ),
    );
  } catch {
    return {};
  }
}

/** Rules of a makefile that make the file, whose recipe names the program, or that the header names. */
function findRules(
  makefile: string,
  path: string,
  wanted: readonly string[],
  header: string,
): readonly Generator[] {
  const targets = listMakeTargets(makefile).filter((target) => !target.startsWith("."));
  const isNamed = (target: string): boolean =>
    new RegExp(`\\bmake (?:-\\w+ )*${escape(target)}(?![\\w/-])`).test(header);
  const recipeOf = (target: string): string =>
    new RegExp(
      `^(?:[^\\s#:][^\\n:]*\\s)?${escape(target)}(?:\\s[^\\n:]*)?:[^\\n]*((?:\\n\\t[^\\n]*)*)`,
      "m",
    ).exec(makefile)?.[1] ?? "";

  return targets
    .filter(
      (target) => !otherScript.test(target) && !reachesOut.test(`${target} ${recipeOf(target)}`),
    )
    .filter(
      (target) =>
        normalize(target) === path ||
        isNamed(target) ||
        wanted.some((file) => isWordOf(recipeOf(target), file)),
    )
    .map((target) => ({ maker: `make ${target}`, command: `make -s ${shellWord(target)}` }));
}

function findGoGenerate({ path, text }: TextFile, wanted: readonly string[]): readonly Generator[] {
  const folder = dirname(path);
  return [...text.matchAll(/^\/\/go:generate\s+(\S.*)$/gm)].flatMap(([, command = ""]) => {
    const isOfProject = /^(?:go run|python3?|node|sh|bash|perl|ruby)\s/.test(command);
    const names = wanted.flatMap((file) => [file, join(".", file), relativeTo(folder, file)]);
    if (!isOfProject || !names.some((name) => isWordOf(command, name))) return [];
    return [{ maker: command, command: `cd ${shellWord(folder)} && ${command}` }];
  });
}

const relativeTo = (folder: string, path: string): string =>
  folder !== "." && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
const isWordOf = (command: string, path: string): boolean =>
  command.split(/[\s"'`;|&()<>=]+/).some((word) => word !== "" && normalize(word) === path);
const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

// one-liners: decides whether the code of a one-liner that a document quotes (`node -e "…"`,
// `python3 -c '…'`) is about the project, and whether code or a command reaches out. Pure.
//
// Invariants:
//   N1. Code is about the project if it names one of its files or folders, or imports one of its
//       modules.
//   N2. Code that starts programs, writes files or uses the network reaches out. These are lists of
//       words, beside the confinement that every check has.

import { normalize } from "node:path/posix";
import type { StringSet } from "../../../kit/as-set.ts";

type ProjectPaths = { readonly paths: StringSet };

/** Words of commands that change something elsewhere. */
export const reachesOut =
  /\b(?:deploy\w*|publish\w*|releas\w+|push|upload\w*|send|mail|migrat\w*|destroy|drop|delete|purge|prod|production|install|login|sudo|curl|wget|ssh|scp|docker|kubectl)\b/i;

const outerWords =
  /\b(?:child_process|subprocess|shutil|socket|urllib|requests|httpx|aiohttp|smtplib|ftplib|fetch|WebSocket|XMLHttpRequest|popen|spawn\w*|write(?:File\w*|_text|_bytes)|appendFile\w*|createWriteStream|file_put_contents|unlink\w*|rmSync|rmdir\w*|rmtree)\b|\bos\.(?:system|exec\w*|remove|rename|kill)\b|(?<![.\w])(?:system|exec|kill)\s*\(|\bprocess\.kill\b|\bDeno\.(?:run|Command|write\w*|remove)\b|["'`](?:node:)?(?:https?2?|net|dgram|tls|dns|cluster)(?:\/promises)?["'`]|\bopen\([^()\n]*,\s*\\?["'][rb]?[wax+]/;

/** N2 */
export const doesReachOut = (code: string): boolean => outerWords.test(code);

const endings = [
  "",
  ".js",
  ".mjs",
  ".cjs",
  ".ts",
  ".json",
  ".rb",
  ".php",
  ".pl",
  ".pm",
  ".py",
  ".lua",
  ".sh",
  "/index.js",
  "/index.ts",
];
const moduleFolders = ["", "src/", "lib/"];

/** N1 */
export function doesNameProject(code: string, project: ProjectPaths): boolean {
  const plain = code.replaceAll(/\\(["`$\\])/g, "$1");
  const quoted = [...plain.matchAll(/(["'`])((?:(?!\1).)+)\1/g)].map(([, , text = ""]) => text);
  const bare = plain.split(/[\s"'`();,]+/).map((word) => word.replace(/^-[rI]/, ""));
  const named = [...quoted, ...bare].some((word) => /[./]/.test(word) && isFile(word, project));
  const imported = [
    ...plain.matchAll(/(?:^|[\s;])(?:import|from)\s+([A-Za-z_][\w.]*(?:\s*,\s*[\w.]+)*)/g),
  ].flatMap(([, names = ""]) => names.split(/\s*,\s*/));

  const perlModules = [...plain.matchAll(/(?:\buse\s+|(?:^|\s)-M)([A-Z]\w*(?:::\w+)*)/g)].map(
    ([, name = ""]) => `${name.replaceAll("::", "/")}.pm`,
  );
  return (
    named ||
    imported.some((name) => isModule(name, project)) ||
    perlModules.some((file) =>
      [...project.paths].some((path) => path === file || path.endsWith(`/${file}`)),
    )
  );
}

const isFile = (word: string, project: ProjectPaths): boolean => {
  const path = normalize(word.replace(/^file:/, ""));
  return (
    (/^\.{0,2}\//.test(word) && !/^[./]+$/.test(word) && hasFolder(project, word)) ||
    endings.some((ending) => project.paths.has(path + ending))
  );
};

/** `cards` or `cards.luhn`, a file or a package in Python. */
const isModule = (name: string, { paths }: ProjectPaths): boolean =>
  moduleFolders.some((folder) => {
    const path = `${folder}${name.replaceAll(".", "/")}`;
    return [`${path}.py`, `${path}/__init__.py`, `${path}/__main__.py`].some((file) =>
      paths.has(file),
    );
  });

/** A path, a folder or a module of the project. */
export function isOfProject(word: string, project: ProjectPaths): boolean {
  const path = normalize(word);
  const module = word.replaceAll(".", "/");
  return (
    project.paths.has(path) ||
    (/^\.{0,2}\//.test(word) && hasFolder(project, word)) ||
    [`${module}.py`, `${module}/__main__.py`].some((file) => project.paths.has(file))
  );
}

export function hasFolder({ paths }: ProjectPaths, folder: string): boolean {
  const prefix = normalize(folder).replace(/\/*$/, "/");
  return prefix === "./" || [...paths].some((path) => path.startsWith(prefix));
}

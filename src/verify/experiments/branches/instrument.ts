// instrument: changes code so that its branches record which ways they go, or end the process when
// one goes a way that none went. Generates text only.
//
// Invariants:
//   I1. The code means the same: each condition is put through a function that gives it back.

import { detectSourceLanguage, type SourceLanguage } from "../../protected/source-language.ts";
import type { Edit } from "../lab.ts";
import { parentFolder } from "../without-runner/plain-program.ts";
import type { Branch } from "./branch.ts";
import { createMarker, type Marker } from "./markers.ts";

export type MarkedFile = { readonly path: string; readonly text: string };
/** A branch by its number among all of the work. */
export type NumberedBranch = readonly [index: number, branch: Branch];

/**
 * `name`: a word that is in no file, and the variable with the folder for marks. `traps`: marks that
 * end the process.
 */
export function instrumentFiles(
  files: readonly MarkedFile[],
  branches: readonly NumberedBranch[],
  name: string,
  traps: readonly string[],
): readonly Edit[] {
  const folders = new Map<string, string>();
  const shared = { name, traps, size: branches.length };
  const edits = files.flatMap(({ path, text }, fileIndex): readonly Edit[] => {
    const own = branches.filter(([, branch]) => branch.path === path);
    const language = detectSourceLanguage(path);
    if (own.length === 0 || language === null) return [];
    const goPackage = /^package\s+(\w+)/m.exec(text)?.[1];
    if (language === "go" && goPackage !== undefined) folders.set(parentFolder(path), goPackage);
    const marker = createMarker(language, { ...shared, suffix: String(fileIndex), path });
    return [{ path, text: marker.define(markBranches(text, own, language, marker)) }];
  });

  const ofPackages = [...folders].map(([folder, goPackage]) => ({
    path: `${folder}${name}.go`,
    text: createMarker("go", { ...shared, suffix: "", path: "" }).inPackage(goPackage),
  }));
  return [...edits, ...ofPackages];
}

/** Added text; those that end at a position come before those that begin there. */
type Insertion = { readonly at: number; readonly order: number; readonly text: string };

function markBranches(
  text: string,
  branches: readonly NumberedBranch[],
  language: SourceLanguage,
  marker: Marker,
): string {
  const insertions = branches.flatMap(([index, { kind, from, to }]): readonly Insertion[] => {
    if (kind === "arm") {
      const statement = marker.call(index, "true", kind);
      return [
        {
          at: from,
          order: 0,
          text: language === "py" ? indent(text, from, statement) : ` ${statement};`,
        },
      ];
    }

    const [open = "", close = ""] = marker.call(index, "\0", kind).split("\0");
    const gap = /\w/.test(text[from - 1] ?? "") ? " " : "";
    // The outer one begins first and ends last.
    return [
      { at: from, order: 1 + 1 / (1 + to - from), text: `${gap}${open}` },
      { at: to, order: -1 / (1 + to - from), text: close },
    ];
  });
  const sorted = insertions.toSorted(
    (left, right) => left.at - right.at || left.order - right.order,
  );

  const parts: string[] = [];
  let position = 0;
  for (const { at, text: added } of sorted) {
    parts.push(text.slice(position, at), added);
    position = at;
  }

  return [...parts, text.slice(position)].join("");
}

/** A statement behind a colon: on its line, or as the first of the lines below. */
function indent(text: string, colon: number, statement: string): string {
  const lineEnd = text.indexOf("\n", colon);
  const rest = text.slice(colon, lineEnd === -1 ? text.length : lineEnd);
  if (!/^\s*(?:#.*)?$/.test(rest)) return ` ${statement};`;
  const indentation =
    /^(?:[^\n]*\n)\s*?([ \t]+)\S/.exec(text.slice(colon, colon + 2000))?.[1] ?? " ";
  return `\n${indentation}${statement}`;
}

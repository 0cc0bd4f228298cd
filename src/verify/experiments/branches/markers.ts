// markers: the source, in each language, of the function that branches are put through: it gives
// back what it is given, and leaves a file named by branch and outcome. Generates text only.

import type { SourceLanguage } from "../../protected/source-language.ts";
import type { BranchKind } from "./branch.ts";

export type Marker = {
  /** A call that gives back `value`; of an arm, a statement without its end. */
  readonly call: (index: number, value: string, kind: BranchKind) => string;
  /** The file with the function added. */
  readonly define: (text: string) => string;
  /** Go: the file of a package with the function. */
  readonly inPackage: (goPackage: string) => string;
};

type Setting = {
  readonly name: string;
  readonly traps: readonly string[];
  /** Names the function of one file apart from those of others. */
  readonly suffix: string;
  readonly path: string;
};

export function createMarker(language: SourceLanguage, setting: Setting): Marker {
  const own = markers[language](setting);
  return { inPackage: () => "", ...own };
}

type OwnMarker = Omit<Marker, "inPackage"> & Partial<Marker>;

const markers: Readonly<Record<SourceLanguage, (setting: Setting) => OwnMarker>> = {
  js: (setting) => ({
    call: (index, value, kind) =>
      `${setting.name}(${index}, (${value}), ${kind === "nullish" ? 1 : kind === "condition" ? 0 : 2})`,
    define: (text) => defineJs(text, setting),
  }),
  py: (setting) => ({
    call: (index, value) => `${setting.name}(${index}, (${value === "true" ? "True" : value}))`,
    define: (text) => definePython(text, setting),
  }),
  go: ({ name, traps }) => ({
    call: (index, value) => `${name}(${index}, ${value})`,
    define: (text) => text,
    inPackage: (goPackage) => goSource(goPackage, name, traps),
  }),
  rust: ({ name, traps }) => ({
    call: (index, value) => `${name}(${index}, ${value})`,
    define: (text) => `${text}\n${rustSource(name, traps)}`,
  }),
  java: ({ name, suffix, traps }) => ({
    call: (index, value) => `${name}${suffix}.at(${index}, (${value}))`,
    define: (text) => `${text}\n${javaSource(`${name}${suffix}`, name, traps)}`,
  }),
  c: ({ name, traps }) => ({
    call: (index, value) => `${name}(${index}, !!(${value === "true" ? "1" : value}))`,
    define: (text) => `static int ${name}(int, int);\n#line 1\n${text}\n${cSource(name, traps)}`,
  }),
};

const list = (traps: readonly string[]): string => traps.map((mark) => `"${mark}"`).join(", ");

/** What a module begins with: `#!`, comments, `"use strict"`. */
const jsHead = /^(?:#![^\n]*\n)?(?:\s*(?:\/\/[^\n]*\n|\/\*[^]*?\*\/))*\s*(?:["']use strict["'];?)?/;

/** A function declaration is hoisted; its tools are kept before tests can replace them. */
function defineJs(text: string, { name, traps, path }: Setting): string {
  const directive = /\.[cm]?ts$/.test(path) ? "// @ts-nocheck\n" : "";
  const [head = ""] = jsHead.exec(text) ?? [];
  return `${directive}${head}\n${name}(-1, true, 2);\n${text.slice(head.length)}
function ${name}(index, value, kind) {
  const node = typeof process === "object" ? process : undefined;
  const state = (globalThis.${name} ??= (() => {
    const fs = node?.getBuiltinModule?.("node:fs") ?? (typeof require === "function" ? require("node:fs") : undefined);
    return { seen: new Set(["-1T"]), folder: node?.env?.${name}, open: fs?.openSync, close: fs?.closeSync, end: node?.reallyExit?.bind(node) };
  })());
  const mark = index + ((kind === 0 ? value : kind === 1 ? value != null : true) ? "T" : "F");
  if (state.seen.has(mark)) return value;
  state.seen.add(mark);
  if ([${list(traps)}].includes(mark)) { state.end?.(97); throw new Error("it is run"); }
  if (state.folder && state.open) try { state.close(state.open(state.folder + "/" + mark, "a")); } catch {}
  return value;
}
`;
}

/** Behind the docstring and what has to come first. */
function definePython(text: string, { name, traps }: Setting): string {
  const head =
    /^(?:[ \t]*(?:#[^\n]*)?\n)*(?:[rRuU]?(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')[ \t]*(?:#[^\n]*)?(?:\n|$))?(?:[ \t]*(?:#[^\n]*)?\n|from __future__ import (?:\([^)]*\)|[^\n]*)\n)*/.exec(
      text,
    )?.[0] ?? "";
  return `${head}def ${name}(index, value, _seen=set()):
    mark = "%d%s" % (index, "T" if value else "F")
    if mark not in _seen:
        _seen.add(mark)
        if mark in (${list(traps)}${traps.length === 1 ? "," : ""}):
            ${name}_os._exit(97)
        if ${name}_folder:
            try:
                ${name}_close(${name}_open(${name}_folder + "/" + mark, ${name}_os.O_CREAT | ${name}_os.O_WRONLY, 0o666))
            except OSError:
                pass
    return value
import os as ${name}_os
${name}_folder, ${name}_open, ${name}_close = ${name}_os.environ.get("${name}"), ${name}_os.open, ${name}_os.close
${text.slice(head.length)}`;
}

const goSource = (goPackage: string, name: string, traps: readonly string[]): string =>
  `package ${goPackage}

import (
	"os"
	"strconv"
	"sync"
)

var ${name}Seen sync.Map
var ${name}Folder = os.Getenv("${name}")
var ${name}Traps = map[string]bool{${traps.map((mark) => `"${mark}": true`).join(", ")}}

func ${name}(index int, value bool) bool {
	mark := strconv.Itoa(index) + "F"
	if value {
		mark = strconv.Itoa(index) + "T"
	}
	if _, known := ${name}Seen.LoadOrStore(mark, true); known {
		return value
	}
	if ${name}Traps[mark] {
		os.Exit(97)
	}
	if ${name}Folder != "" {
		if file, err := os.Create(${name}Folder + "/" + mark); err == nil {
			_ = file.Close()
		}
	}
	return value
}
`;

const rustSource = (name: string, traps: readonly string[]): string => `
#[allow(non_snake_case, dead_code)]
fn ${name}(index: u32, value: bool) -> bool {
    static SEEN: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let mark = format!("{}{}", index, if value { "T" } else { "F" });
    let mut seen = SEEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if seen.contains(&mark) {
        return value;
    }
    let traps: &[&str] = &[${list(traps)}];
    if traps.contains(&mark.as_str()) {
        std::process::abort();
    }
    if let Ok(folder) = std::env::var("${name}") {
        let _ = std::fs::File::create(format!("{}/{}", folder, mark));
    }
    seen.push(mark);
    value
}
`;

const javaSource = (type: string, variable: string, traps: readonly string[]): string => `
class ${type} {
    private static final java.util.Set<String> seen = java.util.concurrent.ConcurrentHashMap.newKeySet();
    static boolean at(int index, boolean value) {
        String mark = index + (value ? "T" : "F");
        if (!seen.add(mark)) return value;
        if (java.util.Arrays.asList(new String[] {${list(traps)}}).contains(mark)) Runtime.getRuntime().halt(97);
        String folder = System.getenv("${variable}");
        if (folder != null) try { new java.io.File(folder, mark).createNewFile(); } catch (java.io.IOException e) { }
        return value;
    }
}
`;

const cSource = (name: string, traps: readonly string[]): string => `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int ${name}(int index, int value) {
    static const char *const traps[] = {${[...traps.map((mark) => `"${mark}"`), "0"].join(", ")}};
    static char seen[20000];
    char mark[400];
    const char *folder = getenv("${name}");
    int file, length, trap;
    if (seen[2 * index + (value != 0)]) return value;
    seen[2 * index + (value != 0)] = 1;
    length = snprintf(mark, sizeof mark, "%s/%d%c", folder ? folder : "", index, value ? 'T' : 'F');
    for (trap = 0; traps[trap]; trap++)
        if (strcmp(strrchr(mark, '/') + 1, traps[trap]) == 0) __builtin_trap();
    if (!folder || length >= (int)sizeof mark) return value;
    file = open(mark, O_CREAT | O_WRONLY, 0666);
    if (file >= 0) close(file);
    return value;
}
`;

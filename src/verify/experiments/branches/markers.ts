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
  /** How many branches there are. */
  readonly size: number;
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
  go: (setting) => ({
    call: (index, value) => `${setting.name}(${index}, ${value})`,
    define: (text) => text,
    inPackage: (goPackage) => goSource(goPackage, setting),
  }),
  rust: (setting) => ({
    call: (index, value) => `${setting.name}(${index}, ${value})`,
    define: (text) => `${text}\n${rustSource(setting)}`,
  }),
  java: (setting) => ({
    call: (index, value) => `${setting.name}${setting.suffix}.at(${index}, (${value}))`,
    define: (text) => `${text}\n${javaSource(setting)}`,
  }),
  c: (setting) => ({
    call: (index, value) => `${setting.name}(${index}, !!(${value === "true" ? "1" : value}))`,
    define: (text) =>
      `static int ${setting.name}(int, int);\n#line 1\n${text}\n${cSource(setting)}`,
  }),
};

const list = (traps: readonly string[]): string => traps.map((mark) => `"${mark}"`).join(", ");

/** What a module begins with: `#!`, comments, `"use strict"`. */
const jsHead = /^(?:#![^\n]*\n)?(?:\s*(?:\/\/[^\n]*\n|\/\*[^]*?\*\/))*\s*(?:["']use strict["'];?)?/;

/** A function declaration is hoisted; its tools are kept before tests can replace them. */
function defineJs(text: string, { name, traps, size, path }: Setting): string {
  const directive = /\.[cm]?ts$/.test(path) ? "// @ts-nocheck\n" : "";
  const [head = ""] = jsHead.exec(text) ?? [];
  return `${directive}${head}\n${name}(-1, true, 2);\n${text.slice(head.length)}
function ${name}(index, value, kind) {
  const state = (${name}.state ??= (() => {
    const node = typeof process === "object" ? process : undefined;
    const fs = node?.getBuiltinModule?.("node:fs") ?? (typeof require === "function" ? require("node:fs") : undefined);
    return { seen: new Uint8Array(${2 * size}), folder: node?.env?.${name}, open: fs?.openSync, close: fs?.closeSync, end: node?.reallyExit?.bind(node) };
  })());
  const isTrue = kind === 0 ? Boolean(value) : kind === 1 ? value != null : true;
  const key = 2 * index + (isTrue ? 1 : 0);
  if (index < 0 || state.seen[key] === 1) return value;
  state.seen[key] = 1;
  const mark = index + (isTrue ? "T" : "F");
  if ([${list(traps)}].includes(mark)) { state.end?.(97); throw new Error("it is run"); }
  if (state.folder && state.open) try { state.close(state.open(state.folder + "/" + mark, "a")); } catch {}
  return value;
}
`;
}

/** Behind the docstring and what has to come first. */
function definePython(text: string, { name, traps, size }: Setting): string {
  const head =
    /^(?:[ \t]*(?:#[^\n]*)?\n)*(?:[rRuU]?(?:"""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')[ \t]*(?:#[^\n]*)?(?:\n|$))?(?:[ \t]*(?:#[^\n]*)?\n|from __future__ import (?:\([^)]*\)|[^\n]*)\n)*/.exec(
      text,
    )?.[0] ?? "";
  return `${head}def ${name}(index, value, _seen=bytearray(${2 * size})):
    key = 2 * index + (1 if value else 0)
    if not _seen[key]:
        _seen[key] = 1
        mark = "%d%s" % (index, "T" if value else "F")
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

const goSource = (goPackage: string, { name, traps, size }: Setting): string =>
  `package ${goPackage}

import (
	"os"
	"strconv"
	"sync/atomic"
)

var ${name}Seen [${2 * size}]uint32
var ${name}Folder = os.Getenv("${name}")
var ${name}Traps = map[string]bool{${traps.map((mark) => `"${mark}": true`).join(", ")}}

func ${name}(index int, value bool) bool {
	key, mark := 2*index, "F"
	if value {
		key, mark = key+1, "T"
	}
	if atomic.LoadUint32(&${name}Seen[key]) == 1 || atomic.SwapUint32(&${name}Seen[key], 1) == 1 {
		return value
	}
	mark = strconv.Itoa(index) + mark
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

const rustSource = ({ name, traps, size }: Setting): string => `
#[allow(non_snake_case, dead_code)]
fn ${name}(index: u32, value: bool) -> bool {
    #[allow(clippy::declare_interior_mutable_const)]
    const UNSEEN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    static SEEN: [std::sync::atomic::AtomicBool; ${2 * size}] = [UNSEEN; ${2 * size}];
    let seen = &SEEN[2 * index as usize + usize::from(value)];
    let order = std::sync::atomic::Ordering::Relaxed;
    if seen.load(order) || seen.swap(true, order) {
        return value;
    }
    let mark = format!("{}{}", index, if value { "T" } else { "F" });
    let traps: &[&str] = &[${list(traps)}];
    if traps.contains(&mark.as_str()) {
        std::process::abort();
    }
    if let Ok(folder) = std::env::var("${name}") {
        let _ = std::fs::File::create(format!("{}/{}", folder, mark));
    }
    value
}
`;

const javaSource = ({ name, suffix, traps, size }: Setting): string => `
class ${name}${suffix} {
    private static final boolean[] seen = new boolean[${2 * size}];
    static boolean at(int index, boolean value) {
        int key = 2 * index + (value ? 1 : 0);
        if (seen[key]) return value;
        seen[key] = true;
        String mark = index + (value ? "T" : "F");
        if (java.util.Arrays.asList(new String[] {${list(traps)}}).contains(mark)) Runtime.getRuntime().halt(97);
        String folder = System.getenv("${name}");
        if (folder != null) try { new java.io.File(folder, mark).createNewFile(); } catch (java.io.IOException e) { }
        return value;
    }
}
`;

const cSource = ({ name, traps, size }: Setting): string => `
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int ${name}(int index, int value) {
    static const char *const traps[] = {${[...traps.map((mark) => `"${mark}"`), "0"].join(", ")}};
    static char seen[${2 * size}];
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

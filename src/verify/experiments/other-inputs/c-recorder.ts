// c-recorder: adds to a C file's source a wrapper around each wanted function, which records its
// answers to the tests' inputs and to inputs near them (format: near-records.ts). Generates text
// only. Each answer is asked for in a process of its own: what ends that process has no answer.

import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { numberSteps } from "./near-inputs.ts";
import { callsMax, inputsMax, type Recorder } from "./recorder.ts";
import { splitList } from "./split-list.ts";

/**
 * How many texts near one of the tests the table holds; the text itself is before them, and a zero
 * at the end.
 */
const variantsMax = 6;
const integers =
  /^(?:(?:unsigned|signed|long|short|int)(?:\s+(?:long|short|int))*|size_t|u?int(?:16|32|64)_t)$/;
const textType = /^(?:const\s+)?char\s*\*$/;
const isReal = (type: string): boolean => type === "double" || type === "float";
const isPlainParameter = (type: string): boolean =>
  integers.test(type) || isReal(type) || /^const\s+char\s*\*$/.test(type);
const isPlainResult = (type: string): boolean =>
  integers.test(type) || isReal(type) || textType.test(type);

export const recordC: Recorder = ({ files, isWanted, near, uniqueName }) => {
  const recorded = files.flatMap(({ path, text: source }) => {
    const definitions = findFunctions(source).filter(({ name }) => isWanted(name));
    if (definitions.length === 0) return [];

    // From the last to the first, so that positions stay right.
    const renamed = definitions.reduceRight((text, { name, nameStart, header, index }) => {
      const newName = `${name}_${uniqueName}`;
      const renamedHeader = header.replace(name, () => newName);
      const renamedDefinition = `${text.slice(index, nameStart)}${text.slice(nameStart).replace(name, () => newName)}`;
      return `${text.slice(0, index)}static ${renamedHeader};\n${header};\nstatic ${renamedDefinition}`;
    }, source);

    const wrappers = definitions.map((definition) => createWrapper(uniqueName, definition));
    const text = `${renamed}\n${createRecorder(uniqueName, near)}\n${wrappers.join("\n")}`;
    return [{ edit: { path, text }, names: definitions.map(({ name }) => name) }];
  });

  return {
    edits: recorded.map(({ edit }) => edit),
    functions: recorded.flatMap(({ names }) => names),
  };
};

type Parameter = { readonly type: string; readonly name: string };
type Definition = {
  readonly name: string;
  readonly result: string;
  readonly params: readonly Parameter[];
  /** The text before the body: `int add(int a, int b)`. */
  readonly header: string;
  readonly index: number;
  readonly nameStart: number;
};

/** Functions that are visible to other files, with plain parameters and a plain result. */
function findFunctions(source: string): readonly Definition[] {
  const code = maskText(source, "c");
  const definitions: Definition[] = [];

  for (const { 0: head, 1: type = "", 2: name = "", index } of code.matchAll(
    /^((?:[A-Za-z_]\w*[ \t]+)+(?:\*[ \t]*)?)(\w+)[ \t]*\(/gm,
  )) {
    const close = findClosingBracket(code, index + head.length - 1);
    if (
      close === null ||
      !/^\s*\{/.test(code.slice(close)) ||
      /\b(?:static|inline|return|else)\b/.test(type)
    ) {
      continue;
    }

    const params = splitList(code.slice(index + head.length, close - 1)).map(parseParameter);
    const plainParams = params.flatMap((param) =>
      param !== null && isPlainParameter(param.type) ? [param] : [],
    );

    const result = type.trim();
    if (params.length === 0 || plainParams.length < params.length || !isPlainResult(result)) {
      continue;
    }

    definitions.push({
      name,
      result,
      params: plainParams,
      header: source.slice(index, close),
      index,
      nameStart: index + type.length,
    });
  }

  return definitions;
}

function parseParameter(part: string): Parameter | null {
  const [, type = "", name = ""] = /^(.*?[\s*])(\w+)$/s.exec(part.trim()) ?? [];
  return name === "" ? null : { type: type.replace(/\s+/g, " ").trim(), name };
}

/** The arguments of printf that print a value. */
function format(type: string, value: string): string {
  if (textType.test(type)) return `"%s", ${value} ? ${value} : ""`;
  return isReal(type) ? `"%.9g", (double)${value}` : `"%ld", (long)${value}`;
}

/**
 * The wrapper of one function, and two functions for it: `key` writes its arguments as text,
 * `write_record` calls the function in a child process and records the answer.
 */
function createWrapper(uniqueName: string, { name, result, params, header }: Definition): string {
  const args = params.map((param) => param.name).join(", ");
  const types = params.map((param) => `${param.type} ${param.name}`).join(", ");
  const printArgs = params
    .map((param) => `fprintf(out, ${format(param.type, param.name)});`)
    .join(' fputs("\\037", out); ');

  const loops = params.map((param, index) =>
    createNearLoop(
      uniqueName,
      param,
      `${uniqueName}_write_record_${name}(${index}, 1, tested, ${args});`,
    ),
  );

  return `
static void ${uniqueName}_key_${name}(char *to, ${types}) {
    FILE *out = fmemopen(to, 600, "w");
    if (out == 0) return;
    ${printArgs}
    fclose(out);
    ${uniqueName}_one_line(to);
}
static int ${uniqueName}_write_record_${name}(int at, int is_near, const char *tested, ${types}) {
    char asked[601] = "", line[2600]; int state = 0, child; FILE *in;
    ${uniqueName}_key_${name}(asked, ${args});
    fflush(0);
    remove(getenv("${uniqueName}_answer"));
    child = fork();
    if (child == 0) {
        FILE *out; ${result} ${uniqueName}_result;
        alarm(2);
        ${uniqueName}_result = ${name}_${uniqueName}(${args});
        out = fopen(getenv("${uniqueName}_answer"), "w");
        if (out != 0) { fprintf(out, ${format(result, `${uniqueName}_result`)}); fclose(out); }
        _exit(0);
    }
    waitpid(child, &state, 0);
    line[0] = 0;
    in = fopen(getenv("${uniqueName}_answer"), "r");
    if (in != 0) {
        size_t got = fread(line, 1, 600, in);
        line[got] = 0;
        fclose(in);
        if (got == 0) { line[0] = line[1] = 39; line[2] = 0; }
    }
    ${uniqueName}_one_line(line);
    in = fopen(getenv("${uniqueName}"), "a");
    if (in != 0) { fprintf(in, "${name}\\t%d\\t%s\\t%s\\t%s\\t%s\\n", at, is_near ? "near" : "is", asked, line, tested); fclose(in); }
    return line[0] != 0;
}
${header} {
    static int calls = 0;
    if (!${uniqueName}_busy && calls < ${callsMax} && getenv("${uniqueName}") != 0) {
        char tested[601] = "";
        calls++;
        ${uniqueName}_busy = 1;
        ${uniqueName}_key_${name}(tested, ${args});
        if (${uniqueName}_is_new("${name}", tested) && ${uniqueName}_write_record_${name}(0, 0, "", ${args})) {
            ${loops.join("\n            ")}
        }
        ${uniqueName}_busy = 0;
    }
    return ${name}_${uniqueName}(${args});
}`;
}

/**
 * A C loop that gives a parameter each value near its own, records, and gives it its own value
 * back. A number is made smaller only if it is more than 1: zero and negative numbers are often not
 * allowed.
 */
function createNearLoop(uniqueName: string, { type, name }: Parameter, record: string): string {
  if (type.endsWith("*")) {
    const near = `${uniqueName}_near_value(kept, i)`;
    return `{ int i; const char *kept = ${name}; for (i = 0; ${near} != 0; i++) { ${name} = ${near}; ${record} } ${name} = kept; }`;
  }

  const steps = `static const int steps[] = {${numberSteps.join(", ")}};`;
  const change = `${name} = (${type})(kept + (${type})steps[i]);`;
  const loop = `for (i = 0; i < ${numberSteps.length}; i++) if (steps[i] > 0 || kept > 1) { ${change} ${record} }`;

  return `{ int i; ${type} kept = ${name}; ${steps} ${loop} ${name} = kept; }`;
}

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - calls made by the recorder itself are not recorded (`busy`).
 */
const createRecorder = (
  uniqueName: string,
  near: ReadonlyMap<string, readonly string[]>,
): string => `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int fork(void);
extern int waitpid(int, int *, int);
extern unsigned int alarm(unsigned int);
extern void _exit(int);
extern FILE *fmemopen(void *, size_t, const char *);
static int ${uniqueName}_busy = 0;
static void ${uniqueName}_one_line(char *text) { for (; *text != 0; text++) if (*text == 9 || *text == 10 || *text == 13) *text = 32; }
static int ${uniqueName}_is_new(const char *name, const char *asked) {
    static char seen[${inputsMax}][640]; static int count = 0; char own[640]; int i;
    snprintf(own, sizeof own, "%s %s", name, asked);
    for (i = 0; i < count; i++) if (strcmp(seen[i], own) == 0) return 0;
    if (count == ${inputsMax}) return 0;
    memcpy(seen[count++], own, sizeof own);
    return 1;
}
static const char *${uniqueName}_near_value(const char *text, int at) {
    static const char *const all[][${variantsMax + 2}] = {
${[...near].map(([text, others]) => `        {${[text, ...others.slice(0, variantsMax)].map((value) => JSON.stringify(value)).join(", ")}},`).join("\n")}
        {0}
    };
    int i;
    for (i = 0; text != 0 && all[i][0] != 0; i++) if (strcmp(all[i][0], text) == 0) return all[i][at + 1];
    return 0;
}
`;

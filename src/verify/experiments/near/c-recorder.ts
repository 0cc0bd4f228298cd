// c-recorder: adds to a C file's source a wrapper around each wanted function, which records its answers to the tests' inputs and to
// inputs near them (format: near-records.ts). Generates text only. Each answer is asked for in a process of its own: what ends that
// process has no answer.

import { maskText } from "../../protected/masked.ts";
import { closingBracket } from "../source/test-cases.ts";
import { numberSteps } from "./near-inputs.ts";
import { callsMax, inputsMax, type Recorder } from "./recorder.ts";
import { splitList } from "./signatures.ts";

/** So many texts near one of the tests; beside them the table holds the text itself and a zero at the end. */
const variantsMax = 6;
const integers = /^(?:(?:unsigned|signed|long|short|int)(?:\s+(?:long|short|int))*|size_t|u?int(?:16|32|64)_t)$/;
const text = /^(?:const\s+)?char\s*\*$/;
const isReal = (type: string): boolean => type === "double" || type === "float";
const isGiven = (type: string): boolean => integers.test(type) || isReal(type) || /^const\s+char\s*\*$/.test(type);

export const recordC: Recorder = ({ files, isWanted, near, nonce }) => {
  const recorded = files.flatMap(({ path, text: source }) => {
    const code = maskText(source, "java");
    const found = [...code.matchAll(/^((?:[A-Za-z_]\w*[ \t]+)+(?:\*[ \t]*)?)(\w+)[ \t]*\(/gm)].flatMap(
      ({ 0: head, 1: type = "", 2: name = "", index }) => {
        const close = closingBracket(code, index + head.length - 1);
        const brace = close === null ? null : /^\s*\{/.exec(code.slice(close));
        const result = type.replace(/\bstatic\b|\binline\b/g, "").trim();
        const params = close === null ? [] : splitList(code.slice(index + head.length, close - 1)).map(parameter);
        const isPlain = params.length > 0 && params.every((one) => one !== null && isGiven(one.type));
        return isWanted(name) &&
          brace !== null &&
          close !== null &&
          isPlain &&
          !/\b(?:static|inline|return|else)\b/.test(type) &&
          (integers.test(result) || isReal(result) || text.test(result))
          ? [
              {
                name,
                result,
                params: params.flatMap((one) => one ?? []),
                at: index + type.length,
                index,
                header: source.slice(index, close),
              },
            ]
          : [];
      },
    );
    const [first] = found;
    if (first === undefined) return [];
    const renamed = found.reduceRight(
      (done, { name, at, header, index }) =>
        `${done.slice(0, index)}static ${header.replace(name, `${name}_${nonce}`)};\n${header};\nstatic ${done.slice(index, at)}${done.slice(at).replace(name, `${name}_${nonce}`)}`,
      source,
    );
    const wrappers = found.map((one) => wrapper(nonce, one));
    return [{ path, text: `${renamed}\n${recorderSource(nonce, near)}\n${wrappers.join("\n")}`, names: found.map(({ name }) => name) }];
  });
  return { edits: recorded.map(({ path, text: own }) => ({ path, text: own })), functions: recorded.flatMap(({ names }) => names) };
};

type Parameter = { readonly type: string; readonly name: string };
type Wrapped = { readonly name: string; readonly result: string; readonly params: readonly Parameter[]; readonly header: string };

function parameter(part: string): Parameter | null {
  const [, type = "", name = ""] = /^(.*?[\s*])(\w+)$/s.exec(part.trim()) ?? [];
  return name === "" ? null : { type: type.replace(/\s+/g, " ").trim(), name };
}

const format = (type: string, value: string): string =>
  text.test(type) ? `"%s", ${value} ? ${value} : ""` : isReal(type) ? `"%.9g", (double)${value}` : `"%ld", (long)${value}`;

/** The wrapper of one function. A number is made smaller only if it is more than 1: zero and negative numbers are often not allowed. */
function wrapper(nonce: string, { name, result, params, header }: Wrapped): string {
  const args = params.map((one) => one.name).join(", ");
  const key = params
    .map(({ type, name: one }, at) => `${at === 0 ? "" : 'fputs("\\037", out); '}fprintf(out, ${format(type, one)});`)
    .join(" ");
  const [types, names] = [params.map(({ type, name: one }) => `${type} ${one}`).join(", "), args];
  const each = params.map(({ type, name: one }, at) =>
    type.endsWith("*")
      ? `{ int i; const char *kept = ${one}; for (i = 0; ${nonce}_near_value(kept, i) != 0; i++) { ${one} = ${nonce}_near_value(kept, i); ${nonce}_write_record_${name}(${at}, 1, tested, ${names}); } ${one} = kept; }`
      : `{ int i; ${type} kept = ${one}; static const int steps[] = {${numberSteps.join(", ")}}; for (i = 0; i < ${numberSteps.length}; i++) if (steps[i] > 0 || kept > 1) { ${one} = (${type})(kept + (${type})steps[i]); ${nonce}_write_record_${name}(${at}, 1, tested, ${names}); } ${one} = kept; }`,
  );
  return `
static void ${nonce}_key_${name}(char *to, ${types}) { FILE *out = fmemopen(to, 600, "w"); if (out == 0) return; ${key} fclose(out); ${nonce}_one_line(to); }
static int ${nonce}_write_record_${name}(int at, int is_near, const char *tested, ${types}) {
    char asked[601] = "", line[2600]; int state = 0, child; FILE *in;
    ${nonce}_key_${name}(asked, ${names});
    fflush(0);
    remove(getenv("${nonce}_answer"));
    child = fork();
    if (child == 0) { FILE *out; ${result} ${nonce}_result; alarm(2); ${nonce}_result = ${name}_${nonce}(${args}); out = fopen(getenv("${nonce}_answer"), "w"); if (out != 0) { fprintf(out, ${format(result, `${nonce}_result`)}); fclose(out); } _exit(0); }
    waitpid(child, &state, 0);
    line[0] = 0;
    in = fopen(getenv("${nonce}_answer"), "r");
    if (in != 0) { size_t got = fread(line, 1, 600, in); line[got] = 0; fclose(in); if (got == 0) { line[0] = line[1] = 39; line[2] = 0; } }
    ${nonce}_one_line(line);
    in = fopen(getenv("${nonce}"), "a");
    if (in != 0) { fprintf(in, "${name}\\t%d\\t%s\\t%s\\t%s\\t%s\\n", at, is_near ? "near" : "is", asked, line, tested); fclose(in); }
    return line[0] != 0;
}
${header} {
    static int calls = 0;
    if (!${nonce}_busy && calls < ${callsMax} && getenv("${nonce}") != 0) {
        char tested[601] = "";
        calls++;
        ${nonce}_busy = 1;
        ${nonce}_key_${name}(tested, ${names});
        if (${nonce}_is_new("${name}", tested) && ${nonce}_write_record_${name}(0, 0, "", ${names})) {
            ${each.join("\n            ")}
        }
        ${nonce}_busy = 0;
    }
    return ${name}_${nonce}(${args});
}`;
}

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - calls made by the recorder itself are not recorded (`busy`).
 */
const recorderSource = (nonce: string, near: ReadonlyMap<string, readonly string[]>): string => `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int fork(void);
extern int waitpid(int, int *, int);
extern unsigned int alarm(unsigned int);
extern void _exit(int);
extern FILE *fmemopen(void *, size_t, const char *);
static int ${nonce}_busy = 0;
static void ${nonce}_one_line(char *text) { for (; *text != 0; text++) if (*text == 9 || *text == 10 || *text == 13) *text = 32; }
static int ${nonce}_is_new(const char *name, const char *asked) {
    static char seen[${inputsMax}][640]; static int count = 0; char own[640]; int i;
    snprintf(own, sizeof own, "%s %s", name, asked);
    for (i = 0; i < count; i++) if (strcmp(seen[i], own) == 0) return 0;
    if (count == ${inputsMax}) return 0;
    memcpy(seen[count++], own, sizeof own);
    return 1;
}
static const char *${nonce}_near_value(const char *text, int at) {
    static const char *const all[][${variantsMax + 2}] = {
${[...near].map(([one, others]) => `        {${[one, ...others.slice(0, variantsMax)].map((value) => JSON.stringify(value)).join(", ")}},`).join("\n")}
        {0}
    };
    int i;
    for (i = 0; text != 0 && all[i][0] != 0; i++) if (strcmp(all[i][0], text) == 0) return all[i][at + 1];
    return 0;
}
`;

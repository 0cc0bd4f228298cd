// go-recorder: adds to a Go package's source a wrapper around each wanted function, which records
// its answers to the tests' inputs and to inputs near them (format: near-records.ts). Generates
// text only.

import type { Edit } from "../lab.ts";
import { parentFolder } from "../without-runner/plain-program.ts";
import { callsMax, type Recorder } from "./recorder.ts";
import { numberSteps } from "./near-inputs.ts";
import { splitList } from "./split-list.ts";
import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";

/** Types whose values are changed by adding a step. */
const numbers = [
  "int",
  "int16",
  "int64",
  "uint",
  "uint16",
  "uint32",
  "uint64",
  "float32",
  "float64",
];
const lists = ["string", "int", "int64", "float64", "byte"];
const plain = new Set([
  ...numbers,
  ...lists.map((type) => `[]${type}`),
  "string",
  "bool",
  "byte",
  "rune",
  "int32",
  "uint8",
]);

export const recordGo: Recorder = ({ files, isWanted, near, uniqueName }) => {
  const edits: Edit[] = [];
  const functions: string[] = [];
  const packages = new Map<string, string>();

  for (const { path, text } of files) {
    const code = maskText(text, "go");
    const packageName = /^package\s+(\w+)/m.exec(code)?.[1];
    const definitions = findFunctions(text, code).filter(({ name }) => isWanted(name));
    if (definitions.length === 0 || packageName === undefined) continue;
    const renamed = definitions.reduceRight(
      (done, { nameEnd }) => done.slice(0, nameEnd) + uniqueName + done.slice(nameEnd),
      text,
    );

    const wrappers = definitions.map(({ name, params, header }) => {
      const passedArgs = params
        .map(({ name: param, isRest }) => `${param}${isRest ? "..." : ""}`)
        .join(", ");

      const castArgs = params
        .map(({ type, isRest }, index) => `a[${index}].(${type})${isRest ? "..." : ""}`)
        .join(", ");

      const list = params.map((param) => param.name).join(", ");
      return `${header}{\n\t${uniqueName}Ask(&${uniqueName}${name}, "${name}", []interface{}{${list}}, func(a []interface{}) []interface{} { return ${uniqueName}List(${name}${uniqueName}(${castArgs})) })\n\treturn ${name}${uniqueName}(${passedArgs})\n}\nvar ${uniqueName}${name} ${uniqueName}State\n`;
    });

    edits.push({ path, text: `${renamed}\n${wrappers.join("\n")}` });
    packages.set(parentFolder(path), packageName);
    functions.push(...definitions.map(({ name }) => name));
  }

  for (const [folder, name] of packages) {
    edits.push({ path: `${folder}${uniqueName}.go`, text: createRecorder(name, uniqueName, near) });
  }

  return { edits, functions };
};

type Parameter = { readonly name: string; readonly type: string; readonly isRest: boolean };
type Definition = {
  readonly name: string;
  readonly params: readonly Parameter[];
  readonly header: string;
  readonly nameEnd: number;
};

/** Functions with plain parameters and a result. `code`: the text without comments and strings. */
function findFunctions(text: string, code: string): readonly Definition[] {
  return [...code.matchAll(/^func (\w+)\(/gm)].flatMap(({ 0: head, 1: name = "", index }) => {
    const close = findClosingBracket(code, index + head.length - 1);
    const brace = close === null ? -1 : code.indexOf("{", close);
    if (close === null || brace === -1) return [];
    const results = code.slice(close, brace).trim();
    const params = parseParameters(code.slice(index + head.length, close - 1));
    if (params === null || results === "" || results.includes("\n")) return [];

    return [
      {
        name,
        params,
        header: text.slice(index, brace),
        nameEnd: index + "func ".length + name.length,
      },
    ];
  });
}

/**
 * Null if not all have a name and a plain type, or there are none. In `a, b int` the type of `b` is
 * also that of `a`.
 */
function parseParameters(text: string): readonly Parameter[] | null {
  let type = "";
  const params = splitList(text)
    .toReversed()
    .map((part) => {
      const [, name = "", writtenType] = /^(\w+)(?:\s+(.+))?$/s.exec(part) ?? [];
      if (writtenType !== undefined) type = writtenType.trim();
      const isRest = type.startsWith("...");

      return { name, type: isRest ? `[]${type.slice(3)}` : type, isRest };
    });

  const isUsable = (param: Parameter): boolean =>
    plain.has(param.type) && param.name !== "" && param.name !== "_";
  return params.length > 0 && params.every(isUsable) ? params.toReversed() : null;
}

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not
 *   allowed;
 * - of a list only the first and the last element are varied: that shows whether elements matter,
 *   at few calls; and if it has numbers alone, all of them are made smaller, in case only their
 *   size matters;
 * - calls made by the recorder itself are not recorded (`Busy`).
 */
const createRecorder = (
  packageName: string,
  uniqueName: string,
  near: ReadonlyMap<string, readonly string[]>,
): string => `package ${packageName}

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

type ${uniqueName}State struct {
	calls int32
	seen  map[string]bool
}

var ${uniqueName}Busy int32
var ${uniqueName}Texts = map[string][]string{
${[...near].map(([text, others]) => `\t${JSON.stringify(text)}: {${others.map((nearText) => JSON.stringify(nearText)).join(", ")}},`).join("\n")}
}

func ${uniqueName}List(all ...interface{}) []interface{} { return all }

func ${uniqueName}Ask(state *${uniqueName}State, name string, args []interface{}, call func([]interface{}) []interface{}) {
	if atomic.LoadInt32(&state.calls) > ${callsMax} || !atomic.CompareAndSwapInt32(&${uniqueName}Busy, 0, 1) {
		return
	}
	defer atomic.StoreInt32(&${uniqueName}Busy, 0)
	atomic.AddInt32(&state.calls, 1)
	key := ${uniqueName}Key(args)
	if state.seen == nil {
		state.seen = map[string]bool{}
	}
	if state.seen[key] {
		return
	}
	state.seen[key] = true
	testedAnswer := ${uniqueName}Answer(call, args)
	${uniqueName}WriteRecord(name, 0, "is", key, testedAnswer, "")
	if testedAnswer == "" {
		return
	}
	for at, arg := range args {
		for _, other := range ${uniqueName}NearValues(arg) {
			changed := append([]interface{}{}, args...)
			changed[at] = other
			${uniqueName}WriteRecord(name, at, "near", ${uniqueName}Key(changed), ${uniqueName}Answer(call, changed), key)
		}
	}
}

func ${uniqueName}WriteRecord(name string, at int, kind, asked, answer, tested string) {
	file, err := os.OpenFile(os.Getenv("${uniqueName}"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.WriteString(fmt.Sprint(name, "\\t", at, "\\t", kind, "\\t", asked, "\\t", answer, "\\t", tested, "\\n"))
}

func ${uniqueName}Key(args []interface{}) string {
	words := []string{}
	for _, arg := range args {
		words = append(words, ${uniqueName}OneLine(arg))
	}
	return strings.Join(words, "\\x1f")
}

func ${uniqueName}OneLine(value interface{}) string {
	return strings.NewReplacer("\\t", " ", "\\n", " ", "\\r", " ").Replace(fmt.Sprintf("%+v", value))
}

func ${uniqueName}Answer(call func([]interface{}) []interface{}, args []interface{}) (answer string) {
	defer func() {
		if recover() != nil {
			answer = ""
		}
	}()
	copies := []interface{}{}
	for _, arg := range args {
		copies = append(copies, ${uniqueName}Copy(arg))
	}
	words := []string{}
	for _, result := range call(copies) {
		if err, isError := result.(error); isError && err != nil {
			return ""
		}
		if result != nil {
			words = append(words, ${uniqueName}OneLine(result))
		}
	}
	if len(words) == 0 {
		return ""
	}
	if answer = strings.Join(words, "|"); answer == "" {
		return "''"
	}
	return answer
}

func ${uniqueName}Copy(value interface{}) interface{} {
	switch v := value.(type) {
${lists.map((type) => `\tcase []${type}:\n\t\treturn append([]${type}{}, v...)`).join("\n")}
	}
	return value
}

func ${uniqueName}NearValues(value interface{}) (near []interface{}) {
	switch v := value.(type) {
	case string:
		for _, text := range ${uniqueName}Texts[v] {
			near = append(near, text)
		}
${numbers.map(nearNumberCase).join("\n")}
${lists.map((type) => nearListCase(type, uniqueName)).join("\n")}
	}
	return near
}
`;

const nearNumberCase = (type: string): string => `	case ${type}:
		for _, step := range []int{${numberSteps.join(", ")}} {
			if step > 0 || v > 1 {
				near = append(near, v+${type}(step))
			}
		}`;

const nearListCase = (type: string, uniqueName: string): string => `	case []${type}:
		if len(v) > 0 {
			for _, index := range []int{0, len(v) - 1} {
				for _, element := range ${uniqueName}NearValues(v[index]) {
					list := append([]${type}{}, v...)
					list[index] = element.(${type})
					near = append(near, list)
				}
			}
${type === "string" || type === "byte" ? "" : dividedLists(type)}		}`;

const dividedLists = (type: string): string => `			for _, by := range []${type}{10, 100} {
				list := append([]${type}{}, v...)
				for index := range list {
					list[index] /= by
				}
				near = append(near, list)
			}
`;

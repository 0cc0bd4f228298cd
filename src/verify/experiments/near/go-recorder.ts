// go-recorder: adds to a Go package's source a wrapper around each wanted function, which records its answers to the tests' inputs and to
// inputs near them (format: near-records.ts). Generates text only.

import type { Edit } from "../experiment-tools.ts";
import { folderOf } from "../outside/plain-program.ts";
import { callsMax, type Recorder } from "./recorder.ts";
import { numberSteps } from "./near-inputs.ts";
import { splitList } from "./signatures.ts";
import { maskText } from "../../protected/masked.ts";
import { closingBracket } from "../source/test-cases.ts";

const numbers = ["int", "int16", "int64", "uint", "uint16", "uint32", "uint64", "float32", "float64"];
const lists = ["string", "int", "int64", "float64"];
const plain = new Set([...numbers, ...lists.map((type) => `[]${type}`), "string", "bool", "byte", "rune", "int32", "uint8"]);

export const recordGo: Recorder = ({ files, isWanted, near, nonce }) => {
  const edits: Edit[] = [];
  const functions: string[] = [];
  const packages = new Map<string, string>();
  for (const { path, text } of files) {
    const code = maskText(text, "go");
    const packageName = /^package\s+(\w+)/m.exec(code)?.[1];
    const found = [...code.matchAll(/^func (\w+)\(/gm)].flatMap(({ 0: head, 1: name = "", index }) => {
      const close = closingBracket(code, index + head.length - 1);
      const brace = close === null ? -1 : code.indexOf("{", close);
      const results = close === null ? "" : code.slice(close, brace).trim();
      const params = close === null ? null : goParameters(code.slice(index + head.length, close - 1));
      return isWanted(name) && params !== null && brace !== -1 && results !== "" && !results.includes("\n")
        ? [{ name, params, at: index + "func ".length + name.length, header: text.slice(index, brace) }]
        : [];
    });
    if (found.length === 0 || packageName === undefined) continue;
    const renamed = found.reduceRight((done, { at }) => done.slice(0, at) + nonce + done.slice(at), text);
    const wrappers = found.map(({ name, params, header }) => {
      const given = params.map(({ name: one, isRest }) => `${one}${isRest ? "..." : ""}`).join(", ");
      const taken = params.map(({ type, isRest }, at) => `a[${at}].(${type})${isRest ? "..." : ""}`).join(", ");
      const list = params.map((one) => one.name).join(", ");
      return `${header}{\n\t${nonce}Ask(&${nonce}${name}, "${name}", []interface{}{${list}}, func(a []interface{}) []interface{} { return ${nonce}List(${name}${nonce}(${taken})) })\n\treturn ${name}${nonce}(${given})\n}\nvar ${nonce}${name} ${nonce}State\n`;
    });
    edits.push({ path, text: `${renamed}\n${wrappers.join("\n")}` });
    packages.set(folderOf(path), packageName);
    functions.push(...found.map(({ name }) => name));
  }
  for (const [folder, name] of packages) edits.push({ path: `${folder}${nonce}.go`, text: recorderSource(name, nonce, near) });
  return { edits, functions };
};

type Parameter = { readonly name: string; readonly type: string; readonly isRest: boolean };

/** Null if not all have a name and a plain type, or there are none. */
function goParameters(text: string): readonly Parameter[] | null {
  let type = "";
  const found = splitList(text)
    .toReversed()
    .map((part) => {
      const [, name = "", own] = /^(\w+)(?:\s+(.+))?$/s.exec(part) ?? [];
      if (own !== undefined) type = own.trim();
      const isRest = type.startsWith("...");
      return { name, type: isRest ? `[]${type.slice(3)}` : type, isRest };
    });
  return found.length === 0 || found.some((one) => !plain.has(one.type) || one.name === "" || one.name === "_") ? null : found.toReversed();
}

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not allowed;
 * - of a list only the first and the last element are varied: that shows whether elements matter, at few calls;
 * - calls made by the recorder itself are not recorded (`Busy`).
 */
const recorderSource = (packageName: string, nonce: string, near: ReadonlyMap<string, readonly string[]>): string => `package ${packageName}

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

type ${nonce}State struct {
	calls int32
	seen  map[string]bool
}

var ${nonce}Busy int32
var ${nonce}Texts = map[string][]string{
${[...near].map(([text, others]) => `\t${JSON.stringify(text)}: {${others.map((one) => JSON.stringify(one)).join(", ")}},`).join("\n")}
}

func ${nonce}List(all ...interface{}) []interface{} { return all }

func ${nonce}Ask(state *${nonce}State, name string, args []interface{}, call func([]interface{}) []interface{}) {
	if atomic.LoadInt32(&state.calls) > ${callsMax} || !atomic.CompareAndSwapInt32(&${nonce}Busy, 0, 1) {
		return
	}
	defer atomic.StoreInt32(&${nonce}Busy, 0)
	atomic.AddInt32(&state.calls, 1)
	key := ${nonce}Key(args)
	if state.seen == nil {
		state.seen = map[string]bool{}
	}
	if state.seen[key] {
		return
	}
	state.seen[key] = true
	testedAnswer := ${nonce}Answer(call, args)
	${nonce}WriteRecord(name, 0, "is", key, testedAnswer, "")
	if testedAnswer == "" {
		return
	}
	for at, arg := range args {
		for _, other := range ${nonce}NearValues(arg) {
			changed := append([]interface{}{}, args...)
			changed[at] = other
			${nonce}WriteRecord(name, at, "near", ${nonce}Key(changed), ${nonce}Answer(call, changed), key)
		}
	}
}

func ${nonce}WriteRecord(name string, at int, kind, asked, answer, tested string) {
	file, err := os.OpenFile(os.Getenv("${nonce}"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	_, _ = file.WriteString(fmt.Sprint(name, "\\t", at, "\\t", kind, "\\t", asked, "\\t", answer, "\\t", tested, "\\n"))
}

func ${nonce}Key(args []interface{}) string {
	words := []string{}
	for _, arg := range args {
		words = append(words, ${nonce}OneLine(arg))
	}
	return strings.Join(words, "\\x1f")
}

func ${nonce}OneLine(value interface{}) string {
	return strings.NewReplacer("\\t", " ", "\\n", " ", "\\r", " ").Replace(fmt.Sprintf("%+v", value))
}

func ${nonce}Answer(call func([]interface{}) []interface{}, args []interface{}) (said string) {
	defer func() {
		if recover() != nil {
			said = ""
		}
	}()
	own := []interface{}{}
	for _, arg := range args {
		own = append(own, ${nonce}Copy(arg))
	}
	words := []string{}
	for _, one := range call(own) {
		if err, is := one.(error); is && err != nil {
			return ""
		}
		if one != nil {
			words = append(words, ${nonce}OneLine(one))
		}
	}
	if len(words) == 0 {
		return ""
	}
	if said = strings.Join(words, "|"); said == "" {
		return "''"
	}
	return said
}

func ${nonce}Copy(value interface{}) interface{} {
	switch v := value.(type) {
${lists.map((type) => `\tcase []${type}:\n\t\treturn append([]${type}{}, v...)`).join("\n")}
	}
	return value
}

func ${nonce}NearValues(value interface{}) (near []interface{}) {
	switch v := value.(type) {
	case string:
		for _, one := range ${nonce}Texts[v] {
			near = append(near, one)
		}
${numbers.map((type) => `\tcase ${type}:\n\t\tfor _, step := range []int{${numberSteps.join(", ")}} {\n\t\t\tif step > 0 || v > 1 {\n\t\t\t\tnear = append(near, v+${type}(step))\n\t\t\t}\n\t\t}`).join("\n")}
${lists
  .map(
    (type) =>
      `\tcase []${type}:\n\t\tif len(v) > 0 {\n\t\t\tfor _, place := range []int{0, len(v) - 1} {\n\t\t\t\tfor _, one := range ${nonce}NearValues(v[place]) {\n\t\t\t\t\tother := append([]${type}{}, v...)\n\t\t\t\t\tother[place] = one.(${type})\n\t\t\t\t\tnear = append(near, other)\n\t\t\t\t}\n\t\t\t}\n\t\t}`,
  )
  .join("\n")}
	}
	return near
}
`;

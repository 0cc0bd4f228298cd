// java-recorder: adds to a Java class's source a wrapper around each wanted static method, which records its answers to the tests' inputs
// and to inputs near them (format: near-records.ts). Generates text only.

import { maskText } from "../../protected/masked.ts";
import { closingBracket } from "../source/test-cases.ts";
import { numberSteps } from "./near-inputs.ts";
import { inputsMax, type Recorder } from "./recorder.ts";
import { splitList } from "./signatures.ts";

const boxes: Readonly<Record<string, string>> = {
  int: "Integer",
  long: "Long",
  double: "Double",
  float: "Float",
  boolean: "Boolean",
  String: "String",
};

export const recordJava: Recorder = ({ files, isWanted, near, nonce }) => {
  const recorded = files.flatMap(({ path, text }) => {
    const code = maskText(text, "java");
    const found = [...code.matchAll(/^[ \t]*((?:public |private |protected |final )*static (?:final )?[\w<>[\], ]+? )(\w+)\(/gm)].flatMap(
      ({ 0: head, 1: type = "", 2: name = "", index }) => {
        const close = closingBracket(code, index + head.length - 1);
        const brace = close === null ? -1 : code.indexOf("{", close);
        const params =
          close === null ? [] : splitList(code.slice(index + head.length, close - 1)).map((one) => /^(?:final )?(\w+) (\w+)$/.exec(one));
        const isPlain = params.length > 0 && params.every((one) => boxes[one?.[1] ?? ""] !== undefined);
        return isWanted(name) && isPlain && brace !== -1 && !/\bvoid\b|</.test(type)
          ? [
              {
                name,
                index,
                at: index + head.length - 1,
                header: text.slice(index, brace),
                params: params.map((one) => ({ type: one?.[1] ?? "", name: one?.[2] ?? "" })),
              },
            ]
          : [];
      },
    );
    const outer = code.lastIndexOf("}");
    if (found.length === 0 || outer === -1) return [];
    const closed = `${text.slice(0, outer)}${recorderSource(nonce, near)}${text.slice(outer)}`;
    const wrapped = found.reduceRight((done, { name, index, at, header, params }) => {
      const args = params.map((one) => one.name).join(", ");
      const taken = params.map(({ type }, place) => `(${boxes[type]}) a[${place}]`).join(", ");
      const own = `${header}{\n${nonce}.ask("${name}", new Object[] {${args}}, a -> ${name}${nonce}(${taken}));\nreturn ${name}${nonce}(${args});\n}\n`;
      return `${done.slice(0, index)}${own}${done.slice(index, at)}${nonce}${done.slice(at)}`;
    }, closed);
    return [{ path, text: wrapped, names: found.map(({ name }) => name) }];
  });
  return { edits: recorded.map(({ path, text }) => ({ path, text })), functions: recorded.flatMap(({ names }) => names) };
};

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not allowed;
 * - calls made by the recorder itself are not recorded (`isBusy`).
 */
const recorderSource = (nonce: string, near: ReadonlyMap<string, readonly string[]>): string => `
static final class ${nonce} {
  interface Call { Object on(Object[] a) throws Exception; }
  static final java.util.Set<String> seen = new java.util.HashSet<>();
  static boolean isBusy = false;
  static final java.util.Map<String, String[]> texts = new java.util.HashMap<>();
  static {
${[...near].map(([text, others]) => `    texts.put(${JSON.stringify(text)}, new String[] {${others.map((one) => JSON.stringify(one)).join(", ")}});`).join("\n")}
  }
  static synchronized void ask(String name, Object[] args, Call call) {
    String tested = key(args);
    if (isBusy || seen.size() > ${inputsMax} || System.getenv("${nonce}") == null || !seen.add(name + "\\t" + tested)) return;
    isBusy = true;
    try {
      String testedAnswer = answer(call, args);
      writeRecord(name, 0, "is", tested, testedAnswer, "");
      for (int at = 0; at < args.length && !testedAnswer.isEmpty(); at++)
        for (Object one : nearValues(args[at])) {
          Object[] others = args.clone();
          others[at] = one;
          writeRecord(name, at, "near", key(others), answer(call, others), tested);
        }
    } catch (java.io.IOException e) {
    } finally {
      isBusy = false;
    }
  }
  static String oneLine(Object v) { return String.valueOf(v).replaceAll("[\\t\\n\\r]", " "); }
  static String key(Object[] args) {
    StringBuilder all = new StringBuilder();
    for (int at = 0; at < args.length; at++) all.append(at == 0 ? "" : "\\u001f").append(oneLine(args[at]));
    return all.toString();
  }
  static String answer(Call call, Object[] args) {
    try {
      Object result = call.on(args);
      if (result == null || result.equals(java.util.Optional.empty())) return "";
      return oneLine(result).isEmpty() ? "''" : oneLine(result instanceof int[] ? java.util.Arrays.toString((int[]) result) : result instanceof Object[] ? java.util.Arrays.toString((Object[]) result) : result);
    } catch (Throwable e) {
      return "";
    }
  }
  static java.util.List<Object> nearValues(Object v) {
    java.util.List<Object> all = new java.util.ArrayList<>();
    if (v instanceof String) java.util.Collections.addAll(all, (Object[]) texts.getOrDefault(v, new String[0]));
    for (int step : new int[] {${numberSteps.join(", ")}})
      if (v instanceof Number && (step > 0 || ((Number) v).doubleValue() > 1))
        all.add(v instanceof Integer ? (Object) ((Integer) v + step) : v instanceof Long ? (Object) ((Long) v + step) : v instanceof Float ? (Object) ((Float) v + step) : (Object) (((Number) v).doubleValue() + step));
    return all;
  }
  static void writeRecord(String name, int at, String kind, String asked, String answer, String tested) throws java.io.IOException {
    String line = name + "\\t" + at + "\\t" + kind + "\\t" + asked + "\\t" + answer + "\\t" + tested + "\\n";
    java.nio.file.Files.write(java.nio.file.Paths.get(System.getenv("${nonce}")), line.getBytes("UTF-8"), java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.APPEND);
  }
}
`;

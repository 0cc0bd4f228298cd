// java-recorder: adds to a Java class's source a wrapper around each wanted static method, which
// records its answers to the tests' inputs and to inputs near them (format: near-records.ts).
// Generates text only.

import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { numberSteps } from "./near-inputs.ts";
import { inputsMax, type Recorder } from "./recorder.ts";
import { splitList } from "./split-list.ts";

/** The plain types of parameters, each with the class that its values have as objects. */
const boxes: Readonly<Record<string, string>> = {
  int: "Integer",
  long: "Long",
  double: "Double",
  float: "Float",
  boolean: "Boolean",
  String: "String",
};

export const recordJava: Recorder = ({ files, isWanted, near, uniqueName }) => {
  const recorded = files.flatMap(({ path, text }) => {
    const code = maskText(text, "java");
    const methods = findStaticMethods(text, code).filter(({ name }) => isWanted(name));
    const classEnd = code.lastIndexOf("}");
    if (methods.length === 0 || classEnd === -1) return [];
    const withRecorder = `${text.slice(0, classEnd)}${createRecorder(uniqueName, near)}${text.slice(classEnd)}`;

    // From the last to the first, so that positions stay right.
    const wrapped = methods.reduceRight((source, { name, index, nameEnd, header, params }) => {
      const args = params.map((param) => param.name).join(", ");
      const castArgs = params
        .map(({ type }, position) => `(${boxes[type]}) a[${position}]`)
        .join(", ");

      const ask = `${uniqueName}.ask("${name}", new Object[] {${args}}, a -> ${name}${uniqueName}(${castArgs}));`;
      const wrapper = `${header}{\n${ask}\nreturn ${name}${uniqueName}(${args});\n}\n`;
      return `${source.slice(0, index)}${wrapper}${source.slice(index, nameEnd)}${uniqueName}${source.slice(nameEnd)}`;
    }, withRecorder);

    return [{ edit: { path, text: wrapped }, names: methods.map(({ name }) => name) }];
  });

  return {
    edits: recorded.map(({ edit }) => edit),
    functions: recorded.flatMap(({ names }) => names),
  };
};

type Parameter = { readonly type: string; readonly name: string };
type Method = {
  readonly name: string;
  readonly params: readonly Parameter[];
  /** The text before the body. */
  readonly header: string;
  readonly index: number;
  readonly nameEnd: number;
};

const staticMethod =
  /^[ \t]*((?:public |private |protected |final )*static (?:final )?[\w<>[\], ]+? )(\w+)\(/gm;

/**
 * Static methods with plain parameters and a result. `code`: the text without comments and strings.
 */
function findStaticMethods(text: string, code: string): readonly Method[] {
  return [...code.matchAll(staticMethod)].flatMap(
    ({ 0: head, 1: type = "", 2: name = "", index }) => {
      const close = findClosingBracket(code, index + head.length - 1);
      const brace = close === null ? -1 : code.indexOf("{", close);
      if (close === null || brace === -1 || /\bvoid\b|</.test(type)) return [];
      const params = splitList(code.slice(index + head.length, close - 1)).map(parseParameter);
      if (params.length === 0 || params.some((param) => boxes[param.type] === undefined)) return [];

      return [
        { name, params, header: text.slice(index, brace), index, nameEnd: index + head.length - 1 },
      ];
    },
  );
}

function parseParameter(text: string): Parameter {
  const [, type = "", name = ""] = /^(?:final )?(\w+) (\w+)$/.exec(text) ?? [];
  return { type, name };
}

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - a number is made smaller only if it is more than 1: zero and negative numbers are often not
 *   allowed;
 * - calls made by the recorder itself are not recorded (`isBusy`).
 */
const createRecorder = (
  uniqueName: string,
  near: ReadonlyMap<string, readonly string[]>,
): string => `
static final class ${uniqueName} {
  interface Call { Object on(Object[] a) throws Exception; }
  static final java.util.Set<String> seen = new java.util.HashSet<>();
  static boolean isBusy = false;
  static final java.util.Map<String, String[]> texts = new java.util.HashMap<>();
  static {
${[...near].map(([text, others]) => `    texts.put(${JSON.stringify(text)}, new String[] {${others.map((nearText) => JSON.stringify(nearText)).join(", ")}});`).join("\n")}
  }
  static synchronized void ask(String name, Object[] args, Call call) {
    String tested = key(args);
    if (isBusy || seen.size() > ${inputsMax} || System.getenv("${uniqueName}") == null || !seen.add(name + "\\t" + tested)) return;
    isBusy = true;
    try {
      String testedAnswer = answer(call, args);
      writeRecord(name, 0, "is", tested, testedAnswer, "");
      for (int at = 0; at < args.length && !testedAnswer.isEmpty(); at++)
        for (Object nearValue : nearValues(args[at])) {
          Object[] nearArgs = args.clone();
          nearArgs[at] = nearValue;
          writeRecord(name, at, "near", key(nearArgs), answer(call, nearArgs), tested);
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
    java.nio.file.Files.write(java.nio.file.Paths.get(System.getenv("${uniqueName}")), line.getBytes("UTF-8"), java.nio.file.StandardOpenOption.CREATE, java.nio.file.StandardOpenOption.APPEND);
  }
}
`;

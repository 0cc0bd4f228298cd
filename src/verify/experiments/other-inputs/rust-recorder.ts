// rust-recorder: adds to a Rust module's source a wrapper around each wanted function, which
// records its answers to the tests' inputs and to inputs near them (format: near-records.ts).
// Generates text only.

import { maskText } from "../../protected/mask-text.ts";
import { findClosingBracket } from "../source-text/brackets.ts";
import { numberSteps } from "./near-inputs.ts";
import { callsMax, type Recorder } from "./recorder.ts";
import { splitList } from "./split-list.ts";

const numbers = new Set([
  "i16",
  "i32",
  "i64",
  "i128",
  "isize",
  "u16",
  "u32",
  "u64",
  "u128",
  "usize",
  "f32",
  "f64",
]);
const plainTypes = new Set([...numbers, "bool", "char", "u8", "i8", "&str", "String"]);

export const recordRust: Recorder = ({ files, isWanted, near, uniqueName }) => {
  const recorded = files.flatMap(({ path, text }) => {
    const definitions = findFunctions(text).filter(({ name }) => isWanted(name));
    if (definitions.length === 0) return [];

    // From the last to the first, so that positions stay right.
    const wrapped = definitions.reduceRight((source, definition) => {
      const { name, index, fnStart } = definition;
      const renamed = source.slice(fnStart).replace(/^fn \w+/, () => `fn ${name}_${uniqueName}`);
      return `${source.slice(0, index)}${createWrapper(uniqueName, definition)}\n#[allow(dead_code)]\n${renamed}`;
    }, text);

    return [
      {
        edit: { path, text: `${wrapped}\n${createRecorder(uniqueName, near)}` },
        names: definitions.map(({ name }) => name),
      },
    ];
  });

  return {
    edits: recorded.map(({ edit }) => edit),
    functions: recorded.flatMap(({ names }) => names),
  };
};

type Parameter = { readonly name: string; readonly type: string };
type Definition = {
  readonly name: string;
  readonly params: readonly Parameter[];
  /** The text before the body. */
  readonly header: string;
  readonly index: number;
  /** Where `fn` is, behind `pub`. */
  readonly fnStart: number;
};

/** Functions with plain parameters and a result. */
function findFunctions(text: string): readonly Definition[] {
  const code = maskText(text, "rust");
  return [...code.matchAll(/^(pub(?:\([^)]*\))? )?fn (\w+)\(/gm)].flatMap(
    ({ 0: head, 1: visibility = "", 2: name = "", index }) => {
      const close = findClosingBracket(code, index + head.length - 1);
      if (close === null) return [];
      const brace = code.indexOf("{", close);
      const parts = splitList(code.slice(index + head.length, close - 1));
      const params = parts.flatMap((part) => parseParameter(part) ?? []);
      if (
        parts.length === 0 ||
        params.length < parts.length ||
        !/^\s*->/.test(code.slice(close, brace))
      ) {
        return [];
      }

      return [
        {
          name,
          params,
          header: text.slice(index, brace),
          index,
          fnStart: index + visibility.length,
        },
      ];
    },
  );
}

/** Null if it is not of a plain type. */
function parseParameter(text: string): Parameter | null {
  const [, name = "", type = ""] = /^(?:mut\s+)?(\w+)\s*:\s*(.+)$/s.exec(text) ?? [];
  return name !== "" && plainTypes.has(type) ? { name, type } : null;
}

/**
 * The wrapper of one function. A number is made smaller only if it is more than 1: zero and
 * negative numbers are often not allowed.
 */
function createWrapper(uniqueName: string, { name, params, header }: Definition): string {
  const copies = params.map((param) =>
    param.type === "String" ? `${param.name}.clone()` : param.name,
  );

  const call = `${name}_${uniqueName}(${copies.join(", ")})`;
  const key = `[${params.map((param) => `format!("{}", ${param.name})`).join(", ")}].join("\\u{1f}")`;

  const loops = params.map((param, index) => {
    const values = createNearValues(uniqueName, param);
    if (values === null) return "";
    const record = `${uniqueName}::write_record("${name}", ${index}, "near", &${key}, &${uniqueName}::answer(|| ${call}), &tested);`;

    return `for near in ${values} { let ${param.name} = near; ${record} }`;
  });

  return `#[allow(warnings)]
${header.replace(/\bmut\s+(?=\w+\s*:)/g, "")}{
    if ${uniqueName}::begin() {
        let tested = ${key};
        if ${uniqueName}::is_new("${name}", &tested) {
            let tested_answer = ${uniqueName}::answer(|| ${call});
            ${uniqueName}::write_record("${name}", 0, "is", &tested, &tested_answer, "");
            if !tested_answer.is_empty() {
                ${loops.join("\n                ")}
            }
        }
        ${uniqueName}::end();
    }
    ${name}_${uniqueName}(${params.map((param) => param.name).join(", ")})
}`;
}

/**
 * A Rust iterator over values near that of a parameter; null for types whose values are not varied.
 */
function createNearValues(uniqueName: string, { name, type }: Parameter): string | null {
  if (type === "String")
    return `${uniqueName}::near_values(&${name}).into_iter().map(String::from)`;
  if (type === "&str") return `${uniqueName}::near_values(${name})`;
  if (!numbers.has(type)) return null;
  const isAllowed = `|step: &i32| *step > 0 || ${name} > 1 as ${type}`;
  const move = `|step| if step > 0 { ${name} + step as ${type} } else { ${name} - 1 as ${type} }`;

  return `[${numberSteps.join(", ")}].into_iter().filter(${isAllowed}).map(${move})`;
}

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - calls made by the recorder itself are not recorded (`BUSY`).
 */
const createRecorder = (
  uniqueName: string,
  near: ReadonlyMap<string, readonly string[]>,
): string => `#[allow(warnings)]
mod ${uniqueName} {
    use std::io::Write;
    thread_local! { static BUSY: std::cell::Cell<(bool, u32)> = std::cell::Cell::new((false, 0)); }
    static SEEN: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    pub fn begin() -> bool {
        BUSY.with(|busy| { let (is_busy, calls) = busy.get(); if is_busy || calls > ${callsMax} { return false; } busy.set((true, calls + 1)); true })
    }
    pub fn end() { BUSY.with(|busy| busy.set((false, busy.get().1))); }
    pub fn is_new(name: &str, asked: &str) -> bool {
        let key = format!("{name}\\t{asked}");
        let mut seen = SEEN.lock().unwrap();
        if seen.contains(&key) { return false; }
        seen.push(key);
        true
    }
    pub fn near_values(text: &str) -> Vec<&'static str> {
        match text {
${[...near].map(([text, others]) => `            ${JSON.stringify(text)} => vec![${others.map((nearText) => JSON.stringify(nearText)).join(", ")}],`).join("\n")}
            _ => vec![],
        }
    }
    pub fn answer<T: std::fmt::Debug>(ask: impl FnOnce() -> T) -> String {
        let debug_text = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)) { Ok(result) => format!("{result:?}"), Err(_) => return String::new() };
        if debug_text == "None" || debug_text.starts_with("Err(") || debug_text == "NaN" || debug_text == "()" { return String::new(); }
        let inner = ["Some(", "Ok("].iter().find_map(|open| debug_text.strip_prefix(open)?.strip_suffix(")")).unwrap_or(&debug_text);
        match inner.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) { Some("") => "''".into(), Some(text) => text.into(), None => inner.into() }
    }
    pub fn write_record(name: &str, at: usize, kind: &str, asked: &str, answer: &str, tested: &str) {
        let one_line = |text: &str| text.replace(['\\t', '\\n', '\\r'], " ");
        let line = format!("{name}\\t{at}\\t{kind}\\t{}\\t{}\\t{}\\n", one_line(asked), one_line(answer), one_line(tested));
        if let Ok(path) = std::env::var("${uniqueName}") {
            if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) { let _ = file.write_all(line.as_bytes()); }
        }
    }
}
`;

// rust-recorder: adds to a Rust module's source a wrapper around each wanted function, which records its answers to the tests' inputs and
// to inputs near them (format: near-records.ts). Generates text only.

import { maskText } from "../../protected/masked.ts";
import { closingBracket } from "../source/test-cases.ts";
import { numberSteps } from "./near-inputs.ts";
import { callsMax, type Recorder } from "./recorder.ts";
import { splitList } from "./signatures.ts";

const numbers = new Set(["i16", "i32", "i64", "i128", "isize", "u16", "u32", "u64", "u128", "usize", "f32", "f64"]);
const given = new Set([...numbers, "bool", "char", "u8", "i8", "&str", "String"]);

export const recordRust: Recorder = ({ files, isWanted, near, nonce }) => {
  const recorded = files.flatMap(({ path, text }) => {
    const code = maskText(text, "rust");
    const found = [...code.matchAll(/^(pub(?:\([^)]*\))? )?fn (\w+)\(/gm)].flatMap(({ 0: head, 1: open = "", 2: name = "", index }) => {
      const close = closingBracket(code, index + head.length - 1);
      const brace = close === null ? -1 : code.indexOf("{", close);
      const params = close === null ? [] : splitList(code.slice(index + head.length, close - 1)).map(parameter);
      const isPlain = params.length > 0 && params.every((one) => one !== null);
      return isWanted(name) && isPlain && close !== null && /^\s*->/.test(code.slice(close, brace))
        ? [{ name, params, index, end: index + open.length, header: text.slice(index, brace) }]
        : [];
    });
    if (found.length === 0) return [];
    const wrapped = found.reduceRight(
      (done, { name, params, index, end, header }) =>
        `${done.slice(0, index)}${wrapper(
          nonce,
          name,
          params.flatMap((one) => one ?? []),
          header,
        )}\n#[allow(dead_code)]\n${done.slice(end).replace(/^fn \w+/, `fn ${name}_${nonce}`)}`,
      text,
    );
    return [{ path, text: `${wrapped}\n${recorderSource(nonce, near)}`, names: found.map(({ name }) => name) }];
  });
  return { edits: recorded.map(({ path, text }) => ({ path, text })), functions: recorded.flatMap(({ names }) => names) };
};

type Parameter = { readonly name: string; readonly type: string };

function parameter(text: string): Parameter | null {
  const [, name = "", type = ""] = /^(?:mut\s+)?(\w+)\s*:\s*(.+)$/s.exec(text) ?? [];
  return name !== "" && given.has(type) ? { name, type } : null;
}

/** The wrapper of one function. A number is made smaller only if it is more than 1: zero and negative numbers are often not allowed. */
function wrapper(nonce: string, name: string, params: readonly Parameter[], header: string): string {
  const copy = ({ name: one, type }: Parameter): string => (type === "String" ? `${one}.clone()` : one);
  const call = `${name}_${nonce}(${params.map(copy).join(", ")})`;
  const key = `[${params.map(({ name: one }) => `format!("{}", ${one})`).join(", ")}].join("\\u{1f}")`;
  const each = params.map(({ name: one, type }, at) => {
    const all = numbers.has(type)
      ? `[${numberSteps.join(", ")}].into_iter().filter(|step: &i32| *step > 0 || ${one} > 1 as ${type}).map(|step| if step > 0 { ${one} + step as ${type} } else { ${one} - 1 as ${type} })`
      : type === "String"
        ? `${nonce}::near_values(&${one}).into_iter().map(String::from)`
        : type === "&str"
          ? `${nonce}::near_values(${one})`
          : null;
    return all === null
      ? ""
      : `for other in ${all} { let ${one} = other; ${nonce}::write_record("${name}", ${at}, "near", &${key}, &${nonce}::answer(|| ${call}), &tested); }`;
  });
  return `#[allow(warnings)]\n${header.replace(/\bmut\s+(?=\w+\s*:)/g, "")}{\n    if ${nonce}::begin() {\n        let tested = ${key};\n        if ${nonce}::is_new("${name}", &tested) {\n            let tested_answer = ${nonce}::answer(|| ${call});\n            ${nonce}::write_record("${name}", 0, "is", &tested, &tested_answer, "");\n            if !tested_answer.is_empty() {\n                ${each.join("\n                ")}\n            }\n        }\n        ${nonce}::end();\n    }\n    ${name}_${nonce}(${params.map((one) => one.name).join(", ")})\n}`;
}

/**
 * The source of the recorder. In it:
 * - the answer "" means that there is none, as after an error, and "''" an empty text;
 * - calls made by the recorder itself are not recorded (`BUSY`).
 */
const recorderSource = (nonce: string, near: ReadonlyMap<string, readonly string[]>): string => `#[allow(warnings)]
mod ${nonce} {
    use std::io::Write;
    thread_local! { static BUSY: std::cell::Cell<(bool, u32)> = std::cell::Cell::new((false, 0)); }
    static SEEN: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    pub fn begin() -> bool {
        BUSY.with(|busy| { let (is, calls) = busy.get(); if is || calls > ${callsMax} { return false; } busy.set((true, calls + 1)); true })
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
${[...near].map(([text, others]) => `            ${JSON.stringify(text)} => vec![${others.map((one) => JSON.stringify(one)).join(", ")}],`).join("\n")}
            _ => vec![],
        }
    }
    pub fn answer<T: std::fmt::Debug>(ask: impl FnOnce() -> T) -> String {
        let said = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask)) { Ok(result) => format!("{result:?}"), Err(_) => return String::new() };
        if said == "None" || said.starts_with("Err(") || said == "NaN" || said == "()" { return String::new(); }
        let inner = ["Some(", "Ok("].iter().find_map(|open| said.strip_prefix(open)?.strip_suffix(")")).unwrap_or(&said);
        match inner.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) { Some("") => "''".into(), Some(text) => text.into(), None => inner.into() }
    }
    pub fn write_record(name: &str, at: usize, kind: &str, asked: &str, answer: &str, tested: &str) {
        let one_line = |text: &str| text.replace(['\\t', '\\n', '\\r'], " ");
        let line = format!("{name}\\t{at}\\t{kind}\\t{}\\t{}\\t{}\\n", one_line(asked), one_line(answer), one_line(tested));
        if let Ok(path) = std::env::var("${nonce}") {
            if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) { let _ = file.write_all(line.as_bytes()); }
        }
    }
}
`;

// js-bindings: finds the names that a file of JavaScript or TypeScript defines, each with the part
// of the file where it means that, and the module it was imported from. Pure.
//
// Invariants:
//   B1. There is no parser: a definition is recognised by its form and its part by brackets, in a
//       text without comments and strings.
//   B2. A name counts only inside its block, so that a definition elsewhere excuses nothing.

/** For each position the bracket around it, and for each bracket its partner; -1 if none. */
export type Brackets = { readonly around: Int32Array; readonly partner: Int32Array };

export function matchBrackets(code: string): Brackets {
  const around = new Int32Array(code.length + 1).fill(-1);
  const partner = new Int32Array(code.length + 1).fill(-1);
  const open: number[] = [];
  for (let index = 0; index <= code.length; index += 1) {
    const letter = code[index] ?? "";
    if (")]}".includes(letter) && letter !== "") {
      const from = open.pop();
      if (from !== undefined) {
        partner[from] = index;
        partner[index] = from;
      }
    }

    around[index] = open.at(-1) ?? -1;
    if ("([{".includes(letter) && letter !== "") open.push(index);
  }

  return { around, partner };
}

export type Binding = {
  readonly from: number;
  readonly to: number;
  /** The module, and what was taken from it: `*` for all of it. */
  readonly origin?: { readonly module: string; readonly member: string };
};
export type Bindings = ReadonlyMap<string, readonly Binding[]>;

/** The binding of a name at a place: the one with the smallest part. */
export const findBinding = (bindings: Bindings, name: string, at: number): Binding | undefined =>
  bindings
    .get(name)
    ?.filter(({ from, to }) => from <= at && at < to)
    .toSorted((one, other) => one.to - one.from - (other.to - other.from))[0];

const identifier = /[A-Za-z_$][\w$]*/y;
const controlWord = /(?:^|[^\w$.])(?:if|while|for|switch|with)\s*$/;
/** `text`: with its strings, of the same length as `code`. */
export function findBindings(code: string, text: string, brackets: Brackets): Bindings {
  const { around, partner } = brackets;
  const bindings = new Map<string, Binding[]>();
  const add = (name: string, binding: Binding): void => {
    const list = bindings.get(name);
    if (list === undefined) bindings.set(name, [binding]);
    else list.push(binding);
  };

  /** The part of the file inside the block around a place; of a `var`, inside its function. */
  const blockAt = (at: number, isVar: boolean): Binding => {
    let open = around[at] ?? -1;
    while (open !== -1) {
      const before = code.slice(Math.max(0, open - 80), open).trimEnd();
      const head = before.endsWith(")")
        ? (partner[before.length - 1 + Math.max(0, open - 80)] ?? -1)
        : -1;
      const isControl = head !== -1 && controlWord.test(code.slice(Math.max(0, head - 12), head));
      const isFunction = before.endsWith("=>") || (head !== -1 && !isControl);
      if (code[open] === "{" && (!isVar || isFunction)) break;
      open = around[open] ?? -1;
    }

    const close = open === -1 ? -1 : (partner[open] ?? -1);
    return { from: open === -1 ? 0 : open, to: close === -1 ? code.length : close };
  };

  for (const { 0: word, 1: kind, index } of code.matchAll(
    /(?<![\w$.])(?<!\bdeclare\s+)(const|let|var|using)\s+(?=[\w$[{])/g,
  )) {
    const block = blockAt(index, kind === "var");
    let at = index + word.length;
    for (let count = 0; count < 1000; count += 1) {
      const end = findTargetEnd(code, at, partner);
      const origin = findRequired(text, end);
      for (const { name, member } of readPattern(code, at, end)) {
        add(name, origin === null ? block : { ...block, origin: { module: origin, member } });
      }

      const next = skipValue(code, end, brackets);
      if (code[next] !== ",") break;
      at = next + 1 + (/^\s*/.exec(code.slice(next + 1, next + 200))?.[0].length ?? 0);
    }
  }

  for (const { 1: value, 2: type, index } of code.matchAll(
    /(?<![\w$.])(?<!\bdeclare\s+)(?:(?:function\s*\*?|class|enum|namespace)\s+([A-Za-z_$][\w$]*)|(?:interface|type)\s+([A-Z][\w$]*))/g,
  )) {
    add(value ?? type ?? "", blockAt(index, false));
  }

  // `[key in keyof T]`, `infer U`: names of types.
  for (const { 1: name = "", index } of code.matchAll(
    /(?:\[\s*|\binfer\s+)([A-Za-z_$][\w$]*)(?=\s+(?:in|extends)\b)/g,
  )) {
    add(name, blockAt(index, false));
  }

  for (const { 1: clause = "", index, 0: head } of code.matchAll(
    /(?<![\w$.])import\s+(?:type\s+)?([\w$*{},\s]+?)(?:\s+from\s*|\s*=\s*require\s*\(\s*)["']/g,
  )) {
    const module = readString(text, index + head.length - 1);
    for (const { name, member } of readImports(clause)) {
      add(name, { from: 0, to: code.length, origin: { module, member } });
    }
  }

  for (const { index } of code.matchAll(/\(/g)) {
    const close = partner[index] ?? -1;
    if (close === -1) continue;
    const before = code.slice(Math.max(0, index - 12), index);
    if (controlWord.test(before)) continue;
    const body = findBody(code, close + 1, partner);
    if (body === null) continue;
    const part = { from: index, to: findBodyEnd(code, body.at, body.start, brackets) };
    for (const name of readParameters(code, index + 1, close, partner)) add(name, part);
  }

  for (const { 1: name = "", index, 0: head } of code.matchAll(
    /(?<![\w$.])([A-Za-z_$][\w$]*)\s*=>/g,
  )) {
    add(name, { from: index, to: findBodyEnd(code, index + head.length, "=>", brackets) });
  }

  return bindings;
}

/** The end of what a declaration names: an identifier or a pattern, without its type. */
function findTargetEnd(code: string, at: number, partner: Int32Array): number {
  if (code[at] === "{" || code[at] === "[") return (partner[at] ?? at) + 1;
  identifier.lastIndex = at;
  return identifier.test(code) ? identifier.lastIndex : at;
}

/** `= require("os")`, `= await import("os")`: the module. */
function findRequired(text: string, at: number): string | null {
  const required =
    /^\s*=\s*(?:require|await\s+import|process\.getBuiltinModule)\s*\(\s*["'`]([^"'`]+)["'`]\s*\)\s*(?![.\s]*\.)/.exec(
      text.slice(at, at + 200),
    );
  if (required !== null) return required[1] ?? "";
  return /^\s*=\s*process\s*(?:;|\n)/.test(text.slice(at, at + 40)) ? "process" : null;
}

const readString = (text: string, quote: number): string =>
  /^["']([^"'\n]*)/.exec(text.slice(quote, quote + 200))?.[1] ?? "";

type Named = { readonly name: string; readonly member: string };

/** The names of an import's clause, each with what it is of its module. */
function readImports(clause: string): readonly Named[] {
  const list = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
  const named = list.split(",").flatMap((item): readonly Named[] => {
    const parts = item.replace(/^\s*type\s+/, "").match(/[\w$]+/g) ?? [];
    const [member = ""] = parts;
    return member === ""
      ? []
      : [{ name: parts.at(-1) ?? "", member: member === "default" ? "*" : member }];
  });
  const namesOutside = clause.replace(/\{[^}]*\}/, "").match(/[A-Za-z_$][\w$]*/g) ?? [];

  return [
    ...named,
    ...namesOutside.filter((name) => name !== "as").map((name) => ({ name, member: "*" })),
  ];
}

/** The names that a pattern binds: `{ a, b: c = 1, ...rest }`, or the one name. */
function readPattern(code: string, from: number, to: number): readonly Named[] {
  const inner = code.slice(from, to).trim();
  if (!/^[{[]/.test(inner)) {
    const name = /^[A-Za-z_$][\w$]*/.exec(inner)?.[0];
    return name === undefined ? [] : [{ name, member: "*" }];
  }

  return splitItems(inner.slice(1, -1)).flatMap((item) => {
    const target = item.trim().replace(/^\.\.\./, "");
    const key = /^([\w$]+|["'\s]+|\[[^\]]*\])\s*:/.exec(target);
    const value = target.slice(inner.startsWith("{") ? (key?.[0].length ?? 0) : 0);
    const names = readPattern(
      value,
      0,
      value.search(/=(?!>)/) === -1 ? value.length : valueEnd(value),
    );
    return names.map(({ name, member }) => ({
      name,
      member: member === "*" ? (key?.[1] ?? name) : member,
    }));
  });
}

/** The end of a pattern's item without its default. */
function valueEnd(item: string): number {
  let depth = 0;
  for (let index = 0; index < item.length; index += 1) {
    if ("{[(".includes(item[index] ?? "")) depth += 1;
    if ("}])".includes(item[index] ?? "")) depth -= 1;
    if (depth === 0 && item[index] === "=") return index;
  }

  return item.length;
}

/** The parts between commas outside brackets. */
function splitItems(text: string): readonly string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if ("{[(".includes(text[index] ?? "")) depth += 1;
    if ("}])".includes(text[index] ?? "")) depth -= 1;
    if (depth > 0 || text[index] !== ",") continue;
    items.push(text.slice(start, index));
    start = index + 1;
  }

  return [...items, text.slice(start)].filter((item) => item.trim() !== "");
}

function readParameters(
  code: string,
  from: number,
  to: number,
  partner: Int32Array,
): readonly string[] {
  return splitItems(code.slice(from, to)).flatMap((item) => {
    const target = item
      .trim()
      .replace(
        /^(?:(?:public|private|protected|readonly|override)\s+|\.\.\.|@\w+(?:\([^()]*\))?\s*)+/,
        "",
      );
    if (!/^[{[]/.test(target)) return /^[A-Za-z_$][\w$]*/.exec(target) ?? [];
    const at = code.indexOf(target, from);
    const close = partner[at] ?? -1;
    return close === -1 ? [] : readPattern(code, at, close + 1).map(({ name }) => name);
  });
}

/** Behind the type and value of a declared name: its comma, or what ends the declaration. */
function skipValue(code: string, from: number, { around, partner }: Brackets): number {
  const outer = around[from];
  for (let index = from; index < code.length; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter) && (partner[index] ?? -1) > index) index = partner[index] ?? index;
    else if (around[index] !== outer || letter === "," || letter === ";") return index;
    else if (
      letter === "\n" &&
      /^\s*(?:const|let|var|function|return|if|for|export|import|class)\b/.test(
        code.slice(index, index + 80),
      )
    )
      return index;
  }

  return code.length;
}

/**
 * Behind the arrow or the brace that begins a function's body; before it may be the type of its
 * answer.
 */
function findBody(
  code: string,
  from: number,
  partner: Int32Array,
): { readonly at: number; readonly start: string } | null {
  const isTyped = /^\s*:/.test(code.slice(from, from + 80));
  let depth = 0;
  let hasFunctionType = false; // `((path: string) => boolean) =>`
  for (let index = from; index < Math.min(code.length, from + 2000); index += 1) {
    const letter = code[index] ?? "";
    if (/\s/.test(letter)) continue;
    const before = code.slice(Math.max(0, index - 40), index).trimEnd();
    if (code.startsWith("=>", index)) {
      if (!isTyped || !before.endsWith(")") || hasFunctionType)
        return { at: index + 2, start: "=>" };
      index += 1; // of a function's type
    } else if (
      letter === "{" &&
      (!isTyped ||
        (depth === 0 && !/(?:[:|&]|=>|\b(?:is|keyof|asserts|readonly|extends))$/.test(before)))
    ) {
      return { at: index + 1, start: "{" };
    } else if (!isTyped || ";=)}]".includes(letter) || (letter === "," && depth === 0)) {
      return null;
    } else if ("{([".includes(letter)) {
      const close = partner[index] ?? index;
      hasFunctionType = letter === "(" && code.slice(index, close).includes("=>");
      index = close;
    } else if (letter === "<") {
      depth += 1;
    } else if (letter === ">") {
      depth -= 1;
    }
  }

  return null;
}

function findBodyEnd(
  code: string,
  at: number,
  start: string,
  { around, partner }: Brackets,
): number {
  const brace =
    start === "{" ? at - 1 : at + (/^\s*/.exec(code.slice(at, at + 200))?.[0].length ?? 0);
  if (code[brace] === "{")
    return (partner[brace] ?? -1) === -1 ? code.length : (partner[brace] ?? 0);
  const outer = around[at];
  for (let index = at; index < code.length; index += 1) {
    const letter = code[index] ?? "";
    if ("([{".includes(letter) && (partner[index] ?? -1) > index) index = partner[index] ?? index;
    else if (around[index] !== outer || letter === "," || letter === ";") return index;
  }

  return code.length;
}

// js-reads: finds every read of something ambient in JavaScript and TypeScript. Pure.

import { isGivenSomething } from "./given-arguments.ts";
import { findBinding } from "./js-bindings.ts";
import { absolutePath, askingModules, nodeMembers, pureGlobals } from "./pure-names.ts";
import type { Read, Source } from "./read-source.ts";
import { findChainEnd, type Part } from "./value-flow.ts";

/** Every read of something ambient in JavaScript, with all that is asked of it. */
export function findJsReads(source: Source): readonly Read[] {
  const { code, bindings, brackets } = source;
  return [...code.matchAll(/(?<![\w$#@])(?<!(?<!\.)\.(?!\.))[A-Za-z_$][\w$]*/g)].flatMap(
    ({ 0: name, index: from }): readonly Read[] => {
      const end = from + name.length;
      const to = findChainEnd(code, end, brackets);
      const inPlace = readInPlace(source, name, { from, to, end });
      if (inPlace !== null) return inPlace;
      if (name === "import")
        return readMember(
          source,
          "import.meta",
          { from, to, end: end + ".meta".length },
          code.startsWith(".meta", end),
        );
      const binding = findBinding(bindings, name, from);
      if (binding !== undefined)
        return binding.origin === undefined
          ? []
          : readImported(source, binding.origin, { from, to, end });
      if (name in nodeMembers && /^(?:process|performance|require)$/.test(name))
        return readMember(source, name, { from, to, end });
      if (name === "module")
        return readMember(
          source,
          name,
          { from, to, end },
          /^\s*\.\s*\w/.test(code.slice(end, end + 20)),
        );
      if (name === "globalThis" && isTypeof(code, from)) return [];
      if (name === "Function")
        return /^\s*\(/.test(code.slice(end, end + 9)) ? [{ from, to, root: name }] : [];
      if (pureGlobals.has(name) || isLabelOrType(source, from, end)) return [];
      if (name !== "globalThis" && name !== "global")
        return [{ from, to, root: isTypeof(code, from) ? `typeof ${name}` : name }];

      const member = /^\s*\??\.\s*([A-Za-z_$][\w$]*)/.exec(code.slice(end, end + 80));
      if (member?.[1] === undefined) return [{ from, to, root: name }];
      if (member[1] in nodeMembers)
        return readMember(source, member[1], { from, to, end: end + member[0].length });
      return pureGlobals.has(member[1]) ? [] : [{ from, to, root: `${name}.${member[1]}` }];
    },
  );
}

export const isTypeof = (code: string, from: number): boolean =>
  /\btypeof\s+$/.test(code.slice(Math.max(0, from - 20), from));

/** A key, a label, an element's attribute, or in TypeScript the name of a type. */
export function isLabelOrType(
  { code, brackets, hasTypes }: Source,
  from: number,
  end: number,
): boolean {
  const before = code.slice(Math.max(0, from - 40), from).trimEnd();
  const after = code.slice(end, end + 40).trimStart();
  if (/^\??:(?!:)/.test(after) && /(?:[{,;(}[]|^)$/.test(before)) return true;
  if (after.startsWith("(") && isMethodHead(code, end, brackets)) return true;
  if (before.endsWith("/") && /^[dgimsuvy]+$/.test(code.slice(from, end))) return true; // flags
  if (/\b(?:as|satisfies|keyof|extends|implements|instanceof|is|break|continue)$/.test(before))
    return true;
  return (
    hasTypes &&
    (after.startsWith("?(") ||
      (/^[=>]/.test(after) && /[<\w]$/.test(before)) ||
      (before.endsWith(":") && !/\?[^:]*:$/.test(before)) ||
      (/^\$*[A-Z]/.test(code.slice(from, end)) &&
        !/^(?:\??\.|\()/.test(after) &&
        !/\b(?:new|typeof)$/.test(before)))
  );
}

/** `name(parameters) {` */
function isMethodHead(code: string, end: number, { partner }: Source["brackets"]): boolean {
  const close = partner[code.indexOf("(", end)] ?? -1;
  return close !== -1 && /^\s*(?::[^;{}()]+)?\{/.test(code.slice(close + 1, close + 120));
}

type Place = Part & { readonly end: number };

/** A member of a module or object that speaks of the world around the code. */
function readMember(
  { code }: Source,
  object: string,
  { from, to, end }: Place,
  isRead = true,
): readonly Read[] {
  if (!isRead) return [];
  const path =
    /^(?:\s*\??\.\s*[A-Za-z_$][\w$]*)+/
      .exec(code.slice(end, Math.min(to, end + 120)))?.[0]
      .replaceAll(/[\s?]/g, "")
      .slice(1) ?? "";
  const before = code.slice(Math.max(0, from - 30), from).trimEnd();
  if (path === "" && /[^=!]=$/.test(before) && /^\s*(?:[;,)\n]|$)/.test(code.slice(to, to + 30)))
    return []; // another name for it, js-bindings.ts
  const isMain =
    object === "require" &&
    path.startsWith("main") &&
    /(?:===?\s*module\b)|(?:\bmodule\s*===?\s*$)/.test(
      `${code.slice(to, to + 30)}\n${code.slice(Math.max(0, from - 30), from)}`,
    );
  if (
    isMain ||
    (path === "" && isPassedOn(object)) ||
    (path !== "" && nodeMembers[object]?.test(path) === true)
  )
    return [];
  const root = path === "" ? object : `${object}.${path.split(".")[0] ?? ""}`;

  return [{ from, to, root: isTypeof(code, from) && path === "" ? `typeof ${object}` : root }];
}

const isPassedOn = (object: string): boolean =>
  /^(?:require|performance|import\.meta|module)$/.test(object);

function readImported(
  source: Source,
  { module, member }: { readonly module: string; readonly member: string },
  { from, to, end }: Place,
): readonly Read[] {
  const name = module.replace(/^node:/, "");
  if (askingModules.test(name)) return readAsked(source, name, { from, to, end });
  const members = nodeMembers[name];
  if (members === undefined) return [];
  if (/^\s*import\b[^;]*$/.test(source.code.slice(source.code.lastIndexOf("\n", from) + 1, from)))
    return [];
  if (member === "*") return readMember(source, name, { from, to, end });
  if (member === "performance") return readMember(source, member, { from, to, end });
  return members.test(member) ? [] : [{ from, to, root: `${name}.${member}` }];
}

/** `require("os").cpus()`, `(await import("os")).cpus()`; null for anything else. */
function readInPlace(
  source: Source,
  name: string,
  { from, to, end }: Place,
): readonly Read[] | null {
  if (name !== "require" && name !== "import") return null;
  const call = /^\s*\(\s*["'`]([\w:/]+)["'`]\s*\)/.exec(source.text.slice(end, end + 60));
  if (call === null) return null;
  const after = end + call[0].length;
  const isAwaited = name === "import" && source.code[after] === ")";
  const part = isAwaited
    ? { from, to: findChainEnd(source.code, after + 1, source.brackets), end: after + 1 }
    : { from, to, end: after };
  return readImported(source, { module: call[1] ?? "", member: "*" }, part);
}

/** What the file system or another program answers to a question that is written out. */
function readAsked(source: Source, module: string, { from, to, end }: Place): readonly Read[] {
  const { code, text } = source;
  const call = /^(?:\s*\.\s*\w+)*\s*(?=\()/.exec(code.slice(end, to));
  if (call === null) return [];
  const open = end + call[0].length;
  const isAsked =
    module === "child_process"
      ? !isGivenSomething(source, end, to) && /^\(\s*["'`]/.test(text.slice(open, open + 20))
      : absolutePath.test(text.slice(open, open + 40));
  return isAsked
    ? [{ from, to, root: `${module}.${/\w+$/.exec(code.slice(from, open).trimEnd())?.[0] ?? ""}` }]
    : [];
}

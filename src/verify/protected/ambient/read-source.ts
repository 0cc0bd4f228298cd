// read-source: reads a file of JavaScript, TypeScript or Python as code: without comments and
// strings, with its brackets and what its names mean. Pure.

import { maskText } from "../mask-text.ts";
import { type Bindings, findBindings, matchBrackets } from "./js-bindings.ts";
import type { Code, Part } from "./value-flow.ts";

/** `text`: with comments and strings, of the same length as the code. */
export type Source = Code & { readonly text: string; readonly bindings: Bindings };
/** A read of something ambient. `root`: what it begins with. */
export type Read = Part & { readonly root: string };

const blank = (part: string): string => part.replaceAll(/[^\n]/g, " ");

export function readSource(path: string, fileText: string, isPython: boolean): Source {
  const text = /\.(?:vue|svelte)$/.test(path) ? keepScripts(fileText) : fileText;
  const masked = maskText(
    text.replace(/^#!.*/, (line) => blank(line)),
    isPython ? "py" : "js",
  );
  const plain = isPython
    ? masked.replaceAll(/#(?= *$)/gm, " ")
    : masked
        .replaceAll(/\/\/(?= *$)/gm, "  ")
        .replaceAll(/\/\*\s*\*\//g, (comment) => blank(comment));
  const hasElements = /\.[jt]sx$/.test(path);
  const code = hasElements
    ? plain.replaceAll(
        /(?<!=)>([^<>{}=;()]*)(?=[<{])/g,
        (elementText) => `>${blank(elementText.slice(1))}`,
      )
    : restoreInterpolations(plain, text, isPython);
  const brackets = matchBrackets(code);
  const bindings = isPython ? new Map<string, never>() : findBindings(code, text, brackets);

  return { code, text, brackets, bindings, isPython, hasTypes: /\.(?:[cm]?ts|[jt]sx)$/.test(path) };
}

/** The code of a page's scripts, at its place. */
function keepScripts(text: string): string {
  const scripts = [...text.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g)];
  let at = 0;
  const parts = scripts.map(({ 0: element, 1: script = "", index }) => {
    const from = index + element.indexOf(">") + 1;
    const part = blank(text.slice(at, from)) + script;
    at = from + script.length;
    return part;
  });
  return parts.join("") + blank(text.slice(at));
}

/** The code inside the template strings of JavaScript, which the mask takes for text. */
function restoreInterpolations(code: string, text: string, isPython: boolean): string {
  if (isPython || !code.includes("`")) return code;
  return code.replaceAll(/`\s*`/g, (all, index: number) => {
    const raw = text.slice(index, index + all.length);
    return all.length < 4 || raw.indexOf("`", 1) < raw.length - 1
      ? all
      : `\`${raw.slice(1, -1).replaceAll(/\\.|\$\{([^{}`\n]*)\}|[^\n]/g, (all: string, inside: string | undefined) => (inside === undefined ? blank(all) : ` (${maskText(inside, "js")})`))}\``;
  });
}

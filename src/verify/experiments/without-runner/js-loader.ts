// js-loader: the source of a module loader with which a plain Node program loads test files and
// sources as vitest and jest do: TypeScript by a compiler that the project has, imports without
// their extension, and our own functions in the place of a runner's. Node runs it in a thread of
// its own. Pure.

/** `moduleFile`: the module beside it that takes the place of a runner's. */
export const createLoaderSource = (
  moduleFile: string,
): string => `import { existsSync, readFileSync, statSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const runners = new Set(["vitest", "@jest/globals", "node:test", "bun:test"]);
const shim = new URL("./${moduleFile}", import.meta.url).href;
const endings = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs", "/index.ts", "/index.tsx", "/index.js"];
const isFile = (path) => existsSync(path) && statSync(path).isFile();

export async function resolve(name, context, next) {
  if (runners.has(name)) return { url: shim, shortCircuit: true };
  if (/^\\.{1,2}(?:\\/|$)/.test(name) && context.parentURL?.startsWith("file:")) {
    const path = fileURLToPath(new URL(name, context.parentURL));
    const typed = path.replace(/\\.([cm]?)js(x?)$/, ".$1ts$2");
    const file = isFile(path) ? path : [typed, ...endings.map((ending) => path + ending)].find(isFile);
    if (file !== undefined) return { url: pathToFileURL(file).href, shortCircuit: true };
  }
  return next(name, context);
}

export async function load(url, context, next) {
  if (!url.startsWith("file:") || url.includes("/node_modules/")) return next(url, context);
  const path = fileURLToPath(url);
  if (path.endsWith(".json")) return { format: "module", source: "export default " + readFileSync(path, "utf8") + ";", shortCircuit: true };
  const isTyped = /\\.[cm]?tsx?$|\\.jsx$/.test(path);
  if (!isTyped && !/\\.m?js$/.test(path)) return next(url, context);
  const text = readFileSync(path, "utf8");
  if (!isTyped && !/^\\s*(?:import|export)\\b/m.test(text)) return next(url, context);
  return { format: "module", source: isTyped ? await untyped(text, path) : text, shortCircuit: true };
}

const resolveFrom = (place, ...names) => names.reduce((parent, name) => nodeModule.createRequire(parent).resolve(name), place);
const project = join(process.cwd(), "package.json");
const attempt = async (load) => { try { return await load(); } catch { return null; } };
const hasJsx = (path) => /x$/.test(path);
/** Each loads a compiler of the project, or throws if there is none: esbuild, vite's, TypeScript, swc, and Node's own last. */
const compilers = [
  async () => {
    const esbuild = await attempt(() => nodeModule.createRequire(project)("esbuild")) ?? nodeModule.createRequire(resolveFrom(project, "vitest/package.json", "vite/package.json"))("esbuild");
    return (text, path) => esbuild.transformSync(text, { loader: hasJsx(path) ? "tsx" : "ts", format: "esm", target: "node20" }).code;
  },
  async () => {
    const place = await attempt(() => resolveFrom(project, "vitest/package.json", "vite")) ?? resolveFrom(project, "vite");
    const { transformWithOxc } = await import(pathToFileURL(place).href.replace(/\\/index\\.cjs$/, "/dist/node/index.js"));
    return async (text, path) => (await transformWithOxc(text, path)).code;
  },
  async () => {
    const typescript = nodeModule.createRequire(project)("typescript");
    const compilerOptions = { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022, jsx: typescript.JsxEmit.ReactJSX, experimentalDecorators: true };
    return (text, path) => typescript.transpileModule(text, { compilerOptions, fileName: path }).outputText;
  },
  async () => {
    const swc = nodeModule.createRequire(project)("@swc/core");
    return (text, path) => swc.transformSync(text, { filename: path, jsc: { parser: { syntax: "typescript", tsx: hasJsx(path), decorators: true }, target: "es2022" }, module: { type: "es6" } }).code;
  },
  async () => (text) => nodeModule.stripTypeScriptTypes(text, { mode: "transform" }),
];
let chosen = null;
async function untyped(text, path) {
  if (chosen !== null) return chosen(text, path);
  for (const loadCompiler of compilers) {
    const compile = await attempt(loadCompiler);
    const result = compile === null ? null : await attempt(() => compile(text, path));
    if (typeof result !== "string") continue;
    chosen = compile;
    return result;
  }
  throw new Error("no compiler");
}
`;

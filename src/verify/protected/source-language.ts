// source-language: the languages whose comments, strings and assertions are known: those whose
// tests are, and C.

import { detectLanguage } from "./kinds.ts";
import type { Language } from "./rows/protection-row.ts";

export type SourceLanguage = Language | "c";

export const cFile = /\.(?:c|cc|cpp|cxx|h|hpp)$/;
export const detectSourceLanguage = (path: string): SourceLanguage | null =>
  cFile.test(path) ? "c" : detectLanguage(path);

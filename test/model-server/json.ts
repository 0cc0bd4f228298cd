// json: looks into what a stranger sent, where any part may be missing or of another kind.

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

export const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === "object" && value !== null && !isList(value) ? value : {};
export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);
export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");
export const numberOf = (value: Json | undefined, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

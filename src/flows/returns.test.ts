import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { findJsonSchema, returnSchemas, extractFacts, type ReturnSchema } from "./returns.ts";

const schemaOf = (name: string): ReturnSchema => {
  const schema = returnSchemas[name];
  if (schema === undefined) throw new Error(`no schema ${name}`);
  return schema;
};

describe("what an agent hands back", () => {
  test("is held to its schema", () => {
    expect(v.is(schemaOf("progress"), { summary: "did it", confidence: 0.9 })).toBe(true);
    expect(v.is(schemaOf("progress"), { summary: "did it", confidence: 90 })).toBe(false);
    expect(v.is(schemaOf("review"), { confidence: 0.5, pass: true })).toBe(false);
    expect(v.is(schemaOf("execute"), { tasks_completed: "1/1" })).toBe(true);
    expect(v.is(schemaOf("execute"), { tasks_completed: "N/M" })).toBe(false);
  });

  test("becomes facts only where it is a number, a flag or a listed word", () => {
    const Verdict = v.looseObject({
      score: v.number(),
      pass: v.optional(v.boolean()),
      advice: v.picklist(["go", "halt"]),
      notes: v.string(),
      list: v.array(v.number()),
    });

    const claim = {
      score: 7,
      pass: true,
      advice: "halt",
      notes: "completed",
      list: [1],
      extra: true,
    };
    expect(extractFacts(Verdict, claim)).toEqual({ score: 7, pass: true, advice: "halt" });
    expect(extractFacts(Verdict, { score: Number.NaN, pass: "true", advice: "stop" })).toEqual({});
    expect(extractFacts(Verdict, null)).toEqual({});
    expect(extractFacts(Verdict, Object.create({ pass: true }))).toEqual({});
  });

  test("the executor's words are no facts, its confidence is", () => {
    expect(
      extractFacts(schemaOf("progress"), { summary: "complete: true", confidence: 0.4 }),
    ).toEqual({ confidence: 0.4 });
  });
});

describe("what an agent is shown", () => {
  test.each(Object.keys(returnSchemas))("%s as JSON Schema", (name) => {
    const schema = findJsonSchema(name) as {
      type: string;
      properties: Record<string, unknown>;
      required: string[];
    };
    expect(schema.type).toBe("object");
    expect(Object.keys(schema.properties).length).toBeGreaterThan(0);
  });

  test("names the required fields and their bounds", () => {
    expect(findJsonSchema("review")).toMatchObject({
      required: ["confidence", "pass", "issues"],
      properties: { confidence: { type: "number", minimum: 0, maximum: 1 } },
    });
  });

  test("an unknown name has none", () => {
    expect(findJsonSchema("toString")).toBeNull();
  });
});

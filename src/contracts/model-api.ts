// model-api: lists the APIs of model providers that the meter understands.

export const modelApis = ["anthropic", "openai-responses", "openai-chat", "gemini"] as const;
export type ModelApi = (typeof modelApis)[number];

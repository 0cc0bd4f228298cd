// How each agent is set up against a model server of one's own: environment and files, nothing of the user's.
// {{url}} {{key}} {{model}} {{home}} are filled in. Paths of files are below the private home.

const codexConfig = `model = "{{model}}"
model_provider = "local"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
[model_providers.local]
name = "local"
base_url = "{{url}}/v1"
wire_api = "responses"
env_key = "LOCAL_KEY"
requires_openai_auth = false
supports_websockets = false
request_max_retries = 1
stream_max_retries = 0
`;
const codex = {
  model: "gpt-5.5",
  env: { CODEX_HOME: "{{home}}/.codex", LOCAL_KEY: "{{key}}" },
  files: { ".codex/config.toml": codexConfig },
};

export const recipes = {
  claude: {
    model: "claude-sonnet-4-5",
    env: {
      ANTHROPIC_BASE_URL: "{{url}}",
      ANTHROPIC_API_KEY: "{{key}}",
      ANTHROPIC_MODEL: "{{model}}",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "1",
      IS_SANDBOX: "1",
    },
    mode: "bypassPermissions",
  },
  codex: { ...codex, mode: "agent-full-access" },
  "codex-zed": { ...codex, mode: "full-access" },
  opencode: {
    model: "scripted-1",
    env: {
      OPENCODE_CONFIG: "{{home}}/opencode.json",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    },
    files: {
      "opencode.json": JSON.stringify({
        autoupdate: false,
        share: "disabled",
        model: "local/{{model}}",
        small_model: "local/{{model}}",
        provider: {
          local: {
            npm: "@ai-sdk/openai-compatible",
            name: "Local",
            options: { baseURL: "{{url}}/v1", apiKey: "{{key}}" },
            models: {
              "{{model}}": {
                name: "Scripted",
                tool_call: true,
                limit: { context: 200000, output: 8192 },
              },
            },
          },
        },
        permission: { edit: "allow", bash: "allow", webfetch: "deny" },
      }),
    },
    mode: "build",
  },
  gemini: {
    model: "gemini-3-pro-preview",
    env: { GEMINI_API_KEY: "{{key}}", GOOGLE_GEMINI_BASE_URL: "{{url}}" },
    words: ["--skip-trust", "-m", "{{model}}"],
    files: {
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    },
    mode: "yolo",
  },
  copilot: {
    model: "gpt-5.4",
    env: {
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: "{{url}}/v1",
      COPILOT_PROVIDER_API_KEY: "{{key}}",
      COPILOT_MODEL: "{{model}}",
      COPILOT_AUTO_UPDATE: "false",
    },
    option: { configId: "allow_all", value: "on" },
  },
  qwen: {
    model: "scripted-1",
    env: { OPENAI_API_KEY: "{{key}}", OPENAI_BASE_URL: "{{url}}/v1", OPENAI_MODEL: "{{model}}" },
    files: {
      ".qwen/settings.json": JSON.stringify({
        security: { auth: { selectedType: "openai" }, folderTrust: { enabled: false } },
        general: { disableAutoUpdate: true },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    },
    mode: "yolo",
  },
  kimi: {
    model: "scripted-1",
    env: { KIMI_CODE_HOME: "{{home}}/.kimi", KIMI_CODE_NO_AUTO_UPDATE: "1" },
    files: {
      ".kimi/config.toml": `default_model = "scripted"
telemetry = false
[providers.local]
type = "openai"
base_url = "{{url}}/v1"
api_key = "{{key}}"
[models.scripted]
provider = "local"
model = "{{model}}"
max_context_size = 200000
`,
    },
    mode: "yolo",
  },
  pi: {
    model: "scripted-1",
    env: { PI_CODING_AGENT_DIR: "{{home}}/.pi/agent", PI_OFFLINE: "1" },
    files: {
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          local: {
            baseUrl: "{{url}}/v1",
            apiKey: "{{key}}",
            api: "openai-completions",
            models: [
              {
                id: "{{model}}",
                name: "Scripted",
                reasoning: false,
                input: ["text"],
                contextWindow: 200000,
                maxTokens: 8192,
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
              },
            ],
          },
        },
      }),
      ".pi/agent/settings.json": JSON.stringify({
        defaultProvider: "local",
        defaultModel: "{{model}}",
      }),
    },
  },
};

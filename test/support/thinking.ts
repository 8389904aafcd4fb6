/** A project whose agents think with one model at an address, which may be anything to them. */
export const thinkingYaml = (
  baseURL: string,
  { name = 'thinkers', agents = '{ ada: { role: thinker, prompt: Think., tools: ["*"] } }' } = {},
) => `
name: ${name}
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { first: { type: openai-compatible, baseURL: "${baseURL}" } }
      presets: { main: { provider: first, model: m } }
agents: ${agents}
`;

import { literal, quoted, rule, tool } from './template-yaml.js';

/** What a person wants a project to be. */
export interface Answers {
  readonly name: string;
  readonly task: string;
  /** The first gets the person's mail and hands in the report. */
  readonly agents: readonly WantedAgent[];
}

export interface WantedAgent {
  readonly id: string;
  readonly role: string;
  readonly prompt: string;
}

/**
 * A project file with comments, which can be run as it is: its script lets the agents pass the person's mail on, one to
 * the next, and the first one hand in what comes back.
 */
export function projectFile({ name, task, agents }: Answers): string {
  const [first, ...others] = agents;
  if (!first) throw new Error('a project needs an agent');
  return `# Run it:           suzumio up ${name}.yaml
# Begin the work:   suzumio send ${name} ${first.id} P1 "…"
# Every field:      docs/project-file.md

name: ${name}

# What all agents are told of the work.
task: |
  ${literal(task)}

# Mail to a channel goes to all its members.
channels: ["#${name}"]

backend:
  runner:
    mode: mock # plays the script below, without a model
    script:
${[...script(first, others)].join('\n')}

# A turn that has not ended by then is ended.
turn:
  timeout: 15m

agents:
${agents.map((agent, index) => agentBlock(agent, index === 0)).join('\n')}
`;
}

function agentBlock({ id, role, prompt }: WantedAgent, isFirst: boolean): string {
  const tools = ['messages.send', 'artifacts.publish', 'artifacts.list', 'artifacts.read'];
  return `  ${id}:
    role: ${quoted(role)}
    prompt: ${quoted(prompt)}
    # Tools that it may use; all others are refused.
    tools: [${[...tools, ...(isFirst ? ['completion.submit'] : [])].join(', ')}]`;
}

function* script(first: WantedAgent, others: readonly WantedAgent[]): Generator<string> {
  const last = others.at(-1);
  const receiver = others[0];
  yield `      # Each rule is for one agent; the first rule whose conditions hold is played.`;
  if (last && receiver) {
    yield* rule(first.id, 'user', [tool('messages.send', { recipient: receiver.id, body: '{{mail.0.body}}' })]);
    yield* rule(first.id, last.id, [
      tool('artifacts.read', { name: `${last.id}.md` }),
      tool('completion.submit', { report: '{{steps.0.output}}' }),
    ]);
  } else yield* rule(first.id, undefined, [tool('completion.submit', { report: '# Report\n\n{{mail.0.body}}\n' })]);
  for (const [index, { id }] of others.entries()) {
    yield* rule(id, undefined, [
      `write: { path: ${id}.md, text: ${quoted('# From {{agent.id}}\n\n{{mail.0.body}}\n')} }`,
      tool('artifacts.publish', { path: `${id}.md` }),
      tool('messages.send', { recipient: others[index + 1]?.id ?? first.id, body: '{{mail.0.body}}' }),
    ]);
  }
}

import type { RepositoryHere } from './repository-here.js';
import { literal, rule, tool } from './template-yaml.js';

/** What a team for a repository is to be called, and to do. */
export interface RepositoryAnswers {
  readonly name: string;
  readonly task: string;
}

/**
 * A project file for a team that works on the repository that the file is in: a maintainer, a developer and a reviewer, with
 * files and commands in clones of their own. Its script runs on any repository and changes nothing in it.
 */
export function repositoryFile({
  name,
  task,
  settings = {},
}: RepositoryAnswers & { readonly settings?: RepositoryHere['settings'] | undefined }): string {
  return `# Run it:           suzumio up ${name}.yaml
# Begin the work:   suzumio send ${name} maintainer P1 "…"
# Every field:      docs/project-file.md; the tools: docs/tools.md

name: ${name}

# What all agents are told of the work.
task: |
  ${literal(task)}

channels: ["#${name}"]

# Beside mail and artifacts: files, commands, and what is new in the repository, each agent's in a sandbox of its own.
tools: { toolpacks: [files, shell, workspace] }
${gitBlock(settings)}
backend:
  runner:
    # To let a model do the work, put this in place of "mode: mock" and the script (docs/models.md):
    #   mode: ai
    #   model: main
    #   models:
    #     providers: { openai: { type: openai-compatible, baseURL: "https://api.openai.com/v1", apiKeyEnv: OPENAI_API_KEY } }
    #     presets: { main: { provider: openai, model: gpt-4o-mini, contextLimit: 100000 } }
    mode: mock # plays the script below, without a model
    script:
${[...script()].join('\n')}

agents:
${agents.map(agentBlock).join('\n')}
`;
}

/** What the repository has that no clone has. */
function gitBlock({ lfs, submodules }: RepositoryHere['settings']): string {
  const parts = [...(lfs ? [`lfs: ${lfs}`] : []), ...(submodules ? [`submodules: ${submodules}`] : [])];
  return parts.length === 0
    ? ''
    : `
# The repository has what is not cloned: agents have pointers, or empty directories, in its place.
git: { ${parts.join(', ')} }
`;
}

interface Member {
  readonly id: string;
  readonly prompt: readonly string[];
  readonly tools: readonly string[];
}

const everyone = [
  'messages.send',
  'messages.reply',
  "'file.*'",
  "'shell.*'",
  'workspace.git.refresh',
  'artifacts.read',
  'artifacts.list',
];

const agents: readonly Member[] = [
  {
    id: 'maintainer',
    prompt: [
      'You lead the work on this repository and answer to the user. Look at it before you decide what is to be done.',
      'Send the developer one task at a time: what is wrong or wanted, and how one sees that it is done.',
      'When the reviewer accepts a change, submit a report: what was changed and why, and the name of the patch.',
    ],
    tools: [...everyone, 'completion.submit'],
  },
  {
    id: 'developer',
    prompt: [
      'You change the code in your workspace, which is your own clone of the repository. Find the cause before you change anything,',
      "change as little as does it, and run the repository's own tests. Publish your change with artifacts.publish and patch: true,",
      'and ask the reviewer to look at it. Say what you ran, and what came of it. Begin each later task with workspace.git.refresh: it',
      'brings what the user has committed since, also of your own patches. What you publish then replaces your patch of before.',
    ],
    tools: [...everyone, 'artifacts.publish'],
  },
  {
    id: 'reviewer',
    prompt: [
      'You check changes in your own clone of the repository: bring what is new with workspace.git.refresh, read the patch with',
      'artifacts.read, apply it with file.apply, which takes back the one before, and run the tests yourself. Look for what was forgotten. Send the developer what is to be mended, with file and line.',
      'If nothing is, tell the maintainer that you accept it, and what you ran.',
    ],
    tools: everyone,
  },
];

function agentBlock({ id, prompt, tools }: Member): string {
  return `  ${id}:
    role: ${id}
    prompt: |
${prompt.map((line) => `      ${line}`).join('\n')}
    # Tools that it may use; all others are refused.
    tools: [${tools.join(', ')}]
    # It begins with a clone of the repository, on a branch of its own: what is committed here. What it changes stays there (docs/git.md).
    workspace: { git: . }`;
}

function* script(): Generator<string> {
  const look = 'git log --oneline --max-count 3; git status --short --branch';
  yield `      # Each rule is for one agent; the first rule whose conditions hold is played.`;
  yield* rule('maintainer', 'user', [tool('messages.send', { recipient: 'developer', body: '{{mail.0.body}}' })]);
  yield* rule('maintainer', 'reviewer', [tool('completion.submit', { report: '# Report\n\n{{mail.0.body}}\n' })]);
  yield* rule('developer', undefined, [
    tool('file.list', { path: '.' }),
    tool('shell.exec', { command: look }),
    tool('artifacts.publish', {
      name: 'state.md',
      content: '{{mail.0.body}}\n\n{{steps.0.output}}\n\n{{steps.1.output}}\n',
    }),
    tool('messages.send', { recipient: 'reviewer', body: 'What I found is in state.md.' }),
  ]);
  yield* rule('reviewer', undefined, [
    tool('artifacts.read', { name: 'state.md' }),
    tool('shell.exec', { command: 'git status --short' }),
    tool('messages.send', { recipient: 'maintainer', body: '{{steps.0.output}}' }),
  ]);
}

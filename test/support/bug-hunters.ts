import { loadProjectFile } from '../../shared/runtime/src/disk/load-project-file.js';
import { renderConfig } from '../../shared/core/src/config/render-config.js';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import type { ModelRequest } from './model-server.js';
import type { Reply } from './reply.js';

/** The example, whose team mends a bug in a repository. */
export const bugHunt = fileURLToPath(new URL('../../examples/bug-hunt', import.meta.url));

export interface Hunt {
  name: string;
  backend: 'docker' | 'process';
  /** What its agents clone. */
  repository: string;
  /** Where models are asked, in place of the script. */
  modelServer?: string;
  /** Where its turns are interrupted more often than the example expects. */
  maxAttempts?: number;
}

/** The example's own file, for a repository that is elsewhere, and with models where they are asked. */
export function huntFile({ name, backend, repository, modelServer, maxAttempts }: Hunt): string {
  const { config } = loadProjectFile(join(bugHunt, 'bug-hunt.yaml'), { env: {} });
  const agents = Object.fromEntries(
    Object.entries(config.agents).map(([id, agent]) => [
      id,
      agent.workspace ? { ...agent, workspace: { git: repository } } : agent,
    ]),
  );
  const runner =
    modelServer === undefined
      ? config.backend.runner
      : ({
          mode: 'ai',
          model: 'main',
          models: {
            providers: { local: { type: 'openai-compatible', baseURL: modelServer, apiKeyEnv: 'MODEL_KEY' } },
            presets: { main: { provider: 'local', model: 'scripted' } },
          },
        } as const);
  const turn = { ...config.turn, ...(maxAttempts === undefined ? {} : { maxAttempts }) };
  return renderConfig({ ...config, name, agents, turn, backend: { ...config.backend, kind: backend, runner } });
}

/** What good models do in this team: each answer is made of what the calls before it came to. */
export function playBugHunt(request: ModelRequest): Reply {
  const agent = agentOf(request);
  const results = resultsOf(request);
  if (agent === 'developer') return mailOf(request).includes('empty') ? developAgain(results) : develop(results);
  if (agent === 'reviewer') return review(results, mailOf(request));
  return maintain(results, mailOf(request));
}

/** Whose turn a question is of. */
export const agentOf = ({ body }: ModelRequest) =>
  /^You are ([\w-]+),/.exec(String(body.messages[0]?.content))?.[1] ?? '';

/** How many answers the turn has had. */
export const stepOf = ({ body: { messages } }: ModelRequest) =>
  messages.slice(promptIn(messages)).filter(({ role }) => role === 'assistant').length;

const promptIn = (messages: ModelRequest['body']['messages']) => messages.findLastIndex(({ role }) => role === 'user');

function mailOf({ body: { messages } }: ModelRequest): string {
  const prompt = String(messages[promptIn(messages)]?.content);
  return prompt.slice(prompt.indexOf('# Unread mail'));
}

/** What the calls of each answer of the turn came to. */
function resultsOf({ body: { messages } }: ModelRequest): string[][] {
  const results: string[][] = [];
  for (const { role, content } of messages.slice(promptIn(messages) + 1)) {
    if (role === 'assistant') results.push([]);
    else results.at(-1)?.push(String(content));
  }
  return results;
}

const call = (name: string, input: object) => ({ name, arguments: input });
const refresh = call('workspace_git_refresh', {});
const tests = call('shell_exec', { command: 'python3 -m unittest' });
const passed = (result = '') => result.includes('exit code 0') && result.includes('OK');

function develop(results: string[][]): Reply {
  const [failing = '', found, , changed, tested = '', published] = results.map((result) => result.join('\n'));
  if (results.length === 0) return { text: 'First, the tests.', calls: [tests] };
  if (results.length === 1) {
    // The function that the failing assertion calls.
    const [, name = ''] = /assertEqual\(tides\.(\w+)\(/.exec(failing) ?? [];
    return { calls: [call('file_search', { pattern: `def ${name}\\b`, context: 2 }), call('file_list', {})] };
  }
  if (results.length === 2) {
    const [, path = ''] = /(tides\.py)/.exec(found ?? '') ?? [];
    return {
      calls: [call('shell_exec', { command: `git log -p --format="%h %s" -- ${path}` }), call('file_read', { path })],
    };
  }
  if (results.length === 3) {
    const [line = ''] = /return sum\(levels\) \/\/ len\(levels\)/.exec(found ?? '') ?? [];
    const patch = [
      '--- a/tides.py',
      '+++ b/tides.py',
      '@@ -4,3 +4,3 @@',
      ' def mean(levels):',
      '     """The mean of some levels."""',
      `-    ${line}`,
      `+    ${line.replace('//', '/')}`,
      '',
    ];
    return { calls: [call('file_patch', { patch: patch.join('\n') })] };
  }
  if (results.length === 4) {
    return (changed ?? '').includes('Changed tides.py') ? { calls: [tests] } : { text: `It did not match: ${changed}` };
  }
  if (results.length === 5) {
    const description = 'The mean is no longer rounded down.';
    return passed(tested)
      ? { calls: [call('artifacts_publish', { patch: true, description })] }
      : { text: `They fail: ${tested}` };
  }
  if (results.length === 6) {
    const body = `Please check ${published}. The tests before and after:\n${failing}\n${tested}`;
    return { calls: [call('messages_send', { recipient: 'reviewer', body })] };
  }
  return { text: 'Mended, and with the reviewer.' };
}

/** In the second round, once the person has taken the first patch. */
function developAgain(results: string[][]): Reply {
  const [, , tested = '', published] = results.map((result) => result.join('\n'));
  if (results.length === 0) return { calls: [refresh] };
  if (results.length === 1) {
    const [search, first] = ['    return sum(levels) / len(levels)', '    if not levels:'];
    const replace = `${first}\n        raise ValueError('there are no levels')\n${search}`;
    return { calls: [call('file_patch', { path: 'tides.py', search, replace })] };
  }
  if (results.length === 2) return { calls: [tests] };
  if (results.length === 3) {
    return passed(tested)
      ? { calls: [call('artifacts_publish', { patch: true, description: 'An empty list has no mean.' })] }
      : { text: `They fail: ${tested}` };
  }
  if (results.length === 4) {
    return { calls: [call('messages_send', { recipient: 'reviewer', body: `Please check ${published}.\n${tested}` })] };
  }
  return { text: 'Done, and with the reviewer.' };
}

function review(results: string[][], mail: string): Reply {
  const [, applied = '', tested = ''] = results.map((result) => result.join('\n'));
  if (results.length === 0) return { calls: [refresh] };
  if (results.length === 1) {
    const [artifact = ''] = /\S+\.patch/.exec(mail) ?? [];
    return { calls: [call('file_apply', { artifact })] };
  }
  if (results.length === 2) return { calls: [tests] };
  if (results.length === 3) {
    const verdict = passed(tested) ? 'It may be taken' : 'It may not be taken';
    return { calls: [call('messages_send', { recipient: 'maintainer', body: `${applied} ${verdict}:\n${tested}` })] };
  }
  return { text: 'Reviewed.' };
}

function maintain(results: string[][], mail: string): Reply {
  if (!mail.includes('It may be taken')) {
    const body = mail.includes('empty') ? 'An empty list has no mean: say so.' : 'A test of the library fails.';
    return results.length === 0
      ? { calls: [call('messages_send', { recipient: 'developer', body })] }
      : { text: 'The developer is at it.' };
  }
  if (results.length === 0) return { calls: [call('artifacts_read', { name: 'developer.patch' })] };
  const [patch = ''] = results[0] ?? [];
  const report = `# The mean\n\nThe reviewer has run the tests with this patch:\n\n${patch}`;
  return results.length === 1 ? { calls: [call('completion_submit', { report })] } : { text: 'Submitted.' };
}

import { readFile, rename, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { unixDoorPrefix } from '@suzumio/protocol/door';
import type { Priority } from '@suzumio/protocol/ids';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { PreparedSandbox, SandboxEnd, StartOptions, TurnEngine } from '@suzumio/turn-worker';

/**
 * An engine that costs nothing: each turn runs inside the worker. A mail that is a number above zero is answered, through
 * the door, with the next smaller one; then the output is written.
 */
export function createNoopEngine(): TurnEngine {
  const nothing = () => Promise.resolve();
  const prepared: PreparedSandbox = {
    owner: undefined,
    door: { kind: 'socket' },
    toolpacks: [],
    announcesWrites: true,
    workspaceSeen: (directory) => directory,
    artifactsSeen: (_directories, agent) => ({ all: '/artifacts', own: `/artifacts/${agent}` }),
    toolpacksSeen: (directory) => directory,
    controllerUrl: ({ socket }) => `${unixDoorPrefix}${socket}`,
    start: (options) =>
      Promise.resolve({
        id: options.ref.turn,
        ended: playTurn(options).catch((error: unknown): SandboxEnd => {
          process.stderr.write(`${String(error)}\n`);
          return { exitCode: 1 };
        }),
        disturbed: new AbortController().signal,
        unlinkedBytes: () => Promise.resolve(0),
        whileReadable: (work) => work(),
        kill: nothing,
        log: () => Promise.resolve(Buffer.alloc(0)),
        release: () => undefined,
      }),
  };
  return {
    name: 'noop',
    probe: nothing,
    evict: () => Promise.resolve(true),
    prepare: () => Promise.resolve(prepared),
    kept: () => Promise.resolve([]),
    sweep: nothing,
    close: nothing,
  };
}

async function playTurn({ turnDirectory }: StartOptions): Promise<SandboxEnd> {
  const input = JSON.parse(await readFile(join(turnDirectory, 'input.json'), 'utf8')) as RunnerTurnInput;
  const [mail] = input.turn.mail ?? [];
  const left = Number(mail?.body);
  if (mail && left > 0) await answer(input, String(left - 1), mail.priority);
  const output = join(turnDirectory, 'output.json');
  await writeFile(`${output}.tmp`, '{"text":"Done."}');
  await rename(`${output}.tmp`, output);
  return { exitCode: 0 };
}

/** `ping-3` answers `pong-3`, and the other way round. */
async function answer(
  { project, agent, turn, token, controllerUrl }: RunnerTurnInput,
  body: string,
  priority: Priority,
): Promise<void> {
  const recipient = agent.id.replace(/^p./, (two) => (two === 'pi' ? 'po' : 'pi'));
  const call = {
    project,
    agent: agent.id,
    turn: turn.id,
    tool: 'messages.send',
    step: '0.0',
    input: { recipient, body, priority },
  };
  const content = Buffer.from(JSON.stringify(call));
  await new Promise<void>((resolve, reject) => {
    const sending = request({
      socketPath: controllerUrl.slice(unixDoorPrefix.length),
      method: 'POST',
      path: '/tool',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': content.length,
      },
    });
    sending.once('error', reject);
    sending.once('response', (response) => {
      text(response)
        .then((said) => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`messages.send was answered ${response.statusCode ?? 0}: ${said}`));
        })
        .catch(reject);
    });
    sending.end(content);
  });
}

import { afterAll, expect } from '@jest/globals';

// A suite's name says what it starts. Jest runs this before each, and what its name does not say is refused.

type Kind = 'unit' | 'slow' | 'process' | 'container' | 'browser';
declare const suiteKind: Kind;

/** Node's own modules outlive a suite: they are changed once, and ask the suite that runs. */
interface Modules {
  asked?: { refuse: (need: 'process' | 'container', what: string) => void };
}

const childProcess = process.getBuiltinModule('node:child_process');
const net = process.getBuiltinModule('node:net');
const modules = net as Modules;
const engine = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace('unix://', '');
const refused = new Set<string>();

/** Fails the suite at its end, too: what is under test may take the refusal for a failure of its own to handle. */
function refuse(need: 'process' | 'container', what: string): void {
  if (suiteKind === 'container' || suiteKind === 'browser' || suiteKind === need) return;
  const { testPath = '' } = expect.getState();
  const sentence = `${testPath} ${what}: rename it to *.${need}.test.ts, which npm run check leaves to npm test.`;
  refused.add(sentence);
  throw new Error(sentence);
}

function refuseProcess(command: string): void {
  const program = command.split('/').at(-1) ?? '';
  if (program === 'docker') modules.asked?.refuse('container', 'runs docker');
  else modules.asked?.refuse('process', `starts a process (${program})`);
}

if (!modules.asked) {
  const { prototype } = childProcess.ChildProcess as unknown as { prototype: { spawn: (...args: never[]) => unknown } };
  const { spawn } = prototype;
  prototype.spawn = function (...args: { file: string }[]) {
    refuseProcess(args[0]?.file ?? '');
    return spawn.apply(this, args as never[]);
  };
  for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) {
    const real = childProcess[name] as (...args: unknown[]) => unknown;
    Object.assign(childProcess, {
      [name]: (...args: unknown[]) => {
        refuseProcess(String(args[0]));
        return real(...args);
      },
    });
  }
  const sockets = net.Socket.prototype as unknown as { connect: (...args: unknown[]) => unknown };
  const { connect } = sockets;
  sockets.connect = function (...args) {
    const [options] = [args[0]].flat() as [{ path?: string } | undefined];
    if (options?.path === engine) modules.asked?.refuse('container', 'asks the Docker engine');
    return connect.apply(this, args);
  };
}
modules.asked = { refuse };

afterAll(() => {
  expect([...refused]).toEqual([]);
});

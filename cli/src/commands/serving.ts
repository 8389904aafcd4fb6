import { configDefaults } from '@suzumio/core/config/defaults';
import type { DemoOptions } from '../serving/demo.js';
import type { ServeOptions } from '../serving/serve.js';
import type { UpOptions } from '../serving/up.js';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { allowProvider, allowToolpack, dollars, gatherPaths, gatherProviders, parsePort, price } from './arguments.js';
import { examples } from './help.js';
import { registerInit } from './init.js';

const metricsPort = 'the port on loopback where Prometheus finds the metrics; 0 takes any free one (without: none)';
const allowProcess = 'let projects run turns as processes of this machine, without isolation';
const { host, port } = configDefaults.observability.http;

/** Commands that include the services, which are loaded on demand, so that all others start fast. */
export const registerServing: Register = (program, action) => {
  examples(
    program
      .command('up [file]')
      .description('serve, and with a project file: make its project, start it and follow it')
      .option('--host <host>', 'the address that the API listens on')
      .option('--port <port>', 'its port; 0 takes any free one', parsePort)
      .option('--metrics-port <port>', metricsPort, parsePort)
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--quiet', 'no line for each call of a tool that succeeded')
      .option('--apply', 'put the file in force where its project has another version of it, without a question')
      .option('--allow-process', allowProcess, false)
      .option('--allow-provider <address=key>', allowProvider, gatherProviders)
      .option('--allow-toolpack <dir>', allowToolpack, gatherPaths),
    ['up newsroom.yaml'],
    ['up --port 8080', 'only serves'],
  ).action(
    action(async (session: Session, file: string | undefined, options: UpOptions) =>
      (await import('../serving/up.js')).up(session, file, options),
    ),
  );
  registerInit(program, action);
  examples(
    program
      .command('serve')
      .description('run all services in this process, until Ctrl-C')
      .option('--host <host>', 'the address that the API listens on', host)
      .option('--port <port>', 'its port; 0 takes any free one', parsePort, port)
      .option('--metrics-port <port>', metricsPort, parsePort)
      .option('--no-scheduler', 'start no turns: another process does')
      .option('--allow-process', allowProcess, false),
    ['serve', `on ${host}:${port}`],
    ['serve --host 0.0.0.0 --port 8080', 'for other machines, too'],
  ).action(
    action(async (session: Session, options: ServeOptions) =>
      (await import('../serving/serve.js')).serve(session, options),
    ),
  );
  program
    .command('demo', { hidden: true })
    .description('run the newsroom example from its first message to the approved report')
    .option('--ai', 'let a model think, instead of playing a script', false)
    .option('--base-url <url>', "a server that speaks OpenAI's Chat Completions, instead of OpenAI's own")
    .option('--model <name>', 'the model that thinks')
    .option('--price <in/out>', 'what it costs, in dollars a million tokens', price)
    .option('--budget <usd>', 'where it stops, in dollars (default: 0.5)', dollars)
    .action(
      action(async (session: Session, options: DemoOptions) =>
        (await import('../serving/demo.js')).demo(session, options),
      ),
    );
};

import { PackInspector } from '@suzumio/control-plane/packs/pack-inspector';
import { type HttpServer, startHttpServer } from '@suzumio/runtime/http/http-server';
import { SYSTEM_ID } from '@suzumio/contract/model/project-config';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { unseenHost } from '@suzumio/core/policy/host-paths';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { writeMessage } from '@suzumio/store/mail/write-message';
import { stopAgent } from '@suzumio/store/turns/agent-transitions';
import { Sql } from '@suzumio/store/sqlite/sql';
import { teamYaml } from '../../../../test/support/cell.js';
import { thinkingYaml } from '../../../../test/support/thinking.js';
import { apiApp } from '../../src/app.js';
import { EventHub } from '../../src/events/event-hub.js';
import { defaultRateLimits } from '../../src/rate-limiter.js';
import type { Operation } from '@suzumio/contract/operations/operation';
import { type Answer, type CallOptions, type TestApi, testApi } from './api.js';
import { registerSamples } from './register-samples.js';
import { signIn } from './sign-in.js';
import { beginTurn, failTurn, leaveFiles, publish, publishDirectory, submit } from './play.js';

/** A request for one operation, before it is spoiled in some way. */
export interface Sample extends CallOptions {
  project?: string;
  agent?: string;
  turn?: string;
  artifact?: string;
  pack?: string;
  note?: string;
  /** A version of a project's file. @default the first */
  version?: string;
  message?: string;
  /** A token's name. */
  of?: string;
  /** A session's id. */
  session?: string;
  /** A profile's nickname. */
  profile?: string;
  team?: string;
  query?: string;
}

export type ProjectState = 'initialized' | 'running' | 'at work' | 'with a stopped agent' | 'submitted' | 'failed';

/** A session's id, and what requests from it are sent with. */
export type Browser = Required<Pick<Sample, 'session' | 'headers' | 'token'>>;

/** A cell in which every operation can succeed, and fail in every way that its description tells of. */
export interface ContractWorld {
  api: TestApi;
  /** The id of an artifact that is a file. */
  file: string;
  /** The address of a server that is stopping. */
  stoppingUrl: string;
  /** Where its ToolHosts are said to be: nowhere, at first. */
  toolhostUrls: string[];
  call(operation: Operation, sample?: Sample): Promise<Answer>;
  /** The same on a server that answers little. */
  callLimited(operation: Operation, sample?: Sample): Promise<Answer>;
  /** A browser that is signed in until the end, and another one. */
  session: Browser;
  signIn(): Promise<Browser>;
  /** A project in a state of its own. */
  project(state: ProjectState): Promise<string>;
  /** A project whose agents ask a model that has no price. */
  thinking(): Promise<string>;
  /** Has the system write to an agent, and returns the message's id. */
  notice(project: string): Promise<string>;
  /** Runs `body` while nothing can be written to the catalog, nor to the projects `team` and `desk`. */
  whileBusy<Result>(body: () => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** A team that shares a repository, and of which two have the same name. */
export const contractYaml = (name: string): string =>
  `${teamYaml.replace('name: team', `name: ${name}\ngit: { shared: true }`)}  dan: { role: twin, prompt: Be., displayName: Twin }\n  eve: { role: twin, prompt: Be., displayName: Twin }\n`;

const thinking = (name: string): string =>
  thinkingYaml('http://127.0.0.1:9/v1', { name, agents: '{ ada: { role: thinker, prompt: Think. } }' });

export async function contractWorld(): Promise<ContractWorld> {
  const toolhostUrls: string[] = [];
  const api = await testApi({ allowedHosts: ['away.example'], toolhostUrls: () => toolhostUrls });
  await api.create(contractYaml('team'));
  const artifact = await publish(api, 'team', 'ada', { name: 'levels.csv', content: Buffer.from('1,2,3\n') });
  const directory = await publishDirectory(api, 'team', 'readings', { 'north.csv': '1,2\n' });
  await leaveFiles(api, 'team', 'ben', { 'notes.md': 'One.\n' });
  const stopping = await stoppingServer(api);
  const limited = await testApi({
    rateLimits: { ...defaultRateLimits, readsPerSecond: 1, writesPerSecond: 1, burstSeconds: 0 },
  });
  await api.cell.catalog.tokens.create({ name: 'ann', scope: 'read', actor: 'test' });
  await registerSamples(api.cell, (team, file) => api.post(`/api/teams/${team}/up`, { file }));
  let made = 0;
  const browser = async (): Promise<Browser> => {
    const { id, headers } = await signIn(api);
    return { session: id, headers, token: null };
  };
  const session = await browser();

  const callOf =
    (of: TestApi) =>
    (operation: Operation, sample: Sample = {}) => {
      const {
        project = 'team',
        agent = 'ben',
        turn = 'ada:1',
        of: token = 'ann',
        session: named = session.session,
        profile = 'Akari',
        team = 'research',
        query,
        ...options
      } = sample;
      const subject = operation.id === 'listArtifactEntries' ? directory : artifact.id;
      const { message = '1' } = sample;
      const parts: Record<string, string> = {
        project,
        agent,
        turn,
        token,
        session: named,
        artifact: sample.artifact ?? subject,
        pack: sample.pack ?? 'f'.repeat(64),
        note: sample.note ?? 'note_1',
        version: sample.version ?? '1',
        message,
        thread: message,
        profile,
        team,
      };
      const path = operation.path.replaceAll(/:(\w+)/g, (_whole, part: string) => parts[part] ?? '');
      return of.call(operation.method.toUpperCase(), `${path}${query === undefined ? '' : `?${query}`}`, options);
    };

  return {
    api,
    stoppingUrl: stopping.url,
    toolhostUrls,
    file: artifact.id,
    session,
    signIn: browser,
    call: callOf(api),
    callLimited: callOf(limited),
    async project(state) {
      const name = `made-${String(++made)}`;
      await api.create(contractYaml(name), { start: state !== 'initialized' });
      if (state === 'submitted') await submit(api, name, 'ada', '# Report\n');
      if (state === 'at work') await beginTurn(api, name, 'ada');
      if (state === 'with a stopped agent') await api.write(name, (tx) => stopAgent(tx, 'ben', 'test', { now: true }));
      if (state === 'failed') await failTurn(api, name, 'ben');
      return name;
    },
    async thinking() {
      const name = `thinking-${String(++made)}`;
      await api.create(thinking(name));
      return name;
    },
    async notice(project) {
      const notice = { sender: SYSTEM_ID, priority: 'P1' as const, body: 'Something has ended.', actor: SYSTEM_ID };
      const to = { recipient: 'ada', agents: ['ada'] };
      return (await api.write(project, (tx) => writeMessage(tx, notice, to, { kind: 'event' }))).id;
    },
    async whileBusy(body) {
      const { directory } = api.cell;
      const held = [directory.catalogFile, directory.projectFile('team'), directory.projectFile('desk')].map((file) =>
        Sql.open(file),
      );
      try {
        for (const sql of held) sql.run('BEGIN IMMEDIATE');
        return await body();
      } finally {
        for (const sql of held) sql.close();
      }
    },
    async close() {
      await stopping.stop();
      await limited.close();
      await api.close();
    },
  };
}

/** Where servers of a test listen. */
export const local = { host: '127.0.0.1', port: 0 };

/** What another server of the same cell works with. */
export const contextOf = ({ cell, transport, metrics }: TestApi) => ({
  cell,
  transport,
  metrics,
  logger: silentLogger(),
  policy: defaultPolicy,
  host: unseenHost,
  packs: new PackInspector(),
  publicPath: '',
});

/** A server whose streams have been ended, as those of one that is about to stop. */
async function stoppingServer(api: TestApi): Promise<HttpServer> {
  const context = contextOf(api);
  const hub = new EventHub(context);
  await hub.close();
  return startHttpServer(apiApp(context, hub, local), local);
}

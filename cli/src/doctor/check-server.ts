import { once } from 'node:events';
import { createServer } from 'node:net';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { healthAnswer } from '@suzumio/contract/operations/service';
import { addressOf, allProjects } from '../reach/api-client.js';
import { findApi } from '../reach/reach.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';
import type { OtherClock } from './check-machine.js';
import { listenerOn } from './listener.js';

const answerWithinMs = 2_000;
/** What a server of any version says of itself. */
const theirs = healthAnswer.pick({ status: true, version: true });

/** What a look at the server for the data directory came to. */
export interface ServerCheck {
  readonly finding: Finding;
  /** Where it answers, where it does. */
  readonly url: string | undefined;
}

export async function checkServer(session: Session): Promise<ServerCheck> {
  try {
    const api = await findApi(session);
    if (!api) {
      const start = `${session.suzumio} serve starts one`;
      return { finding: skipped('server', `none runs for ${session.root}; ${start}`), url: undefined };
    }
    await allProjects(api);
    return { finding: ok('server', `answers at ${api.url}`), url: api.url };
  } catch (error) {
    const remedy = `look into ${session.root}/logs/serve.log, or stop it and run ${session.suzumio} serve`;
    return { finding: broken('server', messageOf(error), remedy), url: undefined };
  }
}

/** How far a server's clock is ahead of this one, to the second; undefined where it does not say. */
export async function serverClock(url: string, nowMs: () => number): Promise<OtherClock | undefined> {
  const sentMs = nowMs();
  const said = (await health(url))?.headers.get('date');
  const toldMs = Date.parse(said ?? '');
  if (Number.isNaN(toldMs)) return undefined;
  // It tells whole seconds, cut off.
  return { of: url, aheadMs: toldMs + 500 - (sentMs + nowMs()) / 2 };
}

/** Whether a server could listen where it is to, or who is in its place. */
export async function checkPort(host: string, port: number, ownUrl: string | undefined): Promise<Finding> {
  const place = `${host}:${port}`;
  if (ownUrl !== undefined) {
    if (new URL(ownUrl).port === String(port)) return ok('port', `${place} is this server's`);
    return skipped('port', `not looked at: the server answers at ${ownUrl}`);
  }
  const error = await listeningError(host, port);
  switch (error?.code) {
    case undefined:
      return ok('port', port === 0 ? 'any that is free' : `${place} is free`);
    case 'EADDRINUSE': {
      const other = (await isSuzumio(place)) ? 'a Suzumio server of another data directory' : undefined;
      const holder = [other, listenerOn(port)].filter((part) => part !== undefined).join(', ');
      const by = holder === '' ? '' : ` by ${holder}`;
      return broken('port', `${place} is taken${by}`, 'stop that one, or serve with another --port');
    }
    case 'EACCES':
      return broken('port', `${place} is not for you: ports below 1024 need more rights`, 'serve with another --port');
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return broken('port', `${host} is no address of this machine`, 'serve with another --host, such as 127.0.0.1');
    default:
      return broken('port', `${place}: ${error?.message ?? ''}`, 'serve with another --host or --port');
  }
}

async function listeningError(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    await once(server.listen({ host, port, exclusive: true }), 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

async function isSuzumio(place: string): Promise<boolean> {
  const answer = await health(`http://${place}`);
  return theirs.safeParse(await answer?.json().catch(() => undefined)).success;
}

async function health(url: string): Promise<Response | undefined> {
  try {
    return await fetch(addressOf(url, '/health'), { signal: AbortSignal.timeout(answerWithinMs) });
  } catch {
    return undefined;
  }
}

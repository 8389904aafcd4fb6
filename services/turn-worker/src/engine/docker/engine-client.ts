import Docker, { type DockerOptions } from 'dockerode';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { EngineAddress } from './engine-address.js';

/** What Node calls for each request of an agent; its types do not have it. */
interface Requests {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

/** As Node's own agents are set. */
const usual = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;

/**
 * A client of a Docker engine. A call whose answer is cut off fails: docker-modem 5 by itself waits forever for the rest,
 * whatever its timeout. Every call of one that cannot be used fails with what is wrong about its address.
 *
 * @param options.timeoutMs how long a connection may be silent. @default unlimited, for streams
 */
export function engineClient(address: EngineAddress, { timeoutMs }: { timeoutMs?: number } = {}): Docker {
  const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
  const { agent, ...where } = connectionOf(address);
  const docker = withoutDockerHost(() => new Docker({ ...where, ...timeout }));
  (docker.modem as unknown as { agent: http.Agent }).agent = agent;
  return docker;
}

function connectionOf(address: EngineAddress): DockerOptions & { agent: http.Agent } {
  if (address.kind === 'socket') {
    return { protocol: 'http', socketPath: address.path, agent: failingWhereCut(new http.Agent(usual)) };
  }
  if (address.kind === 'unusable') return { protocol: 'http', socketPath: '/', agent: refusing(address.why) };
  const { host, port, tls } = address;
  if (!tls) return { protocol: 'http', host, port, agent: failingWhereCut(new http.Agent(usual)) };
  const { unverified, ca, cert, key } = tls;
  const secure = { ...usual, ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const agent = failingWhereCut(new https.Agent({ ...secure, rejectUnauthorized: !unverified }));
  return { protocol: 'https', host, port, agent };
}

/** The library reads this variable by itself, and prefers it to what it is given. */
function withoutDockerHost<Made>(make: () => Made): Made {
  // oxlint-disable-next-line no-restricted-properties -- what another one reads is hidden from it
  const variables = process.env;
  const { DOCKER_HOST: host } = variables;
  delete variables['DOCKER_HOST'];
  try {
    return make();
  } finally {
    if (host !== undefined) variables['DOCKER_HOST'] = host;
  }
}

/** Fails each request before it is sent, as where nothing listens. */
function refusing(why: string): http.Agent {
  const error = Object.assign(new Error(why), { code: 'ECONNREFUSED' });
  const createConnection = (_options: unknown, done: (error: Error) => void) => {
    process.nextTick(done, error);
  };
  return Object.assign(new http.Agent(), { createConnection }) as http.Agent;
}

function failingWhereCut(agent: http.Agent): http.Agent {
  const requests = agent as unknown as Requests;
  const add = requests.addRequest.bind(agent);
  requests.addRequest = (request, ...rest) => {
    request.once('response', (answer: IncomingMessage) =>
      answer.once('error', (error) => request.emit('error', error)),
    );
    add(request, ...rest);
  };
  return agent;
}

import Docker from 'dockerode';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';

/** What Node calls for each request of an agent; its types do not have it. */
interface Requests {
  addRequest(request: ClientRequest, ...rest: unknown[]): void;
}

/** As Node's own agents are set. */
const usual = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;

/**
 * A client of a Docker engine. A call whose answer is cut off fails: docker-modem 5 by itself waits forever for the rest,
 * whatever its timeout.
 *
 * @param options.socketPath the engine's socket. @default where Docker's own tools look for it
 * @param options.timeoutMs how long a connection may be silent. @default unlimited, for streams
 */
export function engineClient(options: { socketPath?: string | undefined; timeoutMs?: number }): Docker {
  const { socketPath, timeoutMs } = options;
  const docker = new Docker({
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
  const modem = docker.modem as unknown as { protocol: string; agent?: http.Agent };
  if (modem.protocol === 'http') modem.agent = failingWhereCut(new http.Agent(usual));
  else if (modem.protocol === 'https') modem.agent = failingWhereCut(new https.Agent(usual));
  return docker;
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

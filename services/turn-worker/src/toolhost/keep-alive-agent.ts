import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';

/** Connections to one server that are kept between requests. */
export function keepAliveAgent(url: string): HttpAgent {
  const options = { keepAlive: true, maxSockets: 256, maxFreeSockets: 32 };
  return new URL(url).protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
}

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small forward proxy, and what it was asked for. */
export interface ConnectProxy {
  readonly host: string;
  readonly port: number;
  /** `CONNECT host:port` and `POST http://…`, in order. */
  readonly asked: string[];
  /** What came as Proxy-Authorization, in order. */
  readonly authorizations: (string | undefined)[];
  /** The status of every answer from now on, instead of passing on. */
  refuse: number | undefined;
  /** The Proxy-Authorization that it asks for, as most proxies do: a client may send it only then. */
  wants: string | undefined;
  close(): Promise<void>;
}

/** Starts a proxy that passes everything on to one port of this machine, whatever its name. */
export async function startConnectProxy(toPort: () => number): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const proxy = {
    asked: [] as string[],
    authorizations: [] as (string | undefined)[],
    refuse: undefined as number | undefined,
    wants: undefined as string | undefined,
  };
  const note = (method = '', url = '', authorization?: string) => {
    proxy.asked.push(`${method} ${url}`);
    proxy.authorizations.push(authorization);
  };
  const server = createServer((incoming, outgoing) => {
    note(incoming.method, incoming.url, incoming.headers['proxy-authorization']);
    if (proxy.refuse !== undefined) {
      outgoing.writeHead(proxy.refuse).end(`no: ${incoming.headers['proxy-authorization'] ?? ''}`);
      return;
    }
    const { pathname, search } = new URL(incoming.url ?? '');
    const { method, headers } = incoming;
    const on = request({ port: toPort(), method, path: pathname + search, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    on.on('error', () => outgoing.destroy());
    incoming.pipe(on);
  });
  server.on('connect', (incoming, client: Socket) => {
    note(incoming.method, incoming.url, incoming.headers['proxy-authorization']);
    client.on('error', () => undefined);
    if (proxy.wants !== undefined && incoming.headers['proxy-authorization'] !== proxy.wants) {
      client.end(
        'HTTP/1.1 407 No\r\nproxy-authenticate: Basic realm="out"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
      );
      return;
    }
    if (proxy.refuse !== undefined) {
      client.end(`HTTP/1.1 ${proxy.refuse} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const on = connect(toPort(), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n');
      on.pipe(client).pipe(on);
    });
    on.on('error', () => client.destroy());
    client.on('close', () => on.destroy());
    sockets.add(on);
  });
  server.on('connection', (socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(proxy, {
    host: `127.0.0.1:${port}`,
    port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

/** A certificate for one name, signed by itself. */
export function testCertificate(name: string): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'suzumio-tls-'));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const how = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const of = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  try {
    execFileSync('openssl', ['req', '-x509', ...how, ...of, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

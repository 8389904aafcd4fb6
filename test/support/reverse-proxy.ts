import { once } from 'node:events';
import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands in front of a server, as operators put it there: under a path of its own, with bounds and pages of its own. */
export interface ReverseProxy {
  /** Its address with the path, without a slash at its end. */
  readonly url: string;
  /** What it was asked for, such as `GET /suzumio/health`. */
  readonly asked: string[];
  /** What it passes requests to; nothing answers while it is undefined. */
  target: string | undefined;
  close(): Promise<void>;
}

export interface ReverseProxyOptions {
  target: string;
  /** The path below which the server is; taken off what is passed on. @default '' */
  prefix?: string;
  /** Passes on the name that it was asked for itself by, as browsers need. @default its target's own */
  keepsHost?: boolean;
  /** Larger bodies are refused with a page. */
  maxBodyBytes?: number;
  /** An answer that has not begun by then is given up with a page. @default 60_000 */
  timeoutMs?: number;
}

export async function startReverseProxy(options: ReverseProxyOptions): Promise<ReverseProxy> {
  const { prefix = '', keepsHost = false, maxBodyBytes = Infinity, timeoutMs = 60_000 } = options;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    asked.push(`${method} ${url}`);
    if (!url.startsWith(`${prefix}/`)) {
      page(response, 404, 'Not Found');
      return;
    }
    if (Number(headers['content-length'] ?? 0) > maxBodyBytes) {
      page(response, 413, 'Request Entity Too Large');
      return;
    }
    if (proxy.target === undefined) {
      page(response, 502, 'Bad Gateway');
      return;
    }
    const host = (keepsHost ? headers.host : undefined) ?? new URL(proxy.target).host;
    const passed = httpRequest(
      new URL(url.slice(prefix.length), proxy.target),
      { method, headers: { ...headers, host, 'x-forwarded-host': headers.host ?? '' }, agent: false },
      (answer) => {
        clearTimeout(late);
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
      },
    );
    const late = setTimeout(() => {
      passed.destroy();
      page(response, 504, 'Gateway Time-out');
    }, timeoutMs);
    passed.on('error', () => {
      clearTimeout(late);
      if (!response.headersSent) page(response, 502, 'Bad Gateway');
    });
    response.on('close', () => {
      clearTimeout(late);
      passed.destroy();
    });
    request.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const proxy: ReverseProxy = {
    url: `http://127.0.0.1:${String(port)}${prefix}`,
    asked,
    target: options.target,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

/** As nginx says it. */
function page(response: ServerResponse, status: number, title: string): void {
  response.writeHead(status, { 'content-type': 'text/html' });
  response.end(
    `<html>\r\n<head><title>${String(status)} ${title}</title></head>\r\n<body>${title}</body>\r\n</html>\r\n`,
  );
}

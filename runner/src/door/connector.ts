import { connect } from 'node:net';
import type { Duplex, Readable, Writable } from 'node:stream';
import { stdioDoorUrl, unixDoorPrefix } from '@suzumio/protocol/door';
import { Multiplexer } from '@suzumio/protocol/stdio-frames';
import { exitCodes, TurnFailure } from '../turn-failure.js';

/** How connections to the door are made. */
export interface Connector {
  /** The value of the `Host` header. */
  readonly host: string;
  /** The prefix of every path. */
  readonly basePath: string;
  open(): Duplex;
  close(): void;
}

/** The process's own streams, which a stdio door uses. */
export interface StandardStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** A connector to the door at `url`; see `shared/protocol/src/door.ts`. */
export function connectorTo(url: string, streams: StandardStreams): Connector {
  if (url === stdioDoorUrl) {
    const multiplexer = new Multiplexer({ input: streams.stdin, output: streams.stdout });
    return { host: 'door', basePath: '', open: () => multiplexer.open(), close: () => multiplexer.close() };
  }
  if (url.startsWith(unixDoorPrefix)) {
    const path = url.slice(unixDoorPrefix.length);
    return { host: 'door', basePath: '', open: () => connect(path), close: () => undefined };
  }
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 'http:') {
    throw new TurnFailure(
      `controllerUrl "${url}" names no door: expected unix:<path>, stdio: or http://<host>:<port>`,
      exitCodes.inputInvalid,
    );
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const port = parsed.port === '' ? 80 : Number(parsed.port);
  return {
    host: parsed.host,
    basePath: parsed.pathname.replace(/\/$/, ''),
    open: () => connect(port, host),
    close: () => undefined,
  };
}

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { Environment } from '@suzumio/core/config/environment';
import { errnoOf } from '../../files/errno.js';

/** What a client of a TLS engine shows and checks. */
export interface EngineTls {
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
  /** Whether any server is believed. */
  unverified: boolean;
}

/** Where an engine is, and what says so. */
export type EngineAddress = { from: string } & (
  | { kind: 'socket'; path: string }
  | { kind: 'tcp'; host: string; port: number; tls?: EngineTls }
  /** Why the engine that is named cannot be used. */
  | { kind: 'unusable'; why: string }
);

/** What a default address is from. */
export const defaultFrom = "Docker's default";
const defaultSocket = '/var/run/docker.sock';
const defaultContext = 'default';
const ports = { plain: 2375, tls: 2376 };

/**
 * Finds the engine where Docker's own tools do: `DOCKER_HOST`, else the context of `DOCKER_CONTEXT`, else the current one
 * of `config.json` in `DOCKER_CONFIG`, else the default socket.
 *
 * @param socket goes before all of them
 */
export function engineAddress(environment: Environment, socket?: string): EngineAddress {
  if (socket !== undefined) return { kind: 'socket', path: socket, from: 'SUZUMIO_DOCKER_SOCKET' };
  const { DOCKER_HOST: host = '', DOCKER_CONTEXT: chosen = '', DOCKER_TLS_VERIFY: verify = '' } = environment;
  const directory = configDirectory(environment);
  if (host !== '') {
    const from = 'DOCKER_HOST';
    const certificates = environment['DOCKER_CERT_PATH'] || directory;
    return atHost(host, from, {
      isTls: verify !== '' || /:2376\/?$/.test(host),
      read: () => readTls(certificates, false, true),
    });
  }
  const from = chosen === '' ? join(directory, 'config.json') : 'DOCKER_CONTEXT';
  try {
    const name = chosen === '' ? currentContext(directory) : chosen;
    return name === defaultContext ? atDefault(environment) : ofContext(directory, name);
  } catch (error) {
    return { kind: 'unusable', from, why: `${from} cannot be read: ${messageOf(error)}` };
  }
}

/** The sockets on which engines are usual, where there are any. */
export function usualSockets(environment: Environment): string[] {
  const home = homeOf(environment);
  const runtime = environment['XDG_RUNTIME_DIR'] || `/run/user/${String(process.getuid?.() ?? 0)}`;
  const paths = [
    defaultSocket,
    join(runtime, 'docker.sock'),
    join(home, '.docker/run/docker.sock'),
    join(home, '.docker/desktop/docker.sock'),
    ...colimaProfiles(home).map((profile) => join(home, '.colima', profile, 'docker.sock')),
    join(home, '.orbstack/run/docker.sock'),
    join(home, '.rd/docker.sock'),
    join(runtime, 'podman/podman.sock'),
    '/run/podman/podman.sock',
  ];
  return paths.filter((path) => existsSync(path));
}

const homeOf = (environment: Environment): string => environment['HOME'] || homedir();

function configDirectory(environment: Environment): string {
  return environment['DOCKER_CONFIG'] || join(homeOf(environment), '.docker');
}

function colimaProfiles(home: string): string[] {
  try {
    return readdirSync(join(home, '.colima'));
  } catch {
    return [];
  }
}

/** Docker Desktop has the usual socket only where its settings say so. */
function atDefault(environment: Environment): EngineAddress {
  const ofDesktop = join(homeOf(environment), '.docker/run/docker.sock');
  const path = !existsSync(defaultSocket) && existsSync(ofDesktop) ? ofDesktop : defaultSocket;
  return { kind: 'socket', path, from: defaultFrom };
}

function currentContext(directory: string): string {
  const config = readJson(join(directory, 'config.json')) as { currentContext?: unknown } | undefined;
  const name = config?.currentContext;
  return typeof name === 'string' && name !== '' ? name : defaultContext;
}

function ofContext(directory: string, name: string): EngineAddress {
  const from = `the Docker context ${name}`;
  const id = createHash('sha256').update(name).digest('hex');
  const file = join(directory, 'contexts/meta', id, 'meta.json');
  const meta = readJson(file) as { Endpoints?: { docker?: { Host?: unknown; SkipTLSVerify?: unknown } } } | undefined;
  const { Host: host, SkipTLSVerify: skips } = meta?.Endpoints?.docker ?? {};
  if (typeof host !== 'string' || host === '') {
    const why = `${from} is ${meta ? 'without the address of an engine' : 'unknown'}: there is none in ${file}`;
    return { kind: 'unusable', from, why };
  }
  const certificates = join(directory, 'contexts/tls', id, 'docker');
  return atHost(host, from, {
    isTls: existsSync(certificates),
    read: () => readTls(certificates, skips === true, false),
  });
}

/** The engine at an address as Docker writes it. */
function atHost(host: string, from: string, tls: { isTls: boolean; read: () => EngineTls }): EngineAddress {
  const unusable = (why: string): EngineAddress => ({ kind: 'unusable', from, why: `${from} is ${host}: ${why}` });
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/s.exec(host) ?? [];
  if (scheme === 'unix') {
    const path = rest === '' ? defaultSocket : rest;
    return isAbsolute(path) ? { kind: 'socket', path, from } : unusable('its path is not absolute');
  }
  if (scheme === 'ssh') return unusable('engines over SSH are not supported; run Suzumio on that machine instead');
  if (!['tcp', 'http', 'https'].includes(scheme)) return unusable('expected unix:///PATH or tcp://HOST:PORT');
  const isTls = tls.isTls || scheme === 'https';
  const url = URL.parse(`http://${rest}`);
  if (!url || url.hostname === '' || url.username !== '') return unusable('expected unix:///PATH or tcp://HOST:PORT');
  // Left out where it is 80.
  const port = Number(url.port || (/:80\/?$/.test(rest) ? 80 : isTls ? ports.tls : ports.plain));
  const address = { kind: 'tcp', from, host: url.hostname.replace(/^\[|\]$/g, ''), port } as const;
  if (!isTls) return address;
  try {
    return { ...address, tls: tls.read() };
  } catch (error) {
    return unusable(`its certificates cannot be read: ${messageOf(error)}`);
  }
}

/** The certificates in a directory; of a context some may be missing. */
function readTls(directory: string, unverified: boolean, isWhole: boolean): EngineTls {
  const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => {
    const path = join(directory, name);
    return isWhole || existsSync(path) ? readFileSync(path) : undefined;
  });
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }), unverified };
}

function readJson(path: string): unknown {
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) ?? undefined;
  } catch (error) {
    throw new Error(`${path} is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

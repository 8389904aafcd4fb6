import type Docker from 'dockerode';
import type { NetworkInspectInfo } from 'dockerode';
import { BlockList, createServer, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { AttemptFailure } from '../attempt-failure.js';
import { errnoOf } from '../../files/errno.js';
import { engineFailure, statusOf } from './engine-errors.js';

/** How a container on a network reaches its worker. */
export interface RelayPlace {
  /** The address of this worker that the relay listens on. */
  address: string;
  /** The address of `host.docker.internal` in the container. */
  host: string;
}

/** One address range of a network. */
type AddressPool = NonNullable<NonNullable<NetworkInspectInfo['IPAM']>['Config']>[number];

const everywhere = ['0.0.0.0', '::'];

/**
 * Where the relay for a container on `network` listens: at this worker's own address in that network, which is the
 * network's gateway where the worker runs on the engine's host; it is not reachable from elsewhere. The operator's
 * `address` overrides that, for a worker without such an address.
 *
 * @throws AttemptFailure when there is no such network, or no such address
 */
export async function relayPlace(docker: Docker, network: string, address: string | undefined): Promise<RelayPlace> {
  if (network === 'host') return { address: address ?? '127.0.0.1', host: '127.0.0.1' };
  const found = await inspect(docker, network);
  if (address !== undefined) {
    const onlyHere = everywhere.includes(address) || address.startsWith('127.') || address === '::1';
    return { address, host: onlyHere ? 'host-gateway' : address };
  }
  const own = await ownAddress(found);
  if (own !== undefined) return { address: own, host: own };
  throw new AttemptFailure(
    'container-start-failed',
    `This worker has no address in the network ${network}, so that no container there could reach it. Where it is a container itself, join it to the network; otherwise name an address with SUZUMIO_RELAY_HOST.`,
  );
}

async function inspect(docker: Docker, network: string): Promise<NetworkInspectInfo> {
  try {
    return await docker.getNetwork(network).inspect();
  } catch (error) {
    if (statusOf(error) !== 404) throw engineFailure(error, `look for the network ${network}`);
    throw new AttemptFailure('container-start-failed', `The engine has no network ${network}.`, { cause: error });
  }
}

async function ownAddress({ IPAM: ipam }: NetworkInspectInfo): Promise<string | undefined> {
  const subnets = (ipam?.Config ?? []).filter(
    ({ Subnet: subnet }) => subnet !== undefined && isIPv4(subnet.split('/')[0] ?? ''),
  );
  // The interface of a network without containers is not shown as up, and yet its address can be listened on.
  for (const subnet of subnets) {
    const gateway = gatewayOf(subnet);
    if (await isOwn(gateway)) return gateway;
  }
  const within = new BlockList();
  for (const { Subnet: subnet = '' } of subnets) {
    const [prefix = '', bits] = subnet.split('/');
    within.addSubnet(prefix, Number(bits));
  }
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal, address }) => family === 'IPv4' && !internal && within.check(address))?.address;
}

/**
 * The engine's own address in a subnet. A new engine does not report its default bridge's before the first container;
 * then it is the first address, which is Docker's default.
 */
function gatewayOf({ Subnet: subnet = '', Gateway: gateway = '' }: AddressPool): string {
  if (gateway !== '') return gateway;
  const [network = '', bits = '32'] = subnet.split('/');
  const address = network.split('.').reduce((whole, part) => whole * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  const first = address - (address % size) + 1;
  return [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.');
}

async function isOwn(address: string): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EADDRNOTAVAIL') return false;
    throw error;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

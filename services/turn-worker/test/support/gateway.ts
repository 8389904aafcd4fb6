import { docker } from './images.js';

/**
 * The engine's own address in a network. A just started engine does not tell that of its default bridge before the first
 * container there, which gets the address after it.
 */
export async function gatewayOf(network: string): Promise<string> {
  const { IPAM: ipam } = (await docker.getNetwork(network).inspect()) as {
    IPAM: { Config: { Subnet: string; Gateway?: string }[] };
  };
  const [{ Subnet: subnet, Gateway: gateway } = { Subnet: '' }] = ipam.Config;
  return gateway ?? subnet.replace(/\.0\/\d+$/, '.1');
}

import picocolors from 'picocolors';
import type { Output } from '../cli-context.js';

export type Paint = ReturnType<typeof picocolors.createColors>;

const plain = picocolors.createColors(false);
const colored = picocolors.createColors(true);

/** Colours where the output shows them, nothing elsewhere. */
export function paint({ colors }: Pick<Output, 'colors'>): Paint {
  return colors ? colored : plain;
}

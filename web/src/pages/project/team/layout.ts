import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from 'd3-force';

/** A place in the drawing. */
export interface Spot {
  x: number;
  y: number;
}

interface Node extends SimulationNodeDatum {
  id: string;
}

/** A way that mail goes. */
export interface Way {
  from: string;
  to: string;
}

const ticks = 240;

/**
 * Where each member stands in a box of 1 by 1: those who write to each other are near. The same ids and ways have the same
 * places each time, since each begins on a circle in the order of the ids; the person stands at the top.
 */
export function layOut(ids: readonly string[], ways: readonly Way[]): Map<string, Spot> {
  const nodes: Node[] = ids.map((id, index) => {
    const angle = (2 * Math.PI * index) / ids.length - Math.PI / 2;
    return { id, x: Math.cos(angle), y: Math.sin(angle) };
  });
  const known = new Set(ids);
  const links = ways
    .filter(({ from, to }) => known.has(from) && known.has(to) && from !== to)
    .map(({ from, to }) => ({ source: from, target: to }));
  forceSimulation(nodes)
    .force(
      'link',
      forceLink<Node, { source: string; target: string }>(links)
        .id(({ id }) => id)
        .distance(0.9)
        .strength(0.12),
    )
    .force('apart', forceManyBody<Node>().strength(-0.6))
    .force('room', forceCollide<Node>(0.42))
    .force('x', forceX<Node>(0).strength(0.05))
    .force(
      'y',
      forceY<Node>(({ id }) => (id === 'user' ? -1.6 : 0.1)).strength(({ id }) => (id === 'user' ? 0.4 : 0.08)),
    )
    .stop()
    .tick(ticks);
  return inBox(nodes);
}

function inBox(nodes: readonly Node[]): Map<string, Spot> {
  const xs = nodes.map(({ x = 0 }) => x);
  const ys = nodes.map(({ y = 0 }) => y);
  const part = (value: number, all: readonly number[]) => {
    const [least, most] = [Math.min(...all), Math.max(...all)];
    return most - least < 1e-6 ? 0.5 : (value - least) / (most - least);
  };
  return new Map(nodes.map(({ id, x = 0, y = 0 }) => [id, { x: part(x, xs), y: part(y, ys) }]));
}

import { forceCollide, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from 'd3-force';

/** A place in the drawing. */
export interface Spot {
  x: number;
  y: number;
}

interface Node extends SimulationNodeDatum {
  id: string;
}

const ticks = 240;

/**
 * Where each member stands in a box of 1 by 1. The same ids have the same places each time, since each begins on a circle
 * in their order; the person stands at the top.
 */
function layOut(ids: readonly string[]): Map<string, Spot> {
  const nodes: Node[] = ids.map((id, index) => {
    const angle = (2 * Math.PI * index) / ids.length - Math.PI / 2;
    return { id, x: Math.cos(angle), y: Math.sin(angle) };
  });
  forceSimulation(nodes)
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

/** The pill of a member, in pixels. */
export const pill = { height: 44, chars: 7.4, pad: 48 };

/** A member's pill in the drawing, around its middle. */
export interface Placed extends Spot {
  id: string;
  /** How many characters it has room for. */
  chars: number;
  width: number;
  height: number;
}

/** Places pills in a drawing of some width, which is as high as it takes. */
export function place(
  labels: readonly Pick<Placed, 'id' | 'chars'>[],
  width: number,
): { placed: Map<string, Placed>; height: number } {
  const spots = layOut(labels.map(({ id }) => id));
  const sized = labels.map((label) => ({
    ...label,
    width: Math.round(label.chars * pill.chars) + pill.pad,
    height: pill.height,
  }));
  const area = sized.reduce((sum, box) => sum + (box.width + 24) * (box.height + 24), 0);
  const height = Math.max(heightOf(sized.length), (area * 1.5) / Math.max(width, 1));
  const boxes = sized.map((box) => {
    const { x, y } = spots.get(box.id) ?? { x: 0.5, y: 0.5 };
    return { ...box, x: x * width, y: y * height };
  });
  return { placed: new Map(apart(boxes, { width, height }).map((box) => [box.id, box])), height };
}

/** How high a drawing of so many pills is at the least. */
export function heightOf(members: number): number {
  return Math.max(260, Math.min(members * 70, 460));
}

const rounds = 300;

/**
 * Moves boxes that cover one another apart, along the shorter way, within a drawing that has room for them; the same ones
 * each time.
 */
function apart(boxes: readonly Placed[], room: { width: number; height: number }): Placed[] {
  const moved = boxes.map((box) => ({ ...box }));
  for (let round = 0; round < rounds; round += 1) {
    for (const box of moved) {
      box.x = within(box.x, box.width, room.width);
      box.y = within(box.y, box.height, room.height);
    }
    let isFree = true;
    for (const [index, one] of moved.entries()) {
      for (const other of moved.slice(index + 1)) isFree = !push(one, other, round >= rounds / 3) && isFree;
    }
    if (isFree) return moved;
  }
  return moved.map((box) => ({
    ...box,
    x: within(box.x, box.width, room.width),
    y: within(box.y, box.height, room.height),
  }));
}

const gap = 10;

/** @returns whether they covered one another */
function push(one: Placed, other: Placed, isCrowded: boolean): boolean {
  const [dx, dy] = [other.x - one.x, other.y - one.y];
  const x = (one.width + other.width) / 2 + gap - Math.abs(dx);
  const y = (one.height + other.height) / 2 + gap - Math.abs(dy);
  if (x <= 0 || y <= 0) return false;
  // Where a row has no room for both, the shorter way leads nowhere.
  if (x < y && !isCrowded) {
    const by = (dx < 0 ? -x : x) / 2;
    [one.x, other.x] = [one.x - by, other.x + by];
  } else {
    const by = (dy < 0 ? -y : y) / 2;
    [one.y, other.y] = [one.y - by, other.y + by];
  }
  return true;
}

function within(middle: number, size: number, room: number): number {
  const least = size / 2 + 8;
  return Math.min(Math.max(middle, least), Math.max(room - least, least));
}

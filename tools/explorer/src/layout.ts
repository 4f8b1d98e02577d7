// Where things are drawn: ops in rows inside their box, boxes by dagre. Nothing moves afterwards, so a replay can be followed.

import { Graph as DagreGraph, layout as dagre } from "@dagrejs/dagre";
import { Row } from "./data";
import { Box, Model } from "./model";
import { time } from "./units";

export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

const ROW = 38;
const HEIGHT = 24;
const GAP = 14;
const PADDING = 14;
const TITLE = 20;
const MOST_IN_ROW = 8;
/** Dagre's time grows faster than its graph. */
const MOST_BOXES = 1500;

export function width(label: string): number {
  return Math.max(44, 7 * label.length + 16);
}

/** The place of each box, op and host op, by its id. */
export function layOut(model: Model): Map<string, Place> {
  const places = new Map<string, Place>();
  const inside = new Map<string, Map<string, Place>>();
  const rows = new Map(model.report.groups.map((row) => [row.name, row]));
  for (const box of model.boxes) {
    const nodes = insideOf(box, model);
    inside.set(box.id, nodes);
    places.set(box.id, around(nodes, 1.1 * width(title(box.group, rows.get(box.group))) - 2 * PADDING));
  }
  for (const host of model.hosts) places.set(host.id, { x: 0, y: 0, width: width(label(model, host.op)), height: HEIGHT });
  const edges = between(model);
  if (places.size > MOST_BOXES) inRows(places, edges, 60);
  else byDagre(places, edges);
  for (const [id, nodes] of inside) {
    const box = places.get(id)!;
    const [left, top] = [box.x - box.width / 2 + PADDING, box.y - box.height / 2 + PADDING + TITLE];
    for (const [node, at] of nodes) places.set(node, { ...at, x: left + at.x, y: top + at.y });
  }
  return places;
}

export function label(model: Model, op: number): string {
  return model.report.graph.ops[op].op;
}

/** What stands above a box. */
export function title(group: string, row: Row | undefined): string {
  return row?.cost_ps ? `${group}  ${time(row.cost_ps)}` : group;
}

function insideOf(box: Box, model: Model): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const node of box.nodes) places.set(node.id, { x: 0, y: 0, width: width(label(model, node.op)), height: HEIGHT });
  const edges = model.edgesInside(box.call).map((edge) => [edge.from, edge.to] as [string, string]);
  inRows(places, edges, GAP, ROW);
  const left = Math.min(0, ...[...places.values()].map((at) => at.x - at.width / 2));
  for (const at of places.values()) {
    at.x -= left;
    at.y += HEIGHT / 2;
  }
  return places;
}

function around(nodes: Map<string, Place>, least: number): Place {
  const all = [...nodes.values()];
  const right = Math.max(least, ...all.map((at) => at.x + at.width / 2));
  const bottom = Math.max(HEIGHT, ...all.map((at) => at.y + at.height / 2));
  return { x: 0, y: 0, width: right + 2 * PADDING, height: bottom + 2 * PADDING + TITLE };
}

/** Edges between boxes and host ops, each pair once. */
function between(model: Model): [string, string][] {
  const pairs = new Set<string>();
  const home = (id: string) => (id.startsWith("n") ? `c${model.callAt(id)}` : id);
  for (const edge of model.edges) {
    const [from, to] = [home(edge.from), home(edge.to)];
    if (from !== to) pairs.add(`${from} ${to}`);
  }
  return [...pairs].map((pair) => pair.split(" ") as [string, string]);
}

function byDagre(places: Map<string, Place>, edges: [string, string][]): void {
  const graph = new DagreGraph({ multigraph: false, compound: false });
  graph.setGraph({ rankdir: "TB", nodesep: 30, ranksep: 46, ranker: places.size > 300 ? "longest-path" : "tight-tree" });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const [id, { width, height }] of places) graph.setNode(id, { width, height });
  for (const [from, to] of edges) graph.setEdge(from, to);
  dagre(graph);
  for (const [id, at] of places) {
    const found = graph.node(id) as { x: number; y: number };
    [at.x, at.y] = [found.x, found.y];
  }
}

/** Rows by the longest path that leads to a node, each centred. Edges go from earlier nodes to later ones. */
function inRows(places: Map<string, Place>, edges: [string, string][], gap: number, step = 0): void {
  const rank = new Map<string, number>();
  const into = new Map<string, string[]>();
  for (const [from, to] of edges) into.set(to, [...(into.get(to) ?? []), from]);
  for (const id of places.keys()) rank.set(id, Math.max(-1, ...(into.get(id) ?? []).map((from) => rank.get(from) ?? -1)) + 1);
  const rows: string[][] = [];
  for (const [id, row] of rank) (rows[row] ??= []).push(id);
  let y = 0;
  for (const row of rows.flatMap((whole) => pieces(whole, MOST_IN_ROW))) {
    const all = row.map((id) => places.get(id)!);
    let x = -(all.reduce((sum, at) => sum + at.width, 0) + gap * (all.length - 1)) / 2;
    for (const at of all) {
      [at.x, at.y] = [x + at.width / 2, y];
      x += at.width + gap;
    }
    y += step || Math.max(...all.map((at) => at.height)) + gap;
  }
}

function pieces<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, number) => items.slice(number * size, (number + 1) * size));
}

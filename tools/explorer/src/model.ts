// Nodes and edges of the drawing: each op once for each call that evaluates it, in the box of that call.

import { Call, Graph, Report } from "./data";

export interface Shown {
  id: string;
  op: number;
  call: number;
}

export interface Edge {
  from: string;
  to: string;
  value: number;
  bytes: number;
  /** Picoseconds that a merge across the edge would have gained, or might have at most. */
  lost: number;
  inner: boolean;
}

export interface Box {
  id: string;
  call: number;
  group: string;
  nodes: Shown[];
}

/** More nodes than these are not drawn: boxes alone are. */
const MOST_NODES = 6000;

export class Model {
  readonly boxes: Box[] = [];
  readonly edges: Edge[] = [];
  readonly hosts: Shown[] = [];
  readonly nodes = new Map<string, Shown>();
  readonly producer = new Map<number, number>();
  readonly callsOfGroup = new Map<string, number[]>();
  readonly isDetailed: boolean;
  private readonly maker = new Map<number, number>();

  constructor(readonly report: Report) {
    const graph = report.graph;
    graph.ops.forEach((op, number) => op.makes.forEach((value) => this.producer.set(value, number)));
    graph.calls.forEach((call, number) => {
      call.makes.forEach((value) => this.maker.set(value, number));
      this.callsOfGroup.set(call.group, [...(this.callsOfGroup.get(call.group) ?? []), number]);
    });
    this.isDetailed = graph.calls.reduce((sum, call) => sum + call.ops.length, 0) <= MOST_NODES;
    graph.calls.forEach((call, number) => this.boxes.push(this.box(call, number)));
    for (const op of graph.hosts) this.hosts.push(this.keep({ id: `h${op}`, op, call: -1 }));
    graph.calls.forEach((call, number) => this.edgesInto(call, number));
    for (const host of this.hosts) this.edgesOfHost(host);
    this.mark(graph);
  }

  private keep(node: Shown): Shown {
    this.nodes.set(node.id, node);
    return node;
  }

  private box(call: Call, number: number): Box {
    const drawn = this.isDetailed ? call.ops.filter((op) => this.report.graph.ops[op].op !== "constant") : [];
    const nodes = (drawn.length || !this.isDetailed ? drawn : call.ops).map((op) => this.keep({ id: `n${number}_${op}`, op, call: number }));
    return { id: `c${number}`, call: number, group: call.group, nodes };
  }

  /** The node that shows an op in a call, or the call's box where ops are not drawn. */
  private end(call: number, op: number): string | undefined {
    const id = `n${call}_${op}`;
    return this.isDetailed ? (this.nodes.has(id) ? id : undefined) : `c${call}`;
  }

  private edgesInto(call: Call, number: number): void {
    const inside = new Set(call.ops);
    const seen = new Set<string>();
    for (const op of call.ops) {
      for (const value of this.report.graph.ops[op].reads) {
        const from = this.source(value, number, inside);
        const to = this.end(number, op);
        if (from && to && from !== to && !seen.has(`${from} ${to}`)) {
          seen.add(`${from} ${to}`);
          this.edge(from, to, value, inside.has(this.producer.get(value) ?? -1));
        }
      }
    }
  }

  private edgesOfHost(host: Shown): void {
    for (const value of this.report.graph.ops[host.op].reads) {
      const from = this.source(value, -1, new Set());
      if (from && from !== host.id) this.edge(from, host.id, value, false);
    }
  }

  private source(value: number, call: number, inside: Set<number>): string | undefined {
    const op = this.producer.get(value);
    if (op === undefined) return undefined;
    if (inside.has(op)) return this.end(call, op);
    const maker = this.maker.get(value);
    return maker !== undefined ? this.end(maker, op) : this.nodes.has(`h${op}`) ? `h${op}` : undefined;
  }

  private edge(from: string, to: string, value: number, inner: boolean): void {
    this.edges.push({ from, to, value, bytes: this.report.graph.values[value] ?? 0, lost: 0, inner });
  }

  /** Writes what declined merges would have gained at the edges between their calls. */
  private mark(graph: Graph): void {
    const between = new Map<string, Edge[]>();
    for (const edge of this.edges) {
      if (edge.inner) continue;
      const key = `${this.producer.get(edge.value)} ${this.callAt(edge.to)}`;
      between.set(key, [...(between.get(key) ?? []), edge]);
    }
    graph.lost.forEach((lost, decision) => {
      const [producer, reader] = graph.decisions[decision] ?? [];
      if (lost <= 0 || reader === undefined) return;
      for (const call of this.callsWith(reader)) {
        for (const edge of between.get(`${producer} ${call}`) ?? []) edge.lost = Math.max(edge.lost, lost);
      }
    });
  }

  private readonly inner = new Map<number, Edge[]>();

  edgesInside(call: number): Edge[] {
    if (!this.inner.size) {
      for (const edge of this.edges) {
        const home = this.callAt(edge.to);
        if (edge.inner && home >= 0) this.inner.set(home, [...(this.inner.get(home) ?? []), edge]);
      }
    }
    return this.inner.get(call) ?? [];
  }

  callAt(id: string): number {
    return id.startsWith("c") ? Number(id.slice(1)) : (this.nodes.get(id)?.call ?? -1);
  }

  private readonly holders = new Map<number, number[]>();

  /** The calls that evaluate an op. */
  callsWith(op: number): number[] {
    if (!this.holders.size) {
      this.report.graph.calls.forEach((call, number) => {
        for (const each of call.ops) this.holders.set(each, [...(this.holders.get(each) ?? []), number]);
      });
    }
    return this.holders.get(op) ?? [];
  }
}

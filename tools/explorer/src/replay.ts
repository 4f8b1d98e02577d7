// The merges, one after the other: after so many of them, which ops are in one group?

import { Core } from "cytoscape";
import { Place } from "./layout";
import { Model } from "./model";

const MARGIN = 7;

export class Replay {
  /** The numbers of the decisions that merged, in the order made. */
  readonly steps: number[];
  private readonly pairs: [string, string][][];

  constructor(
    private readonly cy: Core,
    private readonly model: Model,
    private readonly places: Map<string, Place>,
  ) {
    const decisions = model.report.decisions;
    this.steps = decisions.map((_, number) => number).filter((number) => decisions[number].verdict === "fused");
    this.pairs = this.steps.map((number) => this.joined(number));
  }

  /** Draws the groups as they were after `count` merges; at last they are the boxes. */
  to(count: number): void {
    const done = count >= this.steps.length;
    this.cy.batch(() => {
      this.cy.elements(".part").remove();
      this.cy.elements(".box").toggleClass("faded", !done);
      if (!done) this.cy.add(this.parts(count));
    });
  }

  /** What the merges up to there gained, in picoseconds. */
  gained(count: number): number {
    const gains = this.steps.slice(0, count).map((number) => Number(this.model.report.decisions[number].figures.gain_ps ?? 0));
    return gains.reduce((sum, gain) => sum + gain, 0);
  }

  private parts(count: number) {
    const leader = new Map<string, string>();
    const find = (id: string): string => {
      let at = id;
      while (leader.has(at)) at = leader.get(at)!;
      return at;
    };
    for (const [one, other] of this.pairs.slice(0, count).flat()) {
      const [from, to] = [find(one), find(other)];
      if (from !== to) leader.set(from, to);
    }
    const latest = new Set((this.pairs[count - 1] ?? []).map(([one]) => find(one)));
    const members = new Map<string, string[]>();
    for (const id of this.model.nodes.keys()) {
      const root = find(id);
      if (root !== id || leader.size) members.set(root, [...(members.get(root) ?? []), id]);
    }
    const joined = [...members].filter(([, ids]) => ids.length > 1);
    return joined.map(([root, ids]) => this.part(root, ids, latest.has(root)));
  }

  private part(root: string, ids: string[], isNew: boolean) {
    const all = ids.map((id) => this.places.get(id)!);
    const [left, right] = [Math.min(...all.map((p) => p.x - p.width / 2)), Math.max(...all.map((p) => p.x + p.width / 2))];
    const [top, bottom] = [Math.min(...all.map((p) => p.y - p.height / 2)), Math.max(...all.map((p) => p.y + p.height / 2))];
    const size = { width: right - left + 2 * MARGIN, height: bottom - top + 2 * MARGIN };
    const position = { x: (left + right) / 2, y: (top + bottom) / 2 };
    return { data: { id: `p${root}`, label: "", ...size }, position, classes: isNew ? "part new" : "part" };
  }

  /** The nodes that a merge puts into one group: the ops that it names, wherever they stand in one call. */
  private joined(decision: number): [string, string][] {
    const ops = this.model.report.graph.decisions[decision] ?? [];
    const calls = ops.length ? this.model.callsWith(ops[0]) : this.callsOf(decision);
    return calls.flatMap((call) => (ops.length ? this.inCall(call, ops) : this.whole(call)));
  }

  private callsOf(decision: number): number[] {
    return this.model.report.decisions[decision].groups.flatMap((group) => this.model.callsOfGroup.get(group) ?? []);
  }

  /** Of a copied producer each copy joins those that read it, also where the record names another reader. */
  private inCall(call: number, ops: number[]): [string, string][] {
    const ids = ops.map((op) => `n${call}_${op}`).filter((id) => this.model.nodes.has(id));
    if (ids.length > 1) return ids.slice(1).map((id) => [ids[0], id]);
    const readers = this.model.edgesInside(call).filter((edge) => edge.from === ids[0]);
    return readers.map((edge) => [edge.from, edge.to]);
  }

  private whole(call: number): [string, string][] {
    const nodes = this.model.boxes[call].nodes;
    return nodes.slice(1).map((node) => [nodes[0].id, node.id]);
  }
}

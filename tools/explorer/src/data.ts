// What the page is given: the report (compiler/report.py, compiler/explorer/graph.py) and the texts, packed a group at a time.

export interface Op {
  op: string;
  type: string;
  at: number;
  reads: number[];
  makes: number[];
  free?: boolean;
}

export interface Call {
  group: string;
  ops: number[];
  reads: number[];
  makes: number[];
  gone?: boolean;
}

export interface Graph {
  ops: Op[];
  places: [string, string][];
  values: number[];
  calls: Call[];
  hosts: number[];
  decisions: number[][];
  lost: number[];
}

export interface Decision {
  code: string;
  verdict: string;
  groups: string[];
  ops: { name: string; type: string; loc: string }[];
  reason: string;
  figures: Record<string, string | number>;
}

export type Row = Record<string, any>;

export interface Measured {
  calls: number;
  ps: number;
}

export interface Report {
  program: Row;
  memory: Record<string, number>;
  groups: Row[];
  kernels: Row[];
  libraries: Row[];
  decisions: Decision[];
  graph: Graph;
  lines: Record<string, string>;
  suggestions: Record<string, string>;
  measured: Record<string, Measured>;
}

const EMPTY: Graph = { ops: [], places: [], values: [], calls: [], hosts: [], decisions: [], lost: [] };

function json(id: string): any {
  return JSON.parse(document.getElementById(id)?.textContent ?? "{}");
}

export function readReport(): Report {
  const absent = { program: {}, memory: {}, groups: [], kernels: [], libraries: [], decisions: [], lines: {}, suggestions: {}, measured: {} };
  const given = json("report");
  return { ...absent, ...given, graph: { ...EMPTY, ...given.graph } };
}

/** The group that a kernel is made of: several functions may be one group's. */
export function groupOf(symbol: string): string {
  return symbol.replace(/_(?:body|part_\d+|buffers_\d+)(?=_|$).*/, "");
}

export type Stages = Record<string, string>;

/** The IR of groups by stage; each is unpacked when it is first looked at. */
export class Texts {
  private readonly packed: Record<string, string> = json("texts");
  private readonly unpacked = new Map<string, Promise<Stages>>();

  has(group: string): boolean {
    return group in this.packed;
  }

  get isEmpty(): boolean {
    return Object.keys(this.packed).length === 0;
  }

  stages(group: string): Promise<Stages> {
    let found = this.unpacked.get(group);
    if (!found) {
      found = this.has(group) ? unpack(this.packed[group]) : Promise.resolve({});
      this.unpacked.set(group, found);
    }
    return found;
  }
}

async function unpack(text: string): Promise<Stages> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

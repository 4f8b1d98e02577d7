// The panel: what is known of the op, the group, the edge or the program that is looked at.

import { groupOf, Report, Row } from "./data";
import { element, facts, link } from "./dom";
import { Model } from "./model";
import { Follow, records } from "./records";
import { bytes, count, time } from "./units";

export class Panel {
  private readonly report: Report;
  private readonly ofOp = new Map<number, number[]>();
  private readonly ofGroup = new Map<string, number[]>();

  constructor(
    private readonly home: HTMLElement,
    private readonly model: Model,
    private readonly follow: Follow,
  ) {
    this.report = model.report;
    const put = <K>(map: Map<K, number[]>, key: K, number: number) => map.set(key, [...(map.get(key) ?? []), number]);
    this.report.decisions.forEach((decision, number) => {
      const ops = this.report.graph.decisions[number] ?? [];
      if (ops.length <= 8) ops.forEach((op) => put(this.ofOp, op, number));
      for (const group of new Set(decision.groups)) if (decision.code !== "FREE_CLONED") put(this.ofGroup, group, number);
    });
  }

  /** The program: its figures, and its groups by what they cost. */
  program(): void {
    const { program, memory, groups, measured } = this.report;
    const named = Object.entries(program).map(([name, value]) => [name, String(value)] as [string, string]);
    const sizes = Object.entries(memory).map(([name, value]) => [name, bytes(value)] as [string, string]);
    const total = groups.reduce((sum, group) => sum + costOf(group), 0);
    const took = Object.values(measured).reduce((sum, each) => sum + each.ps, 0);
    const rows = [...groups].sort((one, other) => costOf(other) - costOf(one)).map((group) => this.groupRow(group, total));
    const head = element("tr", {}, ...["group", "kind", "calls", "price", "share", took ? "measured" : ""].map((text) => element("th", {}, text)));
    this.fill(
      element("h2", {}, program.name ?? "program"),
      facts([...named, ...sizes, ["priced at", time(total)], ["measured", took ? time(took) : ""]]),
      element("h3", {}, `Groups (${groups.length})`),
      element("table", { className: "groups" }, head, ...rows),
    );
  }

  op(call: number, op: number): void {
    const graph = this.report.graph;
    const { op: name, type, at, free, reads } = graph.ops[op];
    const [short, location] = graph.places[at] ?? ["", ""];
    const homes = this.model.callsWith(op).map((each) => link(graph.calls[each].group, () => this.follow(`c${each}`)));
    const line = this.report.lines[short.split("  ").at(-1)!.replace(/^(.*:\d+):\d+$/, "$1")];
    const sources = reads.map((value) => this.model.producer.get(value)).filter((from) => from !== undefined);
    this.fill(
      element("h2", {}, name),
      facts([
        ["type", type],
        ["from", short],
        ["reads", element("span", {}, ...spaced(sources.map((from) => link(graph.ops[from!].op, () => this.follow(`op:${from}`)))))],
        ["in", element("span", {}, ...spaced(homes))],
        ["free", free ? "cloned into each group that reads it" : ""],
      ]),
      line ? element("pre", { className: "line" }, line) : false,
      location !== short ? element("details", {}, element("summary", {}, "the whole location"), element("code", {}, location)) : false,
      ...this.decisions(this.ofOp.get(op) ?? []),
      call >= 0 ? element("div", { className: "hint" }, "Its group's code is below.") : false,
    );
  }

  group(call: number): void {
    const { group, ops, reads, makes, gone } = this.report.graph.calls[call];
    const row: Row = this.report.groups.find((each) => groupOf(each.name) === group) ?? {};
    const moved = (values: number[]) => bytes(values.reduce((sum, value) => sum + (this.report.graph.values[value] ?? 0), 0));
    const same = this.model.callsOfGroup.get(group)!.length;
    const took = this.measured(group);
    this.fill(
      element("h2", {}, group),
      gone ? element("div", { className: "hint" }, "Evaluated while the program was compiled.") : false,
      facts([
        ["kind", row.kind],
        ["kernel", row.kernel],
        ["calls", `${row.calls ?? 1}${same > 1 ? `, one of ${same} alike` : ""}`],
        ["price", row.cost_ps ? time(row.cost_ps) : ""],
        ["measured", took ? `${time(took.ps / Math.max(1, took.calls))} each of ${took.calls}${priced(took, row)}` : ""],
        ["reads", moved(reads)],
        ["writes", moved(makes)],
        ["flops", row.flops ? count(row.flops) : ""],
        ["ops", `${ops.length}`],
        ["from", (row.from ?? []).slice(0, 3).join(" … ")],
      ]),
      ...this.kernels(group),
      ...this.decisions(this.ofGroup.get(group) ?? []),
    );
  }

  edge(number: number): void {
    const edge = this.model.edges[number];
    const graph = this.report.graph;
    const producer = this.model.producer.get(edge.value)!;
    const reader = this.model.callAt(edge.to);
    const about = this.report.decisions.map((_, each) => each).filter((each) => {
      const [from, to] = graph.decisions[each] ?? [];
      return from === producer && to !== undefined && this.model.callsWith(to).includes(reader);
    });
    const between = [edge.from, edge.to].map((id) => link(this.nameOf(id), () => this.follow(id)));
    this.fill(
      element("h2", {}, "a value between two"),
      facts([
        ["from, to", element("span", {}, between[0], " → ", between[1])],
        ["type", graph.ops[producer].type],
        ["bytes", bytes(edge.bytes)],
        ["lost, at most", edge.lost ? time(edge.lost) : ""],
      ]),
      ...this.decisions(about),
    );
  }

  private nameOf(id: string): string {
    const node = this.model.nodes.get(id);
    return node ? this.report.graph.ops[node.op].op : this.report.graph.calls[this.model.callAt(id)].group;
  }

  private kernels(group: string): HTMLElement[] {
    const rows = this.report.kernels.filter((kernel) => groupOf(kernel.name) === group);
    const libraries = this.report.libraries.filter((library) => library.groups?.includes(group));
    return [...rows, ...libraries].map((row) => {
      const shown = Object.entries(row).filter(([name, value]) => typeof value !== "object" && name !== "name" && value !== null);
      const told = shown.map(([name, value]) => [name.replace("_ps", ""), name.endsWith("_ps") ? time(value) : String(value)] as [string, string]);
      return element("div", {}, element("h3", {}, row.name ?? row.call), facts(told));
    });
  }

  private decisions(numbers: number[]): HTMLElement[] {
    if (!numbers.length) return [];
    return [element("h3", {}, `Decisions (${new Set(numbers).size})`), ...records(this.report, numbers, this.follow)];
  }

  private groupRow(group: Row, total: number): HTMLElement {
    const took = this.measured(groupOf(group.name));
    const name = link(group.name, () => this.follow(`group:${groupOf(group.name)}`));
    const share = total ? `${((100 * costOf(group)) / total).toFixed(0)}%` : "";
    const cells = [name, group.kind ?? "", `${group.calls ?? 1}`, time(costOf(group)), share, took ? time(took.ps) : ""];
    return element("tr", {}, ...cells.map((cell) => element("td", {}, cell)));
  }

  private measured(group: string): { calls: number; ps: number } | undefined {
    const found = Object.entries(this.report.measured).filter(([kernel]) => groupOf(kernel) === group).map(([, each]) => each);
    if (!found.length) return undefined;
    return { calls: found[0].calls, ps: found.reduce((sum, each) => sum + each.ps, 0) };
  }

  private fill(...content: (HTMLElement | false)[]): void {
    this.home.replaceChildren(...content.filter((each): each is HTMLElement => Boolean(each)));
    this.home.scrollTop = 0;
  }
}

/** Of all calls. */
function costOf(group: Row): number {
  return (group.calls ?? 1) * (group.cost_ps ?? 0);
}

function priced(took: { calls: number; ps: number }, row: Row): string {
  return row.cost_ps ? `, ${(took.ps / Math.max(1, took.calls) / row.cost_ps).toFixed(2)} × the price` : "";
}

function spaced(items: HTMLElement[]): (HTMLElement | string)[] {
  return items.flatMap((item, number) => (number ? [", ", item] : [item]));
}

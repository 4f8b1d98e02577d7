// Search over ops, groups, places in the source and decisions.

import { element } from "./dom";
import { Model } from "./model";
import { Follow } from "./records";

interface Entry {
  id: string;
  title: string;
  detail: string;
  text: string;
}

const MOST_SHOWN = 60;

export class Search {
  private readonly entries: Entry[] = [];
  private found: Entry[] = [];
  private at = -1;

  constructor(
    model: Model,
    private readonly input: HTMLInputElement,
    private readonly list: HTMLElement,
    private readonly follow: Follow,
    private readonly mark: (ids: string[]) => void,
  ) {
    this.collect(model);
    input.addEventListener("input", () => this.look());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.close();
    });
  }

  private collect(model: Model): void {
    const { graph, groups, decisions } = model.report;
    const kinds = new Map(groups.map((group) => [group.name, `${group.kind ?? ""} ${group.kernel ?? ""}`]));
    for (const box of model.boxes) this.add(box.id, box.group, kinds.get(box.group) ?? "");
    for (const node of model.nodes.values()) {
      const { op, type, at } = graph.ops[node.op];
      const group = graph.calls[node.call]?.group ?? "";
      this.add(node.id, op, `${type}  ${graph.places[at]?.[0] ?? ""}  ${group}`);
    }
    decisions.forEach((decision, number) => {
      const op = graph.decisions[number]?.[0];
      const id = op !== undefined ? `op:${op}` : `group:${decision.groups[0] ?? ""}`;
      this.add(id, decision.code, `${decision.groups.join(" ")}  ${decision.reason}`);
    });
  }

  private add(id: string, title: string, detail: string): void {
    this.entries.push({ id, title, detail, text: `${title} ${detail}`.toLowerCase() });
  }

  private look(): void {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.found = words.length ? this.entries.filter((entry) => words.every((word) => entry.text.includes(word))) : [];
    this.at = -1;
    this.mark(this.found.map((entry) => entry.id));
    this.show();
  }

  private show(): void {
    const rows = this.found.slice(0, MOST_SHOWN).map((entry, number) => {
      const row = element("div", { className: number === this.at ? "hit chosen" : "hit" }, element("b", {}, entry.title), ` ${entry.detail}`);
      row.addEventListener("mousedown", (event) => {
        event.preventDefault();
        this.at = number;
        this.follow(entry.id);
        this.show();
      });
      return row;
    });
    const more = this.found.length > MOST_SHOWN ? element("div", { className: "hint" }, `${this.found.length - MOST_SHOWN} more`) : "";
    const none = this.input.value.trim() && !this.found.length ? element("div", { className: "hint" }, "nothing") : "";
    this.list.replaceChildren(...rows, more, none);
    this.list.hidden = !this.input.value.trim();
  }

  private step(by: number): void {
    if (!this.found.length) return;
    this.at = (this.at + by + this.found.length) % this.found.length;
    this.follow(this.found[this.at].id);
    this.show();
  }

  private close(): void {
    this.input.value = "";
    this.look();
  }
}

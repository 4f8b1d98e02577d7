// The texts of a group at several stages, side by side.

import { Texts } from "./data";
import { element } from "./dom";

const ROAD = ["input", "stablehlo", "fused", "lhlo", "linalg", "tiled", "vector", "gpu", "thunk", "llvm", "nvvm", "assembly", "ptx"];
const FIRST = ["fused", "tiled"];
export const HOST = "@main";

export class StageView {
  private chosen: string[] = [...FIRST];
  private group = "";

  constructor(
    private readonly home: HTMLElement,
    private readonly texts: Texts,
  ) {}

  async show(group: string): Promise<void> {
    this.group = group;
    const stages = await this.texts.stages(group);
    if (this.group !== group) return; // another was chosen meanwhile
    const names = Object.keys(stages).sort((one, other) => ROAD.indexOf(one) - ROAD.indexOf(other));
    if (!names.length) {
      const why = this.texts.isEmpty ? "A compiled file keeps no texts: explain the program itself." : "No text was kept of it.";
      this.home.replaceChildren(element("div", { className: "hint" }, why));
      return;
    }
    const shown = names.filter((name) => this.chosen.includes(name));
    const columns = (shown.length ? shown : names.slice(0, 2)).map((name) => column(name, stages[name]));
    this.home.replaceChildren(this.bar(names), element("div", { className: "columns" }, ...columns));
  }

  private bar(names: string[]): HTMLElement {
    const boxes = names.map((name) => {
      const box = element("input", { type: "checkbox", checked: this.chosen.includes(name), name });
      box.addEventListener("change", () => {
        this.chosen = box.checked ? [...this.chosen, name] : this.chosen.filter((each) => each !== name);
        void this.show(this.group);
      });
      return element("label", {}, box, name);
    });
    return element("div", { className: "stages" }, element("b", {}, this.group === HOST ? "the host program" : this.group), ...boxes);
  }
}

function column(name: string, text: string): HTMLElement {
  const made = element("section", { className: "stage" }, element("h4", {}, name), element("pre", {}, text));
  made.dataset.stage = name;
  return made;
}

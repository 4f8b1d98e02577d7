// The page: a bar with search and slider, the drawing, the panel beside it, the stages below.

import { readReport, Texts } from "./data";
import { element } from "./dom";
import { layOut } from "./layout";
import { Model } from "./model";
import { Panel } from "./panel";
import { Replay } from "./replay";
import { Search } from "./search";
import { HOST, StageView } from "./stages";
import style from "./style.css";
import { time } from "./units";
import { draw, fit, show } from "./view";

const report = readReport();
const model = new Model(report);
const texts = new Texts();

const search = element("input", { id: "search", type: "search", placeholder: "search: an op, a group, a place, a code", autocomplete: "off" });
const hits = element("div", { id: "hits", hidden: true });
const slider = element("input", { id: "slider", type: "range", min: "0" });
const told = element("span", { id: "told" });
const home = element("button", { id: "home" }, report.program.name ?? "program");
const tables = element("button", { id: "show-tables" }, "tables");
const canvas = element("div", { id: "graph" });
const side = element("aside", { id: "panel" });
const stages = element("div", { id: "stages" });
const legend = element("div", { id: "legend" }, "a line is as wide as its bytes, and red where a merge across it would have gained");

document.head.append(element("style", {}, style));
const bar = element("header", {}, home, element("span", { className: "searching" }, search, hits), element("label", {}, "merges ", slider), told, tables);
const app = document.getElementById("app")!;
app.append(bar, element("div", { id: "work" }, element("div", { id: "left" }, canvas, legend, stages), side));
document.body.classList.add("drawn");
tables.addEventListener("click", () => document.body.classList.toggle("with-tables"));

const places = layOut(model);
const cy = draw(canvas, model, places);
const panel = new Panel(side, model, follow);
const view = new StageView(stages, texts);
const replay = new Replay(cy, model, places);
new Search(model, search, hits, follow, mark);

/** Looks at an element of the drawing, at `op:N` or at `group:NAME`. */
function follow(target: string): void {
  const id = resolved(target);
  if (!id) return;
  show(cy, id);
  look(id);
}

function resolved(target: string): string | undefined {
  if (target.startsWith("group:")) {
    const [call] = model.callsOfGroup.get(target.slice(6)) ?? [];
    return call === undefined ? undefined : `c${call}`;
  }
  if (!target.startsWith("op:")) return target;
  const op = Number(target.slice(3));
  if (model.nodes.has(`h${op}`)) return `h${op}`;
  const [call] = model.callsWith(op);
  return call === undefined ? undefined : model.nodes.has(`n${call}_${op}`) ? `n${call}_${op}` : `c${call}`;
}

function look(id: string): void {
  const node = model.nodes.get(id);
  if (id.startsWith("e")) panel.edge(Number(id.slice(1)));
  else if (node) panel.op(node.call, node.op);
  else panel.group(model.callAt(id));
  const call = id.startsWith("e") ? model.callAt(model.edges[Number(id.slice(1))].to) : model.callAt(id);
  void view.show(call >= 0 ? report.graph.calls[call].group : HOST);
}

function lookAtProgram(): void {
  cy.elements().unselect();
  panel.program();
  void view.show(HOST);
}

function mark(targets: string[]): void {
  cy.batch(() => {
    cy.elements(".found").removeClass("found");
    for (const target of targets.slice(0, 500)) cy.getElementById(resolved(target) ?? "").addClass("found");
  });
}

function slide(): void {
  const count = Number(slider.value);
  replay.to(count);
  const step = replay.steps[count - 1];
  const decision = step === undefined ? undefined : report.decisions[step];
  const gain = decision?.figures.gain_ps;
  const last = decision ? ` · ${decision.code} ${(gain && time(Number(gain))) || ""}: ${decision.ops.map((op) => op.name.replace(/^\w+\./, "")).join(" → ")}` : "";
  told.textContent = `${count} of ${replay.steps.length}, ${time(replay.gained(count))} gained${last}`;
}

slider.max = `${replay.steps.length}`;
slider.value = slider.max;
slider.addEventListener("input", slide);
home.addEventListener("click", () => {
  fit(cy, places);
  lookAtProgram();
});
cy.on("tap", "node, edge", (event) => look(event.target.id()));
cy.on("tap", (event) => {
  if (event.target === cy) lookAtProgram();
});
slide();
lookAtProgram();
// What a test, or a person at the console, asks of the page.
Object.assign(window, { hloom: { cy, model, follow, replay } });
requestAnimationFrame(() => requestAnimationFrame(() => (document.body.dataset.ready = `${Math.round(performance.now())}`)));

// The drawing: boxes, ops and edges on cytoscape's canvas.

import cytoscape, { Core, ElementDefinition, StylesheetJson } from "cytoscape";
import { groupOf } from "./data";
import { label, Place, title } from "./layout";
import { Box, Edge, Model } from "./model";

const STYLE: StylesheetJson = [
  { selector: "node", style: { shape: "round-rectangle", width: "data(width)", height: "data(height)", label: "data(label)", "font-size": 12, "font-family": "system-ui, sans-serif" } },
  { selector: ".box, .part", style: { "z-index-compare": "manual", "z-index": 0, "text-valign": "top", "text-margin-y": 19, "font-weight": "bold", "font-size": 13, "min-zoomed-font-size": 5 } },
  { selector: ".box", style: { "background-color": "data(color)", "background-opacity": 0.16, "border-width": 1.5, "border-color": "data(color)", color: "#222" } },
  { selector: ".part", style: { "background-color": "#3b7", "background-opacity": 0.25, "border-width": 2, "border-color": "#285", label: "", events: "no" } },
  { selector: ".part.new", style: { "background-color": "#fa3", "background-opacity": 0.45, "border-color": "#b60" } },
  { selector: ".faded", style: { "background-opacity": 0.02, "border-style": "dashed", "border-opacity": 0.35, "text-opacity": 0.35 } },
  { selector: ".op", style: { "z-index-compare": "manual", "z-index": 3, "text-valign": "center", "background-color": "#fff", "border-width": 1, "border-color": "#567", "min-zoomed-font-size": 6 } },
  { selector: ".free", style: { "background-color": "#eee", "border-color": "#bbb", color: "#777" } },
  { selector: ".host", style: { "background-color": "#fe9", "border-color": "#a80" } },
  { selector: "edge", style: { "z-index-compare": "manual", "z-index": 2, width: "data(width)", "line-color": "data(color)", "target-arrow-color": "data(color)", "target-arrow-shape": "triangle", "arrow-scale": 0.7, "curve-style": "straight" } },
  { selector: ".found", style: { "border-width": 3, "border-color": "#06c" } },
  { selector: "node:selected", style: { "border-width": 3, "border-color": "#06c", "overlay-color": "#06c", "overlay-opacity": 0.1 } },
  { selector: "edge:selected", style: { "overlay-color": "#06c", "overlay-opacity": 0.25 } },
];

const MOST_ZOOM = 1.3;
/** Below this nothing can be read. */
const LEAST_ZOOM = 0.3;
const MARGIN = 20;
const COLORS: Record<string, string> = { matmul: "#36c", conv: "#36c", loop: "#2a8", reduce: "#c70", multi_reduce: "#c70", transpose: "#888", library: "#83c", scatter: "#a55", sort: "#a55" };

export function draw(container: HTMLElement, model: Model, places: Map<string, Place>): Core {
  const cy = cytoscape({
    container,
    elements: elements(model, places),
    style: STYLE,
    layout: { name: "preset", fit: false },
    autoungrabify: true,
    minZoom: 0.02,
    maxZoom: 3,
    hideEdgesOnViewport: model.edges.length > 4000,
    textureOnViewport: model.edges.length > 4000,
  });
  fit(cy, places);
  if (cy.zoom() < LEAST_ZOOM) openAt(cy, costliest(model), places);
  return cy;
}

/** Shows the whole. cytoscape's own fit computes the style of every element to ask for its size, which half of a large page's start went to. */
export function fit(cy: Core, places: Map<string, Place>): void {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y, width, height } of places.values()) {
    [left, right] = [Math.min(left, x - width / 2), Math.max(right, x + width / 2)];
    [top, bottom] = [Math.min(top, y - height / 2), Math.max(bottom, y + height / 2)];
  }
  if (left > right) return;
  const room = Math.min((cy.width() - 2 * MARGIN) / (right - left), (cy.height() - 2 * MARGIN) / (bottom - top));
  centre(cy, Math.min(room, MOST_ZOOM), (left + right) / 2, (top + bottom) / 2);
}

function centre(cy: Core, zoom: number, x: number, y: number): void {
  cy.viewport({ zoom, pan: { x: cy.width() / 2 - zoom * x, y: cy.height() / 2 - zoom * y } });
}

/** A drawing too large to be read as a whole opens where the time goes. */
function openAt(cy: Core, id: string | undefined, places: Map<string, Place>): void {
  const place = places.get(id ?? "");
  if (place) centre(cy, 2 * LEAST_ZOOM, place.x, place.y);
}

function costliest(model: Model): string | undefined {
  const cost = new Map(model.report.groups.map((row) => [groupOf(row.name), (row.calls ?? 1) * (row.cost_ps ?? 0)]));
  const [first] = [...model.boxes].sort((one, other) => (cost.get(other.group) ?? 0) - (cost.get(one.group) ?? 0));
  return first?.id;
}

function elements(model: Model, places: Map<string, Place>): ElementDefinition[] {
  const kinds = new Map(model.report.groups.map((row) => [row.name, row]));
  const largest = Math.max(1, ...model.edges.map((edge) => edge.bytes));
  const worst = Math.max(1, ...model.edges.map((edge) => edge.lost));
  const made = model.boxes.map((box) => boxElement(box, kinds.get(box.group), places));
  for (const node of model.nodes.values()) {
    const op = model.report.graph.ops[node.op];
    const classes = node.call < 0 ? "op host" : op.free ? "op free" : "op";
    made.push({ ...at(node.id, places), data: { id: node.id, label: label(model, node.op), ...size(node.id, places) }, classes });
  }
  model.edges.forEach((edge, number) => made.push(edgeElement(edge, number, largest, worst)));
  return made;
}

function boxElement(box: Box, row: Record<string, any> | undefined, places: Map<string, Place>): ElementDefinition {
  const color = COLORS[row?.kind] ?? "#777";
  return { ...at(box.id, places), data: { id: box.id, label: title(box.group, row), color, ...size(box.id, places) }, classes: "box" };
}

/** Wide by bytes, on a scale of logarithms; red by what a merge across it would have gained. */
function edgeElement(edge: Edge, number: number, largest: number, worst: number): ElementDefinition {
  const width = edge.inner ? 1 : 1 + 7 * (Math.log2(1 + edge.bytes) / Math.log2(1 + largest)) ** 3;
  const red = edge.lost ? 0.25 + 0.75 * Math.sqrt(edge.lost / worst) : 0;
  const mix = (from: number, to: number) => Math.round(from + (to - from) * red);
  const color = edge.inner ? "#aab" : `rgb(${mix(130, 215)},${mix(140, 20)},${mix(155, 20)})`;
  return { data: { id: `e${number}`, source: edge.from, target: edge.to, width, color }, classes: edge.inner ? "inner" : "outer" };
}

function at(id: string, places: Map<string, Place>): { position: { x: number; y: number } } {
  const { x, y } = places.get(id)!;
  return { position: { x, y } };
}

function size(id: string, places: Map<string, Place>): { width: number; height: number } {
  const { width, height } = places.get(id)!;
  return { width, height };
}

/** Brings an element into sight and selects it. */
export function show(cy: Core, id: string): void {
  const found = cy.getElementById(id);
  if (!found.length) return;
  cy.elements().unselect();
  found.select();
  const view = cy.extent();
  const seen = found.boundingBox();
  const inside = seen.x1 >= view.x1 && seen.x2 <= view.x2 && seen.y1 >= view.y1 && seen.y2 <= view.y2;
  if (inside && cy.zoom() > 0.6) return;
  const room = Math.min(cy.width() / (seen.w + 40), cy.height() / (seen.h + 40));
  cy.zoom(Math.min(Math.max(cy.zoom(), 0.9), Math.max(room, 0.25)));
  cy.center(found);
}

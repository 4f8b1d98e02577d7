// Decision records as the panel tells them: why, the prices before and after, and the rule that would change it.

import { Decision, Report } from "./data";
import { copyable, element, facts, link } from "./dom";
import { figure, named, time } from "./units";

const PRICES = ["t_before_ps", "t_after_ps", "gain_ps"];

export type Follow = (id: string) => void;

/** The records of these numbers, the dearest first. */
export function records(report: Report, numbers: number[], follow: Follow): HTMLElement[] {
  const weight = (number: number) => Math.abs(Number(report.decisions[number].figures.gain_ps ?? report.graph.lost[number] ?? 0));
  const ordered = [...new Set(numbers)].sort((one, other) => weight(other) - weight(one));
  return ordered.map((number) => recordOf(report, number, follow));
}

function recordOf(report: Report, number: number, follow: Follow): HTMLElement {
  const decision = report.decisions[number];
  const head = element("div", { className: `code ${decision.verdict}` }, decision.code);
  const parts: (HTMLElement | false)[] = [head, element("div", {}, decision.reason), prices(decision), rest(report, decision, number, follow)];
  const rule = report.suggestions[number];
  if (rule) parts.push(element("div", { className: "rule" }, element("div", { className: "hint" }, "The rule that changes it:"), copyable(rule)));
  const made = element("div", { className: "record" }, ...parts);
  made.dataset.decision = `${number}`;
  return made;
}

function prices(decision: Decision): HTMLElement | false {
  const known = PRICES.filter((name) => name in decision.figures);
  if (!known.length) return false;
  const cells = (tag: "th" | "td", texts: string[]) => element("tr", {}, ...texts.map((text) => element(tag, {}, text)));
  const shown = known.map((name) => time(Number(decision.figures[name])));
  return element("table", { className: "prices" }, cells("th", known.map((name) => named(name).replace("t ", ""))), cells("td", shown));
}

function rest(report: Report, decision: Decision, number: number, follow: Follow): HTMLElement {
  const others = Object.entries(decision.figures).filter(([name]) => !PRICES.includes(name));
  const rows: [string, Node | string][] = others.map(([name, value]) => [named(name), figure(name, value)]);
  const lost = report.graph.lost[number];
  if (lost) rows.push(["lost, at most", time(lost)]);
  const ops = report.graph.decisions[number] ?? [];
  if (ops.length && ops.length <= 8) {
    const names = ops.map((op) => link(report.graph.ops[op].op, () => follow(`op:${op}`)));
    rows.push(["between", element("span", {}, ...names.flatMap((name, i) => (i ? [", ", name] : [name])))]);
  }
  if (decision.groups.length) {
    const names = decision.groups.map((group) => link(group, () => follow(`group:${group}`)));
    rows.push(["in", element("span", {}, ...names.flatMap((name, i) => (i ? [", ", name] : [name])))]);
  }
  return facts(rows);
}

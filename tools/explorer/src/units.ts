// Figures as people read them.

export function time(ps: number): string {
  const size = Math.abs(ps);
  if (size >= 1e12) return `${(ps / 1e12).toPrecision(3)} s`;
  if (size >= 1e9) return `${(ps / 1e9).toPrecision(3)} ms`;
  if (size >= 1e6) return `${(ps / 1e6).toPrecision(3)} µs`;
  return `${(ps / 1e3).toPrecision(3)} ns`;
}

export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (Math.abs(count) >= 1024 && unit < units.length - 1) {
    count /= 1024;
    unit++;
  }
  return unit ? `${count.toFixed(1)} ${units[unit]}` : `${count} B`;
}

export function count(value: number): string {
  const units = ["", " k", " M", " G", " T"];
  let unit = 0;
  while (Math.abs(value) >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return unit ? `${value.toFixed(1)}${units[unit]}` : `${value}`;
}

/** A figure of a record by its name: gain_ps, bytes_saved, rho. */
export function figure(name: string, value: string | number): string {
  if (typeof value !== "number") return value;
  if (name.endsWith("_ps")) return time(value);
  return name.includes("bytes") ? bytes(value) : String(+value.toPrecision(4));
}

/** The name of a figure without its unit. */
export function named(name: string): string {
  return name.replace(/_ps$/, "").replaceAll("_", " ");
}

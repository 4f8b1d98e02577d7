// Elements, made of texts alone: nothing that a program says is read as HTML.

type Content = Node | string | null | undefined | false;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<Omit<HTMLElementTagNameMap[K], "style">> = {},
  ...content: Content[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content.filter((each): each is Node | string => Boolean(each)));
  return made;
}

/** A table of names and values. */
export function facts(rows: [string, Content][]): HTMLElement {
  const shown = rows.filter(([, value]) => value !== "" && value !== undefined && value !== null && value !== false);
  return element("table", { className: "facts" }, ...shown.map(([name, value]) => element("tr", {}, element("th", {}, name), element("td", {}, value))));
}

export function link(text: string, follow: () => void): HTMLElement {
  const made = element("a", { href: "#", className: "link" }, text);
  made.addEventListener("click", (event) => {
    event.preventDefault();
    follow();
  });
  return made;
}

/** A text in a box, with a button that copies it. */
export function copyable(text: string): HTMLElement {
  const button = element("button", { className: "copy", title: "copy" }, "copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copied(text)) ? "copied" : "select and copy";
  });
  return element("div", { className: "copyable" }, element("pre", {}, text), button);
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByCommand(text); // a page from a file may not use the clipboard's interface
  }
}

function copiedByCommand(text: string): boolean {
  const area = element("textarea", { value: text, className: "offscreen" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

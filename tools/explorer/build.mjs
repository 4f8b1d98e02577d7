// Bundles src/ and the libraries into the one script that the package carries, beside the libraries' licences.
//
//     npm ci && node build.mjs [FOLDER]      FOLDER: where to write, runtime/explorer if none is given
//
// The first line of the script holds a hash of the sources, so that a test tells without node whether it is of these.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const to = process.argv[2] ?? join(here, "../../runtime/explorer");

function hashOfSources() {
  const hash = createHash("sha256");
  const files = ["package-lock.json", "build.mjs", ...readdirSync(join(here, "src")).sort().map((name) => `src/${name}`)];
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(here, file)));
  return hash.digest("hex");
}

function manifest(name) {
  return JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
}

function licences(inputs) {
  const packages = Object.keys(inputs).map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  const bundled = new Set(packages.filter(Boolean));
  for (const name of bundled) for (const inner of Object.keys(manifest(name).dependencies ?? {})) bundled.add(inner); // bundled in it already
  const texts = [...bundled].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const { version, license } = manifest(name);
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return `explorer.js holds code of these packages.\n\n${texts.join("\n" + "-".repeat(80) + "\n\n")}`;
}

const made = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  loader: { ".css": "text" },
  banner: { js: `/* hloom explorer; licences in LICENSES.txt; sources ${hashOfSources()} */` },
  metafile: true,
  write: false,
});
mkdirSync(to, { recursive: true });
writeFileSync(join(to, "explorer.js"), made.outputFiles[0].contents);
writeFileSync(join(to, "LICENSES.txt"), licences(made.metafile.inputs));

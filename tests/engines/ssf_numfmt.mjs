// Pairs of a number format and a value in, what each shows out, as JSON: node ssf_numfmt.mjs NAME FILE
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [name, file] = process.argv.slice(2);
const folder = join(process.env.NODE_PATH, name);
const { format } =
  name === "ssf"
    ? createRequire(import.meta.url)(folder)
    : await import(pathToFileURL(join(folder, "dist", "index.js")));

function shown([code, value]) {
  try {
    return format(code, value);
  } catch (error) {
    return `no number format: ${error.message}`;
  }
}

console.log(JSON.stringify(JSON.parse(readFileSync(file)).map(shown)));

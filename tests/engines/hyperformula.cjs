// Workbooks as their cells in, their values out, as JSON, by HyperFormula: node hyperformula.cjs FILE
const { HyperFormula } = require("hyperformula");

const OPTIONS = { licenseKey: "gpl-v3", smartRounding: false, useArrayArithmetic: true };

function computed(sheets) {
  const engine = HyperFormula.buildEmpty(OPTIONS);
  const titles = Object.keys(sheets);
  titles.forEach((title) => engine.addSheet(title));
  engine.batch(() =>
    titles.forEach((title, sheet) =>
      Object.entries(sheets[title]).forEach(([cell, content]) =>
        engine.setCellContents(engine.simpleCellAddressFromString(cell, sheet), content),
      ),
    ),
  );
  const value = (sheet, cell) => {
    const found = engine.getCellValue(engine.simpleCellAddressFromString(cell, sheet));
    return found !== null && typeof found === "object" ? found.value : found;
  };
  const filled = (sheet) =>
    engine.getSheetValues(sheet).flatMap((row, i) =>
      row.map((_, j) => engine.simpleCellAddressToString({ sheet, row: i, col: j }, sheet)),
    );
  return Object.fromEntries(
    titles.map((title, sheet) => [
      title,
      Object.fromEntries(filled(sheet).map((cell) => [cell, value(sheet, cell)])),
    ]),
  );
}

function orNothing(sheets) {
  try {
    return computed(sheets);
  } catch (error) {
    return {}; // it stops ("Unknown array") where an array is made from one that is an error
  }
}

const books = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
process.stdout.write(JSON.stringify(books.map(orNothing)));


(() => {
  const table = byId("grid");
  if (!table) return;
  const { classes, counts } = data.confusion;
  const rows = counts.map((row) => row.reduce((sum, value) => sum + value, 0));
  const columns = classes.map((_, j) => counts.reduce((sum, row) => sum + row[j], 0));
  const share = (part, whole) => (whole ? percentText(part / whole) : DASH);
  const words = (cell) => {
    const [i, j] = [cell.parentElement.rowIndex - 1, cell.cellIndex - 1];
    const value = counts[i][j];
    return `${table.dataset.said} ${classes[i]}, predicted ${classes[j]}: ${value.toLocaleString("en")}, `
      + `${share(value, rows[i])} of those ${table.dataset.said} so, ${share(value, columns[j])} of those predicted so`;
  };
  grid(table, {
    cells: "td",
    told: (cell) => {
      const text = words(cell);
      byId("grid-says").textContent = text.charAt(0).toUpperCase() + text.slice(1);
      cell.setAttribute("aria-label", text);
    },
  });
})();

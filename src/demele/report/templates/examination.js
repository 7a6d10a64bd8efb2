// The page about a trained model: downloads; all else needs no script.
(() => {
  const data = JSON.parse(byId("data").textContent);
  all(".download-json").forEach((button) => button.addEventListener("click", () =>
    download(byId("data").textContent, "application/json", "demele-examination.json")));
  all(".download-csv").forEach((button) => button.addEventListener("click", () => {
    const heads = ["code", ...Object.keys(data.codes[0] || {}), ...data.factor_names.map((name) => `information on ${name}`)];
    const rows = data.codes.map((code, place) => [
      data.code_names[place], ...Object.values(code), ...((data.information || [])[place] || []),
    ]);
    download(csvOf([heads, ...rows]), "text/csv", "demele-codes.csv");
  }));
  startPage();
  document.body.dataset.ready = "true"; // for programs that open the page
})();

// The page about a fabric: a download; all else needs no script.
(() => {
  all(".download-json").forEach((button) => button.addEventListener("click", () =>
    download(byId("data").textContent, "application/json", "demele-fabric.json")));
  startPage();
  document.body.dataset.ready = "true"; // for programs that open the page
})();

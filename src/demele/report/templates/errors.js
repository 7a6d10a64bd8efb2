// Errors of scripts end up in the page, where a reader (or a test) can find them.
"use strict";
window.addEventListener("error", (event) => {
  const write = () => {
    const place = document.getElementById("script-errors");
    if (place) place.textContent += String(event.message || event.type) + "\n";
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", write);
  else write();
});
window.addEventListener("unhandledrejection", (event) => {
  const place = document.getElementById("script-errors");
  if (place) place.textContent += "promise: " + String(event.reason) + "\n";
});
document.addEventListener("securitypolicyviolation", (event) => {
  const place = document.getElementById("script-errors");
  if (place) place.textContent += "policy: " + event.violatedDirective + " " + event.blockedURI + "\n";
});

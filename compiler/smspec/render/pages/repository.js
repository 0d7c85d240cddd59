(function () {
  "use strict";
  var field = document.getElementById("filter");
  var boxes = Array.from(document.querySelectorAll("#severities input"));
  var count = document.getElementById("count");
  var entries = Array.from(document.querySelectorAll("[data-text]"));
  document.getElementById("tools").hidden = false;
  function apply() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var wanted = boxes.filter(function (box) { return box.checked; }).map(function (box) { return box.value; });
    var shown = 0;
    entries.forEach(function (entry) {
      var text = entry.dataset.text.toLowerCase();
      var found = entry.dataset.severities.split(" ");
      var fits = words.every(function (word) { return text.indexOf(word) >= 0; }) &&
        (!wanted.length || wanted.some(function (severity) { return found.indexOf(severity) >= 0; }));
      entry.hidden = !fits;
      shown += fits && entry.classList.contains("job") ? 1 : 0;
    });
    count.textContent = shown + (shown === 1 ? " job" : " jobs");
  }
  function open() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.hidden = false; target.open = true; target.scrollIntoView(); }
  }
  field.addEventListener("input", apply);
  boxes.forEach(function (box) { box.addEventListener("change", apply); });
  window.addEventListener("hashchange", open);
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
  });
  apply();
  open();
})();

(function () {
  "use strict";
  var field = document.getElementById("filter");
  var boxes = Array.from(document.querySelectorAll("#severities input"));
  var count = document.getElementById("count");
  var list = document.getElementById("list");
  var headings = Array.from(document.querySelectorAll("#headings button"));
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
  function key(job, by) {
    if (by === "cost") { return -Number(job.dataset.cost); }
    if (by === "rank") { return Number(job.dataset.rank); }
    return job.querySelector("summary").children[by === "name" ? 0 : 1].textContent.toLowerCase();
  }
  function sort(heading) {
    var by = heading.dataset.sort;
    var way = heading.dataset.way === "down" ? "up" : "down";
    headings.forEach(function (one) { delete one.dataset.way; });
    heading.dataset.way = way;
    var jobs = Array.from(list.children).map(function (job) { return [key(job, by), job]; });
    jobs.sort(function (one, two) { return one[0] < two[0] ? -1 : one[0] > two[0] ? 1 : 0; });
    if (way === "up") { jobs.reverse(); }
    jobs.forEach(function (pair) { list.appendChild(pair[1]); });
  }
  function open() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.hidden = false; target.open = true; target.scrollIntoView(); }
  }
  field.addEventListener("input", apply);
  headings.forEach(function (heading) {
    heading.disabled = false;
    heading.addEventListener("click", function () { sort(heading); });
  });
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

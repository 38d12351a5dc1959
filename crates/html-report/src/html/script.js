(function () {
  "use strict";
  var d = document;
  // Tooltips of marks, quicker than those of the browser.
  var tip = d.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  d.body.appendChild(tip);
  d.querySelectorAll(".plot svg > * title, .plot svg g title").forEach(function (e) {
    var mark = e.parentNode;
    if (mark.tagName === "svg") return;
    mark.setAttribute("data-t", e.textContent);
    e.remove();
  });
  d.addEventListener("pointerover", function (event) {
    var mark = event.target.closest && event.target.closest("[data-t]");
    if (!mark) { tip.hidden = true; return; }
    tip.textContent = mark.getAttribute("data-t");
    tip.hidden = false;
    var box = mark.getBoundingClientRect(), width = tip.offsetWidth;
    tip.style.left = Math.min(Math.max(8, box.left + box.width / 2 - width / 2), innerWidth - width - 8) + "px";
    tip.style.top = Math.max(8, box.top - tip.offsetHeight - 8) + "px";
  });
  // An index links to pages with its own relative path in the query: a way back that a page which is read alone lacks.
  var index = new URLSearchParams(location.search).get("index"), eyebrow = d.querySelector(".eyebrow");
  if (eyebrow && /^\.\//.test(index || "")) {
    var part = d.createElement("span"), back = d.createElement("a");
    back.href = index.split("/").map(encodeURIComponent).join("/");
    back.textContent = "\u2190 All results";
    part.className = "back";
    part.appendChild(back);
    eyebrow.insertBefore(part, eyebrow.firstChild);
  }
  // A click on a heading sorts its table: numbers in the base unit, dates, versions and other texts part by part.
  var factors = { n: 1e-9, "\u00b5": 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, Ki: 1024, Mi: 1048576, Gi: 1073741824 };
  function key(row, column) {
    var text = row.cells[column].textContent.replace(/[\u202f\u00a0 ]/g, "").replace(/\u2212/g, "-");
    var found = /^([+-]?\d[\d.]*)(?:to[+-]?[\d.]+)?(?:([n\u00b5m])s|([kMG])bit|([KMG]i)B)?/.exec(text);
    if (!found || /^\d+(-\d|\.\d+[.-])/.test(text)) return text;
    return parseFloat(found[1]) * (factors[found[2] || found[3] || found[4]] || 1);
  }
  d.querySelectorAll("table.rows").forEach(function (table) {
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head, column) {
      var button = d.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.textContent = "";
      head.appendChild(button);
      button.addEventListener("click", function () {
        var down = head.getAttribute("aria-sort") === "ascending";
        Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        var body = table.tBodies[0], rows = Array.prototype.slice.call(body.rows);
        rows.sort(function (one, other) {
          var a = key(one, column), b = key(other, column);
          var order = typeof a !== typeof b ? (typeof a === "number" ? -1 : 1)
            : typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
          return down ? -order : order;
        });
        rows.forEach(function (row) { body.appendChild(row); });
      });
    });
  });
  // A button copies a chart as an SVG file: what `--svg` writes, with its style, title, subtitle and note.
  var svg = "http://www.w3.org/2000/svg";
  function element(name, attributes, text) {
    var made = d.createElementNS(svg, name);
    Object.keys(attributes).forEach(function (key) { made.setAttribute(key, attributes[key]); });
    if (text) made.textContent = text;
    return made;
  }
  // Adds a text of the figure in lines below `top`, and returns the lower edge of the last one. A character takes up to 0.6 em, of a title 0.7.
  function written(file, from, style, size, height, width, top) {
    var words = from ? from.textContent.trim().split(/ +|\n/) : [], line = "", wide = size * (style === "head" ? 0.7 : 0.6);
    function end() {
      top += height;
      file.appendChild(element("text", { "class": style, x: 16, y: top }, line));
    }
    words.forEach(function (word) {
      if (line && (line.length + 1 + word.length) * wide > width - 32) { end(); line = ""; }
      line += (line ? " " : "") + word;
    });
    if (line) end();
    return top;
  }
  function asFile(figure, drawing) {
    var box = drawing.viewBox.baseVal, width = box.width + 32, file = element("svg", { "class": "chart", width: width });
    file.appendChild(element("style", {}, d.getElementById("charts-style").textContent));
    var back = file.appendChild(element("rect", { "class": "bg", width: width }));
    var top = written(file, figure.querySelector("h3"), "head", 17, 22, width, 12);
    top = written(file, figure.querySelector(".sub"), "sub", 13, 18, width, top + 2) + 14;
    var body = file.appendChild(drawing.cloneNode(true));
    body.setAttribute("x", 16);
    body.setAttribute("y", top);
    body.setAttribute("width", box.width);
    body.setAttribute("height", box.height);
    top = written(file, figure.querySelector("p.note"), "sub", 13, 18, width, top + box.height + 2) + 14;
    file.setAttribute("height", top);
    back.setAttribute("height", top);
    file.setAttribute("viewBox", "0 0 " + width + " " + top);
    return new XMLSerializer().serializeToString(file);
  }
  function copied(text, button) {
    function done() { button.textContent = "Copied"; }
    function byHand() {
      var area = d.createElement("textarea");
      area.value = text;
      d.body.appendChild(area);
      area.select();
      if (d.execCommand("copy")) done();
      area.remove();
    }
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
    else byHand();
  }
  d.querySelectorAll(".fig").forEach(function (figure) {
    var details = figure.querySelector("details.data"), drawing = figure.querySelector(".plot svg");
    if (!details || !drawing) return;
    var button = d.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy as SVG";
    button.addEventListener("click", function () {
      copied(asFile(figure, drawing), button);
    });
    details.parentNode.insertBefore(button, details);
  });
})();

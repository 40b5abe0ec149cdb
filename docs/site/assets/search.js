"use strict";
// Lists the sections of searchIndex (index.js) in which every word of a query begins a word.
(function () {
  const up = document.body.dataset.up;
  const input = document.getElementById("query");
  const list = document.getElementById("results");
  const most = 12;

  const words = text => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
  const prepared = searchIndex.map(s => ({
    section: s, title: words(s.title), page: words(s.page), text: words(s.text),
  }));

  // score is 0 if a word of the query begins no word of the section.
  function score(entry, query) {
    let total = 0;
    for (const q of query) {
      const inTitle = entry.title.filter(w => w.startsWith(q)).length;
      const inPage = entry.page.filter(w => w.startsWith(q)).length;
      const inText = entry.text.filter(w => w.startsWith(q)).length;
      if (inTitle + inPage + inText === 0) return 0;
      total += 8 * Math.min(inTitle, 1) + 3 * Math.min(inPage, 1) + Math.min(inText, 4);
    }
    return total + entry.section.rank / 10;
  }

  function excerpt(text, query) {
    const low = text.toLowerCase();
    const at = Math.max(0, Math.min(...query.map(q => low.indexOf(q)).filter(i => i >= 0), low.length) - 40);
    return (at > 0 ? "…" : "") + text.slice(at, at + 120) + (at + 120 < text.length ? "…" : "");
  }

  function show() {
    const query = words(input.value);
    list.textContent = "";
    list.hidden = query.length === 0;
    if (list.hidden) return;
    const found = prepared.map(e => [score(e, query), e.section]).filter(f => f[0] > 0)
      .sort((a, b) => b[0] - a[0]).slice(0, most);
    for (const [, s] of found) {
      const item = document.createElement("li"), link = document.createElement("a");
      const small = document.createElement("small");
      link.href = up + s.to;
      link.textContent = s.page === s.title ? s.title : s.page + ": " + s.title;
      small.textContent = excerpt(s.text, query);
      item.append(link, small);
      list.append(item);
    }
    if (found.length === 0) {
      const item = document.createElement("li");
      item.textContent = "Nothing found.";
      list.append(item);
    }
  }

  input.addEventListener("input", show);
  input.form.addEventListener("submit", function (event) {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) location.href = first.href;
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    input.value = asked;
    show();
  }
})();

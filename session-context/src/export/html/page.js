"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const articles = [...byId("entries").children];
  const rows = new Map([...byId("tree").children].map((row) => [Number(row.dataset.n), row]));
  const parents = articles.map((article) => Number(article.dataset.p));
  const children = parents.map(() => []);
  parents.forEach((parent, entry) => {
    if (parent >= 0) children[parent].push(entry);
  });
  let whole = false;
  let shown = null;
  let texts = null;
  root.classList.add("js");

  // The way from the root to an entry and on to the end of its branch; a cycle ends it.
  const pathThrough = (entry) => {
    const path = new Set();
    let end = entry;
    for (const seen = new Set(); children[end]?.length && !seen.has(end); ) {
      seen.add(end);
      const next = children[end];
      end = next.find((child) => rows.get(child)?.classList.contains("on")) ?? next.at(-1);
    }
    for (; end >= 0 && !path.has(end); end = parents[end]) path.add(end);
    return path;
  };

  const words = () => byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);

  const update = () => {
    const wanted = words();
    if (wanted.length && !texts) texts = articles.map((article) => article.textContent.toLowerCase());
    let found = 0;
    const filter = "f-" + byId("filter").value;
    articles.forEach((article, entry) => {
      const hit = wanted.every((word) => texts[entry].includes(word));
      if (wanted.length && hit) found += 1;
      const visible = wanted.length ? hit : whole || shown.has(entry);
      article.classList.toggle("off", !visible);
      const row = rows.get(entry);
      row?.classList.toggle("off", wanted.length ? !hit : !row.classList.contains(filter));
      row?.classList.toggle("away", !wanted.length && !whole && !shown.has(entry));
    });
    byId("found").textContent = wanted.length ? found + (found === 1 ? " entry" : " entries") : "";
    mark(wanted);
  };

  // Shows words that were searched for, without touching the document.
  const mark = (wanted) => {
    if (!globalThis.CSS?.highlights) return;
    CSS.highlights.delete("found");
    const ranges = [];
    for (const article of articles) {
      if (!wanted.length || ranges.length > 2000) break;
      if (article.classList.contains("off")) continue;
      const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
      while (walker.nextNode() && ranges.length <= 2000) {
        const text = walker.currentNode.data.toLowerCase();
        if (text.length !== walker.currentNode.data.length) continue;
        for (const word of wanted) {
          for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
            const range = new Range();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + word.length);
            ranges.push(range);
          }
        }
      }
    }
    if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
  };

  const go = (entry) => {
    if (!(entry >= 0 && entry < articles.length)) return;
    if (!shown?.has(entry)) shown = pathThrough(entry);
    document.querySelector("#tree .here")?.classList.remove("here");
    rows.get(entry)?.classList.add("here");
    update();
    articles[entry].classList.remove("off");
    articles[entry].scrollIntoView({ block: "start" });
    rows.get(entry)?.scrollIntoView({ block: "nearest" });
  };

  const fromAddress = () => {
    const named = /^#e(\d+)$/.exec(location.hash);
    if (named) go(Number(named[1]));
  };

  const setOpen = (open) => {
    for (const article of articles) {
      if (article.classList.contains("off")) continue;
      for (const details of article.getElementsByTagName("details")) details.open = open;
    }
  };

  let timer = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 120);
  });
  byId("filter").addEventListener("change", update);
  byId("whole").addEventListener("click", () => {
    whole = !whole;
    byId("whole").setAttribute("aria-pressed", String(whole));
    update();
  });
  byId("open").addEventListener("click", () => setOpen(true));
  byId("close").addEventListener("click", () => setOpen(false));
  byId("theme").addEventListener("click", () => {
    const dark = getComputedStyle(root).colorScheme.startsWith("dark");
    root.dataset.theme = dark ? "light" : "dark";
  });
  byId("tree").addEventListener("click", (event) => {
    const row = event.target.closest("a");
    if (row && row.getAttribute("href") === location.hash) fromAddress();
  });
  addEventListener("hashchange", fromAddress);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== byId("search")) {
      event.preventDefault();
      byId("search").focus();
    } else if (event.key === "Escape" && byId("search").value) {
      byId("search").value = "";
      update();
    }
  });
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      closed.push(details);
      details.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const details of closed.splice(0)) details.open = false;
  });

  if (!children.some((entries) => entries.length > 1)) byId("whole").hidden = true;
  const leaf = Number(document.body.dataset.leaf);
  shown = leaf >= 0 ? pathThrough(leaf) : new Set(articles.keys());
  update();
  fromAddress();
})();

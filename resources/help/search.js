// A page must contain every word; matches in titles come first. `pages`: [file, title, text].
const box = document.getElementById("search"), all = document.getElementById("all");
const found = document.getElementById("found"), said = document.getElementById("said");
document.getElementById("searching").hidden = false;
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  all.hidden = words.length > 0;
  found.replaceChildren();
  said.textContent = "";
  if (!words.length) return;
  const titled = page => words.every(word => page[1].toLowerCase().includes(word)) ? 0 : 1;
  const hits = pages.filter(page => words.every(
    word => (page[1] + " " + page[2]).toLowerCase().includes(word)));
  hits.sort((a, b) => titled(a) - titled(b));
  said.textContent = hits.length ? hits.length + " found" : "Nothing found.";
  for (const [file, title, text] of hits) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = file; link.textContent = title;
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
    const near = document.createElement("small");
    near.textContent = " " + (at ? "…" : "") + text.slice(at, at + 120) + "…";
    item.append(link, document.createElement("br"), near);
    found.append(item);
  }
});

// On every page: the list of keys, and the page as one file to hand out.
export default function ({ parentElement: root, data }) {
  const act = (name) => root.querySelector(`[data-act="${name}"]`);
  const dialog = root.querySelector("dialog");
  root.querySelector(".tools").hidden = data.quiet;
  act("handout").textContent = data.text.handout;
  act("keys").textContent = data.text.keys;
  act("close").textContent = data.text.close;
  root.querySelector("h2").textContent = data.text.keysTitle;
  root.querySelector("dl").replaceChildren(...data.keys.flatMap(([key, does]) => {
    const [term, meaning] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = key;
    meaning.textContent = does;
    return [term, meaning];
  }));
  act("handout").onclick = () => handOut(data);
  act("keys").onclick = () => dialog.showModal();
  act("close").onclick = () => dialog.close();
  if (root.listening) return;
  root.listening = true;
  const onKey = (event) => {
    if (!(root.host ?? root).isConnected) return document.removeEventListener("keydown", onKey);
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.composedPath()[0].closest?.("input, textarea, select, [contenteditable]")) return;
    event.preventDefault();
    dialog.open ? dialog.close() : dialog.showModal();
  };
  document.addEventListener("keydown", onKey);
}

async function handOut(data) {
  const main = document.querySelector('[data-testid="stMainBlockContainer"]');
  const parts = [];
  for (const element of main.querySelectorAll('[data-testid="stHtml"], .fc-chart, *')) {
    if (element.matches('[data-testid="stHtml"]')) parts.push(element.innerHTML);
    else if (element.matches(".fc-chart")) parts.push(`<img alt="" src="${await element.inLight()}">`);
    else parts.push(element.shadowRoot?.querySelector(".drawing")?.outerHTML ?? "");
  }
  const own = [...document.querySelectorAll("style")].map((style) => style.textContent).filter((css) => css.includes(".fc-question"));
  const script = window.fiveCallsScript?.path === location.pathname ? window.fiveCallsScript.text : "";
  const escaped = (text) => new Option(text).innerHTML;
  const title = main.querySelector("h1")?.textContent ?? "Five Calls";
  const page = `<!doctype html>
<html lang="${data.lang}"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<style>${own.join("\n")}
body { color-scheme: light; background: #fff; color: #1a2233; font: 16px/1.5 "Source Sans 3", "Noto Sans Bengali", sans-serif; max-width: 1000px; margin: 24px auto; padding: 0 16px;
  --st-text-color: #1a2233; --st-background-color: #fff; --st-code-font: monospace; --st-font: inherit; --st-primary-color: #1f55d6; }
.fc-scroll { height: auto !important; overflow: visible; } img, svg { max-width: 100%; } pre.script { background: #f5f7fc; padding: 12px; white-space: pre-wrap; font-size: 13px; }
.frames { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; } .code { font-family: monospace; }
</style></head><body data-testid="stApp">${parts.join("\n")}
${script ? `<h2>${escaped(data.text.script)}</h2><pre class="script">${escaped(script)}</pre>` : ""}
<p>${escaped(data.text.from)} <a href="${escaped(location.href)}">${escaped(location.href)}</a></p></body></html>`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  link.download = `five-calls-${data.page}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The search of the glossary: what is typed goes to the server a moment after the last key; the list is its answer.
export default function (component) {
  const root = component.parentElement;
  const { data } = component;
  const $ = (selector) => root.querySelector(selector);
  const input = $("input");
  if (!root.mounted) {
    root.mounted = true;
    input.value = data.find;
    let timer = null;
    input.oninput = () => {
      clearTimeout(timer);
      timer = setTimeout(() => root.send(input.value), 150);
    };
  }
  root.send = (text) => component.setStateValue("find", text);
  input.placeholder = data.text.placeholder;
  input.maxLength = data.longest;
  input.setAttribute("aria-label", data.text.placeholder);
  $("output").textContent = data.text.count;
  const list = $("dl");
  list.setAttribute("aria-label", data.text.list);
  const drawn = JSON.stringify(data.terms);
  if (drawn === root.drawn) return;
  root.drawn = drawn;
  list.scrollTop = 0;
  list.replaceChildren(...data.terms.map((term) => {
    const box = document.createElement("div");
    const name = document.createElement("dt");
    name.append(element("b", term.name), element("span", term.bangla, "bangla"));
    if (term.page) {
      const link = element("a", term.live);
      link.href = `${term.page}${location.search.match(/[?&]lang=\w+/)?.[0].replace("&", "?") ?? ""}`;
      link.onclick = (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        component.setTriggerValue("page", term.page);
      };
      name.append(link);
    }
    box.append(name, element("dd", term.definition), element("dd", term.other, "other"));
    return box;
  }));
  if (!data.terms.length) list.replaceChildren(element("p", data.text.none));

  function element(kind, text, look) {
    const made = document.createElement(kind);
    made.textContent = text;
    if (look) made.className = look;
    return made;
  }
}

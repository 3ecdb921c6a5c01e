// Lines to put into order: a press on ▲ or ▼, or an arrow key on a line, moves it here; the check sends the whole order.
export default function (component) {
  const root = component.parentElement;
  root.ordering ??= create(root);
  root.ordering.send = (order) => component.setTriggerValue("order", order);
  root.ordering.update(component.data);
}

function create(root) {
  const $ = (selector) => root.querySelector(selector);
  const self = { order: [], rev: null, data: null, drawn: "", touched: false };

  self.update = (data) => {
    const now = JSON.stringify(data);
    if (now === self.drawn) return; // a rerun that has nothing new must not take the focus away
    self.drawn = now;
    self.data = data;
    if (data.rev !== self.rev) {
      self.rev = data.rev;
      self.order = [...data.order];
    }
    self.touched = false;
    $(".hint").textContent = data.text.hint;
    $(".primary").textContent = data.text.check;
    $(".primary").onclick = () => self.send([...self.order]);
    draw();
  };

  function move(place, by, control) {
    const to = place + by;
    if (to < 0 || to >= self.order.length) return;
    [self.order[place], self.order[to]] = [self.order[to], self.order[place]];
    self.touched = true; // the verdict was on another order
    draw();
    const line = $("ol").children[to];
    const button = control && line.querySelector(`[data-by="${by}"]`);
    (button && !button.disabled ? button : line).focus();
    $("[role=status]").textContent = self.data.text.moved.replace("{place}", self.data.digits[to + 1]);
  }

  function draw() {
    const { items, wrong, right, text, digits } = self.data;
    $("ol").replaceChildren(...self.order.map((item, place) => {
      const line = document.createElement("li");
      line.tabIndex = 0;
      const judged = !self.touched && (right || wrong !== null);
      if (judged && (right || place < wrong)) line.className = "good";
      if (judged && !right && place === wrong) line.className = "first-wrong";
      const sign = line.className === "good" ? "✓" : line.className ? "✗" : digits[place + 1];
      line.append(span("place", sign), span("text", items[item]));
      for (const [by, sign, label] of [[-1, "▲", text.up], [1, "▼", text.down]]) {
        const button = document.createElement("button");
        button.textContent = sign;
        button.dataset.by = by;
        button.setAttribute("aria-label", `${label}: ${items[item]}`);
        button.disabled = place + by < 0 || place + by >= self.order.length;
        button.onclick = () => move(place, by, true);
        line.append(button);
      }
      line.onkeydown = (event) => {
        const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!by || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        move(place, by, false);
      };
      return line;
    }));
  }

  function span(name, text) {
    const element = document.createElement("span");
    element.className = name;
    element.textContent = text;
    return element;
  }
  return self;
}

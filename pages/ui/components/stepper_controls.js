// The stepper's controls. What they hold is data: `full`, a string of call codes, and `at`, how many of them are made.
// A press changes that string here and sends the whole of it, so that no press is lost however slow the server is.
const KEYS = "flzbs";

export default function (component) {
  const root = component.parentElement;
  root.stepper ??= create(root);
  root.stepper.send = (state) => component.setStateValue("state", state);
  root.stepper.update(component.data[0]);
}

function create(root) {
  const $ = (selector) => root.querySelector(selector);
  const act = (name) => $(`[data-act="${name}"]`);
  const self = { full: "", at: 0, rev: null, data: null, timer: null, asked: null };

  self.update = (data) => {
    const first = self.data === null;
    self.data = data;
    window.fiveCallsScript = { path: location.pathname, text: data.script };
    if (first) build(data);
    if (data.rev !== self.rev) {
      self.rev = data.rev;
      self.full = data.calls;
      self.at = data.calls.length;
      act("graph").checked = data.graph;
      pause();
      ask(null);
    }
    label(data);
    draw();
  };

  function build(data) {
    $(".calls").replaceChildren(...[...KEYS].map((code, i) => {
      const button = document.createElement("button");
      button.dataset.code = code;
      button.innerHTML = `<span class="mark" aria-hidden="true"></span><span class="name"></span><kbd aria-hidden="true">${i + 1}</kbd>`;
      button.querySelector(".name").textContent = data.names[code];
      button.setAttribute("aria-label", data.names[code]);
      button.setAttribute("aria-keyshortcuts", String(i + 1));
      button.onclick = () => want(code);
      return button;
    }));
    act("speed").replaceChildren(...[0.5, 1, 2, 4].map((times) => new Option(`${times}×`, 1200 / times, times === 1, times === 1)));
    act("back").onclick = () => go(self.at - 1);
    act("next").onclick = () => want(following());
    act("reset").onclick = () => { self.full = ""; self.at = 0; pause(); commit(); };
    act("play").onclick = () => (self.timer ? pause() : play());
    act("speed").onchange = () => { if (self.timer) play(); };
    act("position").oninput = (event) => go(Number(event.target.value));
    act("graph").onchange = () => commit();
    act("predict").onchange = () => ask(null);
    act("link").onclick = () => copy(location.href, self.data.text.linkCopied);
    act("script").onclick = () => copy(self.data.script, self.data.text.scriptCopied);
    act("cancel").onclick = () => ask(null);
    $(".guess").onsubmit = (event) => {
      event.preventDefault();
      const code = self.asked;
      const guess = [...root.querySelectorAll(".guess input:checked")].map((box) => box.value);
      ask(null);
      make(code, guess);
    };
    document.addEventListener("keydown", onKey);
  }

  function label(data) {
    const t = data.text;
    const hide = (name, ...elements) => elements.forEach((element) => { element.hidden = data.hide.includes(name); });
    hide("copy", act("link"), act("script"));
    hide("switches", ...root.querySelectorAll(".extras label"));
    hide("play", act("play"), act("speed"));
    $(".calls").setAttribute("aria-label", t.calls);
    for (const name of ["back", "reset", "link", "script", "cancel"]) act(name).textContent = t[name];
    for (const name of ["predict", "graph"]) act(name).nextElementSibling.textContent = t[name];
    act("speed").setAttribute("aria-label", t.speed);
    act("position").setAttribute("aria-label", t.position);
    const [w, grad] = root.querySelectorAll(".guess code");
    w.textContent = data.watched;
    grad.textContent = `${data.watched.replace("w", "w.grad")}`;
    $(".guess [type=submit]").textContent = t.run;
  }

  // Walks the automaton of the right order over the calls made; beyond `full`, Next follows it.
  function following() {
    if (self.at < self.full.length) return self.full[self.at];
    let state = 0;
    for (const code of self.full) state = self.data.order.go[state][code];
    return self.data.order.next[state];
  }

  function want(code) {
    if (self.at >= self.data.most) return pause();
    if (act("predict").checked && !self.timer) return ask(code);
    make(code, null);
  }

  function make(code, guess) {
    if (self.full[self.at] !== code) self.full = self.full.slice(0, self.at) + code;
    self.at += 1;
    commit(guess);
  }

  function go(position) {
    self.at = Math.max(0, Math.min(self.full.length, position));
    commit();
  }

  function commit(guess = null) {
    const calls = self.full.slice(0, self.at);
    const graph = act("graph").checked;
    const address = new URL(location.href);
    address.searchParams.set("calls", calls);
    address.searchParams.set("graph", graph ? "1" : "0");
    history.replaceState(history.state, "", address);
    self.send({ calls, graph, guess, rev: self.rev });
    draw();
  }

  function ask(code) {
    self.asked = code;
    $(".guess").hidden = code === null;
    if (code === null) return;
    $(".guess .question").textContent = self.data.text.question.replace("{call}", self.data.names[code]);
    for (const box of root.querySelectorAll(".guess input")) box.checked = false;
    $(".guess input").focus();
  }

  function play() {
    pause();
    self.timer = setInterval(() => (root.host ?? root).isConnected ? want(following()) : pause(), Number(act("speed").value));
    draw();
  }

  function pause() {
    clearInterval(self.timer);
    self.timer = null;
    if (self.data) draw();
  }

  function draw() {
    const { text, names, marks } = self.data;
    const calls = self.full.slice(0, self.at);
    act("back").disabled = self.at === 0;
    act("reset").disabled = self.full === "";
    act("next").textContent = text.next.replace("{call}", names[following()]);
    act("next").setAttribute("aria-label", text.nextName); // its text names a call too, as another button does
    act("next").setAttribute("aria-description", names[following()]);
    act("next").disabled = self.at >= self.data.most;
    act("play").textContent = self.timer ? text.pause : text.play;
    act("play").setAttribute("aria-pressed", String(self.timer !== null));
    act("position").max = self.full.length;
    act("position").value = self.at;
    const count = text.count.replace("{at}", digits(self.at)).replace("{total}", digits(self.full.length));
    $("output").textContent = count;
    act("position").setAttribute("aria-valuetext", count);
    for (const button of root.querySelectorAll(".calls button")) {
      const code = button.dataset.code;
      const mark = calls === self.data.calls ? marks[code] : undefined;
      button.className = [mark, calls.endsWith(code) ? "now" : ""].join(" ");
      button.querySelector(".mark").textContent = { done: "✓", failed: "!" }[mark] ?? digits(KEYS.indexOf(code) + 1);
    }
  }

  const digits = (value) => [...String(value)].map((d) => self.data.digits[d] ?? d).join("");

  async function copy(text, said) {
    const area = $(".by-hand");
    try {
      await navigator.clipboard.writeText(text);
      area.hidden = true;
      say(said);
    } catch { // no permission, or no secure context: let the visitor copy by hand
      area.hidden = false;
      area.value = text;
      area.setAttribute("aria-label", self.data.text.byHand);
      area.select();
      say(self.data.text.byHand);
    }
  }

  function say(text) {
    $("[role=status]").textContent = text;
    setTimeout(() => { $("[role=status]").textContent = ""; }, 4000);
  }

  function onKey(event) {
    if (!(root.host ?? root).isConnected) return document.removeEventListener("keydown", onKey);
    const target = event.composedPath()[0];
    if (event.ctrlKey || event.altKey || event.metaKey || !self.data) return;
    if (target.closest?.("input:not([type=range], [type=checkbox]), textarea, select, [contenteditable], [role=radiogroup], [role=listbox], [role=combobox], [role=dialog]")) return;
    const done = () => event.preventDefault();
    if (event.key === "ArrowRight") { done(); want(following()); }
    else if (event.key === "ArrowLeft") { done(); go(self.at - 1); }
    else if (event.key === "Home") { done(); go(0); }
    else if (/^[1-5]$/.test(event.key)) { done(); want(KEYS[event.key - 1]); }
    else if (event.key === " " && target === document.body) { done(); act("play").click(); }
  }

  return self;
}
